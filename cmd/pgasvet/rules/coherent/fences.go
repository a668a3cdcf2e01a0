package coherent

// Views after fences. A fence makes all views stale; a view that is taken again is a new value. What is derived from a
// view, as a slice of it or the address of an element, is stale when the view is.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
)

// stale has the values that a fence has made stale, and the fence's name.
type stale map[ssa.Value]string

// usesAfterFences reports the uses of views after fences, the first of each view.
func usesAfterFences(fn *ssa.Function, known origins, fencing map[*ssa.Function]bool) []analysis.Diagnostic {
	v := &views{known, fencing}
	f := flow.Flow[stale]{Start: stale{}, Step: v.step, Edge: v.edge, Equal: maps.Equal[stale, stale],
		Join: func(a, b stale) stale {
			joined := maps.Clone(b)
			maps.Copy(joined, a)
			return joined
		}}
	found := map[*origin]analysis.Diagnostic{}
	f.Visit(fn, func(s stale, i ssa.Instruction) {
		for _, value := range uses(i) {
			fence, late := s[value]
			if !late {
				continue
			}
			o := known[value]
			d := analysis.Diagnostic{Pos: flow.PositionOf(i, o.call.Pos()), Message: fmt.Sprintf(
				"the result of %s is used after %s, which ends it: another PE may have changed these elements, and what is written is lost; call %s again after the fence",
				o.method, fence, o.method)}
			if first, has := found[o]; !has || d.Pos < first.Pos {
				found[o] = d
			}
		}
	})
	return slices.SortedFunc(maps.Values(found), func(a, b analysis.Diagnostic) int { return cmp.Compare(a.Pos, b.Pos) })
}

// views is how views become stale.
type views struct {
	known   origins
	fencing map[*ssa.Function]bool
}

// step returns what is stale after an instruction.
func (v *views) step(s stale, i ssa.Instruction) stale {
	if call, ok := i.(*ssa.Call); ok {
		if name := fenceName(&call.Call, v.fencing); name != "" {
			return v.fence(name)
		}
	}
	var from, to ssa.Value
	switch i := i.(type) {
	case *ssa.Phi:
		return s // edge has done it
	case *ssa.Store:
		from, to = i.Val, i.Addr
	case ssa.Value:
		to = i
		if list := sources(i.(ssa.Instruction)); len(list) > 0 {
			from = list[0]
		}
	}
	if to == nil || v.known[to] == nil || !isVariable(to) && isStore(i) {
		return s
	}
	return s.with(to, from)
}

func isStore(i ssa.Instruction) bool {
	_, ok := i.(*ssa.Store)
	return ok
}

// with returns s where to is as stale as from is.
func (s stale) with(to, from ssa.Value) stale {
	was, is := s[to], s[from]
	if was == is {
		return s
	}
	next := maps.Clone(s)
	delete(next, to)
	if is != "" {
		next[to] = is
	}
	return next
}

// fence returns what is stale after a fence: everything but Slices. What has no value yet becomes valid with it.
func (v *views) fence(name string) stale {
	s := stale{}
	for value, o := range v.known {
		if o.access != whole {
			s[value] = name
		}
	}
	return s
}

// edge gives variables that depend on the path the state of what they are on this one.
func (v *views) edge(s stale, from, to *ssa.BasicBlock) stale {
	next := s
	for _, i := range to.Instrs {
		phi, ok := i.(*ssa.Phi)
		if !ok {
			break
		}
		if v.known[phi] == nil {
			continue
		}
		value := phi.Edges[slices.Index(to.Preds, from)]
		if is := s[value]; is != next[phi] {
			next = maps.Clone(next)
			delete(next, phi)
			if is != "" {
				next[phi] = is
			}
		}
	}
	return next
}

// uses returns the values whose memory an instruction accesses or hands on.
func uses(i ssa.Instruction) []ssa.Value {
	switch i := i.(type) {
	case *ssa.IndexAddr:
		return []ssa.Value{i.X}
	case *ssa.UnOp:
		if !isVariable(i.X) {
			return []ssa.Value{i.X}
		}
	case *ssa.Store:
		if !isVariable(i.Addr) {
			return []ssa.Value{i.Addr}
		}
	case *ssa.MakeInterface:
		return []ssa.Value{i.X}
	case ssa.CallInstruction:
		if name := builtin(i.Common()); name != "len" && name != "cap" {
			return i.Common().Args
		}
	}
	return nil
}
