package calls

// The collectives of containers and arenas. New and Free are of all PEs of the job, other calls of the members of the
// container: all PEs, or those of the Team that its New was given by Over. Which these are is known where one function
// makes the container and uses it.

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// collectives are by package what all members call together, besides functions that begin with New.
var collectives = map[string][]string{
	"containers": {
		"Array.CopyFrom", "Array.Gather", "Array.Scatter", "Array.Combine", "Array.PrefixFunc", "Array.Reduce", "Array.SortFunc", "Array.Free",
		"PrefixSums", "Sort", "Count", "AddAll", "MaxAll", "MinAll", "SaveNPY", "LoadNPY",
		"Bloom.Union", "Bloom.Count", "Bloom.Free", "Counter.SumAll", "Counter.Free", "DistObject.Free", "Mailbox.Flush", "Mailbox.Free",
		"Map.UpdateAll", "Map.SetAll", "Map.InsertAll", "Map.DeleteAll", "Map.FindAll", "Map.Len", "Map.OnlyFinds", "Map.OnlyInserts", "Map.Writes",
		"Map.Save", "Map.Load", "Map.Free",
		"StringMap.UpdateAll", "StringMap.SetAll", "StringMap.InsertAll", "StringMap.FindAll", "StringMap.Len",
		"StringMap.OnlyFinds", "StringMap.OnlyInserts", "StringMap.Writes", "StringMap.Save", "StringMap.Load", "StringMap.Free",
		"TextMap.SetAll", "TextMap.FindAll", "TextMap.Len", "TextMap.Free",
		"Queue.Free", "Queues.Free", "Tickets.Free", "WorkPool.Run", "WorkPool.RunFor", "WorkPool.Tasks", "WorkPool.Free",
	},
	"arena": {"Arena.Reset", "Arena.Close"},
}

// isNew reports whether c makes a container or an arena.
func (c Call) isNew() bool {
	return c.Type == "" && strings.HasPrefix(c.Name, "New") && collectives[c.Package] != nil
}

// teamOfContainer is Team for packages containers and arena.
func (c Call) teamOfContainer() (team ssa.Value, ok bool) {
	switch {
	case c.isNew():
		return c.argument("World"), true
	case !c.Is(c.Package, collectives[c.Package]...):
		return nil, false
	case c.Name == "Free" || c.Package == "arena":
		return nil, true
	}
	container := c.Recv
	for i := 0; container == nil && i < len(c.Args); i++ {
		if isContainer(c.Args[i].Type()) {
			container = c.Args[i]
		}
	}
	return membersOf(container), true
}

// membersOf returns the World or Team of a container, or the container itself if that is not known.
func membersOf(container ssa.Value) ssa.Value {
	made, ok := madeBy(container)
	if !ok || len(made.Args) == 0 {
		return container
	}
	world := made.argument("World")
	switch opts := made.Args[len(made.Args)-1].(type) {
	case *ssa.Const: // none
		return world
	case *ssa.Slice:
		for _, o := range ElementsOf(opts) {
			c, ok := optionOf(o)
			if !ok {
				return container
			}
			if c.Is("containers", "Over") {
				return c.Args[0]
			}
		}
		return world
	}
	return container
}

// madeBy returns the call that has made a container, if it is in the function that uses it or around that.
func madeBy(v ssa.Value) (c Call, ok bool) {
	switch x := v.(type) {
	case *ssa.Extract:
		if call, is := x.Tuple.(*ssa.Call); is && x.Index == 0 {
			c, ok = Of(call)
			return c, ok && c.isNew()
		}
	case *ssa.UnOp:
		if stored := onlyValue(x); stored != v {
			return madeBy(stored)
		}
	case *ssa.FreeVar:
		if outer := captured(x); outer != nil {
			return madeBy(outer)
		}
	}
	return c, false
}

// ElementsOf returns what is stored to the elements of the array behind a slice of variadic arguments.
func ElementsOf(s *ssa.Slice) (values []ssa.Value) {
	array, ok := s.X.(*ssa.Alloc)
	if !ok {
		return []ssa.Value{s}
	}
	for _, use := range *array.Referrers() {
		if at, ok := use.(*ssa.IndexAddr); ok {
			for _, store := range *at.Referrers() {
				if st, ok := store.(*ssa.Store); ok {
					values = append(values, st.Val)
				}
			}
		}
	}
	return values
}

// optionOf returns the call of package containers whose result an option is.
func optionOf(v ssa.Value) (c Call, ok bool) {
	call, ok := v.(*ssa.Call)
	if !ok {
		return c, false
	}
	c, ok = Of(call)
	return c, ok && c.Package == "containers"
}

// isContainer reports whether t is a type of package containers, or points to one.
func isContainer(t types.Type) bool {
	named := namedOf(t)
	return named != nil && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == Module+"containers"
}
