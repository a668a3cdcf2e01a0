package blame

// A loss is told to every goroutine whose operation it took: goroutines that share a context issue operations on a PE
// that dies, and each has its own quiet.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/ucx"
)

// lossVar is set in the PEs of a job that loses its last PE: a number of goroutines, and the name of an operation.
const lossVar = "BLAME_LOSS"

const (
	lossWords      = 40 // that an operation moves
	lossGoroutines = 4  // at most
)

// loser has what the goroutines of a PE share.
type loser struct {
	w      *pgas.World
	c      *pgas.Context
	all    pgas.Sym[uint64] // on each PE: the pattern, and behind it a place for each goroutine of each PE
	victim int
	dead   atomic.Bool // the death is known
}

// patternWord is what each PE has in word k.
func patternWord(k int) uint64 { return uint64(7*k + 1) }

// pattern returns the words with the pattern.
func (l *loser) pattern() pgas.Slice[uint64] { return l.all.On(l.c).Range(0, lossWords) }

// place returns the words that goroutine i of this PE puts.
func (l *loser) place(i int) pgas.Slice[uint64] {
	at := (1 + l.w.PE()*lossGoroutines + i) * lossWords
	return l.all.On(l.c).Range(at, at+lossWords)
}

// lossy is an operation on the victim, of a goroutine with a buffer of its own.
type lossy struct {
	name  string
	puts  bool // the buffer is its source
	step  int  // every step-th word is moved
	issue func(l *loser, i int, buf []uint64)

	notifies bool // it waits for room at the victim, and that any PE is dead ends such a wait
}

var lossies = []lossy{
	{"get", false, 1, func(l *loser, _ int, buf []uint64) { l.pattern().GetNB(l.victim, buf) }, false},
	{"strided get", false, 2, func(l *loser, _ int, buf []uint64) { l.pattern().IGetNB(l.victim, buf, 2, 2, lossWords/2) }, false},
	{"notified get", false, 1, func(l *loser, _ int, buf []uint64) { l.pattern().GetNotifyNB(l.victim, buf, 1) }, true},
	{"get beside one that blocks", false, 1, func(l *loser, i int, buf []uint64) {
		l.pattern().GetNB(l.victim, buf)
		if i%2 == 1 {
			l.all.On(l.c).At(0).Get(l.victim)
		}
	}, false},
	{"fetch", false, 1, func(l *loser, _ int, buf []uint64) { pgas.AtomicsOf(l.pattern()).FetchNB(l.victim, buf) }, false},
	{"put", true, 1, func(l *loser, i int, buf []uint64) { l.place(i).Put(l.victim, buf) }, false},
	{"put without a copy", true, 1, func(l *loser, i int, buf []uint64) { l.place(i).PutNB(l.victim, buf) }, false},
	{"strided put", true, 2, func(l *loser, i int, buf []uint64) { l.place(i).IPut(l.victim, buf, 2, 2, lossWords/2) }, false},
	{"notified put", true, 1, func(l *loser, i int, buf []uint64) { l.place(i).PutNotify(l.victim, buf, 1) }, true},
}

// try issues the operation for goroutine i, and waits with quiet. It returns the loss that it is told of. Its error
// says that it was told of none, although the operation was not complete, or of another one.
func (l *loser) try(op lossy, i int, buf []uint64, quiet func() error) (told bool, err error) {
	clear(buf)
	n := rand.Uint64() | 1
	for k := range buf {
		if op.puts {
			buf[k] = n + uint64(k)
		}
	}
	return l.judge(op, i, buf, l.guard(func() error {
		op.issue(l, i, buf)
		return quiet()
	}))
}

// guard returns the error of f, also one with which f panics, as a blocking get does.
func (l *loser) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = l.w.Recovered(p); err == nil {
				panic(p)
			}
		}
	}()
	return f()
}

// judge is try after the quiet, which has returned err.
func (l *loser) judge(op lossy, i int, buf []uint64, err error) (told bool, _ error) {
	if peer, ok := errors.AsType[*pgas.PeerError](err); ok && peer.PE == l.victim {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	got, want := slices.Clone(buf), patternWord
	if op.puts {
		want = func(k int) uint64 { return buf[k] }
		if lost := l.guard(func() error { l.place(i).Get(l.victim, got); return nil }); lost != nil {
			return true, nil // it has died since the quiet
		}
	}
	for k := 0; k < lossWords; k += op.step {
		if got[k] != want(k) {
			return false, fmt.Errorf("goroutine %d: %s: a quiet returns nil, and word %d is %d instead of %d", i, op.name, k, got[k], want(k))
		}
	}
	return false, nil
}

// mustTell returns an error if goroutine i was not told of a loss though the victim is dead, unless its memory is this
// host's, where the operation was carried out.
func (l *loser) mustTell(i int, op lossy, told bool) error {
	if told || l.w.HostOf(l.victim) == l.w.HostOf(l.w.PE()) {
		return nil
	}
	return fmt.Errorf("goroutine %d: %s: a quiet returns nil for an operation on a dead PE", i, op.name)
}

// lose has goroutines of this PE issue op on the victim until that is dead, each with its own quiets, and then once
// more.
func (l *loser) lose(ctx context.Context, op lossy, goroutines int) error {
	group := l.w.Go(ctx, func(ctx context.Context) error {
		_, err := pgas.AtomicOf(l.all, 0).WaitUntil(ctx, pgas.EQ, 0)
		l.dead.Store(true)
		if _, ok := errors.AsType[*pgas.PeerError](err); ok {
			return nil
		}
		return err
	})
	for i := range goroutines {
		group.Go(func(ctx context.Context) error {
			buf := make([]uint64, lossWords)
			for {
				known := l.dead.Load()
				told, err := l.try(op, i, buf, func() error { return l.c.Quiet(ctx) })
				if known && err == nil {
					err = l.mustTell(i, op, told)
				}
				if err != nil || known {
					return err
				}
			}
		})
	}
	return errors.Join(group.Wait(), l.loseInTurn(ctx, op, goroutines))
}

// loseInTurn issues op for each goroutine before the first of their quiets, on a context of its own.
func (l *loser) loseInTurn(ctx context.Context, op lossy, goroutines int) error {
	var err error
	if l.c, err = l.w.NewContext(); err != nil {
		return err
	}
	bufs := make([][]uint64, goroutines)
	for i := range bufs {
		bufs[i] = make([]uint64, lossWords)
		l.try(op, i, bufs[i], func() error { return nil })
	}
	for i, buf := range bufs {
		for _, quiet := range []func() error{
			func() error { return l.c.QuietPE(ctx, l.victim) },
			func() error { return l.c.Quiet(ctx) },
			func() error { return l.guard(func() error { l.c.MustQuiet(); return nil }) },
		} {
			told, err := l.judge(op, i, buf, quiet())
			if err := errors.Join(err, l.mustTell(i, op, told)); err != nil {
				return err
			}
		}
	}
	if err := l.c.QuietPE(ctx, l.w.PE()); err != nil && !op.notifies {
		return fmt.Errorf("the loss of one PE is told of another: %w", err)
	}
	return nil
}

// losesVictim is a PE of a job that loses its last PE. The victim calls die and waits for it.
func losesVictim(ctx context.Context, w *pgas.World, op lossy, goroutines int, die func()) error {
	l := &loser{w: w, c: w.Context(), victim: w.NPEs() - 1}
	var err error
	if l.all, err = pgas.Alloc[uint64](ctx, w, lossWords*(1+lossGoroutines*w.NPEs())); err != nil {
		return err
	}
	for k := range lossWords {
		l.all.Local()[k] = patternWord(k)
	}
	err = w.Barrier(ctx)
	if peer, ok := errors.AsType[*pgas.PeerError](err); ok && peer.PE == l.victim {
		return nil // it has died before all were here
	}
	if err != nil {
		return err
	}
	if w.PE() == l.victim {
		die()
		_, err := pgas.AtomicOf(l.all, 0).WaitUntil(ctx, pgas.EQ, 0)
		return err
	}
	return l.lose(ctx, op, goroutines)
}

// beLoser runs a PE of a job of TestLostOperations, and prints what a survivor has found.
func beLoser(in string) {
	var goroutines int
	number, name, _ := strings.Cut(in, " ")
	fmt.Sscan(number, &goroutines)
	op := lossies[slices.IndexFunc(lossies, func(op lossy) bool { return op.name == name })]
	ctx := context.Background()
	w, err := pgas.Init(ctx)
	if err == nil {
		err = losesVictim(ctx, w, op, goroutines, func() {
			time.AfterFunc(time.Duration(2+rand.IntN(20))*time.Millisecond, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		})
	}
	if err != nil {
		fmt.Printf("not told: %v\n", err)
		os.Exit(1)
	}
	fmt.Println("all were told")
	os.Exit(0)
}

// TestLostOperations kills a PE on which two and four goroutines of each other PE have operations.
func TestLostOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many jobs")
	}
	t.Run("one host", func(t *testing.T) {
		loseAll(t, []boot.Host{{Name: launch.Local, PEs: 3}}, "PGAS_STATS=1")
		if ucx.Available {
			t.Run("atomics by the NIC", func(t *testing.T) { loseAll(t, []boot.Host{{Name: launch.Local, PEs: 3}}, "PGAS_AMO=nic") })
		}
	})
	hosts := pgastest.NewHosts(t, 2)
	two := []boot.Host{{Name: hosts.Names[0], PEs: 2}, {Name: hosts.Names[1], PEs: 1}}
	for _, env := range []string{"PGAS_RMA=auto", "PGAS_RMA=native", "PGAS_AMO=nic", "PGAS_STATS=1"} {
		t.Run("two hosts "+env, func(t *testing.T) { loseAll(t, two, env) })
	}
}

// loseAll runs jobs of each operation.
func loseAll(t *testing.T, hosts []boot.Host, env string) {
	for _, op := range lossies {
		for _, goroutines := range []int{2, lossGoroutines} {
			t.Run(fmt.Sprintf("%s of %d goroutines", op.name, goroutines), func(t *testing.T) {
				loseOnce(t, hosts, fmt.Sprintf("%s=%d %s", lossVar, goroutines, op.name), env)
			})
		}
	}
}

// crashes is in the report or the output of a job in which UCX has crashed a PE that lost another.
var crashes = regexp.MustCompile(`failed too: it was killed by signal|Caught signal|SIGABRT|SIGSEGV|Assertion .params->memh`)

// loseOnce runs a job, and again where UCX has ended a survivor.
func loseOnce(t *testing.T, hosts []boot.Host, env ...string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const tries = 8
	for try := 1; ; try++ {
		res, out, err := runOf(t, launch.Spec{
			Hosts: slices.Clone(hosts), Program: self, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self},
			Env: append(slices.Clone(env), "PGAS_HEAP_MAX=32m", "PGAS_PEER_TIMEOUT=3s", "GOTRACEBACK=single"), KeepGoing: true,
		})
		crashed := slices.Contains(env, "PGAS_AMO=nic") && crashes.MatchString(fmt.Sprint(res.First, out)) // docs/packages/ucx.md
		if try < tries && (ucxAborts.Match(out.Bytes()) || crashed) {
			t.Logf("UCX has ended a PE that lost another: tried again\n%.300s", out)
			continue
		}
		if told := strings.Count(out.String(), "all were told"); err != nil || told != 2 {
			t.Fatalf("%v, %v: %d of 2 survivors were told of each loss:\n%s", err, res.First, told, out)
		}
		return
	}
}

// TestLostOperationsSimulated is TestLostOperations in the simulator.
func TestLostOperationsSimulated(t *testing.T) {
	seeds := map[bool]uint64{false: 50, true: 5}[testing.Short()]
	for _, op := range lossies {
		t.Run(op.name, func(t *testing.T) {
			for seed := range seeds {
				r := rand.New(rand.NewPCG(seed, 1))
				npes, goroutines := 2+r.IntN(3), 2+r.IntN(lossGoroutines-1)
				cfg := sim.Config{
					Seed: seed, Adversary: seed%2 == 1, HeapMax: 4 << 20, MaxEvents: 5_000_000,
					Deaths:    []sim.Death{{PE: npes - 1, At: time.Duration(50_000 + r.IntN(200_000))}},
					Detection: time.Duration(r.IntN(200_000)),
				}
				_, err := sim.Run(t.Context(), cfg, npes, func(ctx context.Context, w *pgas.World) error {
					return losesVictim(ctx, w, op, goroutines, func() {})
				})
				if peer, ok := errors.AsType[*pgas.PeerError](err); err != nil && !(ok && peer.PE == npes-1) {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}
