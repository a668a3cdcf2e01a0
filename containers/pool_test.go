package containers_test

// Work pools on PEs of every kind: every task of an unbalanced tree is run once, and a run ends, well or with an error.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// node is a node of a tree whose shape follows from hashes, as in the benchmark UTS: nobody knows where it is deep.
type node struct {
	Hash  uint64
	Depth int32
}

// mix is a hash (splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// children calls add for each child. The root has fan children; others have 4 or none, 3.6 in 4 on average.
func (n node) children(fan int, add func(node)) {
	if n.Depth > 0 {
		fan = 0
		if n.Hash%1000 < 225 && n.Depth < 200 {
			fan = 4
		}
	}
	for i := range fan {
		add(node{mix(n.Hash + uint64(i)), n.Depth + 1})
	}
}

// below counts n and the nodes below it, and sums up their hashes.
func (n node) below(fan int) (nodes int64, sum uint64) {
	stack := []node{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		nodes++
		sum += n.Hash
		n.children(fan, func(c node) { stack = append(stack, c) })
	}
	return nodes, sum
}

// walked compares what all members have counted with what is there.
func walked(ctx context.Context, w *pgas.World, nodes int64, sum uint64, fan int, roots int) error {
	sums, err := pgas.Alloc[int64](ctx, w, 4)
	if err != nil {
		return err
	}
	copy(sums.Local(), []int64{nodes, int64(sum)})
	if err := pgas.SumReduce(ctx, w.Team(), sums.Range(2, 4), sums.Range(0, 2)); err != nil {
		return err
	}
	var wantNodes int64
	var wantSum uint64
	for i := range roots {
		n, s := node{Hash: uint64(i)}.below(fan)
		wantNodes, wantSum = wantNodes+n, wantSum+s
	}
	if got := sums.Local()[2:]; got[0] != wantNodes || uint64(got[1]) != wantSum {
		return fmt.Errorf("%d nodes with sum %x were visited, want %d with %x", got[0], uint64(got[1]), wantNodes, wantSum)
	}
	return sums.Free(ctx)
}

type poolPlan struct {
	name     string
	start    uint32
	capacity int
	fan      int
	roots    int // of member i: one if i < roots
	runs     int
	works    bool // a task takes some microseconds
	opts     []containers.Option
}

var poolPlans = []poolPlan{
	{name: "one root", capacity: 64, fan: 100, roots: 1, runs: 3},
	{name: "all have roots", capacity: 64, fan: 40, roots: 4, runs: 1},
	{name: "no tasks", capacity: 2, roots: 0, runs: 3},
	{name: "a small deque spills", capacity: 2, fan: 60, roots: 1, runs: 1},
	{name: "counts wrap", start: math.MaxUint32 - 20, capacity: 16, fan: 60, roots: 2, runs: 1},
	{name: "counts wrap, spills", start: math.MaxUint32 - 7, capacity: 8, fan: 60, roots: 1, runs: 1},
}

func TestWorkPool(t *testing.T) {
	for _, p := range poolPlans {
		t.Run(p.name, func(t *testing.T) { pgastest.RunAll(t, 4, p.body) })
	}
}

func TestWorkPoolNIC(t *testing.T) {
	pgastest.RunNIC(t, 4, poolPlans[0].body)
}

func (p *poolPlan) body(ctx context.Context, w *pgas.World) error {
	pool, err := containers.NewWorkPoolAt[node](ctx, w, p.start, p.capacity, p.opts...)
	if err != nil {
		return err
	}
	nodes, sums := make([]int64, p.runs), make([]uint64, p.runs)
	for i := range p.runs { // one right after the other
		if w.PE() < p.roots {
			pool.Add(node{Hash: uint64(w.PE())})
		}
		err := pool.Run(ctx, func(ctx context.Context, n node, add func(node)) error {
			nodes[i]++
			sums[i] += n.Hash
			n.children(p.fan, add)
			if p.works {
				return w.Sleep(ctx, time.Duration(n.Hash%32)*time.Microsecond)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i := range p.runs {
		if err := walked(ctx, w, nodes[i], sums[i], p.fan, p.roots); err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
	}
	return pool.Free(ctx)
}

// TestWorkPoolTasks: the form of a loop, over the members of a team.
func TestWorkPoolTasks(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		team, err := w.Team().SplitStrided(ctx, 1, 1, 2)
		if err != nil {
			return err
		}
		pool, err := containers.NewWorkPool[node](ctx, w, 32, containers.Over(team))
		if err != nil {
			return err
		}
		var nodes int64
		var sum uint64
		if team != nil {
			if team.PE() == 0 {
				pool.Add(node{})
			}
			for n, err := range pool.Tasks(ctx) {
				if err != nil {
					return err
				}
				nodes++
				sum += n.Hash
				n.children(50, pool.Add)
			}
			if s := pool.Stats(); s.Run != uint64(nodes) || s.Attempts < s.Steals || s.Stolen < s.Steals || s.Waves < 2 {
				return fmt.Errorf("%d tasks, and stats %+v", nodes, s)
			}
		}
		return errors.Join(walked(ctx, w, nodes, sum, 50, 1), pool.Free(ctx))
	})
}

// TestWorkPoolFails: the error of a task, a loop that is left, a deque without room and a context that ends are told to
// all.
func TestWorkPoolFails(t *testing.T) {
	boom := errors.New("boom")
	for name, fail := range map[string]func(ctx context.Context, w *pgas.World, pool *containers.WorkPool[node]) error{
		"member 1 has ended the run: boom": func(ctx context.Context, w *pgas.World, pool *containers.WorkPool[node]) error {
			err := pool.Run(ctx, func(_ context.Context, n node, add func(node)) error {
				if w.PE() == 1 {
					return boom
				}
				add(n)
				return nil
			})
			if w.PE() == 1 && !errors.Is(err, boom) {
				return fmt.Errorf("the member whose task failed got %v", err)
			}
			return err
		},
		"member 1 has ended the run: the loop over Tasks has been left": func(ctx context.Context, w *pgas.World, pool *containers.WorkPool[node]) error {
			for n, err := range pool.Tasks(ctx) {
				if err != nil {
					return err
				}
				if w.PE() == 1 {
					break
				}
				pool.Add(n)
			}
			return nil
		},
		"no room for a task: a deque of 4 and 3 in Go's memory are full": func(ctx context.Context, w *pgas.World, pool *containers.WorkPool[node]) error {
			err := pool.Run(ctx, func(_ context.Context, n node, add func(node)) error {
				add(n)
				add(n)
				return nil
			})
			var told *containers.TaskError
			if errors.As(err, &told) {
				return errors.New(told.Text)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
				pool, err := containers.NewWorkPool[node](ctx, w, 4, containers.Spill(3))
				if err != nil {
					return err
				}
				pool.Add(node{})
				err = fail(ctx, w, pool)
				ended := strings.Contains(name, "the loop") || errors.Is(err, boom)
				if w.PE() == 1 && ended {
					return errors.Join(w.Barrier(ctx), pool.Free(ctx))
				}
				if err == nil || !strings.Contains(err.Error(), name) {
					return fmt.Errorf("got %v, want …%s", err, name)
				}
				if err := pool.Run(ctx, func(context.Context, node, func(node)) error { return nil }); err == nil {
					return errors.New("a pool that has failed runs again")
				}
				return errors.Join(w.Barrier(ctx), pool.Free(ctx))
			})
		})
	}
}

// TestWorkPoolAdversaries: many seeds of a small run.
func TestWorkPoolAdversaries(t *testing.T) {
	for _, p := range []poolPlan{
		{capacity: 4, fan: 12, roots: 1, runs: 3},
		{capacity: 4, fan: 12, roots: 1, runs: 2, works: true},
		{capacity: 2, fan: 7, roots: 3, runs: 1, start: math.MaxUint32 - 2},
	} {
		if err := sim.Seeds(t.Context(), sim.Config{}, 3, 300, p.body); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWorkPoolDeaths: whenever a member dies, the others end, with its *pgas.PeerError.
func TestWorkPoolDeaths(t *testing.T) {
	for at := range 40 {
		p := poolPlan{capacity: 8, fan: 60, roots: 1, runs: 1}
		cfg := sim.Config{Topology: "host:2", Deaths: []sim.Death{{PE: 2, At: time.Duration(40+10*at) * time.Microsecond}}}
		_, err := sim.Run(t.Context(), cfg, 4, func(ctx context.Context, w *pgas.World) error {
			if err := p.body(ctx, w); !isAbout(err, 2) {
				return err
			}
			return nil
		})
		if err != nil && !isAbout(err, 2) {
			t.Errorf("death at %v: %v", cfg.Deaths[0].At, err)
		}
	}
}

func TestWorkPoolMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		pool, err := containers.NewWorkPool[int](ctx, w, 2)
		if err != nil {
			return err
		}
		other, err := containers.NewWorkPool[int](ctx, w, 2, containers.Over(nil))
		if err != nil {
			return err
		}
		var nilctx context.Context
		none := func(context.Context, int, func(int)) error { return nil }
		return misuses(t, map[string]func(){
			"no capacity":     func() { containers.NewWorkPool[int](ctx, w, 1) },
			"strange option":  func() { containers.NewWorkPool[int](ctx, w, 2, containers.Home(1)) },
			"no member":       func() { other.Add(1) },
			"no context":      func() { pool.Run(nilctx, none) },
			"no function":     func() { pool.Run(ctx, nil) },
			"loop of no pool": func() { new(containers.WorkPool[int]).Tasks(ctx) },
			"Free of nil":     func() { (*containers.WorkPool[int])(nil).Free(ctx) },
			"Free without":    func() { pool.Free(nilctx) },
		})
	})
}

// TestWorkPoolExplored: every order of what an owner and thieves do with a deque, of which each task comes out once. a
// adds a task, p takes this member's newest, s steals once.
//
//ci:weekly
func TestWorkPoolExplored(t *testing.T) {
	for name, steps := range map[string][]string{
		"last task":   {"aap", "s"},
		"taken back":  {"aaappp", "s"},
		"counts wrap": {"apaap", "s"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("short tests are for the race detector, which has nothing to see where one PE runs at a time")
			}
			e, err := sim.Explore(t.Context(), sim.Config{Reduce: true}, len(steps), dequeSteps(steps))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", e)
		})
	}
}

func TestWorkPoolDequeAdversaries(t *testing.T) {
	for _, steps := range [][]string{
		{"aaaapaapppaapaa", "sps", "spsp"},
		{"aapaapaapaapaap", "sssss", "ssss"},
	} {
		if err := sim.Seeds(t.Context(), sim.Config{}, len(steps), 500, dequeSteps(steps)); err != nil {
			t.Fatal(err)
		}
	}
}

// dequeSteps does the steps, and then takes the tasks that are left.
func dequeSteps(steps []string) sim.Body {
	taken := map[int]bool{}
	added := 0
	return func(ctx context.Context, w *pgas.World) error {
		clear(taken)
		added = 0
		pool, err := containers.NewWorkPoolAt[int](ctx, w, math.MaxUint32-1, 4)
		if err != nil {
			return err
		}
		take := func(task int, ok bool) error {
			sim.Shares(ctx)
			if ok && (taken[task] || task == 0) {
				return fmt.Errorf("got task %d again", task)
			}
			if ok {
				taken[task] = true
			}
			return nil
		}
		sim.Start(ctx)
		for _, step := range steps[w.PE()] {
			err = nil
			switch step {
			case 'a':
				sim.Shares(ctx)
				added++
				pool.Add(added)
			case 'p':
				err = take(pool.PopOnce())
			case 's':
				err = take(pool.StealOnce())
			}
			if err != nil {
				return fmt.Errorf("%c: %w", step, err)
			}
		}
		for {
			task, ok := pool.PopOnce()
			if !ok {
				break
			}
			if err := take(task, ok); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		sim.Shares(ctx)
		if len(taken) != added {
			return fmt.Errorf("%d tasks were added, and %d taken", added, len(taken))
		}
		return nil
	}
}
