package pgas

// Regions: parts of a program that it names, for those who look at what a job does.

import (
	"context"
	"runtime/trace"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// Region is a part of the program's run that has a name. End ends it.
type Region struct {
	w     *World
	mark  record.Mark
	trace *trace.Region
}

// Region begins a region, for the trace of the job (pgasrun -trace), in which it is a slice of this PE, and for Go's
// execution trace (pgasrun -pprof), in which it is a region of the goroutine. Regions of a goroutine must nest. Without
// either trace it costs some nanoseconds. A name should be one of a few: it says what is done, not to which of many
// things.
//
//	defer w.Region(ctx, "exchange").End()
//
// It moves and orders nothing.
func (w *World) Region(ctx context.Context, name string) Region {
	w.mustBeOpen("World.Region")
	mustHaveContext("World.Region", ctx)
	r := Region{w: w, trace: trace.StartRegion(ctx, name)}
	if w.n.Rec != nil {
		r.mark = w.n.Rec.Begin(record.Region, name, -1, 0, 0)
	}
	return r
}

// End ends the region. It must be called by the goroutine that has begun it, once.
func (r Region) End() {
	if r.w == nil {
		misuse("Region.End", "a zero Region: World.Region begins one")
	}
	r.trace.End()
	if r.w.n.Rec != nil {
		r.w.n.Rec.End(r.mark)
	}
}
