package calls

// The memory that an address or a slice refers to: a variable, the elements of a slice, or this PE's own copy of
// symmetric memory, and which part of it.

import (
	"fmt"

	"golang.org/x/tools/go/ssa"
)

// Memory is a part of a variable, of a slice's elements or of this PE's own copy.
type Memory struct {
	Root  string      // names the whole
	Base  ssa.Value   // the whole
	Deps  []ssa.Value // values that the names hang on
	Loads []string    // paths of variables and fields that the whole was loaded from

	steps []part
}

// A part is one step from a whole to a part of it: a field, an element, or a range of elements.
type part struct {
	field  int       // the number of a field, or -1
	lo, hi ssa.Value // the range, nil for its ends; for an element both are its index
	single bool
	each   *ssa.BasicBlock // the elements that all turns of the loop with this head choose
	stride int64           // of each so many elements the first one, or -1 if it is not known which
}

// MemoryOf returns the memory of an address or a slice. ok reports whether there is any.
func MemoryOf(v ssa.Value) (m Memory, ok bool) {
	for {
		switch x := v.(type) {
		case *ssa.IndexAddr:
			m.within(part{field: -1, lo: x.Index, hi: x.Index, single: true})
			v = x.X
		case *ssa.FieldAddr:
			m.within(part{field: x.Field})
			v = x.X
		case *ssa.Slice:
			if from, ok := intOf(x.Low, 0); isMake(x) || len(m.steps) > 0 && (!ok || from != 0) {
				return m.whole(x), true // its elements are counted from another one
			}
			if x.Low != nil || x.High != nil {
				m.within(part{field: -1, lo: x.Low, hi: x.High})
			}
			v = x.X
		case *ssa.ChangeType:
			v = x.X
		case *ssa.Const:
			return Memory{}, false
		default:
			return m.whole(v), true
		}
	}
}

// OwnMemory returns this PE's own copy of what a reference refers to.
func OwnMemory(ref ssa.Value) (m Memory) {
	p := PlaceOf(ref)
	m.Root, m.Base, m.Deps = "own "+p.Root+" "+p.Index+" "+p.Field, ref, p.Deps
	return m
}

// Strided returns the elements of m that an operation with a stride accesses. ok is false if it is not known which.
func (m Memory) Strided(stride ssa.Value) (part Memory, ok bool) {
	n, constant := intOf(stride, 1)
	if n == 1 && constant {
		return m, true
	}
	if !constant {
		n = -1
	}
	return m.with(n), len(m.steps) == 0
}

// with returns m with one more step, a stride.
func (m Memory) with(stride int64) Memory {
	m.steps = append(m.steps[:len(m.steps):len(m.steps)], part{field: -1, stride: stride})
	return m
}

// isMake reports whether a slice is what make with a constant length returns.
func isMake(s *ssa.Slice) bool {
	a, ok := s.X.(*ssa.Alloc)
	return ok && a.Comment == "makeslice"
}

// whole returns m as a part of v.
func (m Memory) whole(v ssa.Value) Memory {
	if call, ok := v.(*ssa.Call); ok {
		if c, ok := Of(call); ok && c.Package == "pgas" && c.Name == "Local" && c.Recv != nil {
			own := OwnMemory(c.Recv)
			own.steps, own.Deps = m.steps, append(own.Deps, m.Deps...)
			return own
		}
	}
	m.Root, m.Base = Path(v), v
	for {
		load, ok := v.(*ssa.UnOp)
		if !ok {
			break
		}
		m.Loads = append(m.Loads, Path(load.X))
		v = load.X
		for chained := chainOf(v); chained != nil; chained = chainOf(v) {
			if at, ok := v.(*ssa.IndexAddr); ok {
				m.Deps = append(m.Deps, at.Index)
			}
			v = chained
		}
	}
	m.Deps = append(m.Deps, v)
	return m
}

// chainOf returns what the address v is computed from, or nil.
func chainOf(v ssa.Value) ssa.Value {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return v.X
	case *ssa.IndexAddr:
		return v.X
	}
	return nil
}

// within puts a step before the others.
func (m *Memory) within(s part) {
	for _, v := range []ssa.Value{s.lo, s.hi} {
		if _, constant := v.(*ssa.Const); v != nil && !constant {
			m.Deps = append(m.Deps, v)
		}
	}
	if s.field < 0 && !s.single && len(m.steps) > 0 {
		return // the steps behind it count from the same element
	}
	m.steps = append([]part{s}, m.steps...)
}

// Key names the memory.
func (m Memory) Key() string {
	key := m.Root
	for _, s := range m.steps {
		switch {
		case s.field >= 0:
			key += fmt.Sprint(".", s.field)
		case s.each != nil:
			key += fmt.Sprintf("[each %p]", s.each)
		case s.stride != 0:
			key += fmt.Sprintf("[by %d]", s.stride)
		default:
			key += "["
			if s.lo != nil {
				key += Path(s.lo)
			}
			if !s.single {
				key += ":"
				if s.hi != nil {
					key += Path(s.hi)
				}
			}
			key += "]"
		}
	}
	return key
}

// HangsOn reports whether the memory is another one once v is computed again.
func (m Memory) HangsOn(v ssa.Value) bool {
	for _, d := range m.Deps {
		if d == v {
			return true
		}
	}
	return false
}

// Each returns the elements that all turns of a loop choose, if the memory is one that a loop's variable chooses.
func (m Memory) Each() (all Memory, ok bool) {
	for n, s := range m.steps {
		if s.field >= 0 {
			continue
		}
		head := LoopOf(s.lo)
		if head == nil {
			return all, false
		}
		all = m
		all.steps = append(append([]part{}, m.steps[:n]...), part{field: -1, each: head})
		all.Deps = all.Deps[len(all.Deps):]
		for _, d := range m.Deps {
			if !LoopBlocks(head)[blockOf(d)] {
				all.Deps = append(all.Deps, d)
			}
		}
		return all, len(m.Loads) == 0
	}
	return all, false
}

func blockOf(v ssa.Value) *ssa.BasicBlock {
	if i, ok := v.(ssa.Instruction); ok {
		return i.Block()
	}
	return nil
}

// Touches reports whether an access at i to o is one to m. In doubt about indexes it is not.
func (m Memory) Touches(o Memory, i ssa.Instruction) bool {
	if m.Root != o.Root {
		return false
	}
	for n, s := range m.steps {
		if s.each != nil && LoopBlocks(s.each)[i.Block()] {
			return false // which turn's element, other rules of the names say
		}
		if n >= len(o.steps) {
			return true
		}
		switch s.compare(o.steps[n]) {
		case apart:
			return false
		case overlap:
			return true
		}
	}
	return true
}

type relation int

const (
	apart relation = iota
	same
	overlap
)

// compare says what two parts of one whole have to do with each other.
func (s part) compare(o part) relation {
	switch {
	case s.field >= 0 || o.field >= 0:
		if s.field == o.field {
			return same
		}
		return apart
	case s.stride != 0 || o.stride != 0:
		return s.compareStrides(o)
	case s.each != nil:
		if o.each != nil || LoopOf(o.lo) != nil {
			return overlap
		}
		return apart
	case s.single && o.single && Path(s.lo) == Path(o.lo):
		return same
	case s.lo != nil && o.lo != nil && Path(s.lo) == Path(o.lo):
		return overlap
	}
	a, aEnd, ok := s.bounds()
	b, bEnd, also := o.bounds()
	if ok && also && a < bEnd && b < aEnd {
		return overlap
	}
	return apart
}

// compareStrides compares parts of which one has a stride: a loop that counts by one comes to its elements, too.
func (s part) compareStrides(o part) relation {
	if s.stride == 0 {
		s, o = o, s
	}
	n, constant := intOf(o.lo, 0)
	switch {
	case o.stride != 0 && s.stride == o.stride && s.stride > 0,
		o.single && constant && s.stride > 0 && n%s.stride == 0,
		o.single && countsByOne(o.lo):
		return overlap
	}
	return apart
}

// bounds returns the first element of a part, and the one behind it. ok reports whether they are known.
func (s part) bounds() (lo, hi int64, ok bool) {
	const far = 1 << 62
	lo, first := intOf(s.lo, 0)
	hi, last := intOf(s.hi, far)
	if s.single {
		hi = lo + 1
	}
	return lo, hi, first && last
}

// In returns the memory m of a function as memory of its caller, which has passed arg for the base of m. ok is false if
// the part depends on what the function alone knows.
func (m Memory) In(arg ssa.Value) (Memory, bool) {
	outer, ok := MemoryOf(arg)
	if !ok {
		return outer, false
	}
	steps, ok := m.constantSteps()
	if !ok {
		return outer, false
	}
	for n := len(outer.steps) - 1; n >= 0; n-- {
		if outer.steps[n].field < 0 && !outer.steps[n].single && len(steps) > 0 {
			return outer, false // they count from another element
		}
		steps = append([]part{outer.steps[n]}, steps...)
	}
	outer.steps = steps
	return outer, true
}

// constantSteps returns the steps up to the first one that a loop chooses. ok is false if another value chooses one.
func (m Memory) constantSteps() (steps []part, ok bool) {
	for _, s := range m.steps {
		_, first := intOf(s.lo, 0)
		_, last := intOf(s.hi, 0)
		switch {
		case s.each != nil || s.single && LoopOf(s.lo) != nil:
			return steps, true
		case s.field < 0 && (!first || !last):
			return nil, false
		}
		steps = append(steps, s)
	}
	return steps, true
}
