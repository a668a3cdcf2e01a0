package containers_test

// An unbalanced tree walked in three ways: with a WorkPool, split by the root's children from the start, and with one
// Queue that all members push to and pop from.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

const (
	uneven    = 300                  // children of the root
	unevenOne = 2 * time.Microsecond // the work of a node
)

// A walk visits all nodes below a root: this member's share of them. It is collective.
type walk = func(ctx context.Context, w *pgas.World, visit func(node) error) error

func walkPool(ctx context.Context, w *pgas.World, visit func(node) error) error {
	pool, err := containers.NewWorkPool[node](ctx, w, 1<<12)
	if err != nil {
		return err
	}
	if w.PE() == 0 {
		pool.Add(node{})
	}
	err = pool.Run(ctx, func(_ context.Context, n node, add func(node)) error {
		n.children(uneven, add)
		return visit(n)
	})
	return errors.Join(err, pool.Free(ctx))
}

func walkSplit(ctx context.Context, w *pgas.World, visit func(node) error) error {
	var stack []node
	i := 0
	node{}.children(uneven, func(c node) {
		if i%w.NPEs() == w.PE() {
			stack = append(stack, c)
		}
		i++
	})
	if w.PE() == 0 {
		stack = append(stack, node{Depth: 1000}) // the root, without its children
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n.children(0, func(c node) { stack = append(stack, c) })
		if err := visit(n); err != nil {
			return err
		}
	}
	return w.Barrier(ctx)
}

func walkCentral(ctx context.Context, w *pgas.World, visit func(node) error) error {
	q, err := containers.NewQueue[node](ctx, w, 1<<14, containers.ManyConsumers())
	if err != nil {
		return err
	}
	words, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	left := pgas.AtomicOf(words, 0)
	if w.PE() == 0 {
		left.Set(0, 1)
		if err := q.Push(ctx, node{}); err != nil {
			return err
		}
	}
	for {
		n, err := q.Pop(ctx)
		if errors.Is(err, containers.ErrQueueClosed) {
			break
		}
		if err != nil {
			return err
		}
		var children []node
		n.children(uneven, func(c node) { children = append(children, c) })
		if last := left.FetchAdd(0, int64(len(children))-1); last == 1 && len(children) == 0 {
			if err := q.Close(); err != nil {
				return err
			}
		}
		if _, err := q.PushAll(ctx, children); err != nil {
			return err
		}
		if err := visit(n); err != nil {
			return err
		}
	}
	return errors.Join(w.Barrier(ctx), q.Free(ctx))
}

var walks = []struct {
	name string
	walk walk
}{{"split", walkSplit}, {"central", walkCentral}, {"pool", walkPool}}

// computes visits a node by computing for about 10 µs.
func computes(n node) error {
	for range 20_000 {
		n.Hash = mix(n.Hash)
	}
	return nil
}

// timesFile names a file to which TestUnevenHosts appends what it has measured. PEs that are processes have it, too.
const timesFile = "CONTAINERS_TEST_TIMES"

// TestUnevenHosts measures how long the ways take on PEs that are processes, of one host and of two: the median of 9
// walks.
func TestUnevenHosts(t *testing.T) {
	path := os.Getenv(timesFile)
	if path == "" {
		t.Skip("only measures: " + timesFile + "=/tmp/times runs it")
	}
	body := func(ctx context.Context, w *pgas.World) error {
		times := map[string][]time.Duration{}
		for range 9 {
			for _, way := range walks {
				if err := w.Barrier(ctx); err != nil {
					return err
				}
				start := w.Now()
				if err := way.walk(ctx, w, computes); err != nil {
					return err
				}
				times[way.name] = append(times[way.name], w.Now()-start)
			}
		}
		if w.PE() != 0 {
			return nil
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		for _, way := range walks {
			slices.Sort(times[way.name])
			fmt.Fprintf(f, "%d PEs of %d hosts: %s %v\n", w.NPEs(), len(slices.Compact(w.Hosts())), way.name, times[way.name][4])
		}
		if err := f.Close(); err != nil {
			return err
		}
		return nil
	}
	pgastest.RunProcesses(t, 2, body)
	pgastest.RunHosts(t, 2, 2, body)
}

// BenchmarkUneven walks on 4 goroutine PEs, with work that computes.
func BenchmarkUneven(b *testing.B) {
	for _, way := range walks {
		b.Run(way.name, func(b *testing.B) {
			var took time.Duration
			err := pgastest.Goroutines(b.Context(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				for range b.N {
					if err := w.Barrier(ctx); err != nil {
						return err
					}
					start := time.Now()
					err := way.walk(ctx, w, computes)
					if err != nil {
						return err
					}
					if w.PE() == 0 {
						took += time.Since(start)
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(took.Microseconds())/float64(b.N), "µs/walk")
		})
	}
}

// TestUnevenSimulated walks on simulated machines, where a node takes 2 µs, and says how the ways compare. All visit
// all nodes.
func TestUnevenSimulated(t *testing.T) {
	nodes, _ := node{}.below(uneven)
	for _, machine := range []struct {
		name, topology string
		npes           int
	}{{"8 PEs of a host", "host:8", 8}, {"16 PEs of 2 hosts", "host:8", 16}, {"64 PEs of 8 hosts", "host:8", 64}} {
		t.Run(machine.name, func(t *testing.T) {
			took := map[string]time.Duration{}
			for _, way := range walks {
				visited := int64(0)
				_, err := sim.Run(t.Context(), sim.Config{Topology: machine.topology}, machine.npes, func(ctx context.Context, w *pgas.World) error {
					start := w.Now()
					err := way.walk(ctx, w, func(n node) error {
						visited++
						return w.Sleep(ctx, unevenOne)
					})
					took[way.name] = max(took[way.name], w.Now()-start)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if visited != nodes {
					t.Errorf("%s: %d nodes were visited, want %d", way.name, visited, nodes)
				}
			}
			ideal := time.Duration(nodes) * unevenOne / time.Duration(machine.npes)
			s := fmt.Sprintf("%d nodes, of %v each:", nodes, unevenOne)
			for _, way := range walks {
				s += fmt.Sprintf("  %s %v (%.2f of what no walk can beat)", way.name, took[way.name], float64(took[way.name])/float64(ideal))
			}
			t.Log(s)
		})
	}
}
