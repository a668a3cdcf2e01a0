// Package calls says what a call of gopgas means: of the packages themselves, and of the accessors that pgasgen writes.
// An accessor counts as the method that it calls: r.PutTokenSignal(…) is PutSignal on field Token of r.
package calls

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Module is the path of the module, with a slash.
const Module = "github.com/gopgas/gopgas/"

// A Call is a call of a function or a method of gopgas.
type Call struct {
	Instr   ssa.CallInstruction
	Package string      // one of pgas, locks, notify, dsm, atomics, containers, arena
	Type    string      // the type of the receiver: Ref or Sym for generated types, empty for a function
	Name    string      // the name without the field's name
	Field   string      // the field of an accessor, or empty
	Record  types.Type  // the struct of an accessor
	Recv    ssa.Value   // receiver, or nil
	Args    []ssa.Value // the arguments without the receiver
}

// Of returns the call of gopgas that an instruction makes, if it makes one and it is certain which.
func Of(i ssa.Instruction) (Call, bool) {
	instr, ok := i.(ssa.CallInstruction)
	if !ok {
		return Call{}, false
	}
	common := instr.Common()
	fn, args := common.Method, common.Args
	var recv ssa.Value
	if fn != nil {
		recv = common.Value
	} else if fn = Static(common); fn == nil {
		return Call{}, false
	} else if fn.Signature().Recv() != nil {
		if len(args) == 0 {
			return Call{}, false
		}
		recv, args = args[0], args[1:]
	}
	c := Call{Instr: instr, Name: fn.Name(), Recv: recv, Args: args}
	return c, c.resolve(fn)
}

// Static returns the function or method that a call is certain to call, or nil.
func Static(common *ssa.CallCommon) *types.Func {
	callee := common.StaticCallee()
	if callee == nil {
		return nil
	}
	fn, _ := callee.Object().(*types.Func)
	return fn
}

// resolve fills in what fn is. It reports whether fn is of gopgas, and what programs may call.
func (c *Call) resolve(fn *types.Func) bool {
	if !fn.Exported() {
		return false
	}
	if c.Recv == nil {
		return c.resolveFunction(fn)
	}
	t := fn.Signature().Recv().Type()
	if generated, record := GeneratedType(t); generated != "" {
		c.Package, c.Type, c.Record = "pgas", generated, record
		c.Name, c.Field = splitAccessor(c.Name, record)
		return true
	}
	named := namedOf(t)
	if named == nil || fn.Pkg() == nil || !named.Obj().Exported() {
		return false
	}
	c.Package, c.Type = packageOf(fn.Pkg()), named.Obj().Name()
	return c.Package != ""
}

func (c *Call) resolveFunction(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return false
	}
	results := fn.Signature().Results()
	if strings.HasPrefix(fn.Name(), "Alloc") && results.Len() == 2 {
		if generated, record := GeneratedType(results.At(0).Type()); generated == "Sym" {
			c.Package, c.Name, c.Record = "pgas", "Alloc", record
			return true
		}
	}
	c.Package = packageOf(fn.Pkg())
	return c.Package != ""
}

// packageOf returns the name of a public package of gopgas, or "".
func packageOf(p *types.Package) string {
	name, ok := strings.CutPrefix(p.Path(), Module)
	if !ok {
		return ""
	}
	switch name {
	case "pgas", "locks", "notify", "dsm", "atomics", "containers", "arena", "input", "progress":
		return name
	}
	return ""
}

// Is reports whether c is a call of that package and name: a method's is Type.Name.
func (c Call) Is(pkg string, names ...string) bool {
	if c.Package != pkg {
		return false
	}
	name := c.Name
	if c.Type != "" {
		name = c.Type + "." + name
	}
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// String is how messages name the call.
func (c Call) String() string {
	fn := c.Instr.Common().Method
	if fn == nil {
		fn = Static(c.Instr.Common())
	}
	if c.Recv != nil {
		if named := namedOf(fn.Signature().Recv().Type()); named != nil {
			return named.Obj().Name() + "." + fn.Name()
		}
		return fn.Name()
	}
	return fn.Pkg().Name() + "." + fn.Name()
}

// namedOf returns the named type that t is, or points to.
func namedOf(t types.Type) *types.Named {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, _ := t.(*types.Named)
	return named
}

// IsType reports whether t, or what it points to, is a type of package pgas of one of the names.
func IsType(t types.Type, names ...string) bool {
	named := namedOf(t)
	if named == nil || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != Module+"pgas" {
		return false
	}
	for _, name := range names {
		if named.Obj().Name() == name {
			return true
		}
	}
	return false
}

// GeneratedType returns what a type that pgasgen has written refers to: Sym or Ref, and the struct.
func GeneratedType(t types.Type) (kind string, record types.Type) {
	named := namedOf(t)
	if named == nil {
		return "", nil
	}
	s, ok := named.Underlying().(*types.Struct)
	if !ok || s.NumFields() != 1 {
		return "", nil
	}
	f := s.Field(0)
	inner := namedOf(f.Type())
	if inner == nil || inner.TypeArgs().Len() != 1 {
		return "", nil
	}
	switch {
	case f.Name() == "sym" && IsType(f.Type(), "Sym"):
		return "Sym", inner.TypeArgs().At(0)
	case f.Name() == "ref" && IsType(f.Type(), "Ref"):
		return "Ref", inner.TypeArgs().At(0)
	}
	return "", nil
}

// accessorVerbs and accessorEnds are what pgasgen writes before and after the name of a field.
var (
	accessorVerbs = []string{"Put", "Get", "Fetch", "Set", "Swap", "CompareSwap", "FetchInc", "Inc", "FetchAdd", "Add",
		"FetchAnd", "And", "FetchOr", "Or", "FetchXor", "Xor", "FetchMin", "Min", "FetchMax", "Max", "WaitUntil"}
	accessorEnds = []string{"", "NB", "Signal", "SignalAdd", "Notify", "All"}
)

// splitAccessor returns the method that an accessor of record calls, and the field. What refers to a field is Field.
func splitAccessor(name string, record types.Type) (method, field string) {
	s, ok := record.Underlying().(*types.Struct)
	if !ok {
		return name, ""
	}
	for i := range s.NumFields() {
		f := s.Field(i).Name()
		if len(f) < len(field) || !strings.Contains(name, f) {
			continue
		}
		switch name {
		case f, f + "Ref", f + "Slice":
			method, field = "Field", f
		}
		for _, verb := range accessorVerbs {
			end, ok := strings.CutPrefix(name, verb+f)
			if !ok {
				continue
			}
			for _, e := range accessorEnds {
				if e == end {
					method, field = strings.TrimSuffix(verb+e, "All"), f
				}
			}
		}
	}
	if field == "" {
		return name, ""
	}
	return method, field
}
