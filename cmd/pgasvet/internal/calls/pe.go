package calls

// Which values depend on the number of the PE that computes them, so that PEs differ in them.

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A PEs knows the values of a package that depend on the PE number: what World.PE, Team.PE and Member.ID return, what
// is computed from it, and variables and fields that hold nothing else.
type PEs struct {
	known   map[ssa.Value]ssa.Value        // numbers of PEs that are known, to the World or Team of the number
	fields  map[*types.Var]ssa.Value       // fields that are only ever set to such values
	results map[*ssa.Function]ssa.Value    // functions whose one result is such a value
	stores  map[ssa.Value][]ssa.Value      // what is stored to local variables
	plain   map[*types.Var]bool            // fields that are set to something else, too
	passed  map[*ssa.Parameter][]ssa.Value // what all calls of a function pass, if they are known
}

// PEsOf looks at all functions of a package.
func PEsOf(functions []*ssa.Function) *PEs {
	p := &PEs{map[ssa.Value]ssa.Value{}, map[*types.Var]ssa.Value{}, map[*ssa.Function]ssa.Value{}, map[ssa.Value][]ssa.Value{}, map[*types.Var]bool{}, passedOf(functions)}
	for _, fn := range functions {
		eachInstr(fn, func(i ssa.Instruction) {
			if s, ok := i.(*ssa.Store); ok {
				to := Variable(s.Addr)
				p.stores[to] = append(p.stores[to], s.Val)
			}
		})
	}
	for grown := true; grown; {
		before := len(p.known) + len(p.fields) + len(p.results)
		for _, fn := range functions {
			eachInstr(fn, p.follow)
			p.result(fn)
			p.parameters(fn)
		}
		p.setFields(functions)
		grown = len(p.known)+len(p.fields)+len(p.results) > before
	}
	return p
}

// Of returns the World or Team whose number v depends on, and whether it does.
func (p *PEs) Of(v ssa.Value) (team ssa.Value, ok bool) {
	team, ok = p.known[v]
	return team, ok
}

// IsNumber reports whether v is the number of the calling PE itself, not only something that depends on it.
func (p *PEs) IsNumber(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Call:
		c, ok := Of(v)
		return ok && isPE(c)
	case *ssa.Convert:
		return p.IsNumber(v.X)
	case *ssa.Parameter:
		return p.isNumberAlways(v)
	case *ssa.UnOp:
		if v.Op != token.MUL {
			return false
		}
		if f := fieldOf(v.X); f != nil {
			return p.fields[f] != nil
		}
		stores := p.stores[Variable(v.X)]
		return len(stores) == 1 && p.IsNumber(stores[0])
	}
	return false
}

func isPE(c Call) bool { return c.Is("pgas", "World.PE", "Team.PE") || c.Is("dsm", "Member.ID") }

// follow notes whether the result of an instruction depends on the PE number.
func (p *PEs) follow(i ssa.Instruction) {
	v, ok := i.(ssa.Value)
	if !ok || p.known[v] != nil {
		return
	}
	switch v := v.(type) {
	case *ssa.Call:
		if c, ok := Of(v); ok && isPE(c) {
			p.known[v] = c.Recv
		} else if team := p.results[v.Call.StaticCallee()]; team != nil {
			p.known[v] = team
		}
	case *ssa.BinOp:
		p.takeFrom(v, v.X, v.Y)
	case *ssa.Convert:
		p.takeFrom(v, v.X)
	case *ssa.ChangeType:
		p.takeFrom(v, v.X)
	case *ssa.Phi:
		p.takeFrom(v, v.Edges...)
	case *ssa.UnOp:
		p.followUnary(v)
	case *ssa.Field:
		if s, ok := v.X.Type().Underlying().(*types.Struct); ok {
			p.take(v, p.fields[s.Field(v.Field)])
		}
	}
}

// followUnary follows a load, and an operation on one value.
func (p *PEs) followUnary(v *ssa.UnOp) {
	if v.Op != token.MUL {
		p.takeFrom(v, v.X)
		return
	}
	if f := fieldOf(v.X); f != nil {
		p.take(v, p.fields[f])
		return
	}
	stores := p.stores[Variable(v.X)]
	for _, s := range stores {
		if p.known[s] == nil {
			return
		}
	}
	if len(stores) > 0 {
		p.take(v, p.known[stores[0]])
	}
}

// takeFrom notes that v depends on what one of the others depends on.
func (p *PEs) takeFrom(v ssa.Value, from ...ssa.Value) {
	for _, x := range from {
		p.take(v, p.known[x])
	}
}

func (p *PEs) take(v, team ssa.Value) {
	if team != nil && p.known[v] == nil {
		p.known[v] = team
	}
}

// result notes a function whose one result depends on the PE number wherever it returns.
func (p *PEs) result(fn *ssa.Function) {
	if fn.Signature.Results().Len() != 1 || p.results[fn] != nil {
		return
	}
	var team ssa.Value
	all := true
	eachInstr(fn, func(i ssa.Instruction) {
		if r, ok := i.(*ssa.Return); ok && len(r.Results) == 1 {
			if t := p.known[r.Results[0]]; t != nil {
				team = t
			} else {
				all = false
			}
		}
	})
	if all && team != nil {
		p.results[fn] = team
	}
}

// setFields notes the fields that are only set to PE numbers themselves.
func (p *PEs) setFields(functions []*ssa.Function) {
	for _, fn := range functions {
		eachInstr(fn, func(i ssa.Instruction) {
			s, ok := i.(*ssa.Store)
			if !ok {
				return
			}
			f := fieldOf(s.Addr)
			if f == nil || p.plain[f] {
				return
			}
			if p.IsNumber(s.Val) {
				p.fields[f] = p.known[s.Val]
				return
			}
			p.plain[f] = true
			delete(p.fields, f)
		})
	}
	for f, team := range p.fields {
		if team == nil {
			delete(p.fields, f)
		}
	}
}

// fieldOf returns the field whose address addr is, or nil.
func fieldOf(addr ssa.Value) *types.Var {
	f, ok := addr.(*ssa.FieldAddr)
	if !ok {
		return nil
	}
	p, ok := f.X.Type().Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	s, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	return s.Field(f.Field)
}

// Variable returns the variable that addr is the address of: for one that a function literal captures, the variable of
// the function that declares it.
func Variable(addr ssa.Value) ssa.Value {
	for {
		free, ok := addr.(*ssa.FreeVar)
		if !ok {
			return addr
		}
		outer := captured(free)
		if outer == nil {
			return addr
		}
		addr = outer
	}
}

// captured returns the outer function's value that v is.
func captured(v *ssa.FreeVar) ssa.Value {
	fn := v.Parent()
	if fn.Parent() == nil {
		return nil
	}
	var found ssa.Value
	eachInstr(fn.Parent(), func(i ssa.Instruction) {
		closure, ok := i.(*ssa.MakeClosure)
		if !ok || closure.Fn != fn {
			return
		}
		for n := range fn.FreeVars {
			if fn.FreeVars[n] == v {
				found = closure.Bindings[n]
			}
		}
	})
	return found
}

// parameters notes the parameters of fn that are always the PE number of a team, or computed from it.
func (p *PEs) parameters(fn *ssa.Function) {
	for _, param := range fn.Params {
		args := p.passed[param]
		if len(args) > 0 && !slices.ContainsFunc(args, func(v ssa.Value) bool { return p.known[v] == nil }) {
			p.take(param, p.known[args[0]])
		}
	}
}

// isNumberAlways reports whether a parameter is always the number of the calling PE itself.
func (p *PEs) isNumberAlways(param *ssa.Parameter) bool {
	args := p.passed[param]
	return p.known[param] != nil && !slices.ContainsFunc(args, func(v ssa.Value) bool {
		_, again := v.(*ssa.Parameter)
		return again || !p.IsNumber(v)
	})
}
