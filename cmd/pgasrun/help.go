package main

// What -h prints, in the order of what a user wants to do. The manual page and the completion in shells are made of it
// (package manual).

import (
	"fmt"
	"strings"

	"github.com/gopgas/gopgas/cmd/internal/manual"
)

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
  pgasrun plan -hosts a:2,b:2 /opt/app           which PE would run where, by which command
  pgasrun k8s -image reg/app -n 8 -pods 2 /app/app | kubectl create -f -
                                                 eight PEs in two pods of Kubernetes (k8s -h)

See what it does:
  pgasrun -n 4 -ui auto ./samples/stencil        what each PE waits for while it runs, on a page; its address is printed
  pgasrun -n 4 -stats ./samples/stencil          at the end, what the PEs have waited for
  pgasrun -n 4 -metrics 9400 ./samples/stencil   the same while it runs, for Prometheus
  pgasrun -n 4 -trace t.json ./samples/stencil   which PE waits for which, and when; for Perfetto (trace -h)
  pgasrun -n 4 -pprof prof ./samples/stencil     profiles of every PE, and of the job, in prof/

Go on after a failure:
  pgasrun -restart 5 -checkpoint /shared/heat -n 4 ./samples/heat
                                                 a job that fails is started again, up to five times, and goes
                                                 on from what it has saved (package ckpt)
  pgasrun -survive 20 -checkpoint /shared/heat -hosts a:2,b:2 ./samples/heat
                                                 when a PE or a host is lost, all PEs are started again by the agents,
                                                 which takes less than a new job
  pgasrun checkpoint ls /shared/heat             what it has saved; verify and rm (checkpoint -h)

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

// help is what pgasrun -h prints.
func help(c *manual.Command) string {
	var b strings.Builder
	b.WriteString(helpText)
	b.WriteString(new(jobOptions).flags().help())
	b.WriteString("\nother things to do; each has -h:\n")
	for _, s := range c.Listed() {
		fmt.Fprintf(&b, "  %-46s %s\n", s.Name, s.Short)
	}
	b.WriteString(manual.Usage("pgasrun"))
	b.WriteString("\nTo run a program that is called like one of these, give its path (pgasrun ./version), or write -- or a flag before it\n" +
		"(pgasrun -- version, pgasrun -n 2 version).\n")
	return b.String()
}
