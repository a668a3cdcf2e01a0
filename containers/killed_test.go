package containers_test

// A PE that is killed while all use a container: the others must get an error that names it, on processes of one host
// and of two. A hang fails.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// killedIn is set in the PEs of a job in which one is killed: the name of a use.
const killedIn = "CONTAINERS_TEST_KILLED_IN"

// killedDir is a folder for their files.
const killedDir = "CONTAINERS_TEST_KILLED_DIR"

// victim is the PE that is killed.
const victim = 1

// A use prepares a container, and returns one round of work with it. All PEs do rounds until a round fails.
type use func(ctx context.Context, w *pgas.World) (round func() error, err error)

var uses = map[string]use{
	"Array": func(ctx context.Context, w *pgas.World) (func() error, error) {
		a, err := containers.NewArray[int64](ctx, w, 4000, containers.Cyclic())
		idx, got := make([]int, 9000), make([]int64, 9000)
		return func() error {
			for k := range idx {
				idx[k] = rand.IntN(4000)
			}
			return errors.Join(containers.Count(ctx, a, idx), a.Gather(ctx, got, idx))
		}, err
	},
	"NPY": func(ctx context.Context, w *pgas.World) (func() error, error) {
		a, err := containers.NewArray[int64](ctx, w, 40_000, containers.BlockCyclic(3))
		path := filepath.Join(os.Getenv(killedDir), "array.npy")
		return func() error {
			if err := containers.SaveNPY(ctx, a, path); err != nil {
				return err
			}
			return containers.LoadNPY(ctx, a, path)
		}, err
	},
	"Mailbox": func(ctx context.Context, w *pgas.World) (func() error, error) {
		box, err := containers.NewMailbox(ctx, w, func(int, []int64) error { return nil })
		return func() error {
			for range 9000 {
				if err := box.Send(ctx, rand.IntN(w.NPEs()), 1); err != nil {
					return err
				}
			}
			return box.Flush(ctx)
		}, err
	},
	"Map": func(ctx context.Context, w *pgas.World) (func() error, error) {
		m, err := containers.NewStringMap[int64](ctx, w, containers.Capacity(10000))
		return func() error {
			for range 20 {
				if err := m.Update(ctx, fmt.Sprint(rand.IntN(500)), 1, func(old, v int64) int64 { return old + v }); err != nil {
					return err
				}
			}
			return m.UpdateAll(ctx, maps.All(map[string]int64{"a": 1, "b": 2}), func(old, v int64) int64 { return old + v })
		}, err
	},
	"Inserts": func(ctx context.Context, w *pgas.World) (func() error, error) {
		m, err := containers.NewStringMap[int64](ctx, w, containers.Capacity(100000), containers.Ring(1000))
		return func() error {
			if err := m.OnlyInserts(ctx); err != nil {
				return err
			}
			for range 2000 {
				if _, err := m.Insert(ctx, fmt.Sprint(rand.IntN(50000)), 1); err != nil {
					return err
				}
			}
			return m.Writes(ctx)
		}, err
	},
	"Queue": func(ctx context.Context, w *pgas.World) (func() error, error) {
		q, err := containers.NewQueue[int64](ctx, w, 64)
		return func() error {
			if w.PE() != 0 {
				return q.Push(ctx, 1)
			}
			_, err := q.Pop(ctx)
			return err
		}, err
	},
	// The rest wait for nothing at a home of the same host, whose memory outlives it.
	"Tickets": func(ctx context.Context, w *pgas.World) (func() error, error) {
		n, err := containers.NewTickets(ctx, w, containers.Home(victim))
		return func() error { n.Next(); return nil }, err
	},
	"Counter": func(ctx context.Context, w *pgas.World) (func() error, error) {
		c, err := containers.NewCounter(ctx, w)
		return func() error {
			c.Add(1)
			_, err := c.Sum(ctx)
			return err
		}, err
	},
	"Pushes and pops": func(ctx context.Context, w *pgas.World) (func() error, error) {
		q, err := containers.NewQueue[int64](ctx, w, 64, containers.Home(victim), containers.ManyConsumers())
		return func() error {
			if _, err := q.TryPush(1); err != nil {
				return err
			}
			_, _, err := q.TryPop()
			return err
		}, err
	},
	"Finds and sets": func(ctx context.Context, w *pgas.World) (func() error, error) {
		m, err := containers.NewMap[int, int](ctx, w, containers.Capacity(10000))
		return func() error {
			k := rand.IntN(500)
			m.Find(k)
			return m.Set(ctx, k, k)
		}, err
	},
	"DistObject": func(ctx context.Context, w *pgas.World) (func() error, error) {
		d, err := containers.NewDistObject[int](ctx, w)
		return func() error {
			d.Publish(1)
			_, err := d.Fetch(ctx, victim)
			return err
		}, err
	},
	"Bloom": func(ctx context.Context, w *pgas.World) (func() error, error) {
		b, err := containers.NewBloom[int](ctx, w, 1000, 0.01)
		return func() error {
			b.Add(rand.IntN(1000))
			b.MayHave(rand.IntN(1000))
			return nil
		}, err
	},
	"WorkPool": func(ctx context.Context, w *pgas.World) (func() error, error) {
		pool, err := containers.NewWorkPool[int](ctx, w, 64)
		return func() error {
			if w.PE() == 0 {
				pool.Add(8)
			}
			return pool.Run(ctx, func(_ context.Context, left int, add func(int)) error {
				for i := range left {
					add(i)
				}
				return nil
			})
		}, err
	},
}

func TestKilled(t *testing.T) {
	if in := os.Getenv(killedIn); in != "" {
		os.Exit(surviveKill(uses[in]))
	}
	if testing.Short() {
		t.Skip("no PE is a goroutine here")
	}
	t.Run("processes", func(t *testing.T) {
		killInAll(t, []boot.Host{{Name: launch.Local, PEs: 4}})
	})
	t.Run("hosts", func(t *testing.T) {
		hosts := pgastest.NewHosts(t, 2)
		killInAll(t, []boot.Host{{Name: hosts.Names[0], PEs: 2}, {Name: hosts.Names[1], PEs: 2}})
	})
}

func killInAll(t *testing.T, hosts []boot.Host) {
	for _, in := range slices.Sorted(maps.Keys(uses)) {
		t.Run(in, func(t *testing.T) {
			const abort = "ucp_request.c:684  Assertion" // UCX 1.13 does so if a peer dies while the two connect
			out := killOnce(t, hosts, in)
			if strings.Contains(out, abort) {
				t.Logf("again, since UCX aborted a PE:\n%.300s", out[strings.Index(out, abort):])
				out = killOnce(t, hosts, in)
			}
			if told := strings.Count(out, "told\n"); told != 3 {
				t.Fatalf("%d of 3 PEs were told that PE %d was killed:\n%s", told, victim, out)
			}
		})
	}
}

// killOnce runs a job of which a PE is killed, and returns what it has printed.
func killOnce(t *testing.T, hosts []boot.Host, in string) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	dir := t.TempDir()
	var out bytes.Buffer
	res, err := launch.Run(ctx, launch.Spec{
		Hosts: slices.Clone(hosts), Program: self, Args: []string{"-test.run=^TestKilled$"}, KeepGoing: true,
		Env:    []string{killedIn + "=" + in, killedDir + "=" + dir},
		Stdout: &out, Stderr: &out, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self},
	})
	if err != nil || res.First == nil || res.First.PE != victim || res.First.Signal() != syscall.SIGKILL {
		t.Fatalf("%v, first failure %v:\n%s", err, res.First, &out)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.part")); err != nil || len(left) > 0 {
		t.Errorf("%s has left %q (%v)", in, left, err)
	}
	return out.String()
}

// surviveKill runs a PE of the job. It returns the exit status of its process.
func surviveKill(u use) int {
	ctx := context.Background()
	w, err := pgas.Init(ctx)
	if err == nil {
		err = roundsUntilKilled(ctx, w, u)
	}
	if !isAbout(err, victim) {
		fmt.Printf("PE %s: %v\n", os.Getenv("PGAS_PE"), err)
		return 1
	}
	fmt.Println("told")
	return 0
}

// roundsUntilKilled does rounds until one fails. The victim kills itself some time after all have done a few.
func roundsUntilKilled(ctx context.Context, w *pgas.World, u use) (err error) {
	defer func() { // blocking gets panic with what others return
		if p := recover(); p != nil {
			err = w.Recovered(p)
		}
	}()
	round, err := u(ctx, w)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		if err := round(); err != nil {
			return err
		}
		if n == 5 && w.PE() == victim {
			time.AfterFunc(time.Duration(rand.IntN(20))*time.Millisecond, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		}
	}
}
