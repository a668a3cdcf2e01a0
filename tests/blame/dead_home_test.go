package blame

// A dead home: calls that wait for nothing at a PE that has died must end with an error, also where its memory outlives
// it, because it is of the same host.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/arena"
	"github.com/gopgas/gopgas/coherent"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// homeVar is set in the PEs of a job in which one dies: the name of a use of its memory.
const homeVar = "BLAME_DEAD_HOME"

// deadHome is the PE that dies.
const deadHome = 1

// A homeUse prepares something at deadHome, and returns one round of work with it that no other PE takes part in. All
// PEs do rounds until a round fails.
type homeUse func(ctx context.Context, w *pgas.World) (round func() error, err error)

// lockAt returns a lock whose home is deadHome.
func lockAt(ctx context.Context, w *pgas.World) (pgas.LockRef, error) {
	all, err := pgas.Alloc[pgas.Lock](ctx, w, 100)
	for i := 0; err == nil; i++ {
		if l := pgas.LockOf(all, i); l.Home() == deadHome {
			return l, nil
		}
	}
	return pgas.LockRef{}, err
}

// inMutex returns rounds that each hold a mutex of a region while f runs with an array in it.
func inMutex(f func(a *coherent.Array[int64])) homeUse {
	return func(ctx context.Context, w *pgas.World) (func() error, error) {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Mode: dsm.Soft})
		if err != nil {
			return nil, err
		}
		a, err := coherent.New[int64](ctx, w, r, 4096)
		if err != nil {
			return nil, err
		}
		state, err := locks.AllocDMCSState(ctx, w, 1)
		if err != nil {
			return nil, err
		}
		mutex, err := dsm.NewMutex(ctx, r, locks.NewDMCS(w, state.At(0), locks.DMCSOptions{Home: deadHome}), 0)
		return func() error {
			if err := mutex.Lock(ctx); err != nil {
				return err
			}
			f(a)
			mutex.Unlock()
			return nil
		}, err
	}
}

// locking returns rounds that each hold a lock of the package locks, which alloc makes.
func locking[L locks.Lock](alloc func(context.Context, *pgas.World) (L, error)) homeUse {
	return func(ctx context.Context, w *pgas.World) (func() error, error) {
		l, err := alloc(ctx, w)
		return func() error {
			if err := l.Lock(ctx); err != nil {
				return err
			}
			l.Unlock()
			return nil
		}, err
	}
}

// sharing is locking for readers.
func sharing[L locks.RWLock](alloc func(context.Context, *pgas.World) (L, error)) homeUse {
	return func(ctx context.Context, w *pgas.World) (func() error, error) {
		l, err := alloc(ctx, w)
		return func() error {
			if err := l.RLock(ctx); err != nil {
				return err
			}
			l.RUnlock()
			return nil
		}, err
	}
}

func spinAtHome(ctx context.Context, w *pgas.World) (*locks.SpinRW, error) {
	return locks.AllocSpinRW(ctx, w, locks.SpinOptions{Home: deadHome})
}

func dmcsAtHome(ctx context.Context, w *pgas.World) (*locks.DMCS, error) {
	return locks.AllocDMCS(ctx, w, locks.DMCSOptions{Home: deadHome})
}

func alockAtHome(ctx context.Context, w *pgas.World) (*locks.ALock, error) {
	return locks.AllocALock(ctx, w, locks.ALockOptions{Home: deadHome})
}

func ncosedAtHome(ctx context.Context, w *pgas.World) (*locks.NCoSED, error) {
	return locks.AllocNCoSED(ctx, w, locks.NCoSEDOptions{Home: deadHome})
}

func tree(ctx context.Context, w *pgas.World) (*locks.RMARW, error) {
	return locks.AllocRMARW(ctx, w, locks.RMARWOptions{})
}

var homeUses = map[string]homeUse{
	"spin lock":            locking(spinAtHome),
	"spin lock, shared":    sharing(spinAtHome),
	"D-MCS lock":           locking(dmcsAtHome),
	"ALock":                locking(alockAtHome),
	"N-CoSED lock":         locking(ncosedAtHome),
	"N-CoSED lock, shared": sharing(ncosedAtHome),
	"RMA-RW lock":          locking(tree),
	"RMA-RW lock, shared":  sharing(tree),
	"Lock of one PE": func(ctx context.Context, w *pgas.World) (func() error, error) {
		l, err := lockAt(ctx, w)
		return func() error {
			if w.PE() != 0 {
				return w.Barrier(ctx)
			}
			if err := l.Lock(ctx); err != nil {
				return err
			}
			return l.Unlock()
		}, err
	},
	"Lock": func(ctx context.Context, w *pgas.World) (func() error, error) {
		l, err := lockAt(ctx, w)
		return func() error {
			if err := l.Lock(ctx); err != nil {
				return err
			}
			return l.Unlock()
		}, err
	},
	"TryLock": func(ctx context.Context, w *pgas.World) (func() error, error) {
		l, err := lockAt(ctx, w)
		return func() error {
			if !l.TryLock() {
				return nil
			}
			return l.Unlock()
		}, err
	},
	"arena, Store": func(ctx context.Context, w *pgas.World) (func() error, error) {
		a, err := arena.New(ctx, w, 1<<20)
		return func() error {
			h, err := a.StoreString(deadHome, "a text")
			if err == nil {
				arena.Free(a, h)
			}
			return err
		}, err
	},
	"arena, Load": func(ctx context.Context, w *pgas.World) (func() error, error) {
		a, err := arena.New(ctx, w, 1<<20)
		if err != nil {
			return nil, err
		}
		h, err := a.StoreString(deadHome, "a text")
		return func() error {
			a.LoadString(h)
			return nil
		}, err
	},
	"array, GetRange": func(ctx context.Context, w *pgas.World) (func() error, error) {
		a, err := containers.NewArray[int64](ctx, w, 1000)
		dst := make([]int64, 1000)
		return func() error { return a.GetRange(ctx, 0, dst) }, err
	},
	"array, PutRange": func(ctx context.Context, w *pgas.World) (func() error, error) {
		a, err := containers.NewArray[int64](ctx, w, 1000)
		src := make([]int64, 1000)
		return func() error {
			a.PutRange(0, src)
			return w.Quiet(ctx)
		}, err
	},
	"pool, tasks for ever": func(ctx context.Context, w *pgas.World) (func() error, error) {
		pool, err := containers.NewWorkPool[int](ctx, w, 64)
		return func() error {
			pool.Add(1)
			return pool.Run(ctx, func(_ context.Context, n int, add func(int)) error {
				add(n)
				return nil
			})
		}, err
	},
	"notified puts": func(ctx context.Context, w *pgas.World) (func() error, error) {
		s, err := pgas.Alloc[int64](ctx, w, 8)
		mine := notify.New(w, notify.Any, notify.Any, 1)
		src := make([]int64, 8)
		return func() error {
			if w.PE() == deadHome {
				mine.Start()
				_, err := mine.Wait(ctx)
				return err
			}
			s.All().PutNotify(deadHome, src, 1)
			return w.Quiet(ctx)
		}, err
	},
	"notified, Wait": func(ctx context.Context, w *pgas.World) (func() error, error) {
		s, err := pgas.Alloc[int64](ctx, w, 8)
		fromHome := notify.New(w, deadHome, 1, 1)
		src := make([]int64, 8)
		return func() error {
			if w.PE() == deadHome {
				for pe := range w.NPEs() {
					s.All().PutNotify(pe, src, 1)
				}
			}
			fromHome.Start()
			_, err := fromHome.Wait(ctx)
			return err
		}, err
	},
	"coherent, reads":  inMutex(func(a *coherent.Array[int64]) { a.At(a.Index(deadHome, 0)) }),
	"coherent, writes": inMutex(func(a *coherent.Array[int64]) { a.Set(a.Index(deadHome, 0), rand.Int64()) }),
}

// TestDeadHome has the PE killed whose memory the others use.
func TestDeadHome(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many jobs")
	}
	t.Run("one host", func(t *testing.T) { useDeadHome(t, []boot.Host{{Name: launch.Local, PEs: 3}}) })
	hosts := pgastest.NewHosts(t, 2)
	t.Run("two hosts", func(t *testing.T) {
		useDeadHome(t, []boot.Host{{Name: hosts.Names[0], PEs: 2}, {Name: hosts.Names[1], PEs: 1}})
	})
}

func useDeadHome(t *testing.T, hosts []boot.Host) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(homeUses)) {
		t.Run(name, func(t *testing.T) {
			for {
				res, out, err := runOf(t, launch.Spec{
					Hosts: slices.Clone(hosts), Program: self, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self},
					Env: []string{homeVar + "=" + name, "PGAS_HEAP_MAX=32m"}, KeepGoing: true,
				})
				if ucxAborts.Match(out.Bytes()) {
					t.Logf("UCX has ended a PE that lost another: tried again\n%.300s", out)
					continue
				}
				if told := strings.Count(out.String(), "told of the death"); err != nil || told != 2 {
					t.Fatalf("%v, %v: %d of 2 survivors were told of the death of their home:\n%s", err, res.First, told, out)
				}
				return
			}
		})
	}
}

// useHome runs a PE of a job of TestDeadHome.
func useHome(name string) {
	ctx := context.Background()
	w, err := pgas.Init(ctx)
	if err == nil {
		err = roundsAtHome(ctx, w, homeUses[name])
	}
	if peer, ok := errors.AsType[*pgas.PeerError](err); !ok || peer.PE != deadHome {
		fmt.Printf("PE %s: %v\n", os.Getenv("PGAS_PE"), err)
		os.Exit(1)
	}
	fmt.Println("told of the death")
	os.Exit(0)
}

// roundsAtHome does rounds until one fails. deadHome kills itself some time after all PEs are ready.
func roundsAtHome(ctx context.Context, w *pgas.World, use homeUse) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = w.Recovered(p); err == nil {
				panic(p)
			}
		}
	}()
	round, err := use(ctx, w)
	if err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == deadHome {
		time.AfterFunc(time.Duration(rand.IntN(20))*time.Millisecond, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	}
	for err == nil {
		err = round()
	}
	return err
}
