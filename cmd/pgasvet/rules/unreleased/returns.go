package unreleased

// Returns that keep a lock which others of their kind release.

import (
	"fmt"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/epoch"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

// held is a fact: a lock that is held, or one that was released.
type held struct {
	lock lock
	by   *ssa.Call
	was  bool // it was released
}

// check reports the locks that fn holds at one return and has released at another.
func check(pass *analysis.Pass, r *report.Reporter, fn *ssa.Function, exempt []lock, unlocking map[*ssa.Function]bool) {
	f := epoch.Of(func(s epoch.State[held], i ssa.Instruction) epoch.State[held] {
		return step(s, i, exempt, unlocking)
	})
	f.Edge = func(s epoch.State[held], from, to *ssa.BasicBlock) epoch.State[held] {
		return s.Without(func(_ string, h held) bool { return h.by != nil && flow.Fails(h.by, from, to) })
	}
	f.Join = epoch.Both[held]
	var kept []held
	var at []*ssa.Return
	onSuccess, onError := map[lock]bool{}, map[lock]bool{} // locks that are released where fn returns
	f.Visit(fn, func(s epoch.State[held], i ssa.Instruction) {
		end, ok := i.(*ssa.Return)
		if !ok {
			return
		}
		for _, h := range s.Facts() {
			switch {
			case !h.was:
				kept, at = append(kept, h), append(at, end)
			case flow.ReturnsError(end):
				onError[h.lock] = onError[h.lock] || slices.Contains(releasesOf(end.Block()), h.lock)
			default:
				onSuccess[h.lock] = true
			}
		}
	})
	for n, h := range kept {
		if flow.ReturnsError(at[n]) && onError[h.lock] || !flow.ReturnsError(at[n]) && onSuccess[h.lock] {
			c, _ := calls.Of(h.by)
			r.Report(analysis.Diagnostic{Pos: h.by.Pos(), Message: fmt.Sprintf(
				"what %s takes is not released where line %d returns, but elsewhere: other PEs wait for it for ever; release it there, or by defer",
				c, pass.Fset.Position(at[n].Pos()).Line)})
		}
	}
}

// step returns what is held after i.
func step(s epoch.State[held], i ssa.Instruction, exempt []lock, unlocking map[*ssa.Function]bool) epoch.State[held] {
	call, ok := i.(*ssa.Call)
	if !ok {
		return s
	}
	c, ok := calls.Of(call)
	if !ok {
		if unlocking[call.Call.StaticCallee()] {
			return s.Synced(i)
		}
		return s
	}
	s = s.Without(func(_ string, h held) bool { return h.lock.endsWith(c) })
	l, does := lockOf(c)
	switch {
	case l.place == "" || slices.ContainsFunc(exempt, l.mayBe):
		return s
	case isRelease(does):
		s = s.Without(func(_ string, h held) bool { return h.lock.mayBe(l) })
		return s.With(fmt.Sprint("was ", l), held{l, nil, true}).Marked(i)
	}
	return s.Without(func(_ string, h held) bool { return h.lock == l }).With(fmt.Sprint("is ", l), held{l, call, false})
}
