package unreleased

// Which calls take and release which locks.

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
)

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
func elsewhere(fn *ssa.Function) (locks []string) { return append(deferred(fn), inLiterals(fn)...) }

// deferred returns the locks that deferred calls of fn release.
func deferred(fn *ssa.Function) (locks []string) {
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
	return locks
}

// inLiterals returns the locks that function literals of fn release.
func inLiterals(fn *ssa.Function) (locks []string) {
	for _, literal := range fn.AnonFuncs {
		locks = append(locks, releases(literal)...)
		locks = append(locks, elsewhere(literal)...)
	}
	return locks
}
