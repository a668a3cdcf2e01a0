package calls

// Contexts of operations: which one an operation is of, and whether a fence or a quiet is of another.

import "golang.org/x/tools/go/ssa"

// ContextOf returns the Context that the operation c is of by an On in its function, or nil if it is not known.
func ContextOf(c Call) ssa.Value {
	for ref := c.Recv; ref != nil; {
		call, ok := onlyValue(ref).(*ssa.Call)
		if !ok {
			return nil
		}
		of, ok := Of(call)
		var p Place
		if !ok || !p.through(of) {
			return nil
		}
		if of.Name == "On" && of.Field == "" {
			return onlyValue(of.Args[0])
		}
		if ref = of.Recv; ref == nil && len(of.Args) > 0 {
			ref = of.Args[0]
		}
	}
	return nil
}

// Concerns reports whether c, a fence, a quiet or a collective, may be about the operations of a Context. In doubt it
// is.
func (c Call) Concerns(on ssa.Value) bool {
	if on == nil || !isPrivate(on) || c.Name == "Destroy" || c.Is("pgas", "World.Close") {
		return true
	}
	if c.Type != "Context" {
		return c.Package != "pgas"
	}
	d := onlyValue(c.Recv)
	return Path(d) == Path(on) || !isPrivate(d) && !isDefault(d)
}

// isPrivate reports whether v is a Context that the function has made, or that its caller has given it: nobody passes
// the default context beside the World.
func isPrivate(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Parameter:
		return IsType(v.Type(), "Context")
	case *ssa.Extract:
		call, ok := v.Tuple.(*ssa.Call)
		if !ok {
			return false
		}
		c, ok := Of(call)
		return ok && c.Is("pgas", "World.NewContext", "Team.NewContext")
	}
	return false
}

// isDefault reports whether v is the default context.
func isDefault(v ssa.Value) bool {
	call, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	c, ok := Of(call)
	return ok && c.Is("pgas", "World.Context", "Team.Context")
}
