// Command pgasrun starts a job of PEs on this host or on several, relays what they print, and ends the job without
// leaving a process behind. It is a command line for package launch; see docs/use/pgasrun.md.
//
// Where to read:
//
//	main.go          the table of subcommands
//	help.go          what pgasrun -h prints
//	job.go           a job, from its command line to its exit status; pgasrun plan
//	hosts.go         its hosts: -n, -hosts; allocation.go and allocation_tasks.go: those of Slurm; netns.go: -netns
//	program.go       its program, which is built if it is a package; privatedir.go: the directory for that
//	pes.go           how its PEs run, by whatever they are started
//	variables.go     their variables: -x, pgasrun env
//	observe.go       the observers of a job, one for each flag that asks to see something: output.go, profiles.go,
//	                 stats.go and statstable.go, metrics.go, trace.go, ui.go; newfile.go: the files of the last two
//	restart.go       -restart: a job that is started again after a failure
//	checkpoint.go    pgasrun checkpoint
//	static.go        pgasrun static: the PEs of one host
//	k8s.go           pgasrun k8s: objects for Kubernetes
//	doctor.go        pgasrun doctor
//	tracesummary.go  pgasrun trace
//	version.go       pgasrun version
//	flags.go         the flags of all of these, and the answers to those of earlier versions
//	status.go        exit statuses
//
//ci:race
package main

import (
	"errors"
	"io"
	"os"

	"github.com/gopgas/gopgas/cmd/internal/manual"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

//go:generate go run . manual -o ../../docs/use/man

func main() {
	out := &checked{w: os.Stdout} // of pgasrun itself: the launcher writes the output of a job
	status, _ := commands().Do(os.Args[1:], out, os.Stderr)
	if out.err != nil && status == 0 {
		status = complain(out.err, statusFailed)
	}
	os.Exit(status)
}

// commands is pgasrun with its subcommands.
func commands() *manual.Command {
	c := &manual.Command{
		Name: "pgasrun", Short: "run a program as a job of PEs", Args: manual.Programs, Run: runJob,
		Sub: []manual.Command{
			{Name: "pgasrun plan", Short: "print what a job would run, and run nothing", Help: planUsage, Args: manual.Programs, Run: runPlan},
			{Name: "pgasrun static", Short: "start the PEs of this host alone: for pods, systemd, docker compose", Help: staticUsage, Args: manual.Programs, Run: runStatic},
			{Name: "pgasrun k8s", Short: "print the objects of a job for Kubernetes", Help: k8sUsage, Run: runK8s},
			{Name: "pgasrun doctor", Short: "say what hosts offer to a job, and what is wrong", Help: doctorUsage, Run: runDoctor},
			{Name: "pgasrun checkpoint", Short: "list, check and remove what jobs have saved", Help: checkpointUsage, Run: runCheckpoint, Args: manual.Files, Words: checkpointWords},
			{Name: "pgasrun trace", Short: "say what a trace has recorded", Help: traceUsage, Args: manual.Files, Words: []string{"summary"}, Run: runTrace},
			{Name: "pgasrun env", Short: "print the variables that tune a job, and what they are set to", Help: envUsage, Run: runEnv},
			{Name: "pgasrun version", Short: "say which versions these are", Help: versionUsage, Run: runVersion},
			{Name: "pgasrun agent", Run: runAgent},
		},
	}
	c.Help = func() string { return help(c) }
	return c
}

// runAgent is pgasrun agent, which the launcher starts on each host.
func runAgent(args []string, _ io.Writer) (int, error) {
	if len(args) > 0 {
		return statusUsage, errors.New("agent: pgasrun starts it on each host; `pgasrun -- agent …` runs a program that is called agent")
	}
	return launch.Agent(), nil
}
