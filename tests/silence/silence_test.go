package silence

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/ucx"
)

const (
	callEnv = "SILENCE_CALL"
	gapEnv  = "SILENCE_GAP"   // how long a PE may have no CPU before it says so
	timeout = 2 * time.Second // PGAS_PEER_TIMEOUT
	gorace  = "GORACE=atexit_sleep_ms=0"
)

func TestMain(m *testing.M) {
	launch.MaybeAgent()
	if name := os.Getenv(callEnv); name != "" {
		fmt.Fprintln(os.Stderr, bePE(name))
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// long runs every pair of a fault and a call; else each call has one or two faults, and each fault several calls.
var long = flag.Bool("long", false, "every fault in every call, which takes six minutes")

// isChosen reports whether a run without -long has the pair of fault f, number i, and call c, number k.
func isChosen(i, k int, f fault, c string) bool {
	const every = 7
	return slices.Contains(f.short, c) || !testing.Short() && (i+k)%every == 0
}

// TestEveryWaitEnds: every blocking call ends with the *PeerError of a PE that is out of reach, on every PE that
// waits, whatever has gone wrong. How long that took is logged.
func TestEveryWaitEnds(t *testing.T) {
	if !ucx.Available {
		t.Skip("this test binary was built without cgo, so it has no transport between hosts")
	}
	if err := netns.Usable(); err != nil {
		t.Skip(err)
	}
	var all spans
	for i, f := range sorted(faults) {
		for k, c := range sorted(calls) {
			if only := faults[f].only; only != nil && !only(calls[c]) {
				continue
			}
			if !*long && !isChosen(i, k, faults[f], c) {
				continue
			}
			t.Run(f+"/"+c, func(t *testing.T) { all.add(f, endsAll(t, faults[f], c, timeout)) })
		}
	}
	all.log(t)
}

// TestShortRun: every fault has calls of a short run, all of them calls that notice it, and no two faults have one.
func TestShortRun(t *testing.T) {
	of := map[string]string{}
	for name, f := range faults {
		if len(f.short) == 0 {
			t.Errorf("%s is no part of a short run", name)
		}
		for _, c := range f.short {
			if _, found := calls[c]; !found || f.only != nil && !f.only(calls[c]) || of[c] != "" {
				t.Errorf("%s has %q in a short run: there is no such call, or it does not notice, or %q has it", name, c, of[c])
			}
			of[c] = name
		}
	}
}

func sorted[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// spans are the times from a fault to its report, by fault.
type spans map[string][]time.Duration

func (s *spans) add(fault string, d []time.Duration) {
	if *s == nil {
		*s = spans{}
	}
	(*s)[fault] = append((*s)[fault], d...)
}

func (s spans) log(t *testing.T) {
	for _, f := range sorted(s) {
		if d := s[f]; len(d) > 0 {
			slices.Sort(d)
			t.Logf("%s: %d reports, median %v, last %v (PGAS_PEER_TIMEOUT is %v)", f, len(d), d[len(d)/2], d[len(d)-1], timeout)
		}
	}
}

// endsAll runs a job whose PEs are in the call when the fault strikes, and returns how long each took to report it.
func endsAll(t *testing.T, f fault, name string, silence time.Duration) []time.Duration {
	st := newStage(t, f)
	hosts := st.hosts
	defer func() {
		if err := hosts.Close(); err != nil {
			t.Error(err)
		}
	}()
	mayRetry := silence < mostSilence
	heard := newHeard(st.pids)
	done := make(chan error, 1)
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	go func() { done <- runJob(ctx, hosts, name, silence, beats*silence/beatsInTimeout, heard) }()
	select {
	case <-heard.ready:
	case err := <-done:
		if !mayRetry || err != nil || !heard.hadNoCPU() {
			t.Fatalf("the job ended before its PEs were blocked: %v\n%s", err, heard.text())
		}
		hosts.Close()
		return endsAll(t, f, name, 2*silence)
	}
	heard.settle(t, silence, done)
	if err := f.strike(st); err != nil {
		cancel()
		<-done
		if errors.Is(err, errNoReset) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	struckAt := time.Now()
	var err error
	select {
	case <-heard.over:
		syscall.Kill(st.pids[victim], syscall.SIGKILL) // it is not needed any more
		err = <-done
	case err = <-done:
	}
	took, wrong := heard.check(f, struckAt)
	if len(wrong) > 0 && mayRetry && heard.hadNoCPU() {
		hosts.Close()
		return endsAll(t, f, name, 2*silence)
	}
	t.Logf("reports after %v", took)
	if len(wrong) > 0 {
		t.Errorf("%s\nthe job ended with %v\n%s", strings.Join(wrong, "\n"), err, heard.text())
	}
	return took
}

// newStage makes the hosts of a job that f will strike.
func newStage(t *testing.T, f fault) *stage {
	hosts, err := netns.New(npes / perHost)
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{hosts: hosts, pids: map[int]int{}}
	if f.before != nil {
		if err := f.before(st); err != nil {
			hosts.Close()
			t.Fatal(err)
		}
	}
	return st
}

// Beats are those of ucx/engine/heartbeat.c. A PE that has no CPU for so many says so.
const (
	beatsInTimeout = 8
	beats          = 4
)

// mostSilence is the longest time that PEs may be silent. A job in which a PE has had no CPU for half of its time runs
// again with twice as much, if it does not end as it should.
const mostSilence = 16 * timeout

// TestSlowPEsAreNotLost: PEs that are slow, or that were stopped all together, are not reported as lost.
func TestSlowPEsAreNotLost(t *testing.T) {
	if testing.Short() {
		t.Skip("keeps the machine busy")
	}
	if !ucx.Available {
		t.Skip("this test binary was built without cgo, so it has no transport between hosts")
	}
	if err := netns.Usable(); err != nil {
		t.Skip(err)
	}
	t.Run("40 busy loops", func(t *testing.T) {
		livesThrough(t, 5*time.Second, 0, func(silence time.Duration, _ map[int]int) {
			var loops []*exec.Cmd
			for range 40 {
				loop := exec.Command("sh", "-c", "while :; do :; done")
				if err := loop.Start(); err != nil {
					t.Error(err)
					continue
				}
				loops = append(loops, loop)
			}
			time.Sleep(silence + 3*time.Second) // longer than a PE may be silent
			for _, loop := range loops {
				loop.Process.Kill()
				loop.Wait()
			}
		})
	})
	t.Run("all stopped", func(t *testing.T) {
		livesThrough(t, timeout, 2*timeout, func(_ time.Duration, pids map[int]int) {
			for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGSTOP, syscall.SIGCONT} {
				for _, pid := range pids {
					syscall.Kill(pid, sig)
				}
				time.Sleep(2 * timeout)
			}
		})
	})
}

// livesThrough runs a job whose PEs wait for one of them, calls happen meanwhile, and fails if the job does. PEs are
// stopped for stops at a time. If the job fails and a PE has had no CPU for half of its silence beyond that, which no
// PE is promised to survive, it runs again with a longer silence.
func livesThrough(t *testing.T, silence, stops time.Duration, happen func(silence time.Duration, pids map[int]int)) {
	hosts, err := netns.New(npes / perHost)
	if err != nil {
		t.Fatal(err)
	}
	defer hosts.Close()
	h := newHeard(map[int]int{})
	done := make(chan error, 1)
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	go func() { done <- runJob(ctx, hosts, untilTold, silence, stops+silence/2, h) }()
	select {
	case <-h.ready:
		happen(silence, h.pids)
		syscall.Kill(h.pids[victim], syscall.SIGUSR1)
		err = <-done
	case err = <-done:
	}
	if err == nil && strings.Count(h.text(), "ended well") == npes {
		return
	}
	if silence < mostSilence && h.hadNoCPU() {
		hosts.Close()
		livesThrough(t, 2*silence, stops, happen)
		return
	}
	t.Errorf("the job ended with %v\n%s", err, h.text())
}

// runJob runs a job whose PEs say when they have had no CPU for longer than gap.
func runJob(ctx context.Context, hosts *netns.Hosts, name string, silence, gap time.Duration, out *heard) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var on []boot.Host
	for _, h := range hosts.Names {
		on = append(on, boot.Host{Name: h, PEs: perHost})
	}
	_, err = launch.Run(ctx, launch.Spec{
		Hosts: on, Program: self, Tag: true, Stdout: out, Stderr: out,
		Signals:  out.signals,
		Env:      []string{callEnv + "=" + name, gapEnv + "=" + gap.String(), gorace, "PGAS_PEER_TIMEOUT=" + silence.String(), "PGAS_HEAP_MAX=256m"},
		Template: netns.Template,
		Agent:    []string{"env", boot.EnvAgent + "=1", gorace, self},
		Grace:    20 * time.Second, // all have said what they found by then
		Logf:     out.logf,
	})
	return err
}

// heard is what the PEs of a job have printed.
type heard struct {
	mu    sync.Mutex
	all   bytes.Buffer
	pids  map[int]int
	said  map[int]string // how the call of each PE ended
	ready chan struct{}
	over  chan struct{} // every call has ended

	starved   int            // PEs that have had no CPU for too long
	signals   chan os.Signal // to the launcher
	tables    int            // that the launcher has printed
	computing string         // the PEs that the last one shows to be blocked in nothing
}

func newHeard(pids map[int]int) *heard {
	return &heard{ready: make(chan struct{}), over: make(chan struct{}), pids: pids, said: map[int]string{}, signals: make(chan os.Signal)}
}

// hadNoCPU reports whether a PE has had no CPU for too long.
func (h *heard) hadNoCPU() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.starved > 0
}

// settle waits until PEs have connected to those that they watch, which they do at the first beat, and until they are
// blocked. If a fault strikes while they connect, that fails, which says less of the fault's place than silence does.
func (h *heard) settle(t *testing.T, silence time.Duration, done chan error) {
	time.Sleep(beats * silence / beatsInTimeout)
	if !h.awaitBlocked(done) {
		t.Log("not all PEs are seen to be blocked when the fault strikes")
	}
}

// awaitBlocked looks at the PEs until all but the victim are blocked, and reports whether they are after many looks: a
// call may block only when the fault has struck.
func (h *heard) awaitBlocked(done chan error) bool {
	const looks = 20
	for range looks {
		h.mu.Lock()
		before := h.tables
		h.mu.Unlock()
		select {
		case h.signals <- syscall.SIGQUIT:
		case err := <-done:
			done <- err
			return false
		}
		for computing := ""; ; {
			h.mu.Lock()
			seen := h.tables > before
			computing = h.computing
			h.mu.Unlock()
			if seen && computing == fmt.Sprint(victim) {
				return true
			}
			if seen || len(done) > 0 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return false
}

// Write gets whole lines, each with the number of its PE before it.
func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all.Write(b)
	for line := range strings.Lines(string(b)) {
		if strings.HasSuffix(line, "what each PE is doing:\n") {
			h.tables, h.computing = h.tables+1, ""
		}
		if pes, found := strings.CutSuffix(strings.TrimSpace(line), ": computing"); found {
			h.computing = strings.TrimPrefix(pes, "PE ")
		}
		var pe int
		tag, rest, ok := strings.Cut(strings.TrimSpace(line), "] ")
		if _, err := fmt.Sscanf(tag, "[%d", &pe); err != nil || !ok {
			continue
		}
		if pid, found := strings.CutPrefix(rest, "ready "); found {
			h.pids[pe], _ = strconv.Atoi(pid)
			if len(h.pids) == npes {
				close(h.ready)
			}
		} else if strings.HasPrefix(rest, noCPU) {
			h.starved++
		} else if strings.HasPrefix(rest, "lost ") || strings.HasPrefix(rest, "ended ") {
			h.said[pe] = rest
			if len(h.said) == npes-1 {
				close(h.over)
			}
		}
	}
	return len(b), nil
}

// logf gets what the launcher says about accusations. A test that fails prints it with the rest.
func (h *heard) logf(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(&h.all, "%s launcher: "+format+"\n", append([]any{time.Now().Format("05.000")}, args...)...)
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all.String()
}

// check returns how long each PE took to report what has happened, and what is wrong with that.
func (h *heard) check(f fault, since time.Time) (took []time.Duration, wrong []string) {
	for pe := range npes {
		if pe == victim {
			continue
		}
		var lost int
		var at int64
		if _, e := fmt.Sscanf(h.said[pe], "lost %d at %d:", &lost, &at); e != nil {
			wrong = append(wrong, fmt.Sprintf("PE %d: its call ended with %q, which is no *PeerError", pe, h.said[pe]))
			continue
		}
		if !f.right(pe, lost) {
			wrong = append(wrong, fmt.Sprintf("PE %d blames PE %d: %s", pe, lost, h.said[pe]))
		}
		took = append(took, time.UnixMilli(at).Sub(since))
	}
	slices.Sort(took)
	return took, wrong
}
