package launch

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/agent"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// Run runs a job until every process of it is gone, on every host. The error says why the job did not
// start, or is the cause of the end of ctx. The failure of a PE is no error: it is in the Result. Run leaves no
// process behind even if this process is killed. A Read of Stdin that blocks outlives it.
func Run(ctx context.Context, spec Spec) (Result, error) {
	if err := spec.complete(); err != nil {
		return Result{}, err
	}
	if err := spec.prepareStaging(); err != nil {
		return Result{}, err
	}
	const each = 4 // the pipes of an agent, and its process
	if err := boot.NeedFiles("the launcher, for its agents,", each*(min(len(spec.Hosts), spec.FanOut+1)+len(spec.Spares))); err != nil {
		return Result{}, err
	}
	j, err := newJob(spec)
	if err != nil {
		return Result{}, err
	}
	defer j.close()
	return j.run(ctx)
}

// Plan describes what Run would do with spec. The error is one that Run would return before it starts a process.
func Plan(spec Spec) (string, error) {
	if err := spec.complete(); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, h := range spec.Hosts {
		fmt.Fprintf(&b, "host %s: PE %s\n", h.Name, Ranges(peNumbers(h)))
		fmt.Fprintf(&b, "  agent: %v\n", spec.command(h.Name))
	}
	for _, h := range spec.Spares {
		fmt.Fprintf(&b, "spare %s: for %s\n", h.Name, plural.Count(h.PEs, "PE"))
		fmt.Fprintf(&b, "  agent: %v\n", spec.command(h.Name))
	}
	fmt.Fprintf(&b, "each PE: %s\n", spawn.ShellWords(append([]string{spec.Program}, spec.Args...)))
	fmt.Fprintf(&b, "  in %s\n", spec.Dir)
	for _, kv := range spec.Environ() {
		fmt.Fprintf(&b, "  with %s\n", kv)
	}
	return b.String(), nil
}

func peNumbers(h boot.Host) []int {
	var n []int
	for i := range h.PEs {
		n = append(n, h.First+i)
	}
	return n
}

// Agent runs this process as the agent of one host, over standard input and output, until the job has ended on
// that host, and returns the exit status. It takes the process over: signals, orphans and the calling goroutine's
// thread.
func Agent() int { return agent.Main() }

// MaybeAgent makes this process an agent, and never returns, if the launcher has started it as one. A
// program that is to be its own agent (a test binary) calls it first thing.
func MaybeAgent() {
	if os.Getenv(boot.EnvAgent) != "" {
		os.Exit(Agent())
	}
}

// Protocol returns the number of the contract between a launcher and its agents, which both must have.
func Protocol() int { return frame.Protocol }
