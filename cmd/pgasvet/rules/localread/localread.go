// Package localread is a rule of pgasvet: reads of this PE's own copy that do not wait for the puts of others, and gets
// that do not wait for what the others store to their own copies. accesses.go has what is put and read, and sides.go
// the two sides of a branch.
//
// All PEs run the same program. A PE that puts to others, and then reads its own copy of the same memory with no
// barrier, wait or signal between, reads what others may be putting at the same time: the old value, the new one, or
// a part of each. A Quiet is not enough: it completes what this PE has put.
package localread

import (
	"fmt"

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
no barrier, collective, wait, lock or fetched word between; and a get from another PE after a store to the same memory of
this one, since the others store at the same time.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

func run(pass *analysis.Pass) (any, error) {
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	k := &checker{pass, report.New(pass), calls.PEsOf(functions), calls.SyncsOf(functions, calls.Call.Synchronizes),
		calls.SyncsOf(functions, isQuiet), map[*ssa.Function]calls.Origins{}, map[*ssa.Function]*effects{}}
	for _, fn := range functions { // a function precedes those that are declared in it
		k.origins[fn] = calls.OriginsOf(fn, k.origins[fn.Parent()])
	}
	for _, fn := range functions {
		f := epoch.Of(k.step)
		f.Edge = k.beside
		f.Visit(fn, k.look)
	}
	return k.report.Used(), nil
}

// look reports a read of what others may be putting, or storing.
func (k *checker) look(s state, i ssa.Instruction) {
	if len(s.Facts()) == 0 {
		return
	}
	for _, r := range k.reads(i) {
		for _, p := range s.Facts() {
			if p.own != r.remote || !p.place.Overlaps(r.place) || k.isOwn(p.place, r.place) || k.pes.SameRole(p.at.Block(), i.Block()) || k.misses(p, r, i) {
				continue
			}
			line := k.pass.Fset.Position(flow.PositionOf(p.at, p.call.Instr.Pos())).Line
			switch {
			case !p.own:
				k.report.Report(analysis.Diagnostic{Pos: r.pos, Message: fmt.Sprintf(
					"read of this PE's own copy of what %s of line %d puts to other PEs, which put here at the same time: call Barrier, or wait for a signal of the put, before",
					p.call, line)})
			case sameElement(p.place, r.place):
				k.report.Report(analysis.Diagnostic{Pos: r.pos, Message: fmt.Sprintf(
					"get of what the other PE stores to its own copy at the same time, as this one does in line %d: call Barrier between", line)})
			}
		}
	}
}

// misses reports whether the PEs that i accesses are not those that p accesses: no put goes to the one PE that comes to
// i, or the one PE that stores is not the one that i gets from.
func (k *checker) misses(p put, r read, i ssa.Instruction) bool {
	if p.own {
		return k.pes.Misses(p.at.Block(), r.pe)
	}
	return len(p.call.Args) > 0 && k.pes.Misses(i.Block(), p.call.Args[0])
}

// sameElement reports whether a store and a get are of the same elements for certain.
func sameElement(p, q calls.Place) bool {
	return p.Index == q.Index || p.Index == "" || q.Index == "" || p.Loop && q.Loop
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
