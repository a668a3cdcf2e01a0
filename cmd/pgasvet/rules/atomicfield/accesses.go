package atomicfield

// Plain and atomic accesses to words, and which of them race.

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/epoch"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

// access is a fact: what this PE has done to a word since it last synchronized.
type access struct {
	place  calls.Place
	atomic bool
	writes bool
	name   string
	pos    token.Pos
	pe     ssa.Value // of a get or a put
	at     *ssa.BasicBlock
}

// A checker looks at the functions of a package.
type checker struct {
	report  *report.Reporter
	syncs   *calls.Syncs
	pes     *calls.PEs
	origins map[*ssa.Function]calls.Origins
}

// synchronizes reports whether c ends what other PEs may be doing: fetching a word does not.
func synchronizes(c calls.Call) bool {
	return c.Synchronizes() && !isAtomic(c)
}

// isAtomic reports whether c accesses a word atomically.
func isAtomic(c calls.Call) bool {
	switch c.Type {
	case "Atomic", "AtomicFloat", "SignalRef", "Integer", "Float", "NotifiedAtomic", "NotifiedFloat", "Bool", "Flag":
	case "Ref":
		if f := fieldOf(c); f == nil {
			return false
		}
	default:
		return false
	}
	return updates(c) || strings.HasPrefix(c.Name, "Fetch") || c.Name == "Load"
}

// updates reports whether c changes the word.
func updates(c calls.Call) bool {
	name := strings.TrimSuffix(c.Name, "NB")
	switch strings.TrimPrefix(name, "Fetch") {
	case "Add", "Inc", "And", "Or", "Xor", "Min", "Max", "Set", "Swap", "CompareSwap", "CompareAndSwap", "Store", "TestAndSet":
		return true
	}
	return false
}

// fieldOf returns the tagged field of an accessor, or nil.
func fieldOf(c calls.Call) *types.Var {
	if c.Record == nil || c.Field == "" || c.Name == "Field" {
		return nil
	}
	s := c.Record.Underlying().(*types.Struct)
	for i := range s.NumFields() {
		if s.Field(i).Name() == c.Field && calls.IsAtomicTag(s.Tag(i)) {
			return s.Field(i)
		}
	}
	return nil
}

// step returns the state after i.
func (k *checker) step(s epoch.State[access], i ssa.Instruction) epoch.State[access] {
	if k.syncs.After(i) {
		return s.Synced(i)
	}
	if a, ok := k.access(i); ok {
		s = s.With(fmt.Sprint(a.place.Root, a.place.Index, a.place.Field, a.atomic, a.writes, a.name != ""), a)
	}
	if v, ok := i.(ssa.Value); ok {
		s = s.Without(func(_ string, a access) bool { return a.place.DependsOn(v) })
	}
	return s
}

// look reports an access that races with one of s.
func (k *checker) look(s epoch.State[access], i ssa.Instruction) {
	a, ok := k.access(i)
	if !ok {
		return
	}
	for _, earlier := range s.Facts() {
		if earlier.atomic == a.atomic || !earlier.writes && !a.writes || !earlier.place.Overlaps(a.place) || k.apart(earlier, a) {
			continue
		}
		plain, atomic := a, earlier
		if a.atomic {
			plain, atomic = earlier, a
			if !plain.writes {
				continue // what was read before is right, whatever comes later
			}
		}
		k.report.Report(analysis.Diagnostic{Pos: plain.pos, Message: message(plain, atomic)})
	}
}

// apart reports whether a plain access has nothing to do with an atomic: both are of some PEs alone, or a get or a put
// is of another PE or of a whole record.
func (k *checker) apart(a, b access) bool {
	if a.atomic {
		a, b = b, a
	}
	if k.pes.SameRole(a.at, b.at) {
		return true // these PEs may update the words of others only
	}
	if a.name == "" {
		return false
	}
	_, one := a.pe.(*ssa.Const)
	_, other := b.pe.(*ssa.Const)
	return a.place.Field != b.place.Field || a.place.Index != b.place.Index ||
		one && other && calls.Path(a.pe) != calls.Path(b.pe)
}

func message(plain, atomic access) string {
	what, instead := "load", "Fetch"
	if plain.writes {
		what, instead = "store", "Set"
	}
	if plain.name != "" {
		return fmt.Sprintf("%s of a word that PEs access by %s, with no barrier or wait between: other PEs do so at the same time; use %s of an Atomic, or a barrier",
			plain.name, atomic.name, instead)
	}
	return fmt.Sprintf("plain %s of a word that PEs access by %s, with no barrier or wait between: other PEs do so at the same time; use %s of this PE's own copy, or a barrier",
		what, atomic.name, instead)
}

// access returns what i does to a word, if it does.
func (k *checker) access(i ssa.Instruction) (access, bool) {
	switch i := i.(type) {
	case *ssa.Call:
		c, ok := calls.Of(i)
		if ok && c.Is("pgas", "Ref.Get", "Ref.Put", "Ref.PutNB", "Ref.GetNB") {
			return access{calls.PlaceOf(c.Recv), false, c.Name[0] == 'P', c.String(), i.Pos(), c.Args[0], i.Block()}, c.Field == ""
		}
		if !ok || !isAtomic(c) || len(c.Args) == 0 || k.pes.IsNumber(c.Args[0]) {
			return access{}, false
		}
		p := calls.PlaceOf(c.Recv)
		if c.Type == "Ref" {
			p.Field = c.Field + ";" + p.Field
		}
		return access{p, true, updates(c), c.String(), i.Pos(), c.Args[0], i.Block()}, true
	case *ssa.Store:
		return k.plain(i.Addr, true, i)
	case *ssa.UnOp:
		if i.Op == token.MUL {
			a, ok := k.plain(i.X, false, i)
			return narrowed(a, i), ok
		}
	}
	return access{}, false
}

// plain returns a load or a store of memory from Local or Ptr.
func (k *checker) plain(addr ssa.Value, writes bool, i ssa.Instruction) (access, bool) {
	switch addr.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Call:
	default:
		return access{}, false // a variable that holds the memory
	}
	o, ok := k.origins[addr.Parent()][addr]
	if !ok {
		return access{}, false
	}
	pos := i.Pos()
	if !pos.IsValid() { // a range loop copies the element
		pos = o.Call.Instr.Pos()
	}
	return access{place: calls.PlaceOfMemory(addr, o), writes: writes, pos: pos, at: i.Block()}, true
}

// narrowed returns a load of a record as a load of the one field that the program reads, if it is one.
func narrowed(a access, load *ssa.UnOp) access {
	if a.place.Field != "" {
		return a
	}
	fields := map[string]bool{}
	if !fieldsOf(load, fields) || len(fields) != 1 {
		return a
	}
	for name := range fields {
		a.place.Field = name + ";"
	}
	return a
}

// fieldsOf adds the fields of a record that are read, directly or from a variable that holds it. It reports whether
// they are all.
func fieldsOf(record ssa.Value, fields map[string]bool) bool {
	for _, use := range *record.Referrers() {
		switch use := use.(type) {
		case *ssa.Field:
			fields[use.X.Type().Underlying().(*types.Struct).Field(use.Field).Name()] = true
		case *ssa.FieldAddr:
			fields[use.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(use.Field).Name()] = true
		case *ssa.Store:
			variable, ok := use.Addr.(*ssa.Alloc)
			if use.Addr != record && (!ok || !fieldsOf(variable, fields)) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
