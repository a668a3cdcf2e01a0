// Package localread is a rule of pgasvet: reads of this PE's own copy that do not wait for the puts of others.
//
// All PEs run the same program. A PE that puts to others, and then reads its own copy of the same memory with no
// barrier, wait or signal between, reads what others may be putting at the same time: the old value, the new one, or
// a part of each. A Quiet is not enough: it completes what this PE has put.
package localread

import (
	"fmt"
	"go/token"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/epoch"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "localread", URL: report.Page + "#localread",
	Doc: `find reads of this PE's own copy that do not wait for the puts of other PEs

It reports a load of memory from Local, and a get from this PE itself, after a put to the same memory of other PEs with
no barrier, collective, wait, lock or fetched word between.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

// put is a fact: what this PE has put to others since it last synchronized with them, as they have to this one.
type put struct {
	place calls.Place
	call  calls.Call
}

// A checker looks at the functions of a package.
type checker struct {
	pass    *analysis.Pass
	report  *report.Reporter
	pes     *calls.PEs
	syncs   *calls.Syncs
	origins map[*ssa.Function]calls.Origins
}

func run(pass *analysis.Pass) (any, error) {
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	k := &checker{pass, report.New(pass), calls.PEsOf(functions), calls.SyncsOf(functions, calls.Call.Synchronizes), map[*ssa.Function]calls.Origins{}}
	for _, fn := range functions { // a function precedes those that are declared in it
		k.origins[fn] = calls.OriginsOf(fn, k.origins[fn.Parent()])
		epoch.Of(k.step).Visit(fn, k.look)
	}
	return k.report.Used(), nil
}

// step returns what has been put after i.
func (k *checker) step(s epoch.State[put], i ssa.Instruction) epoch.State[put] {
	if k.syncs.After(i) {
		return s.Synced(i)
	}
	if c, ok := calls.Of(i); ok && isPut(c) && !k.pes.IsNumber(c.Args[0]) {
		p := placeOf(c)
		s = s.With(p.Root+p.Index+p.Field, put{p, c})
	}
	if v, ok := i.(ssa.Value); ok {
		return s.Without(func(_ string, p put) bool { return p.place.DependsOn(v) })
	}
	return s
}

func isPut(c calls.Call) bool {
	if c.Package != "pgas" || c.Type != "Ref" && c.Type != "Slice" || len(c.Args) < 2 {
		return false
	}
	switch c.Name {
	case "Put", "PutNB", "IPut", "IPutNB", "IBPut", "IBPutNB", "PutSignal", "PutSignalAdd", "PutSignalNB", "PutSignalAddNB",
		"PutNotify", "PutNotifyNB":
		return true
	}
	return false
}

// placeOf returns the place that a put or a get of a reference is of.
func placeOf(c calls.Call) calls.Place {
	p := calls.PlaceOf(c.Recv)
	if c.Field != "" {
		p.Field = c.Field + ";" + p.Field
	}
	return p
}

// look reports a read of what others may be putting.
func (k *checker) look(s epoch.State[put], i ssa.Instruction) {
	if len(s.Facts()) == 0 {
		return
	}
	read, pos, ok := k.read(i)
	if !ok {
		return
	}
	for _, p := range s.Facts() {
		if !p.place.Overlaps(read) || k.isOwn(p.place, read) {
			continue
		}
		k.report.Report(analysis.Diagnostic{Pos: pos, Message: fmt.Sprintf(
			"read of this PE's own copy of what %s of line %d puts to other PEs, which put here at the same time: call Barrier, or wait for a signal of the put, before",
			p.call, k.pass.Fset.Position(p.call.Instr.Pos()).Line)})
	}
}

// isOwn reports whether a read is of the element that this PE's number names, and each PE puts to that of its own.
func (k *checker) isOwn(put, read calls.Place) bool {
	if put.Index != read.Index {
		return false
	}
	for _, index := range put.Indexes {
		if _, byPE := k.pes.Of(index); byPE {
			return true
		}
	}
	return false
}

// read returns the memory of this PE that i reads, and where.
func (k *checker) read(i ssa.Instruction) (calls.Place, token.Pos, bool) {
	switch i := i.(type) {
	case *ssa.UnOp:
		if i.Op == token.MUL {
			return k.memory(i.X, i)
		}
	case *ssa.Call:
		if b, ok := i.Call.Value.(*ssa.Builtin); ok && b.Name() == "copy" {
			return k.memory(i.Call.Args[1], i)
		}
		c, ok := calls.Of(i)
		if ok && (c.Is("pgas", "Ref.Get", "Slice.Get", "Slice.IGet", "Slice.IBGet")) && k.pes.IsNumber(c.Args[0]) {
			return placeOf(c), i.Pos(), true
		}
	}
	return calls.Place{}, token.NoPos, false
}

// memory returns the place of an address, or of a slice, from Local.
func (k *checker) memory(at ssa.Value, i ssa.Instruction) (calls.Place, token.Pos, bool) {
	switch at.(type) {
	case *ssa.Alloc, *ssa.FreeVar:
		return calls.Place{}, token.NoPos, false // a variable that holds the memory
	}
	o, ok := k.origins[i.Parent()][at]
	if !ok || o.Call.Name != "Local" || o.Part {
		return calls.Place{}, token.NoPos, false
	}
	return calls.PlaceOfMemory(at, o), flow.PositionOf(i, o.Call.Instr.Pos()), true
}
