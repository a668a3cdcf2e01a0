// Package outsidebody is a rule of pgasvet: symmetric state that a body keeps outside of itself.
//
// A job that goes on after a failure runs its body again from the first line, in another World. What a variable outside
// the body still refers to is memory of the World before.
package outsidebody

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "outsidebody", URL: report.Page + "#outsidebody",
	Doc: `find symmetric state that a body keeps outside of itself

It reports a World, an allocation, a container, a lock or anything that holds one, when a body or a function that it
calls stores it to a variable of a package, to what such a variable refers to, or to a variable around the body.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	s := scan{outer: map[ssa.Value]bool{}, calls: map[*ssa.Function]bool{}, symmetric: symmetry{}}
	all := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	for _, fn := range bodies(all) {
		s.enterBody(fn)
	}
	for changed := true; changed; {
		changed = false
		for _, fn := range all {
			if s.calls[fn] || s.calls[fn.Parent()] {
				s.calls[fn] = true
				changed = s.follow(fn) || changed
			}
		}
	}
	for _, fn := range all {
		if s.calls[fn] {
			s.check(r, fn)
		}
	}
	return r.Used(), nil
}

// bodies returns the functions that are given to Main and Survive. In a package that does not call Init, a function
// with the parameters of a body is taken for one, or for a part of one: it may be given to the Main of another package.
func bodies(all []*ssa.Function) (list []*ssa.Function) {
	inits := false
	for _, fn := range all {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				c, ok := calls.Of(i)
				inits = inits || ok && c.Is("pgas", "Init")
				if ok && (c.Is("pgas", "Main") || c.Is("pgas", "Survive")) && len(c.Args) > 0 {
					if body := functionOf(c.Args[0]); body != nil {
						list = append(list, body)
					}
				}
			}
		}
	}
	for _, fn := range all {
		if !inits && looksLikeBody(fn) {
			list = append(list, fn)
		}
	}
	return list
}

// functionOf returns the function that a value is: a literal, a function or a method of a value.
func functionOf(v ssa.Value) *ssa.Function {
	if c, ok := v.(*ssa.MakeClosure); ok {
		v = c.Fn
	}
	if c, ok := v.(*ssa.ChangeType); ok {
		return functionOf(c.X)
	}
	fn, _ := v.(*ssa.Function)
	return fn
}

// looksLikeBody reports whether fn is declared with the parameters of a body. A literal is a body only if it is given
// to Main: tests give theirs to functions that run them once.
func looksLikeBody(fn *ssa.Function) bool {
	params := fn.Signature.Params()
	return fn.Parent() == nil && params.Len() >= 2 && calls.IsContext(params.At(0).Type()) &&
		calls.IsType(params.At(1).Type(), "World")
}

// scan is what the rule knows of the functions of a package.
type scan struct {
	outer     map[ssa.Value]bool     // addresses, and references to memory, that outlive a body
	calls     map[*ssa.Function]bool // functions that bodies call, and bodies
	symmetric symmetry
}

// enterBody notes a body. The variables around a literal outlive it, and so does what a method is called on.
func (s *scan) enterBody(fn *ssa.Function) {
	s.calls[fn] = true
	for _, v := range fn.FreeVars {
		s.outer[v] = true
	}
	if fn.Synthetic == "" {
		return
	}
	for _, b := range fn.Blocks { // the wrapper of a method's value
		for _, i := range b.Instrs {
			s.enterCall(i)
		}
	}
}

// isOuter reports whether v is a variable of a package, or may refer to what outlives a body.
func (s *scan) isOuter(v ssa.Value) bool {
	_, global := v.(*ssa.Global)
	return global || s.outer[v]
}

// follow notes what a function makes of what outlives a body, and which functions it calls. It reports whether it has
// found something new.
func (s *scan) follow(fn *ssa.Function) (changed bool) {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			changed = s.enterCall(i) || changed
			v, ok := i.(ssa.Value)
			if !ok || s.outer[v] || !s.derives(v) {
				continue
			}
			s.outer[v], changed = true, true
		}
	}
	return changed
}

// derives reports whether v is a part of what outlives a body, or a pointer that stands there.
func (s *scan) derives(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return s.isOuter(v.X)
	case *ssa.IndexAddr:
		return s.isOuter(v.X)
	case *ssa.UnOp:
		return v.Op == token.MUL && s.isOuter(v.X) && refers(v.Type())
	case *ssa.Slice:
		return s.isOuter(v.X)
	case *ssa.Lookup:
		return s.isOuter(v.X) && refers(v.Type())
	case *ssa.ChangeType:
		return s.isOuter(v.X)
	}
	return false
}

// refers reports whether a value of type t is a reference to other memory.
func refers(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		return true
	}
	return false
}

// enterCall notes the function of the package that i calls, and which of its parameters outlive a body.
func (s *scan) enterCall(i ssa.Instruction) (changed bool) {
	c, ok := i.(ssa.CallInstruction)
	if !ok {
		return false
	}
	common := c.Common()
	fn := common.StaticCallee()
	if fn == nil || fn.Pkg == nil || i.Parent().Pkg != nil && fn.Pkg != i.Parent().Pkg || fn.Blocks == nil {
		return false
	}
	if !s.calls[fn] {
		s.calls[fn], changed = true, true
	}
	for n, arg := range common.Args {
		if n < len(fn.Params) && s.isOuter(arg) && !s.outer[fn.Params[n]] {
			s.outer[fn.Params[n]], changed = true, true
		}
	}
	return changed
}

// check reports what a function stores to what outlives a body.
func (s *scan) check(r *report.Reporter, fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			at, v := ssa.Value(nil), ssa.Value(nil)
			switch i := i.(type) {
			case *ssa.Store:
				at, v = i.Addr, i.Val
			case *ssa.MapUpdate:
				at, v = i.Map, i.Value
			}
			if v == nil || !s.isOuter(at) || !s.keeps(v) {
				continue
			}
			r.Report(analysis.Diagnostic{Pos: i.Pos(), Message: fmt.Sprintf(
				"%s is kept outside the body: when the job goes on after a failure the body runs again, in another World, "+
					"and this one is dead; keep it in the body, and pass it on", types.TypeString(typeOf(v), shortName))})
		}
	}
}

func shortName(p *types.Package) string { return p.Name() }

// typeOf returns the type of v before it became an interface.
func typeOf(v ssa.Value) types.Type {
	if m, ok := v.(*ssa.MakeInterface); ok {
		return m.X.Type()
	}
	return v.Type()
}

// keeps reports whether v is or holds something symmetric. nil is nothing, and so is a struct of which no symmetric
// field is set.
func (s *scan) keeps(v ssa.Value) bool {
	if _, constant := v.(*ssa.Const); constant || !s.symmetric.holds(typeOf(v)) {
		return false
	}
	load, ok := v.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return true
	}
	made, ok := load.X.(*ssa.Alloc)
	if !ok || made.Comment != "complit" {
		return true
	}
	for _, use := range *made.Referrers() {
		field, ok := use.(*ssa.FieldAddr)
		if !ok {
			continue
		}
		for _, use := range *field.Referrers() {
			if set, ok := use.(*ssa.Store); ok && s.keeps(set.Val) {
				return true
			}
		}
	}
	return false
}

// symmetry has the types of which it is known whether they hold something symmetric.
type symmetry map[types.Type]bool

// holds reports whether a value of type t leads to a World: all that is symmetric does. Functions and interfaces are
// not looked into, but for those of package locks.
func (s symmetry) holds(t types.Type) bool {
	t = types.Unalias(t)
	if known, ok := s[t]; ok {
		return known
	}
	if calls.IsType(t, "World", "Context", "Team") || isLock(t) {
		s[t] = true
		return true
	}
	s[t] = false // of a type that leads to itself, until it is known
	s[t] = s.holdsParts(t.Underlying())
	return s[t]
}

func (s symmetry) holdsParts(t types.Type) bool {
	switch t := t.(type) {
	case *types.Pointer:
		return s.holds(t.Elem())
	case *types.Slice:
		return s.holds(t.Elem())
	case *types.Array:
		return s.holds(t.Elem())
	case *types.Chan:
		return s.holds(t.Elem())
	case *types.Map:
		return s.holds(t.Key()) || s.holds(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if s.holds(f.Type()) {
				return true
			}
		}
	}
	return false
}

// isLock reports whether t is an interface of package locks, behind which is a lock.
func isLock(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && types.IsInterface(t) && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == calls.Module+"locks"
}
