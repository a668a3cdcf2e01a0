package coherent

// From which call of an array a value comes: slices of it, addresses of its elements, and variables that hold it, those
// that function literals capture included.

import (
	"fmt"
	"go/constant"
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// origin is the call of an array that has returned some memory.
type origin struct {
	call   *ssa.Call
	access access
	method string
	array  string // the path of the array
}

// origins has the values of a function that are memory of an array, or variables that hold it.
type origins map[ssa.Value]*origin

// originsOf follows memory of arrays through fn. outer has the origins of the function that fn is declared in.
func originsOf(fn *ssa.Function, outer origins) origins {
	known := origins{}
	for _, v := range fn.FreeVars {
		if o := outer[captured(v)]; o != nil {
			known[v] = o
		}
	}
	for grown := true; grown; {
		before := len(known)
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				known.follow(i)
			}
		}
		grown = len(known) > before
	}
	return known
}

// follow notes the origin of what an instruction gives or stores.
func (k origins) follow(i ssa.Instruction) {
	if store, ok := i.(*ssa.Store); ok {
		if isVariable(store.Addr) && k[store.Addr] == nil && k[store.Val] != nil {
			k[store.Addr] = k[store.Val]
		}
		return
	}
	v, ok := i.(ssa.Value)
	if !ok || k[v] != nil {
		return
	}
	if call, ok := i.(*ssa.Call); ok {
		if a := accessOf(&call.Call); a != noAccess {
			_, name := method(&call.Call)
			k[v] = &origin{call, a, name, path(call.Call.Args[0])}
			return
		}
	}
	for _, from := range sources(i) {
		if k[from] != nil {
			k[v] = k[from]
			return
		}
	}
}

// sources returns the values that are the same memory as the result of i.
func sources(i ssa.Instruction) []ssa.Value {
	switch i := i.(type) {
	case *ssa.Slice:
		return []ssa.Value{i.X}
	case *ssa.IndexAddr:
		return []ssa.Value{i.X}
	case *ssa.FieldAddr:
		return []ssa.Value{i.X}
	case *ssa.ChangeType:
		return []ssa.Value{i.X}
	case *ssa.Convert:
		return []ssa.Value{i.X}
	case *ssa.MultiConvert:
		return []ssa.Value{i.X}
	case *ssa.SliceToArrayPointer:
		return []ssa.Value{i.X}
	case *ssa.MakeInterface:
		return []ssa.Value{i.X}
	case *ssa.Phi:
		return i.Edges
	case *ssa.UnOp:
		if i.Op == token.MUL && isVariable(i.X) {
			return []ssa.Value{i.X}
		}
	case *ssa.Call:
		switch builtin(&i.Call) {
		case "Slice", "SliceData", "Add": // of package unsafe
			return i.Call.Args[:1]
		}
	}
	return nil
}

// builtin returns the name of the built-in function that is called, or "".
func builtin(call *ssa.CallCommon) string {
	if b, ok := call.Value.(*ssa.Builtin); ok {
		return b.Name()
	}
	return ""
}

// isVariable reports whether v is the address of a variable of the function, or of one that it captures.
func isVariable(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Alloc, *ssa.FreeVar:
		return true
	}
	return false
}

// captured returns the outer function's value that v is.
func captured(v *ssa.FreeVar) ssa.Value {
	fn := v.Parent()
	for _, b := range fn.Parent().Blocks {
		for _, i := range b.Instrs {
			closure, ok := i.(*ssa.MakeClosure)
			if !ok || closure.Fn != fn {
				continue
			}
			for n := range fn.FreeVars {
				if fn.FreeVars[n] == v {
					return closure.Bindings[n]
				}
			}
		}
	}
	return nil
}

// path names an array so that two values which are loaded from one place have one name.
func path(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return "*" + path(v.X)
		}
	case *ssa.FieldAddr:
		return fmt.Sprintf("%s.%d", path(v.X), v.Field)
	case *ssa.Field:
		return fmt.Sprintf("%s.%d", path(v.X), v.Field)
	case *ssa.IndexAddr:
		return path(v.X) + "[" + path(v.Index) + "]"
	case *ssa.Const:
		if v.Value != nil && v.Value.Kind() == constant.Int {
			return v.Value.ExactString()
		}
	case *ssa.FreeVar:
		if outer := captured(v); outer != nil {
			return path(outer)
		}
	case *ssa.Call:
		if _, name := method(&v.Call); name == "Array" { // the array in a generated one
			return path(v.Call.Args[0])
		}
	}
	return fmt.Sprintf("%p", v)
}
