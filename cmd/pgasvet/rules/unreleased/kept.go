package unreleased

// Locks that the paths of a loop keep: a turn that ends by continue, break or goto, and a second Lock of what is held.

import (
	"fmt"
	"maps"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
)

// mostSteps bounds the paths behind one lock. Beyond it nothing is reported.
const mostSteps = 2000

// A search follows the paths behind a call that takes a lock.
type search struct {
	by        *ssa.Call
	lock      lock
	waits     bool           // it waits until it has the lock
	deferred  bool           // it is released when the function returns
	names     []calls.Memory // what the lock's name hangs on
	unlocking map[*ssa.Function]bool
	steps     int
	released  *ssa.Return // where a path that has released the lock returns
	kept      *ssa.Return // where a path that has not returns
	again     *ssa.Call   // where a path that has not waits for it
	told      bool        // what is returned may say whether the lock is held
	unsure    bool

	keptTurn, releasedTurn bool // a path that has not released the lock, and one that has, comes to by again
}

// a path has taken edges, and knows conditions.
type path struct {
	seen     map[[2]*ssa.BasicBlock]bool
	known    []condition
	released bool
}

// a condition has a value since a block of the path.
type condition struct {
	calls.Condition
	is bool
	at *ssa.BasicBlock
}

// checkPaths reports a lock that some path keeps, where another one that comes to the same end releases it.
func checkPaths(pass *analysis.Pass, report func(analysis.Diagnostic), fn *ssa.Function, defers, literals []lock, unlocking map[*ssa.Function]bool) {
	for _, b := range fn.Blocks {
		for n, i := range b.Instrs {
			s, ok := searchFrom(i, unlocking)
			if !ok || slices.ContainsFunc(literals, s.lock.mayBe) {
				continue
			}
			s.deferred = slices.ContainsFunc(defers, s.lock.mayBe)
			s.walk(b, b.Instrs[n+1:], path{map[[2]*ssa.BasicBlock]bool{}, s.conditions(), false})
			if s.unsure {
				continue
			}
			c, _ := calls.Of(i)
			switch {
			case s.again != nil:
				report(analysis.Diagnostic{Pos: i.Pos(), Message: fmt.Sprintf(
					"what %s takes is still held where line %d takes it again, which waits for ever: release it on all paths before", c, pass.Fset.Position(s.again.Pos()).Line)})
			case s.keptTurn && s.releasedTurn:
				report(analysis.Diagnostic{Pos: i.Pos(), Message: fmt.Sprintf("what %s takes is not released on all paths to its next turn: "+
					"other PEs wait for it for ever; release it before continue or goto", c)})
			case s.kept != nil && s.kept == s.released && !s.told:
				report(analysis.Diagnostic{Pos: i.Pos(), Message: fmt.Sprintf(
					"what %s takes is not released on all paths to line %d: other PEs wait for it for ever; release it before break, continue or goto, or by defer",
					c, pass.Fset.Position(s.kept.Pos()).Line)})
			}
		}
	}
}

// searchFrom returns the search behind i, if i takes a lock and the rule can follow the lock's release.
func searchFrom(i ssa.Instruction, unlocking map[*ssa.Function]bool) (*search, bool) {
	call, ok := i.(*ssa.Call)
	if !ok {
		return nil, false
	}
	c, ok := calls.Of(call)
	if !ok {
		return nil, false
	}
	l, does := lockOf(c)
	if l.place == "" || isRelease(does) || isPassedOn(call) {
		return nil, false
	}
	s := &search{by: call, lock: l, waits: !isTry(does), unlocking: unlocking}
	for _, v := range append(c.Args[:len(c.Args):len(c.Args)], calls.PlaceOf(c.Recv).Deps...) {
		if m, ok := calls.MemoryOf(v); ok {
			s.names = append(s.names, m)
		}
	}
	if turn := innermost(call.Block()); turn != nil && chosenByTurn(call.Block(), turn) {
		return nil, false // as the first turn of a loop may be, or the last
	}
	return s, true
}

// isPassedOn reports whether another function decides on what a call returns.
func isPassedOn(call *ssa.Call) bool {
	return slices.ContainsFunc(*call.Referrers(), func(use ssa.Instruction) bool {
		_, ok := use.(ssa.CallInstruction)
		return ok
	})
}

// innermost returns the head of the innermost loop around b, or nil.
func innermost(b *ssa.BasicBlock) *ssa.BasicBlock {
	for head := b; head != nil; head = head.Idom() {
		if blocks := calls.LoopBlocks(head); len(blocks) > 1 && blocks[b] {
			return head
		}
	}
	return nil
}

// chosenByTurn reports whether a condition in a loop by the loop's variables decides whether b is run.
func chosenByTurn(b, head *ssa.BasicBlock) bool {
	for d := b.Idom(); d != nil && d != head; d = d.Idom() {
		branch, ok := flow.Last(d).(*ssa.If)
		if ok && len(d.Succs) == 2 && (d.Succs[0].Dominates(b) || d.Succs[1].Dominates(b)) && usesPhi(branch.Cond) {
			return true
		}
	}
	return false
}

// usesPhi reports whether v is computed from a variable of a loop.
func usesPhi(v ssa.Value) bool {
	if not, ok := v.(*ssa.UnOp); ok {
		v = not.X
	}
	return calls.PhiIn(v) != nil
}

// conditions returns what is known where the lock is taken.
func (s *search) conditions() (known []condition) {
	for b := s.by.Block(); b.Idom() != nil; b = b.Idom() {
		branch, ok := flow.Last(b.Idom()).(*ssa.If)
		if ok && len(b.Preds) == 1 {
			known = append(known, condition{calls.ConditionOf(branch.Cond), b.Idom().Succs[0] == b, b.Idom()})
		}
	}
	return known
}

// walk goes on with a path at some instructions of b.
func (s *search) walk(b *ssa.BasicBlock, instrs []ssa.Instruction, p path) {
	if s.steps++; s.steps > mostSteps {
		s.unsure = true
	}
	for _, i := range instrs {
		if s.unsure || s.ends(i, &p) {
			return
		}
	}
	for n, to := range b.Succs {
		edge := [2]*ssa.BasicBlock{b, to}
		if p.seen[edge] || flow.Fails(s.by, b, to) {
			continue
		}
		if known, ok := learn(p.known, b, n); ok {
			seen := maps.Clone(p.seen)
			seen[edge] = true
			s.walk(to, to.Instrs, path{seen, known, p.released})
		}
	}
}

// learn returns the conditions that are known where a path leaves b for its successor n. ok is false if they forbid it.
func learn(known []condition, b *ssa.BasicBlock, n int) (next []condition, ok bool) {
	next = slices.Clone(known)
	if branch, ok := flow.Last(b).(*ssa.If); ok {
		c := condition{calls.ConditionOf(branch.Cond), n == 0, b}
		for _, k := range known {
			if is, follows := c.Follows(k.Condition, k.is); follows && is != c.is {
				return nil, false
			}
		}
		next = append(next, c)
	}
	if head := b.Succs[n]; head.Dominates(b) { // the next turn has other values
		loop := calls.LoopBlocks(head)
		next = slices.DeleteFunc(next, func(c condition) bool { return loop[c.at] })
	}
	return next, true
}

// ends takes an instruction of a path. It reports whether the path is at its end.
func (s *search) ends(i ssa.Instruction, p *path) bool {
	switch i := i.(type) {
	case *ssa.Return:
		s.returns(i, p.released || s.deferred)
		return true
	case *ssa.Store:
		changed := calls.Path(i.Addr)
		return slices.ContainsFunc(s.names, func(m calls.Memory) bool { return slices.Contains(m.Loads, changed) })
	case *ssa.Call:
		c, ok := calls.Of(i)
		if !ok {
			s.unsure = s.unsure || s.unlocking[i.Call.StaticCallee()]
			return s.unsure
		}
		switch l, does := lockOf(c); {
		case s.lock.endsWith(c):
			p.released = true
		case isRelease(does):
			p.released = p.released || l == s.lock
			s.unsure = s.unsure || l != s.lock && l.mayBe(s.lock)
		case !p.released && s.waits && !isTry(does) && (l == s.lock && !l.shared || l.isOfOtherMode(s.lock)):
			s.again = i
			return true
		case l == s.lock: // that one is searched from there
			if i == s.by {
				s.nextTurn(p.released || s.deferred)
			}
			return true
		}
	}
	v, ok := i.(ssa.Value)
	return ok && slices.ContainsFunc(s.names, func(m calls.Memory) bool { return m.HangsOn(v) }) // another lock
}

// nextTurn takes the end of a path that comes to the call of the search again.
func (s *search) nextTurn(released bool) {
	s.keptTurn, s.releasedTurn = s.keptTurn || !released, s.releasedTurn || released
}

// returns takes the end of a path.
func (s *search) returns(r *ssa.Return, released bool) {
	for _, v := range r.Results {
		switch v.(type) {
		case *ssa.Phi, *ssa.UnOp:
			s.told = s.told || !flow.IsError(v.Type())
		}
	}
	switch {
	case flow.ReturnsError(r):
	case released:
		s.released = r
	default:
		s.kept = r
	}
}
