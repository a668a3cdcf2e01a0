// Package blame fails jobs in many ways and checks the launcher's report: it names the PE that failed first and
// the reason, whichever process was gone first.
//
//ci:waits
package blame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// The test binary is its own agent, and its own PE where the environment names a mistake.
const mistakeVar = "BLAME_MISTAKE"

func TestMain(m *testing.M) {
	launch.MaybeAgent()
	if name := os.Getenv(mistakeVar); name != "" {
		bePE(mistakes[slices.IndexFunc(mistakes, func(m mistake) bool { return m.name == name })])
	}
	if in := os.Getenv(lossVar); in != "" {
		beLoser(in)
	}
	if in := os.Getenv(homeVar); in != "" {
		useHome(in)
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// The PEs of a job: victim makes the mistake.
const (
	npes   = 4
	victim = 2 // the first of the second host
)

// mistake is a way to fail.
type mistake struct {
	name  string
	do    func(ctx context.Context, w *pgas.World) error // what the victim does; what it returns is its error
	rest  func(ctx context.Context, w *pgas.World) error // what the others do; nil: barriers
	start func()                                         // what every PE does before it joins
	main  func(body func(context.Context, *pgas.World) error)

	says  string // the report says of the victim
	any   bool   // every PE fails in the same way: any may be named, and its lines say says
	two   bool   // another PE fails as well: either may be named
	slow  bool   // the victim's process outlives it: the others are gone first
	hosts bool   // on two hosts only
	kills bool   // the victim is lost without an error of the program: a job that survives starts again
}

var mistakes = []mistake{
	{name: "error", do: fails, says: "out of ideas"},
	{name: "error, slow exit", do: fails, says: "out of ideas", slow: true},
	{name: "error of PE while others wait for a signal", do: fails, rest: waits, says: "out of ideas"},
	{name: "error while others compute", do: fails, rest: computes, says: "out of ideas"},
	{name: "error of a deadline of its own", do: deadline, says: "context deadline exceeded"},
	{name: "panic", do: panics, says: "panic: out of ideas"},
	{name: "panic, slow exit", do: panics, says: "panic: out of ideas", slow: true},
	{name: "panic in a goroutine", do: panicsAside, says: "panic: out of ideas"},
	{name: "out of range", do: slicesTooFar, says: "panic: runtime error: slice bounds out of range"},
	{name: "nil dereference", do: dereferences, says: "panic: runtime error: invalid memory address"},
	{name: "fatal error", do: unlocks, says: "fatal error: sync: unlock of unlocked mutex"},
	{name: "misuse", do: misuses, says: "PE 99"},
	{name: "exit 3", do: exits(3), says: "exited with status 3"},
	{name: "exit 3, slow exit", do: exits(3), says: "exited with status 3", slow: true},
	{name: "exit 0", do: exits(0), says: "exited with status 0 without leaving the job"},
	{name: "log.Fatal", do: logs, says: "out of ideas"},
	{name: "kill -9", do: raises(syscall.SIGKILL), says: "was killed by signal 9 (SIGKILL)", kills: true},
	{name: "kill -9, slow exit", do: raises(syscall.SIGKILL), says: "exited with status 137", slow: true},
	{name: "kill -9 while others wait for a signal", do: raises(syscall.SIGKILL), rest: waits, says: "was killed by signal 9 (SIGKILL)", kills: true},
	{name: "kill -TERM", do: raises(syscall.SIGTERM), says: "terminated signal received"},
	{name: "SIGSEGV", do: raises(syscall.SIGSEGV), says: "SIGSEGV"},
	{name: "SIGABRT", do: raises(syscall.SIGABRT), says: "SIGABRT"},
	{name: "exit before it joins", start: exitsEarly, says: "exited with status 4"},
	{name: "wrong collective", do: wrongCollective, says: "PEs disagree", any: true},
	{name: "wrong size", do: wrongSize, says: "PEs disagree", any: true},
	{name: "heap full", do: fillsHeap, rest: fillsHeap, says: "symmetric heap is full", any: true},
	{name: "two at once", do: fails, rest: alsoFails, says: "out of ideas", two: true},
	{name: "own main, log.Fatal", do: fails, main: ownMain, says: "out of ideas", slow: true},
	{name: "own main, panics of the others", do: raises(syscall.SIGKILL), main: panickingMain, says: "exited with status 137", slow: true},
	{name: "stopped", do: raises(syscall.SIGSTOP), says: "is lost", hosts: true, kills: true},
}

var word pgas.Atomic[uint64] // of a PE: no PE changes it

var errIdeas = errors.New("out of ideas")

func fails(context.Context, *pgas.World) error { return errIdeas }

func panics(context.Context, *pgas.World) error { panic("out of ideas") }

func panicsAside(ctx context.Context, w *pgas.World) error {
	go panic("out of ideas")
	return barriers(ctx, w)
}

func slicesTooFar(_ context.Context, w *pgas.World) error {
	return fmt.Errorf("%v", []int{1}[w.NPEs():])
}

func dereferences(context.Context, *pgas.World) error {
	var p *boot.Job
	return fmt.Errorf("%v", p.NPEs)
}

func unlocks(context.Context, *pgas.World) error {
	var mu sync.Mutex
	mu.Unlock()
	return nil
}

func misuses(_ context.Context, w *pgas.World) error {
	w.HostOf(99)
	return nil
}

func deadline(ctx context.Context, w *pgas.World) error {
	ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	return w.Sleep(ctx, time.Hour)
}

func exits(status int) func(context.Context, *pgas.World) error {
	return func(context.Context, *pgas.World) error {
		os.Exit(status)
		return nil
	}
}

func logs(context.Context, *pgas.World) error {
	log.Fatal("out of ideas")
	return nil
}

func raises(sig syscall.Signal) func(context.Context, *pgas.World) error {
	return func(ctx context.Context, w *pgas.World) error {
		syscall.Kill(os.Getpid(), sig)
		return barriers(ctx, w)
	}
}

func exitsEarly() {
	if os.Getenv("PGAS_PE") == fmt.Sprint(victim) {
		os.Exit(4)
	}
}

func wrongCollective(ctx context.Context, w *pgas.World) error {
	_, err := pgas.Alloc[int64](ctx, w, 8)
	return errors.Join(err, barriers(ctx, w))
}

func wrongSize(ctx context.Context, w *pgas.World) error {
	_, err := pgas.Alloc[int64](ctx, w, 9)
	return err
}

func fillsHeap(ctx context.Context, w *pgas.World) error {
	_, err := pgas.Alloc[int64](ctx, w, 1<<30)
	return err
}

func alsoFails(ctx context.Context, w *pgas.World) error {
	if w.PE() == 1 {
		return errIdeas
	}
	return barriers(ctx, w)
}

// barriers enters barriers until one fails.
func barriers(ctx context.Context, w *pgas.World) error {
	for {
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
}

// computes returns when its context ends.
func computes(ctx context.Context, _ *pgas.World) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// waits waits for a signal that no PE sends.
func waits(ctx context.Context, w *pgas.World) error {
	_, err := word.WaitUntil(ctx, pgas.EQ, 1)
	return err
}

// bePE runs a PE of a job that makes mistake m.
func bePE(m mistake) {
	if m.start != nil {
		m.start()
	}
	main := pgas.Main
	if m.main != nil {
		main = m.main
	}
	main(func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[uint64](ctx, w, 1)
		if err != nil {
			return err
		}
		word = pgas.AtomicOf(words, 0)
		switch {
		case w.PE() == victim && m.do != nil:
			return m.do(ctx, w)
		case m.rest != nil:
			return m.rest(ctx, w)
		}
		return barriers(ctx, w)
	})
	os.Exit(0)
}

// TestMistakes makes every mistake on one host and on two.
func TestMistakes(t *testing.T) { tryMistakes(t, 0) }

// TestMistakesSurvive makes every mistake in jobs that go on after the loss of a PE. The PEs of the next term make the
// mistake again, and the report is that of the last term.
func TestMistakesSurvive(t *testing.T) { tryMistakes(t, 1) }

func tryMistakes(t *testing.T, survive int) {
	if testing.Short() {
		t.Skip("starts many jobs")
	}
	t.Run("one host", func(t *testing.T) {
		for _, m := range mistakes {
			if !m.hosts {
				t.Run(m.name, func(t *testing.T) { m.try(t, survive, boot.Host{Name: launch.Local, PEs: npes}) })
			}
		}
	})
	t.Run("two hosts", func(t *testing.T) {
		hosts := pgastest.NewHosts(t, 2)
		for _, m := range mistakes {
			t.Run(m.name, func(t *testing.T) {
				m.try(t, survive, boot.Host{Name: hosts.Names[0], PEs: victim}, boot.Host{Name: hosts.Names[1], PEs: npes - victim})
			})
		}
	})
}

// ucxAborts is in the output of a PE that UCX 1.13 has ended because a peer went away while the two connected
// (docs/packages/ucx.md). That is a failure of the PE's own, and reported as such.
var ucxAborts = regexp.MustCompile(`(ucp_request|tcp_ep)\.c:\d+ +Assertion`)

// runOf runs a job and returns its result, what its PEs printed, and why it did not start.
func runOf(t *testing.T, spec launch.Spec) (launch.Result, *bytes.Buffer, error) {
	out := new(bytes.Buffer)
	spec.Stdout, spec.Stderr = out, out
	ctx, cancel := hang.Within(t.Context(), time.Minute)
	defer cancel()
	res, err := launch.Run(ctx, spec)
	return res, out, err
}

// try runs a job that makes the mistake and checks what is reported.
func (m mistake) try(t *testing.T, survive int, hosts ...boot.Host) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spec := launch.Spec{
		Hosts: hosts, Program: self, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self}, Survive: survive,
		Env: []string{mistakeVar + "=" + m.name, "PGAS_HEAP_MAX=32m", "PGAS_PEER_TIMEOUT=3s", "GOTRACEBACK=single"},
	}
	if m.slow {
		const wrapper = `[ $PGAS_PE = 2 ] || exec "$0"; "$0"; s=$?; sleep 3; exit $s`
		spec.Program, spec.Args = "/bin/sh", []string{"-c", wrapper, self}
	}
	res, out, err := runOf(t, spec)
	for tries := 1; tries < 4 && ucxAborts.Match(out.Bytes()); tries++ {
		t.Logf("UCX has aborted a PE whose peer ended while the two connected: tried again\n%s", out)
		res, out, err = runOf(t, spec)
	}
	switch {
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case res.First == nil:
		t.Fatalf("status %d and nothing to report\n%s", res.Status, out)
	}
	report := res.First.String()
	if !m.any && res.First.PE != victim && !(m.two && res.First.PE == 1) {
		t.Errorf("PE %d is named, PE %d failed", res.First.PE, victim)
	}
	lost := m.slow && len(hosts) > 1 && strings.Contains(report, "is lost") // the launcher does not know its status yet
	if !strings.Contains(report, m.says) && !lost {
		t.Errorf("the report does not say %q", m.says)
	}
	if res.Status == 0 {
		t.Error("status 0")
	}
	if again := m.kills && survive > 0; again != (res.Recoveries > 0) && !(m.slow && len(hosts) > 1) {
		t.Errorf("the PEs were started again %d times", res.Recoveries)
	}
	if m.name != "kill -TERM" && strings.Contains(out.String(), "terminated signal received") {
		t.Error("a PE says what the launcher did to it, not why")
	}
	if t.Failed() {
		t.Logf("the report:\n%s\nthe PEs:\n%s", report, out)
	}
}

func ownMain(body func(context.Context, *pgas.World) error) {
	ctx := context.Background()
	w, err := pgas.Init(ctx)
	if err == nil {
		err = body(ctx, w)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func panickingMain(body func(context.Context, *pgas.World) error) {
	ctx := context.Background()
	w, err := pgas.Init(ctx)
	if err == nil {
		err = body(ctx, w)
	}
	panic(fmt.Sprint("no way on: ", err))
}
