package containers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// savedOn is on which PEs a job runs.
type savedOn struct {
	pes  int
	team bool // the members are every other PE, the last one first
}

func (j savedOn) String() string { return fmt.Sprintf("%d PEs, team %t", j.pes, j.team) }

// members returns how many members there are.
func (j savedOn) members() int {
	if j.team {
		return (j.pes + 1) / 2
	}
	return j.pes
}

// savedOns are the jobs that a container which is restored on any number of PEs goes through.
var savedOns = []savedOn{{pes: 1}, {pes: 3}, {pes: 2}, {5, true}, {pes: 4}, {3, true}, {2, true}, {pes: 2}}

// savedPE is a PE of such a job.
type savedPE struct {
	*pgas.World
	team *pgas.Team // of the members; nil on others
	over []containers.Option
	set  *ckpt.Set
}

// run runs f on the PEs of a job.
func (j savedOn) run(t *testing.T, store ckpt.Store, f func(ctx context.Context, p *savedPE) error) error {
	return pgastest.Goroutines(t.Context(), j.pes, pgastest.Options{Check: true}, func(ctx context.Context, w *pgas.World) error {
		p := &savedPE{World: w, team: w.Team(), set: ckpt.New(w, ckpt.In(store))}
		if j.team {
			var members []int
			for pe := w.NPEs() - 1; pe >= 0; pe -= 2 {
				members = append(members, pe)
			}
			team, err := w.Team().SplitList(ctx, members)
			if err != nil {
				return err
			}
			p.team, p.over = team, []containers.Option{containers.Over(team)}
		}
		return f(ctx, p)
	})
}

// restore restores an item, and checks whether there was a cut.
func (p *savedPE) restore(ctx context.Context, it ckpt.Item, saved bool) error {
	p.set.Add("it", it)
	_, ok, err := p.set.Restore(ctx)
	if err == nil && ok != saved {
		err = fmt.Errorf("restored: %t", ok)
	}
	return err
}

// save saves the item.
func (p *savedPE) save(ctx context.Context) error {
	if err := p.Barrier(ctx); err != nil {
		return err
	}
	return p.set.Save(ctx)
}

// mustRefuse checks that err says why something was refused.
func mustRefuse(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line with %q", err, want)
	}
}
