package dsm

// A lock that readers share, and that carries coherence. Writers leave their notices in the slot of a Mutex, which only
// they write. Readers that have written leave theirs beside it, one after another, for the next writer, which takes
// them together with the slot. Other readers have no use for them: no order is promised between readers.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/pgas"
)

// An RWMutex is a Mutex that may be held by several readers at once.
type RWMutex struct {
	Mutex
	lock    RWLocker
	readers readerSlot
}

// readerSlot has the notices of the readers since the last writer.
type readerSlot struct {
	state pgas.Atomic[uint64]
	words pgas.Slice[uint64] // encoded notices
}

// States of a readerSlot.
const (
	slotEmpty = iota
	slotFull
	slotTaken // a reader adds its notices
)

// pollPause is the time between two looks at a slot to which another reader adds, in nanoseconds: that reader gets and
// puts a slot.
const pollPause = 1000

// NewRWMutex makes an RWMutex of l, as NewMutex does.
func NewRWMutex(ctx context.Context, r *Region, l RWLocker, home int) (*RWMutex, error) {
	r.mustBeOpen("NewRWMutex")
	s, err := newSlot(ctx, r, "NewRWMutex", home)
	if err != nil {
		return nil, err
	}
	words, err := protocol.Alloc[uint64](ctx, &r.fences, 1+protocol.EncodedWords(r.o.Notices))
	if err != nil {
		return nil, err
	}
	state, rest := words.Range(0, 1), words.Range(1, words.Len())
	return &RWMutex{Mutex{s, l}, l, readerSlot{pgas.AtomicsOf(state).On(r.fences.Context).At(0), rest.On(r.fences.Context)}}, nil
}

// Lock blocks until this PE holds the lock alone, and acquires what earlier holders have released. Errors: those of
// Mutex.Lock.
func (m *RWMutex) Lock(ctx context.Context) error {
	if err := m.Mutex.Lock(ctx); err != nil {
		return err
	}
	if err := m.takeFromReaders(ctx); err != nil {
		m.lock.Unlock()
		return err
	}
	return nil
}

// takeFromReaders acquires what readers have left since the last writer.
func (m *RWMutex) takeFromReaders(ctx context.Context) error {
	r := m.r
	if r.mode == Shared {
		return nil
	}
	return r.fence(ctx, func() error {
		switch m.readers.state.Fetch(m.home) {
		case slotEmpty:
			return nil
		case slotTaken:
			return fmt.Errorf("dsm: a PE ended while it left its notices in an RWMutex with home %d: what it has written is lost", m.home)
		}
		got, err := r.fences.Read(m.readers.words, m.home)
		if err == nil {
			r.fences.Protocol.Acquire(got)
			m.readers.state.Set(m.home, slotEmpty)
			r.fences.MustQuietPE(m.home)
		}
		return err
	})
}

// RLock blocks until this PE holds the lock in shared mode, and acquires what earlier writers have released. Errors:
// those of Mutex.Lock.
func (m *RWMutex) RLock(ctx context.Context) error {
	if err := m.lock.RLock(ctx); err != nil {
		return err
	}
	if err := m.take(ctx); err != nil {
		m.lock.RUnlock()
		return err
	}
	return nil
}

// RUnlock releases the lock. If this PE has written to the region under it, as to counters of its own, the next writer
// acquires that. It panics as Unlock does.
func (m *RWMutex) RUnlock() {
	m.r.observed.windows.end()
	if m.r.mode != Shared {
		if err := m.leaveAsReader(); err != nil {
			panic(err)
		}
	}
	m.lock.RUnlock()
}

// leaveAsReader releases what this PE has written, if anything, and adds its notices to those of other readers.
func (m *RWMutex) leaveAsReader() error {
	r := m.r
	return r.fence(context.Background(), func() error {
		written := r.fences.Cache.Written(nil)
		if len(written) == 0 {
			return nil
		}
		if err := r.publish(context.Background(), written); err != nil {
			return err
		}
		state, err := m.takeTurn()
		if err != nil {
			return err
		}
		all := protocol.Limited(r.o.Notices)
		if state == slotFull {
			got, err := r.fences.Read(m.readers.words, m.home)
			if err != nil {
				m.readers.state.Set(m.home, slotFull) // for the next writer to find
				return err
			}
			all.Merge(got)
		}
		all.Merge(r.fences.Notices.Clone())
		out := all.Encode(nil)
		m.readers.words.Range(0, len(out)).Put(m.home, out)
		r.fences.MustQuietPE(m.home)
		m.readers.state.Set(m.home, slotFull)
		r.fences.MustQuietPE(m.home)
		return nil
	})
}

// takeTurn blocks until no other reader adds its notices, and returns whether there are some.
func (m *RWMutex) takeTurn() (state uint64, err error) {
	for {
		for _, state := range []uint64{slotEmpty, slotFull} {
			if m.readers.state.CompareSwap(m.home, state, slotTaken) == state {
				return state, nil
			}
		}
		if err := m.r.w.Sleep(context.Background(), pollPause); err != nil {
			return 0, err // the PE whose turn it is may be dead
		}
	}
}
