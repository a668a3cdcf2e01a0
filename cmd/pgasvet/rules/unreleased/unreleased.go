// Package unreleased is a rule of pgasvet: a lock that a function releases on one path and keeps on another.
//
// A lock of symmetric memory stays taken when its holder returns. All other PEs that want it wait, and no report names
// the line. A function that takes a lock and never releases it may hand it to its caller, and so may one that releases
// it on errors only. An error mostly ends the body, and the job with it, so a path that returns one needs no release,
// unless another one releases just before its error. What is reported is a path that forgets what its like does.
package unreleased

import (
	"fmt"
	"slices"

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
	Name: "unreleased", URL: report.Page + "#unreleased",
	Doc: `find locks that are not released on some path

It reports a pgas.LockRef, a lock of package locks, or a Mutex or RWMutex of package dsm that a function still holds at
one return, and has released at another.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

// held is a fact: a lock that is held, or one that was released.
type held struct {
	lock string
	by   *ssa.Call
	was  bool // it was released
}

func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	unlocking := map[*ssa.Function]bool{}
	for _, fn := range functions {
		unlocking[fn] = len(releases(fn)) > 0
	}
	for _, fn := range functions {
		check(pass, r, fn, elsewhere(fn), unlocking)
	}
	return r.Used(), nil
}

// lockOf returns the lock that a call takes or releases: its name, and what the call does.
func lockOf(c calls.Call) (lock, does string) {
	switch {
	case c.Type == "LockRef" || c.Package == "locks" && c.Recv != nil || c.Is("dsm", "Mutex."+c.Name, "RWMutex."+c.Name):
	default:
		return "", ""
	}
	switch c.Name {
	case "Lock", "TryLock", "Unlock":
		lock = "w"
	case "RLock", "TryRLock", "RUnlock":
		lock = "r"
	default:
		return "", ""
	}
	if c.Package == "locks" && c.Type == "Table" {
		return "", "" // Table.Lock returns a lock
	}
	lock += nameOf(c.Recv)
	if len(c.Args) > 0 { // of a Service, by name
		if name := c.Args[len(c.Args)-1]; !calls.IsContext(name.Type()) {
			lock += " " + calls.Path(name)
		}
	}
	return lock, c.Name
}

// nameOf names a lock: by its place, or for a lock of a locks.Table by the table and the index.
func nameOf(lock ssa.Value) string {
	if call, ok := lock.(*ssa.Call); ok {
		if c, ok := calls.Of(call); ok && c.Is("locks", "Table.Lock") {
			return calls.Path(c.Recv) + "[" + calls.Path(c.Args[0]) + "]"
		}
	}
	p := calls.PlaceOf(lock)
	return p.Root + " " + p.Index + " " + p.Field
}

func isRelease(does string) bool { return does == "Unlock" || does == "RUnlock" }

// releases returns the locks that fn releases, deferred calls included.
func releases(fn *ssa.Function) (locks []string) {
	for _, b := range fn.Blocks {
		locks = append(locks, releasesOf(b)...)
	}
	return locks
}

// releasesOf returns the locks that a block releases.
func releasesOf(b *ssa.BasicBlock) (locks []string) {
	for _, i := range b.Instrs {
		if c, ok := calls.Of(i); ok {
			if lock, does := lockOf(c); isRelease(does) {
				locks = append(locks, lock)
			}
		}
	}
	return locks
}

// elsewhere returns the locks that are released by deferred calls of fn or by function literals in it: on which paths
// this rule does not ask.
func elsewhere(fn *ssa.Function) (locks []string) {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if d, ok := i.(*ssa.Defer); ok {
				if c, ok := calls.Of(d); ok {
					lock, _ := lockOf(c)
					locks = append(locks, lock)
				}
			}
		}
	}
	for _, literal := range fn.AnonFuncs {
		locks = append(locks, releases(literal)...)
		locks = append(locks, elsewhere(literal)...)
	}
	return locks
}

// check reports the locks that fn holds at one return and has released at another.
func check(pass *analysis.Pass, r *report.Reporter, fn *ssa.Function, exempt []string, unlocking map[*ssa.Function]bool) {
	f := epoch.Of(func(s epoch.State[held], i ssa.Instruction) epoch.State[held] {
		return step(s, i, exempt, unlocking)
	})
	f.Edge = func(s epoch.State[held], from, to *ssa.BasicBlock) epoch.State[held] {
		return s.Without(func(_ string, h held) bool { return h.by != nil && flow.Fails(h.by, from, to) })
	}
	f.Join = epoch.Both[held]
	var kept []held
	var at []*ssa.Return
	onSuccess, onError := map[string]bool{}, map[string]bool{} // locks that are released where fn returns
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
func step(s epoch.State[held], i ssa.Instruction, exempt []string, unlocking map[*ssa.Function]bool) epoch.State[held] {
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
	lock, does := lockOf(c)
	switch {
	case lock == "" || slices.Contains(exempt, lock):
		return s
	case isRelease(does):
		s = s.Without(func(_ string, h held) bool { return h.lock == lock })
		return s.With("was "+lock, held{lock, nil, true}).Marked(i)
	}
	return s.Without(func(_ string, h held) bool { return h.lock == lock }).With("is "+lock, held{lock, call, false})
}
