// Package nonblocking is a rule of pgasvet: sources of non-blocking puts that are changed before they were read, and
// destinations of non-blocking gets that are used before they are filled.
//
// A large source for another host is sent without a copy: what is stored to it before the put is complete locally may
// be sent in place of what was there. On one host the source has always been read on return, so no run there shows it.
package nonblocking

import (
	"fmt"
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
	Name: "nonblocking", URL: report.Page + "#nonblocking",
	Doc: `find buffers of non-blocking puts and gets that are touched too early

It reports a store, a copy or a clear of the source of a PutNB before a Wait or Done of its LocalCompletion, a Quiet or a
QuietLocal; and a load or a store of the destination of a GetNB before a Quiet.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

// pending is a fact: a buffer that a non-blocking call still uses.
type pending struct {
	buffer string
	deps   []ssa.Value
	by     calls.Call
	get    bool
}

func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	syncs := calls.SyncsOf(functions, completes)
	for _, fn := range functions {
		f := epoch.Of(func(s epoch.State[pending], i ssa.Instruction) epoch.State[pending] { return step(s, i, syncs) })
		f.Visit(fn, func(s epoch.State[pending], i ssa.Instruction) {
			if len(s.Facts()) > 0 {
				check(pass, r, s, i)
			}
		})
	}
	return r.Used(), nil
}

// completes reports whether after c a put may be complete locally, or a get. In doubt it is.
func completes(c calls.Call) bool {
	return c.Completes() || c.Type == "LocalCompletion" || c.Package != "pgas" || strings.HasPrefix(c.Name, "Quiet")
}

// step returns what is pending after i.
func step(s epoch.State[pending], i ssa.Instruction, syncs *calls.Syncs) epoch.State[pending] {
	if call, ok := i.(*ssa.Call); ok {
		if c, ok := calls.Of(call); ok && c.Type == "LocalCompletion" {
			return s.Marked(i).Without(func(_ string, p pending) bool { return !p.get })
		}
		if c, ok := calls.Of(call); ok && c.Name == "QuietLocal" {
			return s.Marked(i).Without(func(_ string, p pending) bool { return !p.get })
		}
	}
	if syncs.After(i) {
		return s.Synced(i)
	}
	if p, ok := issued(i); ok {
		s = s.With(fmt.Sprint(p.buffer, p.get), p)
	}
	if v, ok := i.(ssa.Value); ok {
		return s.Without(func(_ string, p pending) bool { return dependsOn(p, v) })
	}
	return s
}

// dependsOn reports whether the buffer is another one once v is computed again.
func dependsOn(p pending, v ssa.Value) bool {
	for _, d := range p.deps {
		if d == v {
			return true
		}
	}
	return false
}

// issued returns the buffer of a non-blocking put or get.
func issued(i ssa.Instruction) (pending, bool) {
	call, ok := i.(*ssa.Call)
	if !ok {
		return pending{}, false
	}
	c, ok := calls.Of(call)
	if !ok || c.Package != "pgas" || len(c.Args) < 2 {
		return pending{}, false
	}
	switch c.Name {
	case "PutNB", "IPutNB", "IBPutNB", "PutSignalNB", "PutSignalAddNB", "PutNotifyNB":
		if c.Type != "Slice" {
			return pending{}, false // a single element has been read on return
		}
		return buffer(c, c.Args[1], false)
	case "GetNB", "IGetNB", "IBGetNB", "GetNotifyNB":
		return buffer(c, c.Args[len(c.Args)-lastOf(c)], true)
	case "FetchNB", "FetchAddNB", "FetchIncNB", "FetchAndNB", "FetchOrNB", "FetchXorNB", "FetchMinNB", "FetchMaxNB", "SwapNB", "CompareSwapNB":
		return buffer(c, c.Args[len(c.Args)-1], true)
	}
	return pending{}, false
}

// lastOf returns which argument from the end is the destination of a get: an accessor takes indexes before it.
func lastOf(c calls.Call) int {
	if c.Type == "Slice" {
		return len(c.Args) - 1
	}
	return 1
}

// buffer returns memory as a fact.
func buffer(c calls.Call, v ssa.Value, get bool) (pending, bool) {
	root, deps := rootOf(v)
	if root == nil {
		return pending{}, false
	}
	return pending{calls.Path(root), deps, c, get}, true
}

// rootOf returns the slice, array or variable that v is memory of, and the values that it hangs on.
func rootOf(v ssa.Value) (root ssa.Value, deps []ssa.Value) {
	for {
		deps = append(deps, v)
		switch x := v.(type) {
		case *ssa.Slice:
			if isMake(x) {
				return x, deps
			}
			if x.Low != nil || x.High != nil {
				return nil, nil // a part: another part may be changed
			}
			v = x.X
		case *ssa.ChangeType:
			v = x.X
		case *ssa.Const:
			return nil, nil
		default:
			return v, deps
		}
	}
}

// isMake reports whether a slice is what make with a constant length returns.
func isMake(s *ssa.Slice) bool {
	a, ok := s.X.(*ssa.Alloc)
	return ok && a.Comment == "makeslice"
}

// check reports i if it touches a buffer that is pending.
func check(pass *analysis.Pass, r *report.Reporter, s epoch.State[pending], i ssa.Instruction) {
	for _, t := range touched(i) {
		name := calls.Path(t.memory)
		for _, p := range s.Facts() {
			if p.buffer != name || !t.writes && !p.get {
				continue
			}
			line := pass.Fset.Position(p.by.Instr.Pos()).Line
			text := "%s of line %d may still read this memory, so that it sends what is stored here: call Wait of its LocalCompletion, or Quiet, before"
			if p.get {
				text = "%s of line %d has not filled this memory until a Quiet: neither read nor write it before"
			}
			if pos := flow.PositionOf(i, p.by.Instr.Pos()); !tree.ExpectsPanic(pass, pos) {
				r.Report(analysis.Diagnostic{Pos: pos, Message: fmt.Sprintf(text, p.by, line)})
			}
		}
	}
}

// touch is an access to memory.
type touch struct {
	memory ssa.Value
	writes bool
}

// touched returns what an instruction loads, stores or copies.
func touched(i ssa.Instruction) []touch {
	switch i := i.(type) {
	case *ssa.Store:
		return []touch{{memoryOf(i.Addr), true}}
	case *ssa.UnOp:
		return []touch{{memoryOf(i.X), false}}
	case *ssa.Call:
		if b, ok := i.Call.Value.(*ssa.Builtin); ok {
			switch b.Name() {
			case "copy":
				return []touch{{memoryOf(i.Call.Args[0]), true}, {memoryOf(i.Call.Args[1]), false}}
			case "clear":
				return []touch{{memoryOf(i.Call.Args[0]), true}}
			}
		}
	}
	return nil
}

// memoryOf returns the slice, array or variable that an address is in.
func memoryOf(addr ssa.Value) ssa.Value {
	for {
		switch x := addr.(type) {
		case *ssa.IndexAddr:
			addr = x.X
		case *ssa.FieldAddr:
			addr = x.X
		case *ssa.Slice:
			if isMake(x) {
				return x
			}
			addr = x.X
		case *ssa.ChangeType:
			addr = x.X
		default:
			return addr
		}
	}
}
