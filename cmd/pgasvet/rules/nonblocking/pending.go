package nonblocking

// What is pending at each point of a function, and what its instructions touch. Functions of the package may leave
// pending, or touch, what they are given: their parameters, and the variables that a function literal captures.

import (
	"go/token"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/epoch"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

type state = epoch.State[pending]

// A checker looks at the functions of a package.
type checker struct {
	pass    *analysis.Pass
	report  *report.Reporter
	syncs   *calls.Syncs
	pes     *calls.PEs
	effects map[*ssa.Function]*effects
}

// step returns what is pending after i.
func (k *checker) step(s state, i ssa.Instruction) state {
	if store, ok := i.(*ssa.Store); ok && len(s.Facts()) > 0 {
		changed := calls.Path(store.Addr)
		return s.Without(func(_ string, p pending) bool { return p.loadedFrom(changed) })
	}
	call, ok := i.(*ssa.Call)
	if !ok {
		if k.syncs.After(i) {
			return s.Synced(i)
		}
		return k.computed(s, i)
	}
	if c, ok := calls.Of(call); ok {
		s = after(s, c)
		for _, p := range issued(c) {
			p.at = i.Block()
			s = with(s, p)
		}
		return k.computed(s, i)
	}
	if k.syncs.After(i) {
		return s.Synced(i)
	}
	if callee := call.Call.StaticCallee(); callee != nil && len(callee.Blocks) > 0 {
		s = s.Without(func(_ string, p pending) bool { return len(p.memory.Loads) > 0 }) // it may make it another one
		for _, p := range k.issuedBy(call, callee) {
			p.at = i.Block()
			s = with(s, p)
		}
	}
	return k.computed(s, i)
}

// computed returns s without the memory that is another one, now that i has computed its value again.
func (k *checker) computed(s state, i ssa.Instruction) state {
	v, ok := i.(ssa.Value)
	if !ok || len(s.Facts()) == 0 {
		return s
	}
	return s.Without(func(_ string, p pending) bool { return p.memory.HangsOn(v) && p.by.Instr != i })
}

// with returns s with one more buffer, and with those of the other turns if a loop chooses it.
func with(s state, p pending) state {
	s = s.With(p.key(), p)
	if all, ok := p.memory.Each(); ok {
		p.memory = all
		s = s.With(p.key(), p)
	}
	return s
}

// after returns what is pending after c, without what c begins.
func after(s state, c calls.Call) state {
	if !completes(c) {
		return s
	}
	_, collective := c.Team()
	return s.Marked(c.Instr).Without(func(_ string, p pending) bool {
		switch {
		case c.Type == "LocalCompletion":
			return !p.get && !p.collective
		case c.Type == "Request" && c.Package == "pgas":
			return p.collective
		case p.collective:
			return collective || c.Package != "pgas"
		case c.Name == "QuietLocal":
			return !p.get && c.Concerns(p.on)
		}
		return c.Concerns(p.on)
	})
}

// touched returns what an instruction loads, stores or copies, or has a call load or store.
func (k *checker) touched(i ssa.Instruction) []touch {
	switch i := i.(type) {
	case *ssa.Store:
		return accesses(i.Addr, true)
	case *ssa.UnOp:
		if i.Op == token.MUL {
			return accesses(i.X, false)
		}
	case *ssa.Call:
		return k.touchedBy(i)
	}
	return nil
}

func (k *checker) touchedBy(call *ssa.Call) []touch {
	if b, ok := call.Call.Value.(*ssa.Builtin); ok {
		return ofBuiltin(b.Name(), call.Call.Args)
	}
	if c, ok := calls.Of(call); ok {
		return buffersOf(c)
	}
	if call.Call.IsInvoke() {
		return ofInterface(&call.Call)
	}
	callee := call.Call.StaticCallee()
	if callee == nil {
		return nil
	}
	if of := callee.Origin(); len(callee.Blocks) > 0 && (of == nil || len(of.Blocks) > 0) {
		return k.touchedInside(call, callee)
	}
	return ofLibrary(call)
}

// effects is what a function does with memory that its caller knows.
type effects struct {
	touches []touch   // before anything may complete
	pending []pending // where it returns
}

// of returns the effects of a function. One that calls itself has none here.
func (k *checker) of(fn *ssa.Function) *effects {
	if e := k.effects[fn]; e != nil {
		return e
	}
	e := &effects{}
	k.effects[fn] = e
	e.touches = k.first(fn.Blocks[0], map[*ssa.BasicBlock]bool{})
	epoch.Of(k.step).Visit(fn, func(s state, i ssa.Instruction) {
		if _, ok := i.(*ssa.Return); ok {
			for _, p := range s.Facts() {
				if isGiven(p.memory.Base) {
					e.pending = append(e.pending, p)
				}
			}
		}
	})
	return e
}

// first returns what is touched from the beginning of b on before anything may complete.
func (k *checker) first(b *ssa.BasicBlock, seen map[*ssa.BasicBlock]bool) (list []touch) {
	if seen[b] {
		return nil
	}
	seen[b] = true
	for _, i := range b.Instrs {
		if k.syncs.After(i) {
			return list
		}
		for _, t := range k.touched(i) {
			if isGiven(t.memory.Base) {
				list = append(list, t)
			}
		}
	}
	for _, to := range b.Succs {
		list = append(list, k.first(to, seen)...)
	}
	return list
}

// isGiven reports whether the caller knows the memory: it is that of a parameter, or of a captured variable.
func isGiven(base ssa.Value) bool {
	if load, ok := base.(*ssa.UnOp); ok {
		base = load.X
		_, captured := base.(*ssa.FreeVar)
		return captured
	}
	switch base.(type) {
	case *ssa.Parameter, *ssa.FreeVar:
		return true
	}
	return false
}

// inCaller returns memory of callee as memory of the function that calls it.
func inCaller(m calls.Memory, call *ssa.Call, callee *ssa.Function) (calls.Memory, bool) {
	p, ok := m.Base.(*ssa.Parameter)
	if !ok {
		return m, call.Parent() == callee.Parent() // a captured variable has one name
	}
	for n, parameter := range callee.Params {
		if parameter == p && n < len(call.Call.Args) {
			return m.In(call.Call.Args[n])
		}
	}
	return m, false
}

// issuedBy returns what a call of a function of the package leaves pending.
func (k *checker) issuedBy(call *ssa.Call, callee *ssa.Function) (list []pending) {
	for _, p := range k.of(callee).pending {
		if m, ok := inCaller(p.memory, call, callee); ok {
			p.memory, p.on = m, nil
			list = append(list, p)
		}
	}
	return list
}

// touchedInside returns what a call of a function of the package touches.
func (k *checker) touchedInside(call *ssa.Call, callee *ssa.Function) (list []touch) {
	for _, t := range k.of(callee).touches {
		if m, ok := inCaller(t.memory, call, callee); ok {
			t.memory = m
			list = append(list, t)
		}
	}
	return list
}
