// Package unfenced is a rule of pgasvet: flags that may overtake the data that they announce.
//
// A put and a signal to one PE arrive in either order, unless a Fence or a Quiet stands between them or the signal
// comes with the put. On one host they arrive in the order of the program, so no run there shows it.
package unfenced

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/epoch"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/tree"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "unfenced", URL: report.Page + "#unfenced",
	Doc: `find flags that are set after a put with no Fence between

It reports a Signal, a Short, a notification or an atomic word that the package waits for which is set on a PE after a
plain put to it, with no Fence or Quiet between; and a put with signal or notification after a plain put, which it does
not announce.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

// put is a fact: a plain put that nothing has ordered yet.
type put struct {
	call calls.Call
	pe   ssa.Value       // nil for the PEs of all turns of a loop
	on   ssa.Value       // the Context, if it is known
	loop *ssa.BasicBlock // the head of that loop
	at   *ssa.BasicBlock // where the function puts, or calls what puts
}

type state = epoch.State[put]

// A checker looks at the functions of a package.
type checker struct {
	pass   *analysis.Pass
	report *report.Reporter
	pes    *calls.PEs
	orders *calls.Syncs
	waited map[string]bool // atomic words that the package waits for
	inside map[*ssa.Function][]put
}

func run(pass *analysis.Pass) (any, error) {
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	k := &checker{pass, report.New(pass), calls.PEsOf(functions), calls.SyncsOf(functions, calls.Call.Orders), waitedFor(functions), map[*ssa.Function][]put{}}
	for _, fn := range functions {
		epoch.Of(k.step).Visit(fn, k.look)
	}
	return k.report.Used(), nil
}

// waitedFor returns the atomic words that functions wait for.
func waitedFor(functions []*ssa.Function) map[string]bool {
	words := map[string]bool{}
	for _, fn := range functions {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				if c, ok := calls.Of(i); ok && strings.HasPrefix(c.Name, "WaitUntil") {
					if name := wordOf(c); name != "" {
						words[name] = true
					}
				}
			}
		}
	}
	return words
}

// wordOf names the field of an atomic, whichever record it is of, or its place, or returns "".
func wordOf(c calls.Call) string {
	if c.Record != nil && c.Field != "" {
		return types.TypeString(c.Record, nil) + "." + c.Field
	}
	if c.Type != "Atomic" && c.Type != "AtomicFloat" {
		return ""
	}
	if of, ok := c.Recv.(*ssa.Call); ok { // c.Count().Set
		if a, ok := calls.Of(of); ok && a.Name == "Field" {
			return wordOf(a)
		}
	}
	return calls.PlaceOf(c.Recv).Word()
}

// step returns the puts that nothing has ordered after i.
func (k *checker) step(s state, i ssa.Instruction) state {
	if k.orders.After(i) {
		c, ok := calls.Of(i)
		if !ok {
			return s.Synced(i)
		}
		return s.Marked(i).Without(func(_ string, p put) bool { return isAbout(c, p) })
	}
	if c, ok := calls.Of(i); ok && isPlainPut(c) && !k.pes.IsNumber(c.Args[0]) {
		s = with(s, put{c, c.Args[0], calls.ContextOf(c), nil, i.Block()})
	}
	for _, p := range k.byHelper(i) {
		s = with(s, p)
	}
	if v, ok := i.(ssa.Value); ok {
		return s.Without(func(_ string, p put) bool { return p.pe == v })
	}
	return s
}

// with returns s with one more put, and with those of all turns if a loop chooses the PE.
func with(s state, p put) state {
	s = s.With(calls.Path(p.pe), p)
	if all := everyPE(p.pe); all != "" {
		p.pe, p.loop = nil, calls.LoopOf(p.pe)
		s = s.With(all, p)
	}
	return s
}

// everyPE names the PEs that all turns of a loop choose, or returns "": the numbers up to a limit.
func everyPE(pe ssa.Value) string {
	head := calls.LoopOf(pe)
	if head == nil || !calls.IsCount(pe) {
		return ""
	}
	loop := calls.LoopBlocks(head)
	for _, b := range head.Parent().Blocks {
		branch, ok := flow.Last(b).(*ssa.If)
		if !ok || !loop[b] {
			continue
		}
		if cond, ok := branch.Cond.(*ssa.BinOp); ok && calls.LoopOf(cond.X) == head && calls.LoopOf(cond.Y) == nil {
			return "up to " + calls.NameOf(cond.Y)
		}
	}
	return ""
}

// isAbout reports whether a fence or a quiet orders a put. In doubt it does.
func isAbout(c calls.Call, p put) bool {
	if !c.Concerns(p.on) {
		return false
	}
	if c.Name != "FencePE" && c.Name != "QuietPE" || p.pe == nil {
		return true
	}
	_, one := p.pe.(*ssa.Const)
	to := c.Args[len(c.Args)-1]
	_, other := to.(*ssa.Const)
	return !one || !other || calls.Path(p.pe) == calls.Path(to)
}

// byHelper returns the puts that a call of a function of the package leaves unordered, to PEs that it is given.
func (k *checker) byHelper(i ssa.Instruction) (list []put) {
	call, ok := i.(*ssa.Call)
	if !ok {
		return nil
	}
	callee := call.Call.StaticCallee()
	if _, ours := calls.Of(i); ours || callee == nil || len(callee.Blocks) == 0 {
		return nil
	}
	for _, p := range k.putsOf(callee) {
		for n, param := range callee.Params {
			if p.pe == param && n < len(call.Call.Args) && !k.pes.IsNumber(call.Call.Args[n]) {
				list = append(list, put{p.call, call.Call.Args[n], nil, nil, i.Block()})
			}
		}
	}
	return list
}

// putsOf returns the puts that are unordered where fn returns.
func (k *checker) putsOf(fn *ssa.Function) []put {
	list, known := k.inside[fn]
	if known {
		return list
	}
	k.inside[fn] = nil // it may call itself
	epoch.Of(k.step).Visit(fn, func(s state, i ssa.Instruction) {
		if _, ok := i.(*ssa.Return); ok {
			list = slices.AppendSeq(list, maps.Values(s.Facts()))
		}
	})
	k.inside[fn] = list
	return list
}

// isPlainPut reports whether c puts data that nothing announces.
func isPlainPut(c calls.Call) bool {
	if c.Package != "pgas" || c.Type != "Ref" && c.Type != "Slice" || len(c.Args) < 2 {
		return false
	}
	switch c.Name {
	case "Put", "PutNB", "IPut", "IPutNB", "IBPut", "IBPutNB":
		return true
	}
	return false
}

// look reports a flag that may overtake a put of s.
func (k *checker) look(s state, i ssa.Instruction) {
	c, ok := calls.Of(i)
	if !ok || len(c.Args) == 0 {
		return
	}
	p, ok := s.Facts()[calls.Path(c.Args[0])]
	if !ok {
		if p, ok = s.Facts()[everyPE(c.Args[0])]; !ok || calls.LoopBlocks(p.loop)[i.Block()] {
			return
		}
	}
	if k.pes.Exclude(p.at, i.Block()) {
		return // another PE puts
	}
	line := k.pass.Fset.Position(p.call.Instr.Pos()).Line
	d := analysis.Diagnostic{Pos: i.Pos()}
	switch {
	case k.isFlag(c):
		d.Message = fmt.Sprintf("%s may arrive before what %s of line %d puts to the same PE: call Fence between them, or put with signal", c, p.call, line)
	case isPutWithFlag(c):
		d.Message = fmt.Sprintf("%s announces its own data only, and may arrive before what %s of line %d puts to the same PE: call Fence between them", c, p.call, line)
	default:
		return
	}
	d.SuggestedFixes = k.fix(i)
	k.report.Report(d)
}

// isFlag reports whether c sets what another PE waits for.
func (k *checker) isFlag(c calls.Call) bool {
	switch {
	case c.Is("pgas", "SignalRef.Set", "SignalRef.Add", "Short.Put", "World.Notify", "Context.Notify"):
		return true
	case c.Name == "Set" || c.Name == "Add" || c.Name == "Inc":
		return k.waited[wordOf(c)]
	}
	return false
}

func isPutWithFlag(c calls.Call) bool {
	if c.Type != "Ref" && c.Type != "Slice" {
		return false
	}
	name := strings.TrimSuffix(c.Name, "NB")
	return name == "PutSignal" || name == "PutSignalAdd" || name == "PutNotify"
}

// fix puts a Fence before the statement, if the World is a parameter of the function.
func (k *checker) fix(i ssa.Instruction) []analysis.SuggestedFix {
	statement := tree.Statement(k.pass, i.Pos())
	if statement == nil {
		return nil
	}
	for _, p := range i.Parent().Params {
		if calls.IsType(p.Type(), "World") && p.Name() != "" && p.Name() != "_" {
			text := p.Name() + ".Fence()\n" + tree.Indent(k.pass, statement.Pos())
			return []analysis.SuggestedFix{{Message: "call Fence before", TextEdits: []analysis.TextEdit{
				{Pos: statement.Pos(), End: statement.Pos(), NewText: []byte(text)},
			}}}
		}
	}
	return nil
}
