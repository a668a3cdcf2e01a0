package unreleased

// Which calls take and release which locks.

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
)

// A lock is what a call takes or releases, as far as the text of a function says which one that is.
type lock struct {
	place    string
	shared   bool   // it is taken by readers
	name     string // of a lock of a Service
	computed bool   // the name is, and may be that of another value
}

// lockOf returns the lock that a call takes or releases, and what the call does. It does nothing to other values.
func lockOf(c calls.Call) (l lock, does string) {
	switch {
	case c.Type == "LockRef" || c.Package == "locks" && c.Recv != nil || c.Is("dsm", "Mutex."+c.Name, "RWMutex."+c.Name):
	default:
		return l, ""
	}
	switch c.Name {
	case "Lock", "TryLock", "Unlock":
	case "RLock", "TryRLock", "RUnlock":
		l.shared = true
	default:
		return l, ""
	}
	if c.Package == "locks" && c.Type == "Table" {
		return l, "" // Table.Lock returns a lock
	}
	l.place = nameOf(c.Recv)
	if len(c.Args) > 0 {
		if name := c.Args[len(c.Args)-1]; !calls.IsContext(name.Type()) {
			l.name, l.computed = calls.Path(name), isComputed(name)
		}
	}
	return l, c.Name
}

// isComputed reports whether v is neither a constant nor the value of a variable.
func isComputed(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Const, *ssa.Parameter, *ssa.FreeVar, *ssa.UnOp:
		return false
	}
	return true
}

// mayBe reports whether o may be the lock l.
func (l lock) mayBe(o lock) bool {
	return l.place == o.place && l.shared == o.shared && (l.name == o.name || l.computed || o.computed)
}

// endsWith reports whether c closes the connection that holds l, which releases all that it holds.
func (l lock) endsWith(c calls.Call) bool {
	return c.Is("locks", "Client.Close") && l.place == nameOf(c.Recv)
}

// isOfOtherMode reports whether o is the lock l as it is taken by a writer, if l is a reader's, or the other way round.
func (l lock) isOfOtherMode(o lock) bool {
	o.shared = !o.shared
	return l == o
}

// nameOf names a lock: by its place, or for a lock of a locks.Table by the table and the index.
func nameOf(lock ssa.Value) string {
	for at, ok := lock.(*ssa.FieldAddr); ok && isEmbedded(at); at, ok = lock.(*ssa.FieldAddr) {
		lock = at.X // its methods are those of the whole
	}
	if call, ok := lock.(*ssa.Call); ok {
		if c, ok := calls.Of(call); ok && c.Is("locks", "Table.Lock") {
			return calls.Path(c.Recv) + "[" + calls.Path(c.Args[0]) + "]"
		}
	}
	p := calls.PlaceOf(lock)
	return p.Root + " " + p.Index + " " + p.Field
}

// isEmbedded reports whether at is the address of an embedded field.
func isEmbedded(at *ssa.FieldAddr) bool {
	s, ok := at.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
	return ok && s.Field(at.Field).Embedded()
}

func isRelease(does string) bool { return does == "Unlock" || does == "RUnlock" }

func isTry(does string) bool { return strings.HasPrefix(does, "Try") }

// releases returns the locks that fn releases, deferred calls included.
func releases(fn *ssa.Function) (locks []lock) {
	for _, b := range fn.Blocks {
		locks = append(locks, releasesOf(b)...)
	}
	return locks
}

// releasesOf returns the locks that a block releases.
func releasesOf(b *ssa.BasicBlock) (locks []lock) {
	for _, i := range b.Instrs {
		if c, ok := calls.Of(i); ok {
			if l, does := lockOf(c); isRelease(does) {
				locks = append(locks, l)
			}
		}
	}
	return locks
}

// elsewhere returns the locks that are released by deferred calls of fn or by function literals in it: on which paths
// this rule does not ask.
func elsewhere(fn *ssa.Function) (locks []lock) { return append(deferred(fn), inLiterals(fn)...) }

// deferred returns the locks that deferred calls of fn release.
func deferred(fn *ssa.Function) (locks []lock) {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if d, ok := i.(*ssa.Defer); ok {
				if c, ok := calls.Of(d); ok {
					l, _ := lockOf(c)
					locks = append(locks, l)
				}
			}
		}
	}
	return locks
}

// inLiterals returns the locks that function literals of fn release.
func inLiterals(fn *ssa.Function) (locks []lock) {
	for _, literal := range fn.AnonFuncs {
		locks = append(locks, releases(literal)...)
		locks = append(locks, elsewhere(literal)...)
	}
	return locks
}
