package sim_test

// How a simulated job behaves apart from what its operations cost: the same from run to run, with a report
// instead of a hang, with deaths, deadlines and second threads of control.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// busy does a bit of everything, as its PE's random numbers have it.
func busy(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[int64](ctx, w, 64)
	if err != nil {
		return err
	}
	n := uint64(w.NPEs())
	for range 30 {
		pe, i := int(w.Random()%n), int(w.Random()%32)
		switch w.Random() % 6 {
		case 0:
			words.Range(32, 64).Put(pe, words.Local()[:32])
		case 1:
			words.At(i).Get(pe)
		case 2:
			pgas.AtomicOf(words, i).Add(pe, 1)
		case 3:
			pgas.AtomicOf(words, i).CompareSwap(pe, 0, int64(w.PE()))
		case 4:
			w.Fence()
		default:
			if err := w.Quiet(ctx); err != nil {
				return err
			}
		}
	}
	team, err := w.Team().SplitColor(ctx, w.PE()%2, 0)
	if err != nil {
		return err
	}
	if err := team.Barrier(ctx); err != nil {
		return err
	}
	return pgas.SumReduce(ctx, w.Team(), words.Range(0, 8), words.Range(8, 16))
}

// TestDeterminism: the same seed gives the same trace, byte for byte, and another one another trace.
func TestDeterminism(t *testing.T) {
	for _, adversary := range []bool{false, true} {
		trace := func(seed uint64) []byte {
			var out bytes.Buffer
			cfg := sim.Config{Seed: seed, Adversary: adversary, Topology: machine, Trace: &out}
			if _, err := sim.Run(t.Context(), cfg, 13, busy); err != nil {
				t.Fatal(err)
			}
			return out.Bytes()
		}
		first, second, other := trace(1), trace(1), trace(2)
		if len(first) < 1000 || !bytes.Equal(first, second) {
			t.Errorf("adversary %v: two runs of one seed differ: %d and %d bytes of trace", adversary, len(first), len(second))
		}
		if bytes.Equal(first, other) {
			t.Errorf("adversary %v: another seed gives the same trace", adversary)
		}
	}
}

type row struct{ Before, Cell int64 }

// TestDeadlock: the report says what each PE waits for, and the steps before it name words as the program does.
func TestDeadlock(t *testing.T) {
	_, err := sim.Run(t.Context(), sim.Config{}, 3, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[row](ctx, w, 2)
		if err != nil {
			return err
		}
		if w.PE() == 1 {
			return w.Barrier(ctx) //pgasvet:ok tests the deadlock
		}
		word := pgas.FieldAtomic[int64](words.At(1), 8)
		word.Set(w.PE(), 5)
		_, err = word.WaitUntil(ctx, pgas.EQ, 7)
		return err
	})
	if !sim.IsDeadlock(err) {
		t.Fatalf("the run ended with %v", err)
	}
	steps := regexp.MustCompile(`PE 0 #\d+ has PE 0: set 5 at 16777240 \(row\[1\]\.Cell\), which was 0`)
	if !steps.MatchString(err.Error()) {
		t.Errorf("the steps do not name the word: %v", err)
	}
	for _, want := range []string{"PE 0 waits for row[1].Cell (offset 0x1000018), which is 5", "PE 1 is in barrier", "PE 2 waits for row[1].Cell (offset 0x1000018)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the report does not say %q:\n%v", want, err)
		}
	}
}

// TestMismatch: PEs in different collectives find out, in place of a deadlock.
func TestMismatch(t *testing.T) {
	_, err := sim.Run(t.Context(), sim.Config{}, 4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 8)
		if err != nil {
			return err
		}
		if w.PE() == 3 {
			return pgas.SumReduce(ctx, w.Team(), words.Range(0, 2), words.Range(4, 6)) //pgasvet:ok tests the mismatch
		}
		return pgas.Broadcast(ctx, w.Team(), words.Range(0, 2), words.Range(4, 6), 0)
	})
	var mismatch *pgas.MismatchError
	if !errors.As(err, &mismatch) {
		t.Fatalf("the run ended with %v", err)
	}
}

// TestUsageErrors: misuse is a failure of the run that names the PE.
func TestUsageErrors(t *testing.T) {
	_, err := sim.Run(t.Context(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		if w.PE() == 1 {
			words.At(0).Put(2, 1)
		}
		return nil
	})
	var usage *pgas.UsageError
	var failure *sim.Failure
	if !errors.As(err, &usage) || !errors.As(err, &failure) || failure.PE != 1 {
		t.Fatalf("the run ended with %v", err)
	}
}

// TestDeath: every wait for a PE that has died ends with an error that names it, two seconds later at the most.
func TestDeath(t *testing.T) {
	const victim, at = 2, 5 * time.Millisecond
	for name, wait := range map[string]func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error{
		"barrier": func(ctx context.Context, w *pgas.World, _ pgas.Sym[int64]) error { return w.Barrier(ctx) },
		"word": func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			_, err := pgas.AtomicOf(words, 0).WaitUntil(ctx, pgas.NE, 0)
			return err
		},
		"quiet": func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			if err := w.Sleep(ctx, 2*at); err != nil {
				return err
			}
			words.At(0).Put(victim, 1)
			return w.Quiet(ctx)
		},
		"fenced puts": func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			for i := int64(0); ; i++ { // some are held back by a fence when the victim dies
				words.At(0).Put(victim, i)
				w.Fence()
				if i%50 == 49 {
					if err := w.Quiet(ctx); err != nil {
						return err
					}
				}
			}
		},
		"atomic": func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			for {
				pgas.AtomicOf(words, 0).FetchAdd(victim, 1)
			}
		},
		"sleep": func(ctx context.Context, w *pgas.World, _ pgas.Sym[int64]) error { return w.Sleep(ctx, time.Hour) },
		"atomic after the news": func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			if err := w.Sleep(ctx, time.Second); err == nil {
				return errors.New("it slept on")
			}
			pgas.AtomicOf(words, 0).FetchAdd(victim, 1)
			return nil
		},
	} {
		for _, adversary := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/adversary=%v", name, adversary), func(t *testing.T) {
				told := make([]time.Duration, 4)
				cfg := sim.Config{Adversary: adversary, Deaths: []sim.Death{{PE: victim, At: at}}}
				_, err := sim.Run(t.Context(), cfg, len(told), func(ctx context.Context, w *pgas.World) error {
					words, err := pgas.Alloc[int64](ctx, w, 1)
					if err != nil {
						return err
					}
					if w.PE() == victim {
						err := w.Sleep(ctx, time.Hour)
						return fmt.Errorf("the dead speak: %v", err)
					}
					err = caught(func() error { return wait(ctx, w, words) })
					var peer *pgas.PeerError
					if !errors.As(err, &peer) || peer.PE != victim {
						return fmt.Errorf("the wait ended with %v", err)
					}
					told[w.PE()] = w.Now()
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for pe, d := range told {
					if pe != victim && (d < at || d > at+2*time.Second) {
						t.Errorf("PE %d was told at %v", pe, d)
					}
				}
			})
		}
	}
}

// caught turns a panic with a *pgas.PeerError into an error.
func caught(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			peer, ok := p.(*pgas.PeerError)
			if !ok {
				panic(p)
			}
			err = peer
		}
	}()
	return f()
}

// TestTimeouts: deadlines of the virtual clock end waits at their time; those of the real one end a wait when
// nothing else can.
func TestTimeouts(t *testing.T) {
	r, err := sim.Run(t.Context(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		start := w.Now()
		until, cancel := w.WithTimeout(ctx, 3*time.Hour)
		defer cancel()
		if _, err = pgas.AtomicOf(words, 0).WaitUntil(until, pgas.NE, 0); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(until.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("the wait ended with %v", err)
		}
		if d := w.Now() - start; d != 3*time.Hour {
			return fmt.Errorf("the wait took %v", d)
		}
		real, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if _, err = pgas.AtomicOf(words, 0).WaitUntil(real, pgas.NE, 0); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the wait with a real deadline ended with %v", err)
		}
		ended, end := context.WithCancel(ctx)
		end()
		if _, err = pgas.AtomicOf(words, 0).WaitUntil(ended, pgas.NE, 0); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the wait with an ended context ended with %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Time < 3*time.Hour {
		t.Errorf("the run took %v", r.Time)
	}
}

// TestCancelByAnother: a context that another PE ends ends a wait.
func TestCancelByAnother(t *testing.T) {
	var cancel context.CancelFunc
	_, err := sim.Run(t.Context(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		if w.PE() == 1 {
			if err := w.Sleep(ctx, time.Second); err != nil {
				return err
			}
			cancel()
			return nil
		}
		ctx, cancel = context.WithCancel(ctx)
		if _, err = pgas.AtomicOf(words, 0).WaitUntil(ctx, pgas.NE, 0); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the wait ended with %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestExploreCancelByAnother: a context that another PE ends, at any moment, ends a wait, whatever the wait was
// for.
func TestExploreCancelByAnother(t *testing.T) {
	for _, reduce := range []bool{false, true} {
		var cancel context.CancelFunc
		ends := map[string]bool{}
		_, err := sim.Explore(t.Context(), sim.Config{Reduce: reduce}, 2, func(ctx context.Context, w *pgas.World) error {
			words, err := pgas.Alloc[int64](ctx, w, 1)
			if err != nil {
				return err
			}
			word := pgas.AtomicOf(words, 0)
			if w.PE() == 0 {
				ctx, cancel = context.WithCancel(ctx)
			}
			sim.Start(ctx)
			if w.PE() == 1 {
				word.Set(0, 1)
				w.Yield()
				sim.Shares(ctx)
				cancel()
				return nil
			}
			for i := int64(1); ; i++ {
				if _, err = word.WaitUntil(ctx, pgas.EQ, i); err != nil {
					ends[fmt.Sprint(i, errors.Is(err, context.Canceled))] = true
					return nil
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]bool{"1 true": true, "2 true": true}; !maps.Equal(ends, want) {
			t.Errorf("reduce %t: the waits ended as %v, want %v", reduce, ends, want)
		}
	}
}

// TestNonBlocking: a non-blocking collective is a second thread of control of its PE.
func TestNonBlocking(t *testing.T) {
	for _, cfg := range []sim.Config{{}, {Adversary: true}} {
		_, err := sim.Run(t.Context(), cfg, 5, func(ctx context.Context, w *pgas.World) error {
			words, err := pgas.Alloc[int64](ctx, w, 4)
			if err != nil {
				return err
			}
			words.Local()[0] = int64(w.PE())
			words.Local()[1] = 1
			a := pgas.SumReduceNB(ctx, w.Team(), words.Range(2, 3), words.Range(0, 1))
			b := pgas.SumReduceNB(ctx, w.Team(), words.Range(3, 4), words.Range(1, 2))
			for {
				if over, err := b.Test(); over {
					if err != nil {
						return err
					}
					break
				}
			}
			if err := a.Wait(ctx); err != nil {
				return err
			}
			if got := words.Local()[2:]; !slices.Equal(got, []int64{10, 5}) {
				return fmt.Errorf("the sums are %v", got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestMachine: what a program is told of the simulated machine.
func TestMachine(t *testing.T) {
	_, err := sim.Run(t.Context(), sim.Config{Topology: machine}, 10, func(ctx context.Context, w *pgas.World) error {
		tree, err := w.Topology(ctx)
		if err != nil {
			return err
		}
		if got, want := fmt.Sprint(tree.Names()), "[machine rack host numa]"; got != want {
			return fmt.Errorf("the levels are %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(w.Hosts()), "[host0 host1 host2]"; got != want || w.HostOf(7) != "host1" {
			return fmt.Errorf("the hosts are %s, want %s; PE 7 is on %s", got, want, w.HostOf(7))
		}
		host, err := w.Team().SplitLevel(ctx, "host")
		if err != nil {
			return err
		}
		if want := min(4, 10-w.PE()/4*4); host.NPEs() != want {
			return fmt.Errorf("the host has %d PEs, want %d", host.NPEs(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEndlessRun: a run that does not end is ended.
func TestEndlessRun(t *testing.T) {
	forever := func(_ context.Context, w *pgas.World) error {
		for {
			w.Yield()
		}
	}
	if _, err := sim.Run(t.Context(), sim.Config{MaxEvents: 100_000}, 2, forever); err == nil || !strings.Contains(err.Error(), "livelock") {
		t.Errorf("the run ended with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sim.Run(ctx, sim.Config{}, 2, forever); !errors.Is(err, context.Canceled) {
		t.Errorf("the run ended with %v", err)
	}
}

func TestBadConfigs(t *testing.T) {
	for _, c := range []struct {
		cfg  sim.Config
		npes int
		want string
	}{
		{sim.Config{}, 0, "0 PEs"},
		{sim.Config{Topology: "host:x"}, 2, "host:x"},
		{sim.Config{Topology: "core,host:2"}, 2, "core"},
		{sim.Config{Deaths: []sim.Death{{PE: 2}}}, 2, "PE 2"},
	} {
		_, err := sim.Run(t.Context(), c.cfg, c.npes, counter)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v with %d PEs: %v, want something about %q", c.cfg, c.npes, err, c.want)
		}
	}
	if err := sim.Replay(t.Context(), sim.Config{}, 2, "0.x", counter); err == nil {
		t.Error("a schedule that is none was accepted")
	}
}

// TestLockDeadlines: the lock of the specification, with a waiter that gives up and a proxy for its place in the queue.
func TestLockDeadlines(t *testing.T) {
	for seed := range uint64(20) {
		inside, given := 0, 0
		cfg := sim.Config{Seed: seed, Adversary: seed > 0}
		_, err := sim.Run(t.Context(), cfg, 4, func(ctx context.Context, w *pgas.World) error {
			locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
			if err != nil {
				return err
			}
			lock := pgas.LockOf(locks, 0)
			for range 5 {
				until, cancel := w.WithTimeout(ctx, time.Duration(w.Random()%100)*time.Microsecond)
				err := lock.Lock(until)
				cancel()
				if errors.Is(err, context.DeadlineExceeded) {
					given++
					continue
				}
				if err != nil {
					return err
				}
				if inside++; inside > 1 {
					return errTwoInside
				}
				if err := w.Sleep(ctx, 20*time.Microsecond); err != nil {
					return err
				}
				inside--
				if err := lock.Unlock(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if given == 0 {
			t.Errorf("seed %d: no PE gave up", seed)
		}
	}
}

// TestExploreLock: the lock of the specification, in every order, and with a deadline that may pass at any
// time.
func TestExploreLock(t *testing.T) {
	for _, deadline := range []bool{false, true} {
		inside := 0
		e, err := sim.Explore(t.Context(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
			inside = 0
			locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
			if err != nil {
				return err
			}
			lock := pgas.LockOf(locks, 0)
			sim.Start(ctx)
			if deadline && w.PE() == 1 {
				var cancel context.CancelFunc
				ctx, cancel = w.WithTimeout(ctx, time.Second)
				defer cancel()
			}
			if err := lock.Lock(ctx); err != nil {
				if errors.Is(err, context.DeadlineExceeded) {
					err = nil
				}
				return err
			}
			if inside++; inside > 1 {
				return errTwoInside
			}
			w.Yield()
			inside--
			return lock.Unlock()
		})
		t.Logf("deadline %v: %+v", deadline, e)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDelays: a delayed PE goes on later where it was, and the other PEs wait for it.
func TestDelays(t *testing.T) {
	const late = 7 * time.Millisecond
	cfg := sim.Config{Delays: []sim.Delay{{PE: 1, At: time.Millisecond, For: late}}}
	r, err := sim.Run(t.Context(), cfg, 3, func(ctx context.Context, w *pgas.World) error {
		for range 1000 {
			if err := w.Sync(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Time < time.Millisecond+late || r.Time > 10*time.Millisecond+late {
		t.Errorf("the run took %v", r.Time)
	}
}

// TestExploreDeath: a PE dies at any moment while it holds a lock or waits for it. The other gets the lock or
// an error that names the dead one.
func TestExploreDeath(t *testing.T) {
	for _, die := range []int{0, 1} {
		errors_, locked := 0, 0
		e, err := sim.Explore(t.Context(), sim.Config{Deaths: []sim.Death{{PE: die}}}, 2, func(ctx context.Context, w *pgas.World) error {
			locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
			if err != nil {
				return err
			}
			lock := pgas.LockOf(locks, 0)
			sim.Start(ctx)
			err = caught(func() error {
				if err := lock.Lock(ctx); err != nil {
					return err
				}
				locked++
				return lock.Unlock()
			})
			var peer *pgas.PeerError
			if errors.As(err, &peer) && peer.PE == die && w.PE() != die {
				errors_++
				return nil
			}
			return err
		})
		t.Logf("PE %d dies: %+v, %d times an error", die, e, errors_)
		if err != nil {
			t.Fatal(err)
		}
		if errors_ == 0 || locked == 0 {
			t.Errorf("PE %d dies: %d times an error, %d times the lock", die, errors_, locked)
		}
	}
}
