package lockbench

// The five benches of the paper on RMA locks (rma-locks 5): one lock that all PEs want all the time. They
// differ in what is done under the lock and after it.
//
//	LB    nothing; what counts is how long it takes to acquire and release
//	ECSB  nothing; what counts is how often a second
//	SOB   one access to the memory that the lock is for, which is PE 0's
//	WCSB  a shared counter on PE 0 is incremented, or read, and then comes work of 1 to 4 µs
//	WARB  nothing, but after the release each PE works for 1 to 4 µs
//
// What the paper leaves open, and these benches choose: each acquisition draws anew whether it writes; the memory
// is on one PE, as the words of the simple locks are; a tenth of the time, or of the acquisitions, comes first and
// is not counted.

import (
	"context"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
)

// Shared is what the lock is for. PE 0's copy counts.
//
//pgas:symmetric
type Shared struct {
	Counter int64 // written by: holders of the lock
	_       [56]byte
	Cell    int64 // the cell that holders of the lock put to and get from
	_       [56]byte
	Writes  int64 `pgas:"atomic"` // how often the counter was incremented; added to by: every PE, when it is through
	_       [56]byte
}

// rmaLocks are what the paper compares.
var rmaLocks = []string{kinds.Spin, kinds.DMCS, kinds.RMAMCS, kinds.SpinRW, kinds.RMARW}

// pizDaint is the machine of the paper: 16 PEs on the 8 cores of a host, two levels of the tree.
var pizDaint = grid{
	writers:    []float64{0.002},
	pes:        []int{4, 16, 64, 256, 1024},
	topologies: []string{"core:2,socket:8,host:1"},
	rest:       config{Levels: []string{"host"}, Costs: "aries", Atomics: "unified"},
}

var sectionBenches = []bench{
	{name: "lb", doc: "time to acquire and release, nothing inside", y: "mean", locks: rmaLocks, any: true, usual: pizDaint, body: section{}.body},
	throughputBench("ecsb", "acquisitions a second, nothing inside", section{}),
	throughputBench("sob", "acquisitions a second, one access to memory inside", section{inside: (*member).access}),
	throughputBench("wcsb", "acquisitions a second, a counter and 1 to 4 µs of work inside", section{inside: (*member).count, work: true}),
	throughputBench("warb", "acquisitions a second, 1 to 4 µs of work after each", section{after: (*member).work}),
}

// throughputBench counts for a time, in which the paper's 100,000 acquisitions of each PE are cut short without a
// last one that all others wait for.
func throughputBench(name, doc string, s section) bench {
	usual := pizDaint
	usual.rest.Time = 10 * time.Millisecond
	return bench{name: name, doc: doc, y: "throughput", locks: rmaLocks, any: true, usual: usual, body: s.body}
}

// A section is what is done under the lock, and after it.
type section struct {
	inside func(m *member, write bool) error
	work   bool // whether 1 to 4 µs of work follow inside
	after  func(m *member) error
}

// member is one PE in a point.
type member struct {
	ctx    context.Context
	w      *pgas.World
	c      config
	lock   locks.Lock
	rw     locks.RWLock // the lock as one for readers; nil: all acquisitions write
	shared SharedRef
	counts int64 // how often this PE has incremented the counter
	tally  Tally

	first, last time.Duration // the times between which acquisitions count; 0: they always count
}

// body runs a point on one PE.
func (s section) body(ctx context.Context, w *pgas.World, c config) (t Tally, err error) {
	m, leave, err := join(ctx, w, c)
	if err != nil {
		return t, err
	}
	if c.Time > 0 {
		err = s.forSoLong(m)
	} else {
		err = s.soOften(m)
	}
	if err != nil {
		return t, err
	}
	t = m.tally
	if err := m.prove(); err != nil {
		return t, err
	}
	return t, leave(ctx)
}

// soOften acquires the lock Rounds times, after a tenth as often for nothing.
func (s section) soOften(m *member) error {
	for range max(m.c.Rounds/10, 1) {
		if err := s.turn(m); err != nil {
			return err
		}
	}
	m.tally = Tally{}
	if err := m.w.Barrier(m.ctx); err != nil {
		return err
	}
	began := m.w.Now()
	for range m.c.Rounds {
		if err := s.turn(m); err != nil {
			return err
		}
	}
	m.tally.TookNs = int64(m.w.Now() - began)
	return nil
}

// forSoLong acquires the lock for a tenth of Time for nothing, and then for Time. No PE stops in between, so what
// is counted is the steady state: in the end, most PEs that want to write wait.
func (s section) forSoLong(m *member) error {
	if err := m.w.Barrier(m.ctx); err != nil {
		return err
	}
	m.first = m.w.Now() + m.c.Time/10
	m.last = m.first + m.c.Time
	for m.w.Now() < m.last {
		if err := s.turn(m); err != nil {
			return err
		}
	}
	m.tally.TookNs = int64(m.c.Time)
	return nil
}

// join allocates what the point needs. It is collective, and so is leave.
func join(ctx context.Context, w *pgas.World, c config) (m *member, leave func(context.Context) error, err error) {
	k, _ := sweep.Find(compared, c.Lock)
	shared, err := AllocShared(ctx, w, 1)
	if err != nil {
		return nil, nil, err
	}
	l, free, err := k.alloc(ctx, w, c.lockOptions())
	if err != nil {
		return nil, nil, err
	}
	m = &member{ctx: ctx, w: w, c: c, lock: l, shared: shared.At(0)}
	if k.Readers {
		m.rw = l.(locks.RWLock)
	}
	return m, func(ctx context.Context) error {
		if err := free(ctx); err != nil {
			return err
		}
		return shared.Free(ctx)
	}, w.Barrier(ctx)
}

// turn does one acquisition, and what comes after it.
func (s section) turn(m *member) error {
	write := m.rw == nil || m.chance() < m.c.Writers
	if err := m.once(write, s); err != nil || s.after == nil {
		return err
	}
	return s.after(m)
}

// once acquires the lock, does what is to be done inside, and releases it.
func (m *member) once(write bool, s section) error {
	lock, unlock := m.lock.Lock, m.lock.Unlock
	if !write {
		lock, unlock = m.rw.RLock, m.rw.RUnlock
	}
	began := m.w.Now()
	if err := lock(m.ctx); err != nil {
		return err
	}
	wait := m.w.Now() - began
	if err := m.c.critical.enter(write); err != nil {
		return err
	}
	if s.inside != nil {
		if err := s.inside(m, write); err != nil {
			return err
		}
	}
	if s.work {
		if err := m.work(); err != nil {
			return err
		}
	}
	m.c.critical.leave(write)
	release := m.w.Now()
	unlock()
	m.did(write, wait, wait+m.w.Now()-release)
	return nil
}

// did notes an acquisition that is over. Of one that is not between first and last it notes only how long it waited, so
// that a PE that starves shows.
func (m *member) did(write bool, wait, cost time.Duration) {
	if now := m.w.Now(); m.last > 0 && (now < m.first || now >= m.last) {
		m.tally.Longest = max(m.tally.Longest, int64(wait))
		return
	}
	m.tally.did(write, wait, cost)
}

// access does one access to memory.
func (m *member) access(write bool) error {
	if write {
		m.shared.PutCell(0, int64(m.w.PE()))
		return nil
	}
	m.shared.GetCell(0)
	return nil
}

// count increments the counter, or reads it.
func (m *member) count(write bool) error {
	n := m.shared.GetCounter(0)
	if write {
		m.shared.PutCounter(0, n+1)
		m.counts++
	}
	return nil
}

// work takes 1 to 4 µs.
func (m *member) work() error {
	d := time.Microsecond + time.Duration(m.chance()*float64(3*time.Microsecond))
	if m.c.Simulated {
		return m.w.Sleep(m.ctx, d)
	}
	for until := m.w.Now() + d; m.w.Now() < until; {
	}
	return nil
}

// chance returns a random number from 0 to 1.
func (m *member) chance() float64 { return float64(m.w.Random()>>11) / (1 << 53) }

// When the measurement is over, PEs increment the counter some times, but no more PEs than it takes.
const (
	proofs  = 2
	provers = 64
)

// prove checks that the lock has excluded: of what many PEs then add to the counter, and of what the bench itself
// has done to it, nothing is lost.
func (m *member) prove() error {
	for i := 0; i < proofs && m.w.PE()%((m.w.NPEs()+provers-1)/provers) == 0; i++ {
		if err := m.once(true, section{inside: (*member).count}); err != nil {
			return err
		}
	}
	m.shared.AddWrites(0, m.counts)
	if err := m.w.Barrier(m.ctx); err != nil {
		return err
	}
	if m.w.PE() == 0 {
		if s := m.shared.Local(); s.Counter != s.Writes {
			return fmt.Errorf("%s: the counter was incremented %d times under the lock, and is %d: the lock does not exclude", m.c.name(), s.Writes, s.Counter)
		}
	}
	return m.w.Barrier(m.ctx)
}
