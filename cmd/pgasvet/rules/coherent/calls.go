package coherent

// What a call means for coherent memory: it gives memory of an array, it is a fence, or neither. Arrays that pgasgen
// generates are structs around one dsm.Array, with the same methods.

import (
	"fmt"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

const dsmPath = "github.com/gopgas/gopgas/dsm"

// access is how a call gives memory of an array.
type access int

const (
	noAccess access = iota
	whole           // Slice: valid until Close; what is missing is fetched by page faults
	checked         // View, Update, Overwrite: valid until the next fence
	element         // Read, Write: a pointer, valid until the next fence
)

// fences are the calls that end Views, by type.
func isFence(typ, name string) bool {
	switch typ + "." + name {
	case "Region.Barrier", "Region.Release", "Region.Acquire", "Member.Barrier", "Array.Publish", "Array.Claim",
		"Mutex.Lock", "Mutex.Unlock", "RWMutex.Lock", "RWMutex.Unlock", "RWMutex.RLock", "RWMutex.RUnlock",
		"Event.Set", "Event.Wait":
		return true
	}
	return false
}

// accessOf returns how a call gives memory of an array.
func accessOf(call *ssa.CallCommon) access {
	typ, name := method(call)
	if typ != "Array" {
		return noAccess
	}
	switch name {
	case "Slice":
		return whole
	case "View", "Update", "Overwrite":
		return checked
	case "Read", "Write":
		return element
	}
	return noAccess
}

// method returns the type of package dsm and the method of it that is called, or empty strings. For methods of a
// generated array the type is Array.
func method(call *ssa.CallCommon) (typ, name string) {
	fn := called(call)
	if fn == nil {
		return "", ""
	}
	receiver := fn.Signature().Recv()
	if receiver == nil {
		return "", ""
	}
	t := receiver.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if isArray(t) || isGeneratedArray(t) {
		return "Array", fn.Name()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && fromDSM(named) {
		return named.Obj().Name(), fn.Name()
	}
	return "", ""
}

// called returns the function or method that a call is certain to call, or nil.
func called(call *ssa.CallCommon) *types.Func {
	callee := call.StaticCallee()
	if callee == nil {
		return nil
	}
	fn, _ := callee.Object().(*types.Func)
	return fn
}

func fromDSM(t *types.Named) bool {
	p := t.Obj().Pkg()
	return p != nil && p.Path() == dsmPath
}

// isArray reports whether t is a dsm.Array.
func isArray(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == "Array" && fromDSM(named)
}

// isGeneratedArray reports whether t is what pgasgen generates for an array of structs.
func isGeneratedArray(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() == 1 && s.Field(0).Name() == "array" && isArray(s.Field(0).Type())
}

// fencingFunctions returns the functions of a package that have a fence, or call one that has.
func fencingFunctions(functions []*ssa.Function) map[*ssa.Function]bool {
	fencing := map[*ssa.Function]bool{}
	for grown := true; grown; {
		grown = false
		for _, fn := range functions {
			if !fencing[fn] && hasFence(fn, fencing) {
				fencing[fn], grown = true, true
			}
		}
	}
	return fencing
}

// hasFence reports whether fn has a fence. What it starts as goroutines does not count: that goes on beside the caller.
func hasFence(fn *ssa.Function, fencing map[*ssa.Function]bool) bool {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Call:
				if fenceName(&i.Call, fencing) != "" {
					return true
				}
			case *ssa.Defer:
				if fenceName(&i.Call, fencing) != "" {
					return true
				}
			}
		}
	}
	return false
}

// fenceName returns how a message names the fence that a call is, or has, or "". A call that is given a function with a
// fence counts: it is likely to call that.
func fenceName(call *ssa.CallCommon, fencing map[*ssa.Function]bool) string {
	if typ, name := method(call); isFence(typ, name) {
		return typ + "." + name
	}
	callee := generic(call.StaticCallee())
	if fencing[callee] {
		return fmt.Sprintf("%s, which has a fence", describe(callee))
	}
	for _, arg := range call.Args {
		if closure, ok := arg.(*ssa.MakeClosure); ok {
			arg = closure.Fn
		}
		if fn, ok := arg.(*ssa.Function); ok && fencing[generic(fn)] {
			return fmt.Sprintf("%s, which has a fence", describe(fn))
		}
	}
	return ""
}

// generic returns the function that fn is an instance of, or fn.
func generic(fn *ssa.Function) *ssa.Function {
	if fn != nil && fn.Origin() != nil {
		return fn.Origin()
	}
	return fn
}

// describe names a function for a message.
func describe(fn *ssa.Function) string {
	if strings.Contains(fn.Name(), "$") {
		return "a function literal"
	}
	return fn.Name()
}
