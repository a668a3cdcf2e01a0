package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// moduleOf writes a module with one test file in package p and changes into its directory.
func moduleOf(t *testing.T, tests string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.26\n",
		"p/p_test.go": "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"strings\"\n\t\"testing\"\n\t\"time\"\n)\n\nvar _ = fmt.Sprint(os.Args, time.Second, strings.Fields(\"\"))\n\n" + tests,
		"q/q_test.go": "package q\n\nimport \"testing\"\n\nfunc TestFine(t *testing.T) { t.Log(\"not shown\") }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func testModule(t *testing.T, limit time.Duration) (string, error) {
	t.Helper()
	var out strings.Builder
	err := runGoTest(t.Context(), &out, nil, []string{"go", "test", "-json", "-timeout=0", "./..."}, limit)
	return out.String(), err
}

func TestGoTestShowsWhatFails(t *testing.T) {
	moduleOf(t, `func TestWrong(t *testing.T) {
	t.Run("sub", func(t *testing.T) { t.Error("it is wrong") })
}
`)
	out, err := testModule(t, quietLimit)
	if err == nil {
		t.Error("it passes")
	}
	for _, want := range []string{"it is wrong", "FAIL\texample.com/m/p", "ok  \texample.com/m/q", "failed:\n", "example.com/m/p TestWrong/sub"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "not shown") {
		t.Errorf("it prints what a test says that passes:\n%s", out)
	}
}

// TestGoTestEndsWhatHangs: a test that waits for ever is ended and named, and its stack shown.
func TestGoTestEndsWhatHangs(t *testing.T) {
	moduleOf(t, "func TestHangs(t *testing.T) {\n\tprintln(\"it has begun\")\n\tgo time.Sleep(time.Hour)\n\t<-make(chan int)\n}\n")
	out, err := testModule(t, 3*time.Second)
	if err == nil || !strings.Contains(err.Error(), "example.com/m/p hangs") {
		t.Errorf("the error is %v", err)
	}
	for _, want := range []string{"it has begun", "TestHangs", "goroutine "} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
}

// TestGoTestLetsSlowTestsGoOn: tests that together take longer than the limit pass, since each one reports.
func TestGoTestLetsSlowTestsGoOn(t *testing.T) {
	moduleOf(t, `func TestSlow(t *testing.T) {
	for range 40 {
		t.Run("step", func(t *testing.T) { time.Sleep(100 * time.Millisecond) })
	}
}
`)
	if out, err := testModule(t, 3*time.Second); err != nil {
		t.Errorf("it ends with %v:\n%s", err, out)
	}
}

// TestRunStepsGoesOn: the steps after one that fails still run.
func TestRunStepsGoesOn(t *testing.T) {
	var ran []string
	fake := func(name string, err error) step {
		return step{name: name, run: func(context.Context) error { ran = append(ran, name); return err }}
	}
	err := runSteps(t.Context(), []step{fake("a", errors.New("wrong")), fake("b", nil), fake("c", errors.New("bad"))}, options{})
	if got := strings.Join(ran, " "); got != "a b c" {
		t.Errorf("it ran %s", got)
	}
	if err == nil || !strings.Contains(err.Error(), "2 of 3 steps failed") || !strings.Contains(err.Error(), "-only c") {
		t.Errorf("the error is %v", err)
	}
}

// TestRunStepsBeside: a step that runs beside others does so at the lowest priority, its output comes whole, and its
// failure counts, though the first lane has ended long before.
func TestRunStepsBeside(t *testing.T) {
	met := make(chan struct{})
	aside := step{name: "aside", beside: computing, run: func(ctx context.Context) error {
		<-met // it would wait for ever if the next step waited for this one
		if err := show(ctx, nil, "sh", "-c", "chrt -p $$ | head -1; echo to the error output >&2"); err != nil {
			return err
		}
		return errors.New("wrong")
	}}
	first := step{name: "first", run: func(ctx context.Context) error {
		close(met)
		if l := laneOf(ctx); l.low || l.stdout() != os.Stdout {
			t.Errorf("the first lane is %+v", l)
		}
		return nil
	}}
	err := runSteps(t.Context(), []step{aside, first}, options{})
	if err == nil || !strings.Contains(err.Error(), "1 of 2 steps failed") || !strings.Contains(err.Error(), "aside: wrong") {
		t.Errorf("the error is %v", err)
	}
	r := aside.runAside(t.Context())
	if want := "SCHED_IDLE\nto the error output\n"; !strings.HasSuffix(string(r.printed), want) || r.err == nil {
		t.Errorf("it printed %q (%v), want %q at the end", r.printed, r.err, want)
	}
	aside.beside = waiting
	if r := aside.runAside(t.Context()); strings.Contains(string(r.printed), "SCHED_IDLE") {
		t.Error("a step that waits gets only the CPU time that is left")
	}
}

// TestLanesAreThree: a step that waits runs beside one that computes and beside the next of the first lane.
func TestLanesAreThree(t *testing.T) {
	var all sync.WaitGroup
	all.Add(3)
	meet := func(context.Context) error { // would wait for ever if one of them waited for another
		all.Done()
		all.Wait()
		return nil
	}
	if err := runSteps(t.Context(), []step{{name: "a", beside: computing, run: meet}, {name: "b", beside: waiting, run: meet}, {name: "c", run: meet}}, options{}); err != nil {
		t.Error(err)
	}
}

// TestRunStepsInterrupted: neither lane begins another step.
func TestRunStepsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	started := make(chan struct{})
	aside := step{name: "aside", beside: computing, run: func(ctx context.Context) error {
		close(started)
		return show(ctx, nil, "sleep", "1000")
	}}
	first := step{name: "first", run: func(ctx context.Context) error {
		<-started
		cancel()
		return nil
	}}
	last := step{name: "last", run: func(context.Context) error { t.Error("another step was begun"); return nil }}
	if err := runSteps(ctx, []step{aside, {name: "next", beside: computing, run: last.run}, first, last}, options{}); err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
}
