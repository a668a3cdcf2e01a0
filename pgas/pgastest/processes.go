package pgastest

// PEs as processes: the test binary starts itself again for each PE. A variable of the environment names the
// test. The binary is its own launcher, and on other hosts its own agent.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/ucx"
)

// peOf names the test that this process is a PE of; unset in the process that go test started.
const peOf = "PGASTEST_PE_OF"

// quickExit keeps the race detector from sleeping a second at the end of every process.
const quickExit = "GORACE=atexit_sleep_ms=0"

func init() { launch.MaybeAgent() }

// processes runs the test again as the PEs of a job on hosts and returns its error, with what the PEs
// printed. marks, if any, takes what they print first.
func processes(ctx context.Context, tb testing.TB, hosts []boot.Host, marks *marks, env ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	stdout := io.Writer(&out)
	if marks != nil {
		marks.rest, stdout = &out, marks
	}
	res, err := launch.Run(ctx, launch.Spec{
		Hosts:    hosts,
		Program:  self,
		Args:     selection(tb),
		Env:      append(peEnv(tb), env...),
		Stdout:   stdout,
		Stderr:   &out,
		Tag:      true,
		Template: netns.Template,
		Agent:    []string{"env", boot.EnvAgent + "=1", quickExit, self},
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out.Bytes())
	}
	if res.Status != 0 {
		return fmt.Errorf("a PE failed with status %d:\n%s%s", res.Status, out.Bytes(), launcherReport(res))
	}
	return nil
}

// launcherReport returns the launcher's report. It is needed because PEs that the launcher ends print nothing
// themselves.
func launcherReport(res launch.Result) string {
	if res.First == nil {
		return ""
	}
	return "the launcher: " + res.First.String()
}

// peEnv returns the variables that every PE of a test has in its environment.
func peEnv(tb testing.TB) []string {
	env := []string{peOf + "=" + tb.Name(), quickExit}
	if checks(tb) {
		env = append(env, envCheck+"="+cmp.Or(os.Getenv(envCheck), "1"))
	}
	return env
}

// onlyTest returns the -test.run pattern that selects one subtest.
func onlyTest(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// isPE reports whether this process is a PE of some test.
func isPE() bool { return os.Getenv(peOf) != "" }

// runIfPE runs body and ends the process if it is a PE of test name.
func runIfPE(name string, body Body) {
	if os.Getenv(peOf) != name {
		return
	}
	if err := runAsPE(body); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runAsPE(body Body) (err error) {
	ctx, cancel := hang.Context(context.Background())
	defer cancel()
	var w *pgas.World
	defer func() {
		if p := recover(); p != nil {
			err = panicError(w, -1, p)
		}
	}()
	w, err = pgas.Init(ctx)
	if err != nil {
		return err
	}
	if err := body(private.Node(w).Races.In(ctx), w); err != nil {
		return errors.Join(err, w.Abandon())
	}
	return w.Close()
}

// spread spreads npes over the named hosts as evenly as it can. Hosts without a PE are left out.
func spread(npes int, names []string) []boot.Host {
	var hosts []boot.Host
	for i, name := range names {
		if pes := npes*(i+1)/len(names) - npes*i/len(names); pes > 0 {
			hosts = append(hosts, boot.Host{Name: name, PEs: pes})
		}
	}
	return hosts
}

// hostsUsable returns why PEs on several hosts cannot be tried, or nil.
func hostsUsable() error {
	if !ucx.Available {
		return errors.New("this test binary was built without cgo, so it has no transport between hosts")
	}
	return netns.Usable()
}

// NewHosts makes n hosts, which end with the test. It skips, with the reason, where hosts cannot be made.
func NewHosts(t testing.TB, n int) *netns.Hosts {
	t.Helper()
	hosts, remove := makeHosts(t, n)
	t.Cleanup(remove)
	return hosts
}

// makeHosts makes n hosts until remove is called. It skips where hosts cannot be made.
func makeHosts(tb testing.TB, n int) (hosts *netns.Hosts, remove func()) {
	tb.Helper()
	if !ucx.Available {
		tb.Skip(hostsUsable())
	}
	hosts, err := netns.New(n)
	if err != nil {
		if why := hostsUsable(); why != nil { // asked only now: it makes a namespace, too
			tb.Skip(why)
		}
		tb.Fatal(err)
	}
	return hosts, func() {
		if err := hosts.Close(); err != nil {
			tb.Error(err)
		}
	}
}

// runOnHosts runs the test on PEs of nhosts network namespaces.
func runOnHosts(tb testing.TB, npes, nhosts int, body Body, env []string) {
	tb.Helper()
	runIfPE(tb.Name(), body)
	if isPE() {
		return
	}
	goroutinesOnly(tb)
	hosts, remove := makeHosts(tb, nhosts)
	defer remove()
	ctx, cancel := hang.Context(tb.Context())
	defer cancel()
	if err := processes(ctx, tb, spread(npes, hosts.Names), nil, env...); err != nil {
		fail(tb, err)
	}
}

// runOnProcesses runs the test on PEs of this host.
func runOnProcesses(tb testing.TB, npes int, body Body, env []string) {
	tb.Helper()
	runIfPE(tb.Name(), body)
	if isPE() {
		return
	}
	goroutinesOnly(tb)
	ctx, cancel := hang.Context(tb.Context())
	defer cancel()
	if err := processes(ctx, tb, []boot.Host{{Name: launch.Local, PEs: npes}}, nil, env...); err != nil {
		fail(tb, err)
	}
}
