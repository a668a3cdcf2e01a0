package containers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// savedElement is not of the size of a word.
type savedElement struct {
	I int64
	B [5]byte
}

// savedJob is how an array is distributed in a job.
type savedJob struct {
	pes   int
	block int  // 0: one block for each member
	team  bool // the members are every other PE, the last one first
}

func (j savedJob) String() string {
	return fmt.Sprintf("%d PEs, blocks of %d, team %t", j.pes, j.block, j.team)
}

// run restores an array of n elements, checks it if it was saved, and saves it.
func (j savedJob) run(t *testing.T, store ckpt.Store, n int, saved bool) error {
	return pgastest.Goroutines(t.Context(), j.pes, pgastest.Options{Check: true}, func(ctx context.Context, w *pgas.World) error {
		var opts []containers.Option
		member := true
		if j.block > 0 {
			opts = append(opts, containers.BlockCyclic(j.block))
		}
		if j.team {
			var members []int
			for pe := w.NPEs() - 1; pe >= 0; pe -= 2 {
				members = append(members, pe)
			}
			team, err := w.Team().SplitList(ctx, members)
			if err != nil {
				return err
			}
			opts, member = append(opts, containers.Over(team)), team != nil
		}
		a, err := containers.NewArray[savedElement](ctx, w, n, opts...)
		if err != nil {
			return err
		}
		set := ckpt.New(w, ckpt.In(store))
		set.Add("a", a)
		_, ok, err := set.Restore(ctx)
		if err != nil {
			return err
		}
		if ok != saved {
			return fmt.Errorf("restored: %t", ok)
		}
		if member {
			for i, e := range a.LocalAll() {
				want := savedElement{int64(3 * i), [5]byte{byte(i), 1, 2, 3, 4}}
				if saved && *e != want {
					return fmt.Errorf("element %d is %v", i, *e)
				}
				*e = want
			}
		}
		return set.Save(ctx)
	})
}

// TestArraySaved: an array is restored on other numbers of PEs and members, and in other distributions.
func TestArraySaved(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := r.IntN(20_000)
		store := ckpt.Dir(t.TempDir())
		for i := range 4 {
			j := savedJob{1 + r.IntN(6), r.IntN(3) * r.IntN(50), r.IntN(3) == 0}
			if err := j.run(t, store, n, i > 0); err != nil {
				t.Fatalf("seed %d: %d elements, %v: %v", seed, n, j, err)
			}
		}
	}
}

// TestArraySavedOtherwise: an array of another length or type is refused.
func TestArraySavedOtherwise(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	if err := (savedJob{pes: 2}).run(t, store, 100, false); err != nil {
		t.Fatal(err)
	}
	err := savedJob{pes: 2}.run(t, store, 101, true)
	if err == nil || !strings.Contains(err.Error(), "it has 101 elements, and was saved with 100") {
		t.Errorf("another length: %v", err)
	}
}
