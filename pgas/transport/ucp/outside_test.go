//go:build cgo

package ucp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/ucx/engine/outsidetest"
)

// What the thread of a PE reads of the other one.
const (
	outsideData  = dataOff
	outsideBytes = 5 << 20 // more than a lane asks for at a time
	outsideWord  = dataOff + outsideBytes
)

func init() {
	roles["outside: rounds"] = func(ctx context.Context, t *Transport, job *boot.Job, report func(string, ...any)) error {
		return outsideRounds(ctx, t, job, report)
	}
	roles["outside: until lost"] = func(ctx context.Context, t *Transport, job *boot.Job, report func(string, ...any)) error {
		return outsideUntilLost(ctx, t, job, outsidetest.Work{}, report)
	}
	roles["outside: all of it until lost"] = func(ctx context.Context, t *Transport, job *boot.Job, report func(string, ...any)) error {
		return outsideUntilLost(ctx, t, job, outsidetest.Work{Whole: true}, report)
	}
}

// startThread fills the data of this PE and, when the other has done so too, starts a thread that reads it as work
// says.
func startThread(ctx context.Context, t *Transport, job *boot.Job, work outsidetest.Work) (*outsidetest.Thread, func() error, error) {
	outsidetest.Fill(job.Segment.Heap(0)[outsideData:][:outsideBytes], job.PE)
	if err := job.Exchange.Fence(ctx); err != nil {
		return nil, nil, err
	}
	other := 1 - job.PE
	way, end, err := t.Outside([]int{other})
	if err != nil {
		return nil, nil, err
	}
	work.Address, work.PE, work.Data, work.Bytes, work.Word = way, other, outsideData, outsideBytes, outsideWord
	thread, err := outsidetest.Start(work)
	return thread, end, err
}

// outsideRounds has a thread read the other PE while Go collects garbage, and so stops the world, and uses channels of
// its own. GOMAXPROCS may be 1: the thread does not need Go.
func outsideRounds(ctx context.Context, t *Transport, job *boot.Job, report func(string, ...any)) error {
	const rounds = 200
	thread, end, err := startThread(ctx, t, job, outsidetest.Work{Rounds: rounds})
	if err != nil {
		return err
	}
	c, err := t.Channel(true)
	if err != nil {
		return err
	}
	for mine := []byte(nil); thread.Rounds() < rounds && ctx.Err() == nil; {
		mine = append(mine[:0], make([]byte, 64<<10)...)
		runtime.GC()
		if err := c.Get(ctx, 1-job.PE, mine, outsideData); err != nil {
			return err
		}
	}
	result, err := thread.Wait(ctx)
	if err := errors.Join(err, end(), end(), c.Close()); err != nil {
		return err
	}
	if result != (outsidetest.Result{Rounds: rounds}) {
		return fmt.Errorf("the thread has done %+v", result)
	}
	if err := job.Exchange.Fence(ctx); err != nil { // the other PE's thread needs this one until then
		return err
	}
	report("done")
	return nil
}

// outsideUntilLost has a thread read the other PE until a call fails, and reports that.
func outsideUntilLost(ctx context.Context, t *Transport, job *boot.Job, work outsidetest.Work, report func(string, ...any)) error {
	thread, end, err := startThread(ctx, t, job, work)
	if err != nil {
		return err
	}
	for thread.Rounds() < 3 && ctx.Err() == nil {
		runtime.Gosched()
	}
	report("running")
	shown := whatIsShown(ctx, job, thread)
	result, err := thread.Wait(ctx)
	if err != nil {
		return err
	}
	if left := job.Segment.States[0].Blocked.Op.Load(); left != uint32(boot.NotBlocked) {
		return fmt.Errorf("blocked in %v after the end", boot.BlockedOp(left))
	}
	report("lost=%t wrong=%d%s", result.Lost, result.Wrong, shown)
	var lost *transport.PeerError
	c, err := t.Channel(true)
	if err != nil {
		return err
	}
	if err := c.Get(ctx, 1-job.PE, make([]byte, 8), outsideData); !errors.As(err, &lost) {
		return fmt.Errorf("a get of Go from the lost PE: %v", err)
	}
	return errors.Join(end(), c.Close())
}

// whatIsShown returns what this PE was blocked in as reports see it, until the thread had ended.
func whatIsShown(ctx context.Context, job *boot.Job, thread *outsidetest.Thread) (shown string) {
	b := &job.Segment.States[0].Blocked
	for !thread.Ended() && ctx.Err() == nil {
		if op := boot.BlockedOp(b.Op.Load()); op != boot.NotBlocked {
			shown = fmt.Sprintf(" in %v, waiting for PE %d", op, b.Peer.Load())
		}
		time.Sleep(time.Millisecond)
	}
	return shown
}

func init() {
	roles["outside: data"] = func(ctx context.Context, _ *Transport, job *boot.Job, _ func(string, ...any)) error {
		outsidetest.Fill(job.Segment.Heap(0)[outsideData:][:outsideBytes], job.PE)
		if err := job.Exchange.Fence(ctx); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

// TestOutside: two PEs whose threads read each other finish with the right data while Go stops the world again and
// again, with one processor of Go and with two, over messages and over UCX's own operations.
func TestOutside(t *testing.T) {
	for _, c := range []struct{ way, procs string }{{"auto", "1"}, {"auto", "2"}, {"native", "1"}, {"nic", "1"}} {
		t.Run(c.way+" on "+c.procs, func(t *testing.T) {
			both := [2]string{"outside: rounds", "outside: rounds"}
			f := startFamily(t, both, false, "UCX_TLS=tcp", wayEnv+"="+c.way, "GOMAXPROCS="+c.procs)
			f.expect(t, "0 done") // after a fence, which PE 1 reaches with the right data only
		})
	}
}

// TestOutsideLosesPeer: the call of a thread ends with -1 when its peer is killed, or does not answer. Until then
// reports show what the thread is blocked in, also where a lane asks for the data in parts.
func TestOutsideLosesPeer(t *testing.T) {
	const shown = " in a page fault of coherent memory, waiting for PE 1"
	for _, c := range []struct {
		name   string
		signal os.Signal
		way    string
		role   string
		shown  string
	}{
		{"killed auto", os.Kill, "auto", "outside: until lost", ""},
		{"killed native", os.Kill, "native", "outside: until lost", ""},
		{"stopped auto", syscall.SIGSTOP, "auto", "outside: until lost", shown},
		{"stopped auto in parts", syscall.SIGSTOP, "auto", "outside: all of it until lost", shown},
		// a get of UCX's own returns to the channel when it is over
		{"stopped native", syscall.SIGSTOP, "native", "outside: until lost", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := startFamily(t, [2]string{c.role, "outside: data"}, false,
				"UCX_TLS=tcp", wayEnv+"="+c.way, "PGAS_PEER_TIMEOUT=1s", "GOMAXPROCS=1")
			f.expect(t, "0 running")
			if err := f.cmds[1].Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			want := "true wrong=0" + c.shown
			if got := f.expect(t, "0 lost="); !strings.HasPrefix(got, want) {
				t.Fatalf("lost=%s, want %s", got, want)
			}
			if err := f.cmds[0].Wait(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
