package calls

// This PE's own copy of symmetric memory, and the memory of other PEs that is mapped: what Local and Ptr return, and
// what is derived from it.

import (
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// An Origin is the call of Local or Ptr that some memory comes from.
type Origin struct {
	Call  Call
	Index ssa.Value // the index of the element, if the memory is one of a range by a fixed index
	Part  bool      // the memory is a part of the range, by other bounds than the whole
}

// Origins has the values of a function that are addresses in symmetric memory, or slices of it.
type Origins map[ssa.Value]Origin

// OriginsOf follows symmetric memory through fn. outer has the origins of the function that fn is declared in.
func OriginsOf(fn *ssa.Function, outer Origins) Origins {
	known := Origins{}
	for _, v := range fn.FreeVars {
		if o, ok := outer[captured(v)]; ok {
			known[v] = o
		}
	}
	for grown := true; grown; {
		before := len(known)
		eachInstr(fn, known.follow)
		grown = len(known) > before
	}
	return known
}

// follow notes the origin of what an instruction gives or stores.
func (k Origins) follow(i ssa.Instruction) {
	if s, ok := i.(*ssa.Store); ok {
		o, ours := k[s.Val]
		if _, known := k[s.Addr]; ours && !known && isVariable(s.Addr) {
			k[s.Addr] = o
		}
		return
	}
	v, ok := i.(ssa.Value)
	if !ok {
		return
	}
	if _, known := k[v]; known {
		return
	}
	if c, ok := Of(i); ok {
		if c.Package == "pgas" && (c.Name == "Local" || c.Name == "Ptr") {
			k[v] = Origin{Call: c}
		}
		return
	}
	k.derive(v)
}

// derive notes v if it is computed from symmetric memory.
func (k Origins) derive(v ssa.Value) {
	switch v := v.(type) {
	case *ssa.IndexAddr:
		if o, ok := k[v.X]; ok {
			if o.Index == nil && !o.Part {
				o.Index = v.Index
			}
			k[v] = o
		}
	case *ssa.Slice:
		if o, ok := k[v.X]; ok {
			o.Part = o.Part || v.Low != nil || v.High != nil
			k[v] = o
		}
	case *ssa.FieldAddr:
		k.copyFrom(v, v.X)
	case *ssa.ChangeType:
		k.copyFrom(v, v.X)
	case *ssa.Phi:
		for _, x := range v.Edges {
			k.copyFrom(v, x)
		}
	case *ssa.UnOp:
		if v.Op == token.MUL && isVariable(v.X) {
			k.copyFrom(v, v.X)
		}
	}
}

func (k Origins) copyFrom(v, x ssa.Value) {
	if o, ok := k[x]; ok {
		k[v] = o
	}
}

// isVariable reports whether v is the address of a variable of the function, or of one that it captures.
func isVariable(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Alloc, *ssa.FreeVar:
		return true
	}
	return false
}

// AtomicField returns the field that addr is an address in, if PEs access it atomically: it is tagged so, or a Signal
// or a Lock. ok reports whether there is one.
func AtomicField(addr ssa.Value) (field *types.Var, ok bool) {
	for {
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			s, isStruct := v.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
			if isStruct && isAtomic(s, v.Field) {
				return s.Field(v.Field), true
			}
			addr = v.X
		case *ssa.IndexAddr:
			addr = v.X
		default:
			return nil, false
		}
	}
}

// isAtomic reports whether PEs access a field atomically.
func isAtomic(s *types.Struct, n int) bool {
	if IsType(s.Field(n).Type(), "Signal", "Lock") {
		return true
	}
	return IsAtomicTag(s.Tag(n))
}

// IsAtomicTag reports whether a field's tag says that PEs update it atomically.
func IsAtomicTag(tag string) bool {
	return slices.Contains(splitTag(reflect.StructTag(tag).Get("pgas")), "atomic")
}

func splitTag(tag string) (words []string) {
	word := ""
	for _, c := range tag + "," {
		if c == ',' || c == ' ' {
			words = append(words, word)
			word = ""
			continue
		}
		word += string(c)
	}
	return words
}
