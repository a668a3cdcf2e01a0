package dsm

// Locks that carry coherence. A slot of symmetric memory on the lock's home holds the notices of the last holder. It is
// written before the lock is released and read after it has been taken. rwmutex.go has those of readers.

import (
	"context"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// A Locker is a lock between the PEs of a job. Every lock of package locks is one.
type Locker interface {
	// Lock blocks until this PE holds the lock.
	Lock(ctx context.Context) error
	// Unlock releases it.
	Unlock()
}

// An RWLocker is a Locker that may be held by several readers at once.
type RWLocker interface {
	Locker
	// RLock blocks until this PE holds the lock in shared mode.
	RLock(ctx context.Context) error
	// RUnlock releases it.
	RUnlock()
}

// slot is where the holders of a lock leave their notices: the PE that has written it plus 1, then encoded notices.
type slot struct {
	r     *Region
	words pgas.Slice[uint64]
	home  int
}

func newSlot(ctx context.Context, r *Region, op string, home int) (slot, error) {
	if home < 0 || home >= r.n {
		misuse(op, "home %d: the job has %s", home, plural.Count(r.n, "PE"))
	}
	words, err := protocol.Alloc[uint64](ctx, &r.fences, 1+protocol.EncodedWords(r.o.Notices))
	if err != nil {
		return slot{}, err
	}
	return slot{r, words.All().On(r.fences.Context), home}, nil
}

// take acquires what the last holder has left. Nothing is to be done if that was this PE.
func (s slot) take(ctx context.Context) error {
	r := s.r
	if r.mode == Shared {
		r.observed.windows.end()
		return nil
	}
	return r.fence(ctx, func() error {
		last := s.words.At(0).Get(s.home)
		if last == 0 || last == uint64(r.me)+1 {
			return nil
		}
		got, err := r.fences.Read(s.words.Range(1, s.words.Len()), s.home)
		if err == nil {
			r.fences.Protocol.Acquire(got)
		}
		return err
	})
}

// leave releases what this PE has written and leaves its notices for the next holder.
func (s slot) leave() error {
	r := s.r
	if r.mode == Shared {
		r.observed.windows.end()
		return nil
	}
	n, err := r.Release(context.Background())
	if err != nil {
		return err
	}
	return r.fence(context.Background(), func() error {
		out := n.s.Encode([]uint64{uint64(r.me) + 1})
		s.words.Range(0, len(out)).Put(s.home, out)
		r.fences.MustQuietPE(s.home)
		return nil
	})
}

// A Mutex is mutual exclusion between PEs that also makes the writes of its earlier holders visible.
type Mutex struct {
	slot
	lock Locker
}

// NewMutex makes a Mutex of l, with its notices on PE home. It is collective, and all PEs give handles of the same
// lock. Errors: those of pgas.Alloc.
func NewMutex(ctx context.Context, r *Region, l Locker, home int) (*Mutex, error) {
	r.mustBeOpen("NewMutex")
	s, err := newSlot(ctx, r, "NewMutex", home)
	return &Mutex{s, l}, err
}

// Lock blocks until this PE holds the lock, and acquires what earlier holders have released. Errors: those of the lock,
// and of Release; the lock is not held then.
func (m *Mutex) Lock(ctx context.Context) error {
	if err := m.lock.Lock(ctx); err != nil {
		return err
	}
	if err := m.take(ctx); err != nil {
		m.lock.Unlock()
		return err
	}
	return nil
}

// Unlock releases what this PE has written to the region, and then the lock. It panics with *pgas.PeerError if a PE is
// lost, and as the lock's Unlock does.
func (m *Mutex) Unlock() {
	if err := m.leave(); err != nil {
		panic(err)
	}
	m.lock.Unlock()
}
