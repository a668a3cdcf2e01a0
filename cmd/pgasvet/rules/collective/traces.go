package collective

// Sequences of collectives along paths. A path takes each edge once, so a loop counts as run not at all, and once.
// Calls of functions of the same package count as the collectives in them.

import (
	"go/token"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
)

// Beyond these bounds the rule gives up on a branch.
const (
	mostSteps  = 5000 // edges of all paths
	mostTraces = 32
	longest    = 32
)

// event is one collective on a path.
type event struct {
	name string
	pos  token.Pos
}

// trace is the collectives of a path, in order.
type trace []event

func (t trace) key() string {
	var b strings.Builder
	for _, e := range t {
		b.WriteString(e.name)
		b.WriteByte(' ')
	}
	return b.String()
}

// A tracer knows the traces of whole functions.
type tracer struct {
	functions map[*ssa.Function][]trace
	running   map[*ssa.Function]bool
}

func newTracer() *tracer {
	return &tracer{map[*ssa.Function][]trace{}, map[*ssa.Function]bool{}}
}

// walk is one enumeration of paths.
type walk struct {
	*tracer
	shape *shape
	stop  *ssa.BasicBlock
	team  string // the team of the collectives that count, or World
	steps int
	found map[string]trace
	taken map[[2]*ssa.BasicBlock]bool

	first  *ssa.BasicBlock                     // where the paths begin
	left   map[string]trace                    // of paths that return within the side of the branch
	assume func(*ssa.If) (is bool, known bool) // what is known of conditions, or nil
}

// paths are the traces of the paths of one side of a branch.
type paths struct {
	traces []trace
	left   []trace // those that return, without an error, where only this side comes
}

// between returns the different traces of the paths from block from over block to up to stop, or to the end of the
// function. ok is false if there are too many.
func (t *tracer) between(s *shape, from, to, stop *ssa.BasicBlock, team string, assume func(*ssa.If) (is, known bool)) (p paths, ok bool) {
	w := &walk{tracer: t, shape: s, stop: stop, team: team, found: map[string]trace{}, taken: map[[2]*ssa.BasicBlock]bool{},
		first: to, left: map[string]trace{}, assume: assume}
	if from != nil {
		w.taken[[2]*ssa.BasicBlock{from, to}] = true
	}
	if !w.visit(to, nil) {
		return p, false
	}
	if from != nil && len(to.Preds) == 1 {
		p.left = sorted(w.left)
	}
	p.traces = sorted(w.found)
	return p, true
}

// sorted returns traces in a fixed order.
func sorted(traces map[string]trace) (list []trace) {
	for _, key := range slices.Sorted(maps.Keys(traces)) {
		list = append(list, traces[key])
	}
	return list
}

// succs returns where a path goes on behind b.
func (w *walk) succs(b *ssa.BasicBlock) []*ssa.BasicBlock {
	if branch, ok := flow.Last(b).(*ssa.If); ok && w.assume != nil {
		if is, known := w.assume(branch); known && is {
			return b.Succs[:1]
		} else if known {
			return b.Succs[1:]
		}
	}
	return b.Succs
}

// returnsNil reports whether b returns no error for certain.
func returnsNil(b *ssa.BasicBlock) bool {
	r, ok := flow.Last(b).(*ssa.Return)
	if !ok {
		return false
	}
	if len(r.Results) == 0 || !flow.IsError(r.Results[len(r.Results)-1].Type()) {
		return true
	}
	c, ok := r.Results[len(r.Results)-1].(*ssa.Const)
	return ok && c.IsNil()
}

// visit goes on with a path at block b. It reports whether the bounds hold.
func (w *walk) visit(b *ssa.BasicBlock, so trace) bool {
	if w.steps++; w.steps > mostSteps || len(so) > longest || len(w.found) > mostTraces {
		return false
	}
	if w.shape.dead[b] {
		return true
	}
	if b == w.stop {
		w.found[so.key()] = so
		return true
	}
	for _, tr := range w.through(b, so) {
		if len(b.Succs) == 0 {
			w.found[tr.key()] = tr
			if w.first.Dominates(b) && returnsNil(b) {
				w.left[tr.key()] = tr
			}
		}
		for _, to := range w.succs(b) {
			edge := [2]*ssa.BasicBlock{b, to}
			if w.taken[edge] {
				continue
			}
			w.taken[edge] = true
			ok := w.visit(to, tr)
			delete(w.taken, edge)
			if !ok {
				return false
			}
		}
	}
	return true
}

// through returns the traces that so becomes along the instructions of b: several if a function that is called has
// several.
func (w *walk) through(b *ssa.BasicBlock, so trace) []trace {
	all := []trace{so}
	for _, i := range b.Instrs {
		call, ok := i.(*ssa.Call)
		if !ok {
			continue
		}
		parts := w.of(call)
		if parts == nil {
			continue
		}
		var next []trace
		for _, tr := range all {
			for _, part := range parts {
				next = append(next, append(tr[:len(tr):len(tr)], at(part, call.Pos())...))
			}
		}
		all = next
	}
	return all
}

// at returns a trace as that of a call at pos.
func at(tr trace, pos token.Pos) trace {
	moved := slices.Clone(tr)
	for i := range moved {
		moved[i].pos = pos
	}
	return moved
}

// of returns the traces of a call, or nil if it has no collective.
func (w *walk) of(call *ssa.Call) []trace {
	if c, ok := calls.Of(call); ok {
		team, collective := c.Team()
		if !collective {
			return nil
		}
		if path := calls.TeamPath(team); path != calls.World && path != w.team {
			return nil // of a team that may have no other PEs than those of this side
		}
		return []trace{{{c.String(), call.Pos()}}}
	}
	callee := call.Call.StaticCallee()
	if callee == nil || len(callee.Blocks) == 0 {
		return nil
	}
	return w.function(callee)
}

// function returns the traces of a function of this package, or nil if it has no collective, or too many traces.
func (t *tracer) function(fn *ssa.Function) []trace {
	if known, ok := t.functions[fn]; ok || t.running[fn] {
		return known
	}
	t.running[fn] = true
	defer delete(t.running, fn)
	p, ok := t.between(shapeOf(fn), nil, fn.Blocks[0], nil, calls.World, nil)
	list := p.traces
	if !ok || len(list) == 1 && len(list[0]) == 0 {
		list = nil
	}
	t.functions[fn] = list
	return list
}
