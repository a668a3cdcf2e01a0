package programs

// Teams: their members meet, and no one else.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func team() []pair {
	return []pair{
		{3, barrierOfOtherTeam}, {3, syncOfOtherTeam}, {4, rowForColumn}, {2, teamContext}, {4, sumOfRow},
		{4, twoTeamsOneWord}, {2, barrierOfTeamForContext}, {4, colorsOverlap},
	}
}

func barrierOfOtherTeam(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	ends := seen(w.Team().SplitStrided(ctx, 0, 2, 2)) // PEs 0 and 2
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
	}
	if right {
		must(w.Barrier(ctx))
	} else if ends != nil {
		must(ends.Barrier(ctx))
	}
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func syncOfOtherTeam(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	two := seen(w.Team().SplitList(ctx, []int{1, 2}))
	if w.PE() == 0 {
		data.At(0).Put(2, 7) // first
		must(w.Quiet(ctx))
	}
	if right {
		must(w.Sync(ctx))
	} else if two != nil {
		must(two.Sync(ctx))
	}
	if w.PE() == 2 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

// rowForColumn sends along the columns of a grid of 2 by 2 PEs, and meets along the rows.
func rowForColumn(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	row, column, err := w.Team().Split2D(ctx, 2)
	must(err)
	data.At(0).On(column.Context()).Put(1-column.PE(), 7) // first
	if right {
		must(column.Barrier(ctx))
	} else {
		must(row.Barrier(ctx))
	}
	want(ctx, data.Local()[0], 7) // then
	return w.Barrier(ctx)
}

func teamContext(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	t := seen(w.Team().SplitStrided(ctx, 0, 1, 2))
	c := seen(t.NewContext())
	if w.PE() == 0 {
		if right {
			data.At(0).On(t.Context()).Put(1, 7)
		} else {
			data.At(0).On(c).Put(1, 7) // first
		}
		must(w.Quiet(ctx))
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return errorOf(w.Barrier(ctx), c.Close())
}

func sumOfRow(ctx context.Context, w *pgas.World, right bool) error {
	data, one, sums := numbers(ctx, w), many(ctx, w, 1), many(ctx, w, 1)
	row := seen(w.Team().SplitColor(ctx, w.PE()/2, w.PE()))
	data.At(w.PE()).Put((w.PE()+2)%4, 7) // first
	must(w.Quiet(ctx))
	if right {
		must(pgas.SumReduce(ctx, w.Team(), sums, one))
	} else {
		must(pgas.SumReduce(ctx, row, sums, one))
	}
	want(ctx, data.Local()[(w.PE()+2)%4], 7) // then
	return w.Barrier(ctx)
}

// twoTeamsOneWord has a member of each of two teams, PE 0 of each, write to the same place.
func twoTeamsOneWord(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	half := seen(w.Team().SplitColor(ctx, w.PE()%2, 0))
	slot := 0
	if right {
		slot = w.PE() % 2
	}
	if half.PE() == 0 {
		data.At(slot).Put(3, 7) // first and then
	}
	must(half.Barrier(ctx))
	return w.Barrier(ctx)
}

func barrierOfTeamForContext(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	t := seen(w.Team().SplitStrided(ctx, 1, -1, 2)) // PE 1, PE 0
	c := seen(t.NewContext())
	if t.PE() == 0 {
		data.At(0).On(c).Put(1, 7) // first
		if right {
			must(c.Quiet(ctx))
		}
	}
	must(t.Barrier(ctx))
	if t.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return errorOf(w.Barrier(ctx), c.Close())
}

// colorsOverlap shares the work among the members of a team, with two teams on the same array.
func colorsOverlap(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	half := seen(w.Team().SplitColor(ctx, w.PE()/2, w.PE()))
	lo, hi := half.Share(16)
	if right {
		lo, hi = w.Team().Share(16)
	}
	data.Range(lo, hi).Put(0, make([]int64, hi-lo)) // first and then
	return w.Barrier(ctx)
}
