package calls

// After which instructions this PE may know what other PEs have done. In doubt it does.

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A Syncs knows which functions of a package may synchronize with other PEs.
type Syncs struct {
	functions map[*ssa.Function]bool
	with      func(Call) bool // whether a call of gopgas does
}

// SyncsOf looks at all functions of a package; with says which calls of gopgas synchronize.
func SyncsOf(functions []*ssa.Function, with func(Call) bool) *Syncs {
	s := &Syncs{map[*ssa.Function]bool{}, with}
	for grown := true; grown; {
		before := len(s.functions)
		for _, fn := range functions {
			if !s.functions[fn] {
				eachInstr(fn, func(i ssa.Instruction) {
					if s.After(i) {
						s.functions[fn] = true
					}
				})
			}
		}
		grown = len(s.functions) > before
	}
	return s
}

// After reports whether i may synchronize.
func (s *Syncs) After(i ssa.Instruction) bool {
	switch i := i.(type) {
	case *ssa.Select:
		return slices.ContainsFunc(i.States, func(s *ssa.SelectState) bool { return !isTimer(s.Chan) })
	case *ssa.UnOp:
		return i.Op == token.ARROW && !isTimer(i.X)
	case *ssa.Call:
		if c, ok := Of(i); ok {
			return s.with(c)
		}
		return s.call(&i.Call)
	}
	return false
}

// isTimer reports whether a channel says that time has passed, which orders nothing.
func isTimer(channel ssa.Value) bool {
	if call, ok := channel.(*ssa.Call); ok {
		fn := Static(&call.Call)
		return fn != nil && (fn.FullName() == "time.After" || fn.FullName() == "time.Tick")
	}
	load, ok := channel.(*ssa.UnOp)
	if !ok {
		return false
	}
	f := fieldOf(load.X)
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == "time"
}

// call reports whether a call of something else may synchronize.
func (s *Syncs) call(common *ssa.CallCommon) bool {
	if _, ok := common.Value.(*ssa.Builtin); ok {
		return false
	}
	if common.IsInvoke() {
		return !isStandard(common.Method.Pkg())
	}
	callee := common.StaticCallee()
	if callee == nil {
		return true
	}
	if len(callee.Blocks) > 0 || callee.Origin() != nil && len(callee.Origin().Blocks) > 0 {
		return s.functions[callee] || s.functions[callee.Origin()]
	}
	fn := Static(common)
	if fn == nil || fn.Pkg() == nil {
		return true
	}
	for _, arg := range common.Args {
		if _, ok := arg.Type().Underlying().(*types.Signature); ok {
			return true // it may call that
		}
	}
	return !isStandard(fn.Pkg()) || fn.Pkg().Path() == "sync" || fn.Pkg().Path() == "sync/atomic"
}

// isStandard reports whether p is of the standard library, or of nowhere.
func isStandard(p *types.Package) bool {
	if p == nil {
		return true
	}
	first, _, _ := strings.Cut(p.Path(), "/")
	return !strings.Contains(first, ".")
}
