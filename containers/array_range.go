package containers

// Many consecutive elements of an array at once, and loops over them.

import (
	"context"
	"iter"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/internal/plural"
)

// GetRange copies the elements from index lo on to dst: one get from each member that has some of them, all under way
// together. It is one-sided. It returns *pgas.PeerError if such a member is lost.
func (a *Array[T]) GetRange(ctx context.Context, lo int, dst []T) error {
	a.mustHaveRange("GetRange", lo, len(dst))
	a.members.MustBelong(ctx, "GetRange")
	staging := make([][]T, a.members.N)
	for pe := range a.members.N {
		from, to := a.layout.before(pe, lo), a.layout.before(pe, lo+len(dst))
		if from == to {
			continue
		}
		if err := a.members.LostBehind(ctx, pe); err != nil {
			return err
		}
		staging[pe] = a.inOnePiece(pe, lo, from, to, dst)
		if staging[pe] == nil {
			staging[pe] = make([]T, to-from)
		}
		a.part.Range(from, to).GetNB(pe, staging[pe])
	}
	if err := a.members.Ctx.Quiet(ctx); err != nil {
		return err
	}
	a.eachRun(lo, len(dst), func(i, pe, at, n int) {
		from := at - a.layout.before(pe, lo)
		if piece := staging[pe][from : from+n]; &piece[0] != &dst[i-lo] {
			copy(dst[i-lo:], piece)
		}
	})
	return nil
}

// PutRange copies src to the elements from index lo on: one put to each member that has some of them. It is one-sided,
// complete locally on return, and complete at the owners after a Quiet or a barrier. It panics with *pgas.PeerError if
// such a member is known to be lost.
func (a *Array[T]) PutRange(lo int, src []T) {
	a.mustHaveRange("PutRange", lo, len(src))
	for pe := range a.members.N {
		from, to := a.layout.before(pe, lo), a.layout.before(pe, lo+len(src))
		if from == to {
			continue
		}
		a.members.MustLive(pe)
		piece := a.inOnePiece(pe, lo, from, to, src)
		if piece == nil {
			piece = a.pack(pe, lo, from, to, src)
		}
		a.part.Range(from, to).Put(pe, piece)
	}
}

// inOnePiece returns the part of values, which are the elements from lo on, that places from to to of pe have, or nil
// if it is not in one piece.
func (a *Array[T]) inOnePiece(pe, lo, from, to int, values []T) []T {
	first, last := a.layout.index(pe, from), a.layout.index(pe, to-1)
	if last-first != to-1-from {
		return nil
	}
	return values[first-lo : last+1-lo]
}

// pack copies from values, which are the elements from lo on, those at places from to to of pe.
func (a *Array[T]) pack(pe, lo, from, to int, values []T) []T {
	packed := make([]T, 0, to-from)
	for at := from; at < to; {
		i := a.layout.index(pe, at)
		n := min(a.layout.run(i), to-at)
		packed = append(packed, values[i-lo:i-lo+n]...)
		at += n
	}
	return packed
}

// eachRun calls f for each run of the n elements from lo on: n elements from index i on, which are at places from at on
// of member pe.
func (a *Array[T]) eachRun(lo, n int, f func(i, pe, at, n int)) {
	for i := lo; i < lo+n; {
		pe, at := a.layout.locate(i)
		run := min(a.layout.run(i), lo+n-i)
		f(i, pe, at, run)
		i += run
	}
}

// mustHaveRange panics with *pgas.UsageError unless the array has n elements from lo on.
func (a *Array[T]) mustHaveRange(op string, lo, n int) {
	a.mustBeOpen(op)
	if lo < 0 || lo > a.layout.n-n {
		carry.Misuse(op, "%s from index %d on are out of range: the array has %s", plural.Count(n, "element"), lo, plural.Count(a.layout.n, "element"))
	}
}

// window is the number of elements that All gets at a time.
const window = 4096

// All returns the elements in the order of their indexes, with them. Each member that loops gets the elements of
// all, some thousand at a time. It is one-sided. The loop panics with *pgas.PeerError if a member is lost.
func (a *Array[T]) All() iter.Seq2[int, T] {
	a.mustBeOpen("All")
	return func(yield func(int, T) bool) {
		values := make([]T, min(window, a.layout.n))
		for lo := 0; lo < a.layout.n; lo += len(values) {
			values = values[:min(len(values), a.layout.n-lo)]
			if err := a.GetRange(context.Background(), lo, values); err != nil {
				panic(err)
			}
			for i, v := range values {
				if !yield(lo+i, v) {
					return
				}
			}
		}
	}
}

// LocalAll returns this member's elements as pointers into Local, with their indexes, in the order of the indexes. It
// is local.
func (a *Array[T]) LocalAll() iter.Seq2[int, *T] {
	a.mustBeOpen("LocalAll")
	return func(yield func(int, *T) bool) {
		for at := range a.Local() {
			if !yield(a.layout.index(a.members.Me, at), &a.part.Local()[at]) {
				return
			}
		}
	}
}
