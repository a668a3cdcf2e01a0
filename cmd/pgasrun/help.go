package main

// What -h prints, in the order of what a user wants to do. The manual page and the completion in shells are made of it
// (package manual).

import (
	"flag"
	"io"
	"strings"

	"github.com/gopgas/gopgas/cmd/internal/manual"
)

//go:generate go run . manual -o ../../docs/use/man

const helpText = `pgasrun runs a program as a job of PEs.

usage: pgasrun [flags] PROGRAM [ARGS]

PROGRAM is a file, a name on PATH, or a Go package (./samples/hello), which is built first.

Start a job:
  pgasrun -n 4 ./samples/hello                   four PEs on this host
  pgasrun -n 4 -tag ./samples/ring               the same, each line starts with its PE

Hosts:
  pgasrun -netns 2x2 ./samples/ring              two PEs on each of two hosts, which are made on this
                                                 machine of network namespaces, and removed; as root
  pgasrun -hosts a:2,b:2 -launch 'ssh {host}' /opt/app -v
                                                 two PEs on each of two hosts; /opt/app is on both
  pgasrun -k8s -dry-run -k8s-image reg/app -n 8 -k8s-pods 2 /app/app | kubectl create -f -
                                                 eight PEs in two pods of Kubernetes

See what it does:
  pgasrun -n 4 -ui auto ./samples/stencil        what each PE waits for while it runs, on a page; its address is printed
  pgasrun -n 4 -stats ./samples/stencil          at the end, what the PEs have waited for
  pgasrun -n 4 -metrics 9400 ./samples/stencil   the same while it runs, for Prometheus
  pgasrun -n 4 -trace t.json ./samples/stencil   which PE waits for which, and when; for Perfetto (trace -h)
  pgasrun -n 4 -pprof prof ./samples/stencil     profiles of every PE, and of the job, in prof/

Find mistakes:
  PGAS_CHECK=1 pgasrun -n 4 ./samples/hello      each access is checked against the memory that there is
  pgasrun -timeout 1m -n 4 ./samples/hello       a job that hangs ends, and says what it hung in
  pgasrun doctor -hosts a,b                      what hosts offer to a job, and what is wrong (doctor -h)
  pgasrun version                                what a bug report needs; -json
  pgasvet ./...                                  mistakes that compile

Ctrl-C is passed on to the PEs, a second one kills them. Ctrl-\ (SIGQUIT) prints what each PE is
blocked in and since when; so does -stall by itself. The first PE to fail ends the job; the exit status
is the worst one.

`

// headings are those of -h, with the flags below each.
var headings = []struct {
	title string
	flags []string
}{
	{"flags to start a job", []string{"n", "x", "wdir", "unbound", "topo", "dry-run"}},
	{"flags for hosts", []string{"netns", "hosts", "hostfile", "launch", "stage", "fan-out", "boot-addr", "static"}},
	{"flags to see what it does", []string{"tag", "output", "v", "ui", "ui-save", "stats", "json", "metrics", "trace", "trace-events", "pprof"}},
	{"flags for limits and failures", []string{"timeout", "stall", "connect-timeout", "grace", "keep-going"}},
	{"flags for Kubernetes", []string{"k8s", "k8s-image", "k8s-pods", "k8s-name", "k8s-namespace", "k8s-cpu", "k8s-memory", "k8s-queue", "k8s-jobset", "k8s-pull"}},
	{"flags that start nothing", []string{"env", "version"}},
}

// help is what -h prints.
func help() string {
	var b strings.Builder
	b.WriteString(helpText)
	fs := new(options).flags()
	for _, h := range headings {
		b.WriteString(h.title + ":\n")
		for _, name := range h.flags {
			f := fs.Lookup(name)
			one := flag.NewFlagSet("", flag.ContinueOnError) // package flag prints a set by the names of its flags
			one.Var(f.Value, f.Name, f.Usage)
			b.WriteString(defaults(one))
		}
		b.WriteString("\n")
	}
	b.WriteString("other things to do:\n" + manual.Usage("pgasrun"))
	return b.String()
}

// defaults returns what package flag prints of flags.
func defaults(fs *flag.FlagSet) string {
	var b strings.Builder
	fs.SetOutput(&b)
	fs.PrintDefaults()
	fs.SetOutput(io.Discard)
	return b.String()
}

// described is pgasrun as its manual and its completion have it.
func described() *manual.Command {
	return &manual.Command{
		Name: "pgasrun", Short: "run a program as a job of PEs", Help: help, Args: manual.Programs,
		Sub: []manual.Command{
			{Name: "pgasrun doctor", Short: "say what hosts offer to a job, and what is wrong", Help: doctorUsage},
			{Name: "pgasrun trace", Short: "say what a trace has recorded", Help: traceUsage, Args: manual.Files, Words: []string{"summary"}},
			{Name: "pgasrun version", Short: "say which versions these are", Help: versionUsage},
		},
	}
}
