//go:build cgo

package ucp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/transport"
)

// victims are what an origin does until its target goes away.
var victims = map[string]func(ctx context.Context, c transport.Channel) error{
	"quiet": func(ctx context.Context, c transport.Channel) error {
		c.Put(1, dataOff, make([]byte, 8))
		return c.Quiet(ctx, -1)
	},
	"get": func(ctx context.Context, c transport.Channel) error {
		return c.Get(ctx, 1, make([]byte, 8), dataOff)
	},
	"large get": func(ctx context.Context, c transport.Channel) error {
		return c.Get(ctx, 1, make([]byte, 4<<20), dataOff)
	},
	"atomic": func(ctx context.Context, c transport.Channel) error {
		_, err := c.Atomic(ctx, 1, transport.Add, transport.Word{Off: countOff, Bytes: 8}, 1, 0)
		return err
	},
	"atomics in flight": func(ctx context.Context, c transport.Channel) error {
		old := make([]byte, 8)
		for i := range 3000 { // more than a channel can have on its way
			op := transport.Add
			if i%100 == 0 {
				op = transport.Max
			}
			c.AtomicNB(1, op, transport.Word{Off: countOff, Bytes: 8}, 1, 0, old)
		}
		return c.Quiet(ctx, 1)
	},
	"notes": func(ctx context.Context, c transport.Channel) error {
		for i := range 3000 { // more than there is room for: the target takes none
			if !c.PutNotify(1, dataOff, make([]byte, i%50), transport.StampOf(0, uint32(i))) {
				break
			}
		}
		return c.Quiet(ctx, 1)
	},
	"notified get": func(ctx context.Context, c transport.Channel) error {
		_, err := c.GetNotify(ctx, 1, make([]byte, 100_000), dataOff, 7)
		return firstOf(err, c.Quiet(ctx, 1)) // with a full queue there is nothing to get
	},
	"large put": func(ctx context.Context, c transport.Channel) error {
		for range 8 {
			c.Put(1, dataOff, make([]byte, 4<<20))
		}
		return c.Quiet(ctx, 1)
	},
}

func firstOf(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func init() {
	for name, op := range victims {
		roles["until lost: "+name] = func(ctx context.Context, t *Transport, job *boot.Job, report func(string, ...any)) error {
			return untilLost(ctx, t, op, report)
		}
	}
	roles["do nothing"] = func(ctx context.Context, _ *Transport, _ *boot.Job, report func(string, ...any)) error {
		<-ctx.Done()
		return ctx.Err()
	}
	roles["do nothing, watched"] = watched
	roles["compute"] = compute
	roles["get while it computes"] = getWhileItComputes
}

// watched does nothing, and reports again and again for how long this process has had no CPU, at most.
func watched(ctx context.Context, _ *Transport, _ *boot.Job, report func(string, ...any)) error {
	const pause, pauses = 10 * time.Millisecond, 20
	longest := time.Duration(0)
	for n := 1; ctx.Err() == nil; n++ {
		before := time.Now()
		time.Sleep(pause)
		longest = max(longest, time.Since(before)-pause)
		if n%pauses == 0 {
			report("%s %d", withoutCPU, longest)
		}
	}
	return ctx.Err()
}

const withoutCPU = "had no CPU for"

// untilLost repeats op until it fails for want of its peer, and checks that others are still served.
func untilLost(ctx context.Context, t *Transport, op func(context.Context, transport.Channel) error, report func(string, ...any)) error {
	c, err := t.Channel(false)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		err := op(ctx, c)
		if i == 3 {
			report("running")
		}
		if err == nil {
			continue
		}
		var lost *transport.PeerError
		if !errors.As(err, &lost) {
			return err
		}
		report("lost %d: %v", lost.PE, err)
		c.Put(0, dataOff, []byte("own"))
		for range 1100 {
			c.AtomicNB(0, transport.Add, transport.Word{Off: countOff, Bytes: 8}, 1, 0, make([]byte, 8))
		}
		if err := c.Quiet(ctx, 0); err != nil {
			return fmt.Errorf("the own PE was not served after the loss of another: %w", err)
		}
		for _, pe := range []int{1, -1} { // other goroutines' operations were lost as well
			if err := c.Quiet(ctx, pe); !errors.As(err, &lost) || lost.PE != 1 {
				return fmt.Errorf("the loss was reported once, and then a quiet of %d returned %v", pe, err)
			}
		}
		return c.Close()
	}
}

// errEnded is that a PE has ended without the report that a test waits for.
var errEnded = errors.New("it has ended without that report")

// await waits for a report that starts with want, the first word of which is the number of a PE, and returns the rest
// of it.
func (f *family) await(t *testing.T, want string) (string, error) {
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	pe, _, _ := strings.Cut(want, " ")
	for {
		select {
		case line := <-f.results:
			if rest, found := strings.CutPrefix(line, want); found {
				return rest, nil
			}
			if line == pe+hasEnded {
				return "", fmt.Errorf("no report of %q: %w", want, errEnded)
			}
			if strings.Contains(line, " error ") {
				return "", errors.New(line)
			}
		case <-limit.Done():
			return "", fmt.Errorf("no report of %q: %w", want, context.Cause(limit))
		}
	}
}

// expect is await for a report that must come.
func (f *family) expect(t *testing.T, want string) string {
	t.Helper()
	rest, err := f.await(t, want)
	if err != nil {
		t.Fatal(err)
	}
	return rest
}

// crashedInUCX reports whether PE 0 of f has ended in the fault of UCX 1.13 that docs/packages/ucx.md tells of: where
// UCX carries out atomics itself, the loss of a peer that has some in flight makes it release memory that it never
// registered.
func (f *family) crashedInUCX(err error, way string) bool {
	if way != "nic" || !errors.Is(err, errEnded) {
		return false
	}
	f.cmds[0].Wait()
	status, ok := f.cmds[0].ProcessState.Sys().(syscall.WaitStatus)
	return ok && (status.Signaled() && (status.Signal() == syscall.SIGSEGV || status.Signal() == syscall.SIGABRT) || status.ExitStatus() == panicked)
}

// panicked is the exit status of a Go program that has taken a signal of a fault.
const panicked = 2

// losesPeer runs op on PE 0 until strike takes PE 1 away, and checks the report. It is tried a few times where UCX
// crashes.
func losesPeer(t *testing.T, name, way, report string, strike func(*os.Process) error) {
	losesPeerOf(t, name, way, report, "do nothing", 0, strike)
}

// losesPeerOf is losesPeer with the role of PE 1. If silence is not 0 it is PGAS_PEER_TIMEOUT, and PE 1 is watched. If
// PE 1 had no CPU for half of that before it was struck, it is tried again with a longer one.
func losesPeerOf(t *testing.T, name, way, report, role string, silence time.Duration, strike func(*os.Process) error) {
	const tries = 8
	for try := 1; ; try++ {
		env := []string{"UCX_TLS=tcp", wayEnv + "=" + way}
		if silence > 0 {
			env = append(env, "PGAS_PEER_TIMEOUT="+silence.String())
		}
		f := startFamily(t, [2]string{"until lost: " + name, role}, false, env...)
		if _, err := f.await(t, "0 running"); err != nil {
			if longest := f.longestPause(t, silence); try < tries && longest > silence/2 {
				t.Logf("try %d: PE 1 had no CPU for %v", try, longest)
				silence *= 2
				continue
			}
			t.Fatal(err)
		}
		if err := strike(f.cmds[1].Process); err != nil {
			t.Fatal(err)
		}
		got, err := f.await(t, "0 lost")
		if try < tries && f.crashedInUCX(err, way) {
			t.Logf("try %d: UCX has crashed: %v", try, f.cmds[0].ProcessState)
			continue
		}
		if err != nil || !strings.HasPrefix(got, report) {
			t.Fatalf("lost%s: %v", got, err)
		}
		if err := f.cmds[0].Wait(); err != nil {
			t.Fatal(err)
		}
		return
	}
}

// longestPause returns for how long PE 1 had no CPU, at most, if it is watched. Its next report may have been on its
// way before, so the second one counts.
func (f *family) longestPause(t *testing.T, silence time.Duration) (longest time.Duration) {
	if silence == 0 {
		return 0
	}
	for range 2 {
		rest, err := f.await(t, "1 "+withoutCPU)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Sscan(rest, (*int64)(&longest))
	}
	return longest
}

// eachVictim runs test for every operation, for atomics also where the NIC is to execute them.
func eachVictim(t *testing.T, test func(t *testing.T, name, way string)) {
	for name := range victims {
		t.Run(name, func(t *testing.T) { test(t, name, "auto") })
		if strings.Contains(name, "atomic") {
			t.Run(name+" of the NIC", func(t *testing.T) { test(t, name, "nic") })
		}
	}
}

func TestPeerDies(t *testing.T) {
	eachVictim(t, func(t *testing.T, name, way string) {
		losesPeer(t, name, way, " 1: PE 1 on host h1: ", (*os.Process).Kill)
	})
}

func TestPeerStops(t *testing.T) {
	eachVictim(t, func(t *testing.T, name, way string) {
		stop := func(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
		losesPeerOf(t, name, way, " 1: PE 1 on host h1: it has not answered", "do nothing, watched", 300*time.Millisecond, stop)
	})
}

// Offsets of what the two PEs of TestTargetComputes share.
const (
	startOff  = doneOff + 192
	overOff   = doneOff + 256
	enoughOff = doneOff + 320
)

// enough is the number of gets that must be served while their target computes.
const enough = 100

// compute spins in Go, and in the garbage collector, without ever calling the transport, until enough of
// its memory has been read.
func compute(ctx context.Context, t *Transport, job *boot.Job, report func(string, ...any)) error {
	heap := job.Segment.Heap(0)
	for binary.NativeEndian.Uint64(heap[startOff:]) == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	sum := 0
	for binary.NativeEndian.Uint64(heap[enoughOff:]) == 0 && ctx.Err() == nil {
		for i := range 1 << 20 {
			sum += i ^ sum
		}
		runtime.GC()
	}
	binary.NativeEndian.PutUint64(heap[overOff:], 1)
	report("over %d", sum&1)
	<-ctx.Done()
	return nil
}

// getWhileItComputes reports how many gets it completed while PE 1 was computing.
func getWhileItComputes(ctx context.Context, t *Transport, job *boot.Job, report func(string, ...any)) error {
	c, err := t.Channel(true)
	if err != nil {
		return err
	}
	c.Post(1, transport.Set, transport.Word{Off: startOff, Bytes: 8}, 1)
	over := make([]byte, 8)
	for n := 0; ; n++ {
		if err := c.Get(ctx, 1, over, overOff); err != nil {
			return err
		}
		if binary.NativeEndian.Uint64(over) != 0 {
			report("got %d", n)
			return nil
		}
		if n == enough {
			c.Post(1, transport.Set, transport.Word{Off: enoughOff, Bytes: 8}, 1)
		}
	}
}

func TestTargetComputes(t *testing.T) {
	f := startFamily(t, [2]string{"get while it computes", "compute"}, false, "UCX_TLS=tcp")
	var n int
	if _, err := fmt.Sscanf(f.expect(t, "0 got"), "%d", &n); err != nil {
		t.Fatal(err)
	}
	if n < enough {
		t.Fatalf("only %d gets while the target computed", n)
	}
}

func TestUnusableTransport(t *testing.T) {
	t.Setenv("UCX_TLS", "nonsense")
	job := &boot.Job{NPEs: 1, Hosts: []boot.Host{{Name: "here", PEs: 1}}, Segment: boot.NewSegment(1, 1, 1<<20)}
	_, err := Open(t.Context(), job, Settings{})
	if err == nil || !strings.Contains(err.Error(), "UCX_TLS") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%v", err)
	}
}

func TestNoExchange(t *testing.T) {
	job := &boot.Job{NPEs: 2, Hosts: []boot.Host{{Name: "a", PEs: 1}, {Name: "b", First: 1, PEs: 1}}, Segment: boot.NewSegment(1, 1, 1<<20)}
	if _, err := Open(t.Context(), job, Settings{}); err == nil {
		t.Fatal("a job of two without an exchange was opened")
	}
}
