package calls

// Which symmetric memory a reference, or memory from Local, is.

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A Place is symmetric memory: of an allocation, or of a reference whose allocation is not known.
type Place struct {
	Root  string      // path of the allocation or reference
	Index string      // path of the element's index, empty for the whole
	Loop  bool        // the index changes in a loop
	Field string      // path of the field, empty for all of the element
	Deps  []ssa.Value // values that the paths are made of

	Indexes []ssa.Value // what Index is made of
	Args    []ssa.Value // the arguments of accessors of fields, as the index of one of an array of signals
}

// PlaceOf returns the place that a reference, an allocation or a range refers to.
func PlaceOf(ref ssa.Value) Place {
	var p Place
	for {
		ref = onlyValue(ref)
		call, ok := ref.(*ssa.Call)
		if !ok {
			break
		}
		c, ok := Of(call)
		if !ok || !p.through(c) {
			break
		}
		if ref = c.Recv; ref == nil {
			ref = c.Args[0]
		}
	}
	p.Root, p.Deps = Path(ref), append(p.Deps, ref)
	return p
}

// through adds what a call that gives a reference says. It reports whether it does.
func (p *Place) through(c Call) bool {
	if c.Package == "atomics" && c.Type != "" {
		return c.Name == "On" || c.Name == "Atomic"
	}
	if c.Field != "" {
		if c.Name != "Field" {
			return false
		}
		p.field(c.Field)
		p.Args = append(p.Args, c.Args...)
		return true
	}
	switch c.Name {
	case "At":
		p.index(c.Args[0])
	case "Range":
		p.index(c.Args[0])
	case "AtomicOf", "AtomicFloatOf", "SignalOf", "ShortOf", "LockOf", "Of", "OfFloat", "BoolOf", "FlagOf":
		p.index(c.Args[1])
	case "Field", "FieldAtomic", "FieldAtomicFloat", "FieldSignal", "FieldLock", "FieldSlice":
		p.field(Path(c.Args[1]))
	case "All", "Slice", "On", "Sym", "Ref", "Flatten", "AtomicsOf", "SignalsOf", "Notify", "Local", "Ptr":
	default:
		return c.Recv == nil && len(c.Args) == 1 && len(c.Name) > 5 && c.Name[len(c.Name)-5:] == "RefOf"
	}
	return true
}

func (p *Place) index(v ssa.Value) {
	p.Index = Path(v) + ";" + p.Index
	p.Loop = p.Loop || isLoopIndex(v)
	p.Deps = append(p.Deps, v)
	p.Indexes = append(p.Indexes, v)
}

func (p *Place) field(name string) { p.Field = name + ";" + p.Field }

// Word names the memory of one word, whichever function of the package means it: a field of a record by its type, or a
// place of this function alone. It returns "" for an element that a loop chooses.
func (p Place) Word() string {
	if p.Loop {
		return ""
	}
	root := p.Root
	if load, ok := p.RootValue().(*ssa.UnOp); ok {
		if f := fieldOf(load.X); f != nil {
			root = f.Pkg().Path() + " " + f.Name() + load.X.(*ssa.FieldAddr).X.Type().String()
		}
	}
	return root + " " + p.Index + " " + p.Field
}

// IsCount reports whether v is the variable of a range loop over numbers.
func IsCount(v ssa.Value) bool { return isLoopIndex(v) }

// isLoopIndex reports whether v is the variable of a loop.
func isLoopIndex(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Phi:
		return true
	case *ssa.BinOp: // range loops count before they use
		phi, ok := v.X.(*ssa.Phi)
		return ok && slices.Contains(phi.Edges, ssa.Value(v))
	}
	return false
}

// onlyValue returns what a variable that is set once holds, for a load of it.
func onlyValue(v ssa.Value) ssa.Value {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return v
	}
	variable, ok := Variable(load.X).(*ssa.Alloc)
	if !ok {
		return v
	}
	stores := storesTo(variable)
	if len(stores) != 1 {
		return v
	}
	return stores[0]
}

// storesTo returns what is stored to a variable, by its function and those that capture it.
func storesTo(variable ssa.Value) (stored []ssa.Value) {
	for _, use := range *variable.Referrers() {
		switch use := use.(type) {
		case *ssa.Store:
			if use.Addr == variable {
				stored = append(stored, use.Val)
			}
		case *ssa.MakeClosure:
			for n, bound := range use.Bindings {
				if bound == variable {
					stored = append(stored, storesTo(use.Fn.(*ssa.Function).FreeVars[n])...)
				}
			}
		}
	}
	return stored
}

// PlaceOfMemory returns the place of an address in memory from Local or Ptr.
func PlaceOfMemory(addr ssa.Value, o Origin) Place {
	p := PlaceOf(o.Call.Recv)
	if o.Call.Field == "" && o.Index != nil {
		p.index(o.Index)
	}
	if p.Field == "" {
		p.Field = fieldPath(addr)
	}
	return p
}

// fieldPath names the outermost field that addr is in.
func fieldPath(addr ssa.Value) (name string) {
	for {
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			if s, ok := v.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct); ok {
				name = s.Field(v.Field).Name() + ";"
			}
			addr = v.X
		case *ssa.IndexAddr:
			addr = v.X
		default:
			return name
		}
	}
}

// Overlaps reports whether two places are the same memory, as far as can be told: in doubt about indexes it says no.
func (p Place) Overlaps(q Place) bool {
	if p.Root != q.Root || p.Field != q.Field && p.Field != "" && q.Field != "" {
		return false
	}
	return p.Index == q.Index || p.Index == "" || q.Index == "" || p.Loop || q.Loop
}

// DependsOn reports whether the place is another one once v is computed again.
func (p Place) DependsOn(v ssa.Value) bool {
	for _, d := range p.Deps {
		for d != v {
			operands := chain(d)
			if operands == nil {
				break
			}
			d = operands
		}
		if d == v {
			return true
		}
	}
	return false
}

// chain returns the value that v is loaded through, or nil.
func chain(v ssa.Value) ssa.Value {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return v.X
	case *ssa.Field:
		return v.X
	case *ssa.IndexAddr:
		return v.Index
	case *ssa.ChangeType:
		return v.X
	}
	return nil
}

// In returns the place p of a function as a place of its caller, which has passed arg for the root of p.
func (p Place) In(arg ssa.Value) Place {
	outer := PlaceOf(arg)
	outer.Index, outer.Field = outer.Index+p.Index, outer.Field+p.Field
	outer.Loop = outer.Loop || p.Loop
	outer.Indexes = append(outer.Indexes[:len(outer.Indexes):len(outer.Indexes)], p.Indexes...)
	return outer
}

// RootValue returns the value that the root is the name of.
func (p Place) RootValue() ssa.Value { return p.Deps[len(p.Deps)-1] }

// IsLocal reports whether no other function can make the place another one: it hangs on no memory.
func (p Place) IsLocal() bool { return !strings.Contains(p.Root, "*") }
