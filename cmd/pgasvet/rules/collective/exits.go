package collective

// Which paths count, and where the sides of a branch meet. A body that returns an error ends the job, so a path that
// ends so needs no collectives.

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
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
	switch i := flow.Last(b).(type) {
	case *ssa.Return:
		return flow.ReturnsError(i)
	case *ssa.Panic:
		return true
	}
	return len(b.Succs) > 0 && !slices.ContainsFunc(b.Succs, func(to *ssa.BasicBlock) bool { return !s.dead[to] }) || len(b.Succs) == 0
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
