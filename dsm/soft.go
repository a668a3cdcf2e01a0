package dsm

// Copies that accessors check. One word of state a block says whether it may be read and written; everything else is
// under a mutex, which is never held while the PE waits for another.

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
)

const (
	changeable = 1 << iota // it has a twin, and may be written if it is valid
	readable               // the copy is valid: the greater flag, so that accesses compare with it
)

// softBlock is what a PE knows of a block besides its state.
type softBlock struct {
	home       int32
	generation uint32
	rts        uint64
	touched    bool
	whole      bool // all bytes count as changed
	twin       bool // the block has a twin, whether or not it may be written at the moment
	releasing  bool // Changes has been called, and Settle has not: what homes have may be older than the copy
	inDirty    bool // the block is in dirty
	inCopies   bool // this block is in copies
}

type soft struct {
	mu     sync.Mutex
	block  int
	memory []byte       // the copies
	free   func() error // frees memory that is not Go's, or nil
	twins  twins
	states []atomic.Uint32
	info   []softBlock
	dirty  []int32 // blocks with twins, and some that had one
	copies []int32 // blocks that are valid, and some that were
	now    uint64
	// transient says that no copy is valid after the call that has fetched it.
	transient bool
	fences    uint32 // acquires so far: part of every generation
	// closing says that there may be a copy whose lease had ended before it came: one of a closed version.
	closing bool
}

func newSoft(block, blocks, pes int, t twins) *soft {
	s := &soft{
		block: block, memory: make([]byte, block*blocks), twins: t,
		states: make([]atomic.Uint32, blocks), info: make([]softBlock, blocks),
	}
	for b := range s.info {
		s.info[b].home = int32(b % pes)
	}
	return s
}

func (s *soft) copyOf(b int32) []byte { return s.memory[int(b)*s.block : (int(b)+1)*s.block] }

func (s *soft) Written(into []int32) []int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	differ := s.dirty[:0]
	for _, b := range s.dirty {
		s.clear(b, changeable)
		i := &s.info[b]
		i.twin = i.twin && (i.whole || !bytes.Equal(s.copyOf(b), s.twins.of(b)))
		i.inDirty = i.twin
		if i.twin {
			differ = append(differ, b)
		}
	}
	s.dirty = differ
	return append(into, differ...)
}

func (s *soft) clear(b int32, flag uint32) { s.states[b].And(^flag) }

// merged writes own bytes over latest, into latest and into the copy.
func (s *soft) merged(b int32, latest []byte) (first, last int) {
	own, twin := s.copyOf(b), s.twins.of(b)
	if s.info[b].whole {
		copy(latest, own)
		return 0, len(own) - 1
	}
	first, last = -1, -1
	for i := range own {
		if own[i] == twin[i] {
			own[i] = latest[i]
			continue
		}
		latest[i] = own[i]
		if first < 0 {
			first = i
		}
		last = i
	}
	return first, last
}

func (s *soft) Merge(b int32, latest []byte, home int32, rts uint64) (first, last int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if latest == nil {
		latest = slices.Clone(s.twins.of(b))
	}
	first, last = s.merged(b, latest)
	s.twins.store(b, latest)
	s.clean(b)
	i := &s.info[b]
	i.home, i.rts, i.touched = home, rts, true
	i.generation++ // what is being fetched is older
	s.validate(b)
	return first, last
}

func (s *soft) Settle(b int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info[b].releasing = false
	s.info[b].generation++ // what is being fetched may be older
	if s.states[b].Load()&changeable == 0 && bytes.Equal(s.copyOf(b), s.twins.of(b)) {
		s.clean(b)
	}
}

// clean ends the life of b's twin.
func (s *soft) clean(b int32) {
	s.clear(b, changeable)
	s.info[b].whole, s.info[b].twin = false, false
}

func (s *soft) validate(b int32) {
	if s.transient {
		return
	}
	s.states[b].Or(readable)
	s.closing = s.closing || s.info[b].rts < s.now
	if !s.info[b].inCopies {
		s.info[b].inCopies = true
		s.copies = append(s.copies, b)
	}
}

func (s *soft) Changes(b int32, run func(at int, bytes []byte)) {
	own, twin, whole := s.takeChanges(b)
	if whole {
		run(0, own)
		return
	}
	forEachRun(twin, own, run)
}

// takeChanges returns b and its twin, and makes the twin what b is now. In the simulator a PE may die in between.
func (s *soft) takeChanges(b int32) (own, twin []byte, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear(b, changeable)
	own, twin, whole = slices.Clone(s.copyOf(b)), slices.Clone(s.twins.of(b)), s.info[b].whole
	s.info[b].whole, s.info[b].releasing = false, true
	s.twins.store(b, own)
	return own, twin, whole
}

func (s *soft) Drop(b int32, home int32, rts uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &s.info[b]
	s.clear(b, readable)
	i.home, i.rts, i.touched = home, rts, true
	i.generation++
}

func (s *soft) Ending(now uint64, home int32) (list []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.copies {
		if i := &s.info[b]; i.home == home && i.rts < now && s.states[b].Load()&readable != 0 {
			list = append(list, b)
		}
	}
	return list
}

func (s *soft) Renew(b int32, rts uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info[b].rts = rts
}

func (s *soft) Current() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fences++
	return !s.closing
}

func (s *soft) Expire(now uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fences++
	s.now, s.closing = now, false
	s.copies = slices.DeleteFunc(s.copies, func(b int32) bool {
		if s.info[b].rts < now {
			s.clear(b, readable)
		}
		return s.unlist(b)
	})
}

// unlist reports whether b is no copy any more, and notes that it leaves the list then.
func (s *soft) unlist(b int32) bool {
	s.info[b].inCopies = s.states[b].Load()&readable != 0
	return !s.info[b].inCopies
}

func (s *soft) DropAll(stale func(b int32) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fences++
	s.copies = slices.DeleteFunc(s.copies, func(b int32) bool {
		if stale(b) {
			s.clear(b, readable)
		}
		return s.unlist(b)
	})
}

func (s *soft) Known(b int32) protocol.CopyInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &s.info[b]
	return protocol.CopyInfo{
		Valid: s.states[b].Load()&readable != 0, Untouched: !i.touched && s.now == 0, Home: i.home,
		Generation: i.generation + s.fences, RTS: i.rts, Now: s.now,
	}
}

func (s *soft) Zeros(b int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.info[b].touched && s.now == 0 {
		s.info[b].touched = true
		s.validate(b)
	}
}

func (s *soft) Install(b int32, generation uint32, data []byte, home int32, rts uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &s.info[b]
	switch {
	case i.generation+s.fences != generation || i.releasing:
		return false
	case s.states[b].Load()&readable != 0:
		return true // another goroutine has fetched it, too
	}
	if i.twin {
		next := slices.Clone(data)
		s.keepOwn(b, data)
		s.twins.store(b, next)
	} else {
		copy(s.copyOf(b), data)
	}
	i.home, i.rts, i.touched = home, rts, true
	s.validate(b)
	return true
}

// keepOwn makes data the copy but for own bytes. It stores only what differs, since another goroutine may be writing.
func (s *soft) keepOwn(b int32, data []byte) {
	if s.info[b].whole {
		return
	}
	own, twin := s.copyOf(b), s.twins.of(b)
	for i := range own {
		if own[i] == twin[i] && own[i] != data[i] {
			own[i] = data[i]
		}
	}
}

func (s *soft) Writable(lo, hi int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for b := lo; b < hi; b++ {
		if st := s.states[b].Load(); !s.transient && st&readable == 0 || st&changeable != 0 {
			continue
		}
		s.makeTwin(b)
	}
}

// makeTwin makes b's twin if it has none, and lets it be written.
func (s *soft) makeTwin(b int32) {
	if i := &s.info[b]; !i.twin {
		i.twin = true
		s.twins.store(b, s.copyOf(b))
		if !i.inDirty {
			i.inDirty = true
			s.dirty = append(s.dirty, b)
		}
	}
	s.states[b].Or(changeable)
}

func (s *soft) Overwritten(lo, hi int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for b := lo; b < hi; b++ {
		s.info[b].touched = true
		s.validate(b)
		s.makeTwin(b)
		s.info[b].whole = true
	}
}

func (s *soft) Ready(int32, int32) {}

func (s *soft) Has(lo, hi int32, write bool) bool {
	want := uint32(readable)
	if write {
		want |= changeable
	}
	for b := lo; b < hi; b++ {
		if s.states[b].Load()&want != want {
			return false
		}
	}
	return true
}

func (s *soft) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for b := range s.states {
		s.states[b].Store(0)
	}
	if s.free != nil {
		return s.free()
	}
	return nil
}
