// Package collective is a rule of pgasvet: collectives that only some PEs call.
//
// A branch whose condition depends on the PE number is taken by some PEs only. The rule compares the collectives along
// the paths of both sides, up to where the sides meet again. If one side has a sequence of collectives that no path of
// the other has, PEs call what others do not, and wait for them: traces.go has the sequences, exits.go the paths that
// do not count because they end in an error, which ends the job.
package collective

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "collective", URL: report.Page + "#collective",
	Doc: `find collectives that only some PEs call

It reports a branch whose condition depends on the PE number and whose sides call different collectives: the PEs of one
side wait for those of the other. A side that calls the same is right, and so is one that returns an error.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	pes := calls.PEsOf(functions)
	t := newTracer()
	for _, fn := range functions {
		shape := shapeOf(fn)
		for _, b := range fn.Blocks {
			branch, ok := flow.Last(b).(*ssa.If)
			if !ok || shape.dead[b] {
				continue
			}
			team, ok := pes.Of(branch.Cond)
			if !ok || listsPEs(branch) {
				continue
			}
			path := calls.TeamPath(team)
			if calls.IsMembership(branch.Cond) {
				path = calls.World // members call what is theirs alone
			}
			compare(pass, r, t, shape, branch, path)
		}
	}
	return r.Used(), nil
}

// compare reports the first collective that one side of a branch calls and the other does not.
func compare(pass *analysis.Pass, r *report.Reporter, t *tracer, shape *shape, branch *ssa.If, team string) {
	b := branch.Block()
	stop := shape.meet(b)
	var sides [2]paths
	for n, to := range b.Succs {
		if shape.dead[to] {
			return // the other PEs end the job
		}
		var ok bool
		if sides[n], ok = t.between(shape, b, to, stop, team, nil); !ok {
			return
		}
	}
	tr, other, at, ok := differ(sides)
	if !ok || agree(t, shape, branch, team) {
		return
	}
	if at < len(tr) {
		r.Report(analysis.Diagnostic{Pos: tr[at].pos, Message: message(pass, branch, tr[at].name, other, at)})
		return
	}
	r.Report(analysis.Diagnostic{Pos: other[at].pos, Message: fmt.Sprintf(
		"%s is collective, but by the PE number in the condition of line %d some PEs may return without it, and the others wait for them: return an error, or call it first",
		other[at].name, pass.Fset.Position(condPos(branch)).Line)})
}

// differ returns a trace of one side that no trace of the other has, the one that shares most with it, and how much.
func differ(sides [2]paths) (tr, other trace, at int, ok bool) {
	for n, side := range sides {
		for _, tr := range side.traces {
			if other, at := closest(tr, sides[1-n].traces); at < len(tr) { // else the other side has it all
				return tr, other, at, true
			}
		}
	}
	for n, side := range sides {
		for _, tr := range side.left {
			if other, ok := longerThan(tr, sides[1-n].traces); ok {
				return tr, other, len(tr), true
			}
		}
	}
	return nil, nil, 0, false
}

// longerThan returns one of others, if all of them go on behind tr.
func longerThan(tr trace, others []trace) (one trace, ok bool) {
	for _, o := range others {
		if len(o) <= len(tr) || !strings.HasPrefix(o.key(), tr.key()) {
			return nil, false
		}
		one = o
	}
	return one, one != nil
}

// agree reports whether the PEs of both sides of a branch call the same along the whole function, because another of
// its branches says the same about the PE number, or the contrary.
func agree(t *tracer, shape *shape, branch *ssa.If, team string) bool {
	given := calls.ConditionOf(branch.Cond)
	related := false
	for _, b := range shape.fn.Blocks {
		if other, ok := flow.Last(b).(*ssa.If); ok && other != branch {
			for _, is := range []bool{true, false} {
				_, known := calls.ConditionOf(other.Cond).Follows(given, is)
				related = related || known
			}
		}
	}
	if !related {
		return false
	}
	var sides [2]paths
	for n := range sides {
		assume := func(other *ssa.If) (is, known bool) { return calls.ConditionOf(other.Cond).Follows(given, n == 0) }
		var ok bool
		if sides[n], ok = t.between(shape, nil, shape.fn.Blocks[0], nil, team, assume); !ok {
			return true
		}
	}
	_, _, _, ok := differ(sides)
	return !ok
}

// closest returns the trace of others that shares most with tr, and how much.
func closest(tr trace, others []trace) (best trace, at int) {
	for n, o := range others {
		k := 0
		for k < len(tr) && k < len(o) && tr[k].name == o[k].name {
			k++
		}
		if n == 0 || k > at || k == at && len(o) == k {
			best, at = o, k
		}
	}
	return best, at
}

func message(pass *analysis.Pass, branch *ssa.If, name string, other trace, at int) string {
	line := pass.Fset.Position(condPos(branch)).Line
	if at < len(other) {
		return fmt.Sprintf("%s is collective, but by the PE number in the condition of line %d other PEs call %s instead: all PEs must call the same, in the same order", name, line, other[at].name)
	}
	return fmt.Sprintf("%s is collective, but by the PE number in the condition of line %d not all PEs call it: the others wait for it or do not come; call it outside of the branch", name, line)
}

// condPos returns where the condition of a branch is.
func condPos(branch *ssa.If) token.Pos {
	if pos := branch.Cond.Pos(); pos.IsValid() {
		return pos
	}
	if i, ok := branch.Cond.(ssa.Instruction); ok {
		for _, op := range i.Operands(nil) {
			if *op != nil && (*op).Pos().IsValid() {
				return (*op).Pos()
			}
		}
	}
	for _, i := range slices.Backward(branch.Block().Instrs) {
		if i.Pos().IsValid() {
			return i.Pos()
		}
	}
	return branch.Parent().Pos()
}

// listsPEs reports whether a branch is the last case of a switch without default that names PE after PE: a program of
// a fixed number of PEs lists them all, so none takes the other side.
func listsPEs(branch *ssa.If) bool {
	x, ok := equals(branch)
	if !ok || len(branch.Block().Preds) != 1 {
		return false
	}
	before, ok := flow.Last(branch.Block().Preds[0]).(*ssa.If)
	if !ok || before.Block().Succs[1] != branch.Block() {
		return false
	}
	y, ok := equals(before)
	return ok && x == y
}

// equals returns what a branch compares with a constant for equality.
func equals(branch *ssa.If) (ssa.Value, bool) {
	op, ok := branch.Cond.(*ssa.BinOp)
	if !ok || op.Op != token.EQL {
		return nil, false
	}
	_, constant := op.Y.(*ssa.Const)
	return op.X, constant
}
