package nonblocking

// The calls that leave a buffer pending, and those that complete it.

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
)

// pending is a fact: a buffer that a non-blocking call still uses.
type pending struct {
	memory     calls.Memory
	by         calls.Call
	at         *ssa.BasicBlock // where the function makes the call, or calls what makes it
	on         ssa.Value       // the Context, if it is known
	get        bool            // the call fills the buffer
	collective bool
}

// key names the fact.
func (p pending) key() string { return fmt.Sprint(p.memory.Key(), p.get, p.collective) }

// loadedFrom reports whether the buffer is another one once the variable of that path is set.
func (p pending) loadedFrom(variable string) bool { return slices.Contains(p.memory.Loads, variable) }

// text is what a report says, with the call and its line to be filled in.
func (p pending) text() string {
	switch {
	case p.collective && p.get:
		return "%s of line %d has not filled this memory until a Wait of its Request: neither read nor write it before"
	case p.collective:
		return "%s of line %d may still read this memory: call Wait of its Request before"
	case p.get:
		return "%s of line %d has not filled this memory until a Quiet: neither read nor write it before"
	}
	return "%s of line %d may still read this memory, so that it sends what is stored here: call Wait of its LocalCompletion, or Quiet, before"
}

// completes reports whether after c a put may be complete locally, or a get. In doubt it is.
func completes(c calls.Call) bool {
	return c.Completes() || c.Type == "LocalCompletion" || c.Type == "Request" || c.Package != "pgas" || strings.HasPrefix(c.Name, "Quiet")
}

// issued returns the buffers that c leaves pending.
func issued(c calls.Call) (list []pending) {
	if c.Package != "pgas" {
		return nil
	}
	if c.Type == "" && strings.HasSuffix(c.Name, "NB") {
		return ofCollective(c)
	}
	if !strings.HasSuffix(c.Name, "NB") || strings.Contains(c.Name, "Put") && c.Type != "Slice" {
		return nil // one element has been read on return
	}
	for _, b := range buffersOf(c) {
		list = append(list, pending{memory: b.memory, by: c, on: calls.ContextOf(c), get: b.writes})
	}
	return list
}

// ofCollective returns what a non-blocking collective reads and fills: its first Slice is the destination.
func ofCollective(c calls.Call) (list []pending) {
	fills := true
	for _, a := range c.Args {
		switch {
		case calls.IsType(a.Type(), "Slice"):
			list = append(list, pending{memory: calls.OwnMemory(a), by: c, get: fills, collective: true})
			fills = false
		case isPointerToInt(a.Type()):
			if m, ok := calls.MemoryOf(a); ok {
				list = append(list, pending{memory: m, by: c, get: true, collective: true})
			}
		}
	}
	return list
}

func isPointerToInt(t types.Type) bool {
	p, ok := t.Underlying().(*types.Pointer)
	return ok && types.Identical(p.Elem(), types.Typ[types.Int])
}

// buffersOf returns the memory of this PE that a put reads, or a get or a fetch fills.
func buffersOf(c calls.Call) (list []touch) {
	if c.Package != "pgas" || c.Type == "" || c.Type == "World" {
		return nil
	}
	reads := strings.HasPrefix(c.Name, "Put") || strings.HasPrefix(c.Name, "IPut") || strings.HasPrefix(c.Name, "IBPut")
	fills := strings.HasPrefix(c.Name, "Get") || strings.HasPrefix(c.Name, "IGet") || strings.HasPrefix(c.Name, "IBGet") ||
		strings.HasSuffix(c.Name, "NB")
	if !reads && !fills {
		return nil
	}
	for _, a := range c.Args {
		switch a.Type().Underlying().(type) {
		case *types.Slice, *types.Pointer:
			if m, ok := calls.MemoryOf(a); ok {
				if m, ok = m.Strided(strideOf(c, reads)); ok {
					list = append(list, touch{m, !reads})
				}
			}
		}
	}
	return list
}

// strideOf returns the stride of the memory of this PE that c accesses, or nil if it has none. That of blocks says
// nothing about single elements.
func strideOf(c calls.Call, reads bool) ssa.Value {
	switch name := strings.TrimSuffix(c.Name, "NB"); {
	case name == "IPut" && reads:
		return c.Args[3]
	case name == "IGet":
		return c.Args[2]
	case name == "IBPut" || name == "IBGet":
		return c.Recv // no constant
	}
	return nil
}
