package localread

// What a function puts and reads, and what functions of the package put and read of the references that they are given.

import (
	"fmt"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/epoch"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

// put is a fact: what this PE has put to others since it last synchronized with them, as they have to this one; or what
// it has stored to its own copy, as they have to theirs.
type put struct {
	place calls.Place
	call  calls.Call
	at    ssa.Instruction
	own   bool // it is a store to the own copy
	quiet bool // it is complete
}

type state = epoch.State[put]

// key names the fact.
func (p put) key() string {
	return fmt.Sprint(p.place.Root, p.place.Index, p.place.Field, p.own, p.quiet, p.own && p.place.Loop)
}

// A checker looks at the functions of a package.
type checker struct {
	pass    *analysis.Pass
	report  *report.Reporter
	pes     *calls.PEs
	syncs   *calls.Syncs
	quiets  *calls.Syncs
	origins map[*ssa.Function]calls.Origins
	inside  map[*ssa.Function]*effects
}

// isQuiet reports whether after c the puts of this PE are complete. In doubt they are.
func isQuiet(c calls.Call) bool {
	return c.Completes() || c.Package != "pgas" || c.Name == "QuietPE"
}

// step returns what has been put after i.
func (k *checker) step(s state, i ssa.Instruction) state {
	if k.syncs.After(i) {
		if c, ok := calls.Of(i); ok && c.OnlyMeets() {
			return s.Marked(i).Without(func(_ string, p put) bool { return p.own || p.quiet })
		}
		return s.Synced(i)
	}
	if k.quiets.After(i) {
		s = quieted(s)
	}
	for _, p := range k.puts(i) {
		s = s.With(p.key(), p)
	}
	if v, ok := i.(ssa.Value); ok {
		return s.Without(func(_ string, p put) bool { return p.place.DependsOn(v) })
	}
	return s
}

// quieted returns s when all puts are complete.
func quieted(s state) state {
	next := s.Without(func(_ string, p put) bool { return !p.quiet })
	for _, p := range s.Facts() {
		p.quiet = true
		next = next.With(p.key(), p)
	}
	return next
}

// puts returns what i puts to other PEs, or stores to the own copy.
func (k *checker) puts(i ssa.Instruction) []put {
	switch i := i.(type) {
	case *ssa.Store:
		return k.stored(i.Addr, i)
	case *ssa.Call:
		if b, ok := i.Call.Value.(*ssa.Builtin); ok && (b.Name() == "copy" || b.Name() == "clear") {
			return k.stored(i.Call.Args[0], i)
		}
		c, ok := calls.Of(i)
		if !ok {
			return k.putsOf(i)
		}
		if isPut(c) && !k.pes.IsNumber(c.Args[0]) {
			return []put{{place: placeOf(c), call: c, at: i}}
		}
	}
	return nil
}

// stored returns a store to memory of Local, or of Ptr of another PE.
func (k *checker) stored(addr ssa.Value, i ssa.Instruction) []put {
	switch addr.(type) {
	case *ssa.Alloc, *ssa.FreeVar:
		return nil // a variable that holds the memory
	}
	o, ok := k.origins[i.Parent()][addr]
	if !ok || o.Part || o.Call.Name == "Ptr" && k.pes.IsNumber(o.Call.Args[0]) {
		return nil
	}
	return []put{{place: calls.PlaceOfMemory(addr, o), call: o.Call, at: i, own: o.Call.Name == "Local"}}
}

func isPut(c calls.Call) bool {
	if c.Package != "pgas" || c.Type != "Ref" && c.Type != "Slice" || len(c.Args) < 2 {
		return false
	}
	switch c.Name {
	case "Put", "PutNB", "IPut", "IPutNB", "IBPut", "IBPutNB", "PutSignal", "PutSignalAdd", "PutSignalNB", "PutSignalAddNB",
		"PutNotify", "PutNotifyNB":
		return true
	}
	return false
}

// placeOf returns the place that a put or a get of a reference is of.
func placeOf(c calls.Call) calls.Place {
	p := calls.PlaceOf(c.Recv)
	if c.Field != "" {
		p.Field = c.Field + ";" + p.Field
	}
	return p
}

// A read is one of the own copy, or of the copy of another PE.
type read struct {
	place  calls.Place
	remote bool
	pos    token.Pos
	pe     ssa.Value // of a get
}

// reads returns what i reads of symmetric memory.
func (k *checker) reads(i ssa.Instruction) []read {
	switch i := i.(type) {
	case *ssa.UnOp:
		if i.Op == token.MUL {
			return k.memory(i.X, i)
		}
	case *ssa.Call:
		if b, ok := i.Call.Value.(*ssa.Builtin); ok && b.Name() == "copy" {
			return k.memory(i.Call.Args[1], i)
		}
		c, ok := calls.Of(i)
		if !ok {
			return k.readsOf(i)
		}
		if isGet(c) {
			return []read{{placeOf(c), !k.pes.IsNumber(c.Args[0]), i.Pos(), c.Args[0]}}
		}
	}
	return nil
}

func isGet(c calls.Call) bool {
	if c.Package != "pgas" || c.Type != "Ref" && c.Type != "Slice" || len(c.Args) == 0 {
		return false
	}
	switch strings.TrimSuffix(c.Name, "NB") {
	case "Get", "IGet", "IBGet", "GetNotify":
		return true
	}
	return false
}

// memory returns the place of an address, or of a slice, from Local.
func (k *checker) memory(at ssa.Value, i ssa.Instruction) []read {
	switch at.(type) {
	case *ssa.Alloc, *ssa.FreeVar:
		return nil // a variable that holds the memory
	}
	o, ok := k.origins[i.Parent()][at]
	if !ok || o.Call.Name != "Local" || o.Part {
		return nil
	}
	return []read{{calls.PlaceOfMemory(at, o), false, flow.PositionOf(i, o.Call.Instr.Pos()), nil}}
}

// effects is what a function does with memory that its caller knows.
type effects struct {
	puts  []put  // those that nothing has synchronized where it returns
	reads []read // those before anything synchronizes
}

// of returns the effects of a function. One that calls itself has none.
func (k *checker) of(fn *ssa.Function) *effects {
	if e := k.inside[fn]; e != nil {
		return e
	}
	e := &effects{}
	k.inside[fn] = e
	e.reads = k.first(fn.Blocks[0], map[*ssa.BasicBlock]bool{})
	epoch.Of(k.step).Visit(fn, func(s state, i ssa.Instruction) {
		if _, ok := i.(*ssa.Return); ok {
			for _, p := range s.Facts() {
				if isGiven(p.place) {
					e.puts = append(e.puts, p)
				}
			}
		}
	})
	return e
}

// first returns what is read from the beginning of b on before anything synchronizes.
func (k *checker) first(b *ssa.BasicBlock, seen map[*ssa.BasicBlock]bool) (list []read) {
	if seen[b] {
		return nil
	}
	seen[b] = true
	for _, i := range b.Instrs {
		if k.syncs.After(i) {
			return list
		}
		for _, r := range k.reads(i) {
			if isGiven(r.place) && len(k.pes.Guards(b)) == 0 {
				list = append(list, r)
			}
		}
	}
	for _, to := range b.Succs {
		list = append(list, k.first(to, seen)...)
	}
	return list
}

// isGiven reports whether the memory is that of a parameter.
func isGiven(p calls.Place) bool {
	_, ok := p.RootValue().(*ssa.Parameter)
	return ok
}

// calleeOf returns the function of the package that a call calls, or nil.
func calleeOf(call *ssa.Call) *ssa.Function {
	callee := call.Call.StaticCallee()
	if callee == nil || len(callee.Blocks) == 0 {
		return nil
	}
	return callee
}

// inCaller returns a place of callee as one of the function that calls it.
func inCaller(p calls.Place, call *ssa.Call, callee *ssa.Function) (calls.Place, bool) {
	for n, param := range callee.Params {
		if p.RootValue() == ssa.Value(param) && n < len(call.Call.Args) {
			return p.In(call.Call.Args[n]), true
		}
	}
	return p, false
}

// putsOf returns what a call of a function of the package leaves put.
func (k *checker) putsOf(call *ssa.Call) (list []put) {
	callee := calleeOf(call)
	if callee == nil {
		return nil
	}
	for _, p := range k.of(callee).puts {
		in, ok := inCaller(p.place, call, callee)
		if !ok || len(k.pes.Guards(p.at.Block())) > 0 || !p.own && k.isToSelf(p.call, call, callee) {
			continue
		}
		p.place, p.at = in, call
		list = append(list, p)
	}
	return list
}

// isToSelf reports whether a put of callee is to the PE that calls it, which passes its own number.
func (k *checker) isToSelf(put calls.Call, call *ssa.Call, callee *ssa.Function) bool {
	for n, param := range callee.Params {
		if len(put.Args) > 0 && put.Args[0] == ssa.Value(param) && n < len(call.Call.Args) {
			return k.pes.IsNumber(call.Call.Args[n])
		}
	}
	return false
}

// readsOf returns what a call of a function of the package reads.
func (k *checker) readsOf(call *ssa.Call) (list []read) {
	callee := calleeOf(call)
	if callee == nil {
		return nil
	}
	for _, r := range k.of(callee).reads {
		if in, ok := inCaller(r.place, call, callee); ok && !r.remote {
			list = append(list, read{in, false, call.Pos(), nil})
		}
	}
	return list
}
