package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// members are the world numbers of a team's members.
func members(t *pgas.Team) []int {
	var pes []int
	for i := range t.NPEs() {
		pes = append(pes, t.WorldPE(i))
	}
	return pes
}

// expectMembers checks a team and that its members can reach each other by its numbers.
func expectMembers(ctx context.Context, w *pgas.World, t *pgas.Team, cell pgas.Sym[int64], want ...int) error {
	if !slices.Equal(members(t), want) {
		return fmt.Errorf("PE %d is in a team of %v, want %v", w.PE(), members(t), want)
	}
	if t == nil {
		return nil
	}
	if t.WorldPE(t.PE()) != w.PE() || t.Translate(t.PE(), w.Team()) != w.PE() || w.Team().Translate(w.PE(), t) != t.PE() {
		return fmt.Errorf("PE %d is number %d of %v", w.PE(), t.PE(), want)
	}
	next := (t.PE() + 1) % t.NPEs()
	cell.At(0).On(t.Context()).Put(next, int64(1000+t.PE()))
	pgas.AtomicOf(cell, 1).On(t.Context()).Add(next, 1)
	if err := t.Barrier(ctx); err != nil {
		return err
	}
	if got, want := cell.Local()[0], int64(1000+(t.PE()-1+t.NPEs())%t.NPEs()); got != want {
		return fmt.Errorf("PE %d of %v got %d, want %d", t.PE(), members(t), got, want)
	}
	if got := pgas.AtomicOf(cell, 1).Swap(w.PE(), 0); got != 1 {
		return fmt.Errorf("PE %d of %v was counted %d times", t.PE(), members(t), got)
	}
	return t.Sync(ctx)
}

func TestSplits(t *testing.T) {
	pgastest.RunAll(t, 7, func(ctx context.Context, w *pgas.World) error {
		cell, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		me, world := w.PE(), w.Team()
		only := func(pes ...int) []int {
			if slices.Contains(pes, me) {
				return pes
			}
			return nil
		}
		splits := []struct {
			name string
			make func() (*pgas.Team, error)
			want []int
		}{
			{"strided", func() (*pgas.Team, error) { return world.SplitStrided(ctx, 1, 2, 3) }, only(1, 3, 5)},
			{"negative stride", func() (*pgas.Team, error) { return world.SplitStrided(ctx, 6, -3, 3) }, only(6, 3, 0)},
			{"one", func() (*pgas.Team, error) { return world.SplitStrided(ctx, 4, 0, 1) }, only(4)},
			{"list", func() (*pgas.Team, error) { return world.SplitList(ctx, []int{5, 0, 2, 6}) }, only(5, 0, 2, 6)},
			{"color", func() (*pgas.Team, error) { return world.SplitColor(ctx, me%3-1, -me) },
				[][]int{nil, {4, 1}, {5, 2}}[me%3]},
			{"everybody", func() (*pgas.Team, error) { return world.SplitStrided(ctx, 0, 1, 7) }, only(0, 1, 2, 3, 4, 5, 6)},
		}
		for range 3 {
			for _, s := range splits {
				team, err := s.make()
				if err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				if err := expectMembers(ctx, w, team, cell, s.want...); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				if err := team.Destroy(ctx); err != nil {
					return err
				}
				if err := w.Barrier(ctx); err != nil {
					return err
				}
			}
		}
		x, y, err := world.Split2D(ctx, 3)
		if err != nil {
			return err
		}
		rows := [][]int{{0, 1, 2}, {3, 4, 5}, {6}}
		columns := [][]int{{0, 3, 6}, {1, 4}, {2, 5}}
		if err := expectMembers(ctx, w, x, cell, rows[me/3]...); err != nil {
			return fmt.Errorf("rows: %w", err)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if err := expectMembers(ctx, w, y, cell, columns[me%3]...); err != nil {
			return fmt.Errorf("columns: %w", err)
		}
		host, err := world.SplitHost(ctx)
		if err != nil {
			return err
		}
		if !slices.Equal(members(host), members(w.SharedTeam())) {
			return fmt.Errorf("Host is %v, Shared %v", members(host), members(w.SharedTeam()))
		}
		return nil
	})
}

// TestTeamOfEachPair: a slot must be free on the members of the new team only. 17 PEs have 136 teams of two, which is
// more than there are slots, and each PE is in 16 of them.
func TestTeamOfEachPair(t *testing.T) {
	pgastest.RunGoroutines(t, 17, func(ctx context.Context, w *pgas.World) error {
		for i := range w.NPEs() {
			for j := range i {
				team, err := w.Team().SplitList(ctx, []int{j, i})
				if err != nil {
					return err
				}
				if (team != nil) != (w.PE() == i || w.PE() == j) {
					return fmt.Errorf("PE %d is in team %v of PEs %d and %d", w.PE(), team, i, j)
				}
				if team == nil {
					continue
				}
				sum, err := pgas.SumValue(ctx, team, w.PE())
				if err != nil || sum != i+j {
					return fmt.Errorf("PEs %d and %d: the sum is %d, %w", i, j, sum, err)
				}
			}
		}
		return nil
	})
}

// TestTooManyTeams: the error names the PE that is in the most teams, and the parent goes on.
func TestTooManyTeams(t *testing.T) {
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		for i := 2; i < pgas.MaxTeams; i++ {
			if _, err := w.Team().SplitStrided(ctx, 1, 1, 1); err != nil {
				return fmt.Errorf("team %d: %w", i, err)
			}
		}
		for range 2 {
			_, err := w.Team().SplitStrided(ctx, 0, 1, 2)
			tooMany, ok := errors.AsType[*pgas.TooManyTeamsError](err)
			if !ok || *tooMany != (pgas.TooManyTeamsError{Team: "[0 1]", PE: 1, Teams: pgas.MaxTeams}) ||
				!strings.Contains(err.Error(), "PE 1 is in 128 teams, and a PE can be in no more at once") {
				return fmt.Errorf("PE %d got %w", w.PE(), err)
			}
		}
		if _, err := w.Team().SplitList(ctx, []int{2, 0}); err != nil {
			return fmt.Errorf("a team without PE 1: %w", err)
		}
		return nil
	})
}

// TestMismatchedCalls checks that members of a team that are in different calls get an error that lists the call of
// each.
func TestMismatchedCalls(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		team, err := w.Team().SplitStrided(ctx, 0, 1, 4)
		if err != nil {
			return err
		}
		if w.PE() == 2 {
			_, err = team.SplitStrided(ctx, 0, 1, 3)
		} else {
			_, err = team.SplitColor(ctx, 1, 1)
		}
		var mismatch *pgas.MismatchError
		if !errors.As(err, &mismatch) {
			return fmt.Errorf("PE %d got %v", w.PE(), err)
		}
		if s := err.Error(); !strings.Contains(s, "PE 0,1,3: color split") || !strings.Contains(s, "PE 2: strided split from PE 0 with stride 1, size 3") {
			return fmt.Errorf("PE %d: %s", w.PE(), s)
		}
		if err := team.Sync(ctx); !errors.As(err, &mismatch) {
			return fmt.Errorf("PE %d: the team goes on with %v", w.PE(), err)
		}
		return nil
	})
}

// TestLevels: teams by topology, as found and as the user says.
func TestLevels(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		tree, err := w.Topology(ctx)
		if err != nil {
			return err
		}
		for _, name := range tree.Names() {
			level, err := tree.Level(name)
			if err != nil {
				return err
			}
			team, err := w.Team().SplitLevel(ctx, name)
			if err != nil {
				return err
			}
			if want := level.Members(level.Element(w.PE())); !slices.Equal(members(team), want) {
				return fmt.Errorf("PE %d: level %s has %v, want %v", w.PE(), name, members(team), want)
			}
			if err := team.Sync(ctx); err != nil {
				return err
			}
		}
		host, err := w.Team().SplitLevel(ctx, "host")
		if err != nil {
			return err
		}
		var here []int
		for pe := range w.NPEs() {
			if w.HostOf(pe) == w.Host() {
				here = append(here, pe)
			}
		}
		if !slices.Equal(members(host), here) {
			return fmt.Errorf("PE %d: level host has %v, want %v", w.PE(), members(host), here)
		}
		if _, err := w.Team().SplitLevel(ctx, "galaxy"); err == nil || !strings.Contains(err.Error(), "galaxy") {
			return fmt.Errorf("level galaxy: %v", err)
		}
		return w.Barrier(ctx)
	}
	t.Run("found", func(t *testing.T) { pgastest.RunAll(t, 4, body) })
	t.Run("said", func(t *testing.T) { pgastest.RunHosts(t, 6, 3, body, "PGAS_TOPO=core:1,numa:2,host,rack:3") })
}

// TestCrossedTeams checks that collectives of two teams that share PEs, called in opposite orders, return an error
// that tells the call that each PE is in.
func TestCrossedTeams(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		a, err := w.Team().SplitList(ctx, []int{0, 1})
		if err != nil {
			return err
		}
		b, err := w.Team().SplitList(ctx, []int{1, 2, 0})
		if err != nil {
			return err
		}
		first, second := a, b
		if w.PE() != 0 {
			first, second = b, a
		}
		if err = first.Sync(ctx); err == nil && second != nil {
			err = second.Sync(ctx)
		}
		var mismatch *pgas.MismatchError
		if !errors.As(err, &mismatch) {
			return fmt.Errorf("PE %d: %v", w.PE(), err)
		}
		if !strings.Contains(err.Error(), "waiting for PE") {
			return fmt.Errorf("PE %d: %v", w.PE(), err)
		}
		return nil
	}
	pgastest.RunProcesses(t, 3, body, "PGAS_PEER_TIMEOUT=1s")
	pgastest.RunHosts(t, 3, 3, body, "PGAS_PEER_TIMEOUT=1s")
}

// TestLateRoot: the members of a host enter a broadcast one after the other, and the root long after them. Each waits
// for the last of its host, then for the root: they do not wait for each other, however long the root takes. PEs of one
// host may have no CPU for as long as they like. Those of two must be heard of within the time-out, so it is long.
func TestLateRoot(t *testing.T) {
	pgastest.RunProcesses(t, 4, lateRoot(time.Second), "PGAS_PEER_TIMEOUT=1s")
	pgastest.RunHosts(t, 4, 2, lateRoot(5*time.Second), "PGAS_PEER_TIMEOUT=5s")
}

// lateRoot returns the body of a job in which a cycle of waits is reported after a time-out.
func lateRoot(timeout time.Duration) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		words.Local()[0] = int64(w.PE())
		if err := w.Sync(ctx); err != nil {
			return err
		}
		late := time.Duration(w.PE()%2) * timeout / 2
		if w.PE() == 0 {
			late = 2 * timeout
		}
		time.Sleep(late)
		if err := pgas.Broadcast(ctx, w.Team(), words.Range(1, 2), words.Range(0, 1), 0); err != nil {
			return err
		}
		if got := words.Local()[1]; got != 0 {
			return fmt.Errorf("PE %d got %d from PE 0", w.PE(), got)
		}
		return nil
	}
}
