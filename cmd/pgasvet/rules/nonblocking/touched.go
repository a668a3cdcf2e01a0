package nonblocking

// The memory that an instruction reads or writes.

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
)

// touch is an access to memory.
type touch struct {
	memory calls.Memory
	writes bool
}

// accesses returns an access to the memory of v.
func accesses(v ssa.Value, writes bool) []touch {
	if m, ok := calls.MemoryOf(v); ok {
		return []touch{{m, writes}}
	}
	return nil
}

// ofBuiltin returns what a builtin function touches. An append to a part of a slice overwrites what is behind the part.
func ofBuiltin(name string, args []ssa.Value) []touch {
	switch name {
	case "copy":
		return append(accesses(args[0], true), accesses(args[1], false)...)
	case "clear":
		return accesses(args[0], true)
	case "append":
		if s, ok := args[0].(*ssa.Slice); ok && s.High != nil {
			behind := ssa.Slice{X: s.X, Low: s.High}
			return accesses(&behind, true)
		}
	}
	return nil
}

// ofInterface returns what a method of package io touches: a Write reads a slice, and a Read fills one.
func ofInterface(call *ssa.CallCommon) (list []touch) {
	if call.Method.Pkg() == nil || call.Method.Pkg().Path() != "io" {
		return nil
	}
	for _, a := range call.Args {
		if _, ok := a.Type().Underlying().(*types.Slice); ok {
			list = append(list, accesses(a, strings.HasPrefix(call.Method.Name(), "Read"))...)
		}
	}
	return list
}

// ofLibrary returns what a function of the standard library touches that gets a slice, or prints it.
func ofLibrary(call *ssa.Call) (list []touch) {
	fn := calls.Static(&call.Call)
	if fn == nil || fn.Pkg() == nil || !slices.Contains(readers, fn.Pkg().Path()) {
		return nil
	}
	writes := fn.Pkg().Path() == "sort" || fn.Pkg().Path() == "slices" && slices.ContainsFunc(changers, func(name string) bool {
		return strings.HasPrefix(fn.Name(), name)
	})
	for _, a := range call.Call.Args {
		values := []ssa.Value{a}
		if s, ok := a.(*ssa.Slice); ok && isArguments(s) {
			values = calls.ElementsOf(s)
		}
		for _, v := range values {
			if iface, ok := v.(*ssa.MakeInterface); ok {
				v = iface.X
			}
			if _, ok := v.Type().Underlying().(*types.Slice); ok {
				list = append(list, accesses(v, writes)...)
			}
		}
	}
	return list
}

// readers are packages with functions that look at the elements of their arguments before they return.
var readers = []string{"fmt", "log", "slices", "sort", "bytes"}

// changers begin the names of the functions of package slices that change a slice in place.
var changers = []string{"Sort", "Reverse", "Compact", "Delete", "Replace"}

// isArguments reports whether a slice is that of variadic arguments.
func isArguments(s *ssa.Slice) bool {
	a, ok := s.X.(*ssa.Alloc)
	return ok && a.Comment == "varargs"
}
