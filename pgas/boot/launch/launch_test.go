package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/pgastest/capture"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// The test binary is its own agent, and its own PE if an argument says so.
func TestMain(m *testing.M) {
	MaybeAgent()
	if len(os.Args) > 2 && os.Args[1] == "pe" {
		os.Exit(runPE(os.Args[2]))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// runPE joins the job and runs the action that its argument names.
func runPE(verb string) int {
	job, err := join.FromEnv(context.Background(), join.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	job.Join()
	defer job.Leave()
	switch verb {
	case "report":
		fmt.Printf("%d/%d %s %s\n", job.PE, job.NPEs, job.Host().Name, os.Getenv("PROBE"))
	case "args":
		dir, _ := os.Getwd()
		fmt.Printf("%d %q %q %q\n", job.PE, os.Args[3:], dir, os.Getenv("PROBE"))
	case "fail":
		if job.PE == 1 {
			return 7
		}
	case "fail the last":
		if job.PE == job.NPEs-1 {
			return 7
		}
	case "kill the relay of PE 5":
		if job.PE == 5 {
			if err := killRelay(); err != nil {
				return 1
			}
		}
		time.Sleep(time.Hour)
	case "crash": // every PE, with stacks of many goroutines
		for range 60 {
			go func() { select {} }()
		}
		panic(fmt.Sprint("PE ", job.PE))
	case "crash agent":
		syscall.Kill(os.Getppid(), syscall.SIGABRT)
		time.Sleep(time.Hour)
	case "survive": // PE 1 dies, the others notice by the segment's header and live on
		if job.PE == 1 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		st := job.Segment.States[job.PE-job.Host().First]
		for job.Segment.Header.Failed.Load() == 0 {
			st.Sleep(st.Doorbell.Load(), time.Second)
		}
		fmt.Printf("PE %d saw PE %d: %v\n", job.PE, job.Segment.Header.Failed.Load()-1, boot.HowDied(job.Segment.Header.FailedHow.Load()))
	case "report a race":
		if job.PE == 1 {
			job.RaceReported()
		}
	case "block and record": // as if in a lock of PE 1
		job.Record.Start(nil)
		job.Record.Set(record.HeapInUse, 77)
		for range job.PE + 1 {
			job.Record.Operation(record.Put, 0, 100)
		}
		st := job.Segment.States[job.PE-job.Host().First]
		st.Text.Store("Table.Lock\nmain.go:7")
		st.Blocked.Peer.Store(1)
		st.Blocked.Seq.Store(4096)
		st.Blocked.Since.Store(time.Now().UnixNano())
		for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); { // some CPU time
		}
		st.Blocked.Op.Store(uint32(boot.InLock))
		time.Sleep(time.Hour)
	case "hang":
		fmt.Println("ready")
		time.Sleep(time.Hour)
	}
	return 0
}

// testSpec runs the test binary as PEs.
func testSpec(t *testing.T, verb string, hosts ...boot.Host) (Spec, *capture.Output) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := &capture.Output{}
	return Spec{
		Hosts: hosts, Program: self, Args: []string{"pe", verb}, Env: []string{"PROBE=any\xff bytes", "PGAS_HEAP_MAX=16m"},
		Stdout: out, Stderr: out, Template: "env FAKE={host}", Agent: []string{self}, Logf: t.Logf,
	}, out
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := hang.Context(context.Background())
	t.Cleanup(cancel)
	return ctx
}

var (
	three   = []boot.Host{{Name: Local, PEs: 3}}
	twoOne  = []boot.Host{{Name: "a", PEs: 2}, {Name: "b", PEs: 1}}
	layouts = map[string][]boot.Host{"one host": three, "two hosts": twoOne}
)

func TestRun(t *testing.T) {
	for name, hosts := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PROBE", "what the launcher has itself") // which Spec.Env goes on top of
			spec, out := testSpec(t, "report", hosts...)
			res, err := Run(bounded(t), spec)
			if err != nil || res.Status != 0 || res.First != nil {
				t.Fatalf("%+v, %v: %s", res, err, out)
			}
			for _, h := range hosts {
				for i := range h.PEs {
					if line := fmt.Sprintf("%d/3 %s any\xff bytes\n", h.First+i, h.Name); !strings.Contains(out.String(), line) {
						t.Errorf("no %q in %q", line, out)
					}
				}
			}
		})
	}
}

func TestFirstFailure(t *testing.T) {
	for name, hosts := range layouts {
		t.Run(name, func(t *testing.T) {
			spec, out := testSpec(t, "fail", hosts...)
			res, err := Run(bounded(t), spec)
			if err != nil || res.Status != 7 || res.First == nil || res.First.PE != 1 || res.First.Status.ExitStatus() != 7 || res.First.AfterUserSignal() {
				t.Errorf("%+v, %v: %s", res, err, out)
			}
		})
	}
}

// TestRaceExit has PE 1 report a race: that is no failure, but the job's status.
func TestRaceExit(t *testing.T) {
	for name, hosts := range layouts {
		for value, want := range map[string]int{"": 66, "9": 9, "0": 0} {
			t.Run(name+" "+value, func(t *testing.T) {
				spec, out := testSpec(t, "report a race", hosts...)
				spec.Env = append(spec.Env, "PGAS_CHECK=race", "PGAS_RACE_EXIT="+value)
				res, err := Run(bounded(t), spec)
				if err != nil || res.Status != want || res.First != nil {
					t.Errorf("%+v, %v: %s", res, err, out)
				}
			})
		}
	}
}

// TestCrashesInOnePiece makes all PEs crash at once: the lines of each PE follow one another.
func TestCrashesInOnePiece(t *testing.T) {
	for name, hosts := range map[string][]boot.Host{"one host": {{Name: Local, PEs: 6}}, "two hosts": {{Name: "a", PEs: 3}, {Name: "b", PEs: 3}}} {
		t.Run(name, func(t *testing.T) {
			spec, out := testSpec(t, "crash", hosts...)
			spec.Tag, spec.KeepGoing = true, true
			spec.Env = append(spec.Env, "GOTRACEBACK=all")
			res, err := Run(bounded(t), spec)
			if err != nil || res.Status != 2 {
				t.Fatalf("%+v, %v: %s", res, err, out)
			}
			changes, last := 0, ""
			for line := range strings.Lines(out.String()) {
				tag, text, _ := strings.Cut(line, " ")
				if tag == "pgasrun:" {
					continue // says what KeepGoing does, once
				}
				if tag != last {
					changes++
					if pe := strings.Trim(tag, "[]"); text != "panic: PE "+pe+"\n" {
						t.Errorf("the lines of PE %s begin with %q", pe, text)
					}
				}
				last = tag
			}
			if changes != 6 {
				t.Errorf("the output goes to another PE %d times, want 6", changes)
			}
		})
	}
}

// The report of a crashed agent has the line that says why.
func TestAgentCrashes(t *testing.T) {
	spec, out := testSpec(t, "crash agent", boot.Host{Name: "a", PEs: 1})
	res, err := Run(bounded(t), spec)
	if err == nil || !strings.Contains(err.Error(), "host a: the agent ended (exit status 2): SIGABRT: abort; its PEs are lost") {
		t.Errorf("%+v, %v: %s", res, err, out)
	}
}

// TestKeepGoing: with KeepGoing the surviving PEs of every host learn which PE has died.
func TestKeepGoing(t *testing.T) {
	for name, hosts := range layouts {
		t.Run(name, func(t *testing.T) {
			spec, out := testSpec(t, "survive", hosts...)
			spec.KeepGoing = true
			res, err := Run(bounded(t), spec)
			if err != nil || res.Status != 128+9 || res.First.PE != 1 || res.First.Signal() != syscall.SIGKILL {
				t.Errorf("%+v, %v", res, err)
			}
			for _, pe := range []int{0, 2} {
				if want := fmt.Sprintf("PE %d saw PE 1: killed by signal 9", pe); !strings.Contains(out.String(), want) {
					t.Errorf("no %q in %q", want, out)
				}
			}
		})
	}
}

// The end of the context ends the job, and is the error.
func TestContext(t *testing.T) {
	for name, hosts := range layouts {
		t.Run(name, func(t *testing.T) {
			spec, out := testSpec(t, "hang", hosts...)
			ctx, cancel := context.WithCancelCause(bounded(t))
			reason := errors.New("enough")
			spec.Stdout = writerFunc(func(p []byte) (int, error) {
				cancel(reason)
				return out.Write(p)
			})
			res, err := Run(ctx, spec)
			if !errors.Is(err, reason) || res.First != nil || !strings.Contains(out.String(), "what each PE is doing:\n    PE ") {
				t.Errorf("%+v, %v: %s", res, err, out)
			}
			cancelled, cancelNow := context.WithCancel(context.Background())
			cancelNow()
			if _, err := Run(cancelled, spec); !errors.Is(err, context.Canceled) {
				t.Errorf("with a context that has ended: %v", err)
			}
		})
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestBadSpecs(t *testing.T) {
	tests := map[string]struct {
		change func(s *Spec)
		err    string
	}{
		"no hosts":    {func(s *Spec) { s.Hosts = nil }, "a job needs at least one host"},
		"no PEs":      {func(s *Spec) { s.Hosts[0].PEs = 0 }, "host localhost cannot run 0 PEs"},
		"bad name":    {func(s *Spec) { s.Hosts[0].Name = "a;b" }, `"a;b" is not a host's name`},
		"variable":    {func(s *Spec) { s.Env = []string{"PGAS_HEAP=1g"} }, "did you mean PGAS_HEAP_MAX?"},
		"too much":    {func(s *Spec) { s.Env = []string{"PGAS_HEAP_MAX=20t"} }, "bytes for 3 PEs are more than the addresses of a process"},
		"template":    {func(s *Spec) { s.Template = "ssh" }, "must contain {host}"},
		"no program":  {func(s *Spec) { s.Program = "/nosuch" }, "there is no program /nosuch"},
		"directory":   {func(s *Spec) { s.Program = "/" }, "/ is a directory, not a program"},
		"no dir":      {func(s *Spec) { s.Dir = "/nosuch" }, "the working directory /nosuch must exist on every host"},
		"no agent":    {func(s *Spec) { s.Agent = []string{"/nosuch"} }, "host localhost: cannot run /nosuch"},
		"false agent": {func(s *Spec) { s.Agent = []string{"true"} }, "host localhost: `true` ended"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec, _ := testSpec(t, "report", boot.Host{Name: Local, PEs: 3})
			tt.change(&spec)
			res, err := Run(bounded(t), spec)
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%+v, %v; want %q", res, err, tt.err)
			}
		})
	}
}

func TestSplitTemplate(t *testing.T) {
	tests := []struct {
		template string
		want     []string
		err      string
	}{
		{"ssh {host}", []string{"ssh", "{host}"}, ""},
		{"  ssh\t-p 22   user@{host}  ", []string{"ssh", "-p", "22", "user@{host}"}, ""},
		{`sh -c 'a "b" $0' {host}`, []string{"sh", "-c", `a "b" $0`, "{host}"}, ""},
		{`x '' {host}`, []string{"x", "", "{host}"}, ""},
		{"ssh", nil, "must contain {host}"},
		{"", nil, "must contain {host}"},
		{"ssh '{host}", nil, "a quote without its end"},
	}
	for _, tt := range tests {
		got, err := SplitTemplate(tt.template)
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.want) || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: %q, %v; want %q, %q", tt.template, got, err, tt.want, tt.err)
		}
	}
}

func FuzzSplitTemplate(f *testing.F) {
	f.Add("ssh {host}")
	f.Add(`a "b c" 'd`)
	f.Fuzz(func(t *testing.T, s string) {
		words, err := SplitTemplate(s)
		if err != nil {
			return
		}
		// Quoting each word again must give the same words.
		var quoted []string
		for _, w := range words {
			if strings.Contains(w, "'") && strings.Contains(w, `"`) {
				return
			}
			q := "'"
			if strings.Contains(w, "'") {
				q = `"`
			}
			quoted = append(quoted, q+w+q)
		}
		again, err := SplitTemplate(strings.Join(quoted, " "))
		if fmt.Sprintf("%q", again) != fmt.Sprintf("%q", words) {
			t.Errorf("%q: %q, then %q, %v", s, words, again, err)
		}
	})
}

func TestEnvironIsForwarded(t *testing.T) {
	if s := (&Spec{Terminal: true}).Environ(); !strings.Contains(strings.Join(s, " "), boot.EnvProgress+"=") {
		t.Errorf("PEs do not learn of the terminal: %q", s)
	}
	t.Setenv("UCX_TLS", "tcp")
	t.Setenv("GOGC", "50")
	t.Setenv("GOGCX", "1")
	t.Setenv("PGAS_JOB_ID", "00")
	t.Setenv("PGAS_AMO", "nic")
	env := strings.Join((&Spec{Env: []string{"A=b"}}).Environ(), " ") + " "
	for _, want := range []string{"UCX_TLS=tcp ", "GOGC=50 ", "PGAS_AMO=nic ", "A=b "} {
		if !strings.Contains(env, want) {
			t.Errorf("no %s in %s", want, env)
		}
	}
	for _, not := range []string{"GOGCX", "PGAS_JOB_ID", "HOME="} {
		if strings.Contains(env, not) {
			t.Errorf("%s is in %s", not, env)
		}
	}
}
