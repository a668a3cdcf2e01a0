package collective

// Which paths count, and where the sides of a branch meet. A body that returns an error ends the job, so a path that
// ends so needs no collectives.

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
)

// A shape is a function's blocks as this rule sees them.
type shape struct {
	fn    *ssa.Function
	dead  map[*ssa.BasicBlock]bool // all paths from here end in an error or a panic
	after map[*ssa.BasicBlock]map[*ssa.BasicBlock]bool
}

func shapeOf(fn *ssa.Function) *shape {
	s := &shape{fn: fn, dead: map[*ssa.BasicBlock]bool{}}
	for grown := true; grown; {
		grown = false
		for _, b := range fn.Blocks {
			if !s.dead[b] && s.ends(b) {
				s.dead[b], grown = true, true
			}
		}
	}
	return s
}

// ends reports whether all paths through b end in an error or a panic, as far as known.
func (s *shape) ends(b *ssa.BasicBlock) bool {
	for _, i := range b.Instrs {
		if c, ok := calls.Of(i); ok && c.Is("pgas", "World.GlobalExit", "World.Abandon") {
			return true
		}
	}
	switch i := last(b).(type) {
	case *ssa.Return:
		return isError(i)
	case *ssa.Panic:
		return true
	}
	return len(b.Succs) > 0 && !slices.ContainsFunc(b.Succs, func(to *ssa.BasicBlock) bool { return !s.dead[to] }) || len(b.Succs) == 0
}

// isError reports whether a return returns an error for certain.
func isError(r *ssa.Return) bool {
	if len(r.Results) == 0 {
		return false
	}
	v := returned(r, r.Results[len(r.Results)-1])
	if !isErrorType(v.Type()) {
		return false
	}
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return true
	case *ssa.UnOp:
		if _, ok := v.X.(*ssa.Global); ok {
			return true
		}
	case *ssa.Call:
		if fn := calls.Static(&v.Call); fn != nil && (fn.FullName() == "fmt.Errorf" || fn.FullName() == "errors.New") {
			return true
		}
	}
	return underError(r.Block())
}

// returned returns the value that a return returns: in a function with deferred calls that is a variable, which the
// return statement has set.
func returned(r *ssa.Return, v ssa.Value) ssa.Value {
	load, ok := v.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return v
	}
	for _, i := range slices.Backward(r.Block().Instrs) {
		if s, ok := i.(*ssa.Store); ok && s.Addr == load.X {
			return s.Val
		}
	}
	return v
}

// underError reports whether b is only reached after an error was found.
func underError(b *ssa.BasicBlock) bool {
	for ; b.Idom() != nil; b = b.Idom() {
		branch, ok := last(b.Idom()).(*ssa.If)
		if !ok {
			continue
		}
		op, ok := branch.Cond.(*ssa.BinOp)
		if !ok || !isErrorType(op.X.Type()) || len(b.Preds) != 1 {
			continue
		}
		if found := b.Idom().Succs[0] == b; op.Op == token.NEQ && found || op.Op == token.EQL && !found {
			return true
		}
	}
	return false
}

func isErrorType(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// meet returns the first block that is on all paths behind b that count, or nil if the function ends before.
func (s *shape) meet(b *ssa.BasicBlock) *ssa.BasicBlock {
	if s.after == nil {
		s.after = s.postDominators()
	}
	common := s.after[b]
	for to := range common {
		if to == b {
			continue
		}
		// The first one is on all paths to the others.
		first := true
		for other := range common {
			if other != b && other != to && !s.after[to][other] {
				first = false
			}
		}
		if first {
			return to
		}
	}
	return nil
}

// postDominators returns for each block the blocks on all paths behind it that count, itself included.
func (s *shape) postDominators() map[*ssa.BasicBlock]map[*ssa.BasicBlock]bool {
	after := map[*ssa.BasicBlock]map[*ssa.BasicBlock]bool{} // without an entry: every block
	for changed := true; changed; {
		changed = false
		for _, b := range slices.Backward(s.fn.Blocks) {
			if s.dead[b] {
				continue
			}
			next := s.common(b, after)
			if next == nil {
				continue
			}
			if old := after[b]; old == nil || len(old) != len(next) {
				after[b], changed = next, true
			}
		}
	}
	return after
}

// common returns the blocks behind b that are on the paths of all its successors, or nil if none is known yet.
func (s *shape) common(b *ssa.BasicBlock, after map[*ssa.BasicBlock]map[*ssa.BasicBlock]bool) map[*ssa.BasicBlock]bool {
	var next map[*ssa.BasicBlock]bool
	for _, to := range b.Succs {
		behind := after[to]
		if s.dead[to] || behind == nil {
			continue
		}
		if next == nil {
			next = map[*ssa.BasicBlock]bool{}
			for x := range behind {
				next[x] = true
			}
			continue
		}
		for x := range next {
			if !behind[x] {
				delete(next, x)
			}
		}
	}
	if next == nil {
		if len(b.Succs) > 0 {
			return nil
		}
		next = map[*ssa.BasicBlock]bool{}
	}
	next[b] = true
	return next
}
