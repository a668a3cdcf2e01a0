package lockbench

// What the papers claim of their locks, in virtual time and small. docs/figures/locks.md has it at their size.

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/gopgas/gopgas/cmd/pgasbench/histogram"
	"github.com/gopgas/gopgas/cmd/pgasbench/machines"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
)

// measure simulates the points of a command line. What they are is by the lock's name and the point's.
func measure(t *testing.T, args string) map[string]result {
	t.Helper()
	o, err := Parse(strings.Fields("-sim " + args))
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]result{}
	for _, c := range o.points {
		tallies, err := simulate(t.Context(), c)
		if err != nil {
			t.Fatalf("%s: %v", c.name(), err)
		}
		if results[c.Lock], err = sum(c, tallies); err != nil {
			t.Fatal(err)
		}
	}
	return results
}

// TestTableClaims: ALocks are ahead of the others over the NIC, the more the more is local (alock 6.2).
func TestTableClaims(t *testing.T) {
	for _, c := range []struct {
		args  string
		ahead map[string]float64 // how far ahead of each other lock, at least
	}{
		{"-table 20 -locality 85 -time 300us", map[string]float64{"MCS": 1.5, "MCS-CAS": 3, "spin": 3}},
		{"-table 20 -locality 95 -time 300us", map[string]float64{"MCS": 2, "MCS-CAS": 5, "spin": 5}},
		{"-table 300 -locality 95 -threads 4 -time 100us", map[string]float64{"MCS": 3.3, "MCS-CAS": 3.3, "spin": 3.3}},
		{"-table 300 -locality 100 -threads 4 -time 30us", map[string]float64{"MCS": 10, "MCS-CAS": 10, "spin": 10}},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := measure(t, "-bench table -nodes 5 "+c.args)
			for name, least := range c.ahead {
				if ratio := r["ALock"].Throughput / r[name].Throughput; ratio < least {
					t.Errorf("ALock over %s: %.2f, want at least %v", name, ratio, least)
				}
			}
		})
	}
}

// TestCascadeClaims: one atomic is quicker than two messages, and readers that are let in together are quicker than
// one by one (n-cosed 4.2, 4.3).
func TestCascadeClaims(t *testing.T) {
	for _, c := range []struct {
		args       string
		dqnl, srsl float64 // percent that they take longer than N-CoSED, at least
	}{
		{"-bench basic -fw 100", -1, 39},
		{"-bench basic -fw 0", -1, 39},
		{"-bench basic -fw 100 -costs mt25208", -1, 14},
		{"-bench cascade -fw 0", 317, 25},
		{"-bench cascade -fw 0 -costs mt25208", 317, 25},
		{"-bench cascade -fw 0 -pes 3", -1, 25},
		{"-bench cascade -fw 100", -1, 50},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := measure(t, "-rounds 2 "+c.args)
			more := func(name string) float64 { return 100 * (r[name].Mean/r["N-CoSED"].Mean - 1) }
			if more("DQNL") < c.dqnl || more("SRSL") < c.srsl {
				t.Errorf("N-CoSED takes %.2f µs, DQNL %.0f %% longer, want %v, SRSL %.0f %% longer, want %v",
					r["N-CoSED"].Mean/1e3, more("DQNL"), c.dqnl, more("SRSL"), c.srsl)
			}
		})
	}
}

// TestHashtableClaims: RMA-RW is ahead of foMPI-RW (rma-locks 5.3), whatever the part of inserts, on more than one
// host.
func TestHashtableClaims(t *testing.T) {
	for _, fw := range []string{"2", "5", "20"} {
		r := measure(t, "-bench hashtable -pes 64 -rounds 50 -fw "+fw)
		if ours, theirs := r["RMA-RW"].Took, r["foMPI-RW"].Took; ours >= theirs {
			t.Errorf("%s %% inserts: RMA-RW takes %v, foMPI-RW %v", fw, ours, theirs)
		}
		if r["foMPI-A"].Writes != r["RMA-RW"].Writes {
			t.Errorf("%s %% inserts: foMPI-A makes %d, RMA-RW %d", fw, r["foMPI-A"].Writes, r["RMA-RW"].Writes)
		}
	}
}

// TestVary: a cost that is multiplied is, and the machine stays as it is for others.
func TestVary(t *testing.T) {
	latency := func(vary string) float64 {
		return measure(t, "-bench basic -lock N-CoSED -fw 100 -rounds 1 -costs mt25208 -vary "+vary)["N-CoSED"].Mean
	}
	usual := latency("poll=1")
	if got := latency("nicatomic=3,overhead=0"); got != usual+2*500-500 {
		t.Errorf("with atomics of three times 500 ns and no overhead of 500 ns, 1 acquisition takes %v ns; it was %v", got, usual)
	}
	if again := latency("gap=1"); again != usual {
		t.Errorf("then it takes %v ns; it was %v", again, usual)
	}
	for _, wrong := range []string{"gap", "gap=x", "gap=-1", "door=2"} {
		if _, err := machines.Costs("aries", wrong); err == nil || !strings.Contains(err.Error(), "-vary "+wrong) {
			t.Errorf("-vary %s: %v", wrong, err)
		}
	}
}

// noLock is a lock that all PEs hold at once.
type noLock struct{}

func (noLock) Lock(context.Context) error  { return nil }
func (noLock) TryLock() bool               { return true }
func (noLock) Unlock()                     {}
func (noLock) RLock(context.Context) error { return nil }
func (noLock) TryRLock() bool              { return true }
func (noLock) RUnlock()                    {}
func (noLock) Holder() (pe int, held bool) { return 0, false }
func (noLock) Waiting() int                { return 1 << 20 }

// TestNoLock: every bench finds out that a lock does not exclude, by looking on where that can be done, and
// otherwise by what it has done under the lock.
func TestNoLock(t *testing.T) {
	had := compared
	defer func() { compared = had }()
	compared = append(had[:len(had):len(had)], kind{Kind: kinds.Kind{Name: "none", Readers: true}, alloc: func(context.Context, *pgas.World, kinds.Options) (locks.Lock, func(context.Context) error, error) {
		return noLock{}, func(context.Context) error { return nil }, nil
	}})
	for _, name := range []string{"ecsb", "cascade", "hashtable"} {
		for _, sees := range []bool{true, false} {
			b, _ := sweep.Find(benches, name)
			c := config{Bench: name, Lock: "none", PEs: 6, Writers: 1, Rounds: 50, Topology: "host:1", Costs: "aries"}
			if sees {
				c.critical = &criticalSection{}
			}
			if _, err := simulateBody(t.Context(), c, b.body); err == nil || !strings.Contains(err.Error(), "hold the lock at once") && !strings.Contains(err.Error(), "under the lock") && !strings.Contains(err.Error(), "are lost") {
				t.Errorf("%s without a lock, seen %v: %v", name, sees, err)
			}
		}
	}
}

// TestCDF: steps at the middles of the buckets, up to 1.
func TestCDF(t *testing.T) {
	times := make([]int64, buckets)
	times[5], times[histogram.Bucket(1000)] = 1, 3
	at := histogram.Middle(histogram.Bucket(1000))
	want := plotter.XYs{{X: 5, Y: 0}, {X: 5, Y: 0.25}, {X: at, Y: 0.25}, {X: at, Y: 1}}
	if got := cdf(times); !slices.Equal(got, want) {
		t.Errorf("cdf is %v, want %v", got, want)
	}
}

// TestRoomsOfTables: each lock of a table has its own.
func TestRoomsOfTables(t *testing.T) {
	r := &criticalSection{}
	if err := errors.Join(r.of(3).enter(true), r.of(1).enter(true)); err != nil {
		t.Error(err)
	}
	if err := r.of(3).enter(true); err == nil {
		t.Error("two writers are in the same critical section")
	}
	r.of(3).leave(true)
	if got := r.of(3).writers; got != 1 {
		t.Errorf("%d writers are left, want 1", got)
	}
}

// TestTableTime: points end in time that is meant for them.
func TestTableTime(t *testing.T) {
	r := measure(t, "-bench table -lock ALock -nodes 2 -threads 2 -time 50us")["ALock"]
	if r.Took < 50*time.Microsecond || r.Took > 100*time.Microsecond || r.PEs != 4 {
		t.Errorf("%d PEs took %v, want 4 and some more than 50 µs", r.PEs, r.Took)
	}
}
