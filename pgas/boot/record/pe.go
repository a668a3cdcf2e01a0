package record

// What a PE writes. Any number of its goroutines may do so.

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Others is the name that stands for all beyond MaxNames.
const Others = "others"

// PE is what one PE records.
type PE struct {
	memory *Memory
	number int
	head   *peHead
	waits  *[MaxNames]wait
	names  *[MaxNames]name
	peers  []peer
	events []Event // the room for events; empty: there is no trace

	now   func() int64
	known sync.Map // the numbers of names that this process knows: string to uint16

	// Of a trace:
	last       atomic.Int64  // when a wait or an event with a place has last ended
	places     atomic.Int64  // the places that have been named
	updates    atomic.Int64  // the updates that are recorded
	ops, bytes atomic.Uint64 // the operations and bytes so far
	sampled    atomic.Int64  // when ops and bytes were last recorded

	mu sync.Mutex // guards new names
}

// Start begins the recording by the PE's own process. Its time is the monotonic clock of the host; or, where PEs run in
// virtual time, that of now, if it is not nil.
func (p *PE) Start(now func() time.Duration) {
	if now != nil {
		p.now = func() int64 { return int64(now()) }
		return
	}
	began := time.Now()
	at := monotonicAt(began)
	p.now = func() int64 { return at + int64(time.Since(began)) }
}

// monotonicAt returns what the host's monotonic clock was at t, a moment ago: by the closest of a few pairs of
// readings.
func monotonicAt(t time.Time) (at int64) {
	best := time.Duration(1 << 62)
	for range 5 {
		before := time.Since(t)
		var ts unix.Timespec
		unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
		between := time.Since(t) - before
		if between < best {
			best, at = between, ts.Nano()-int64(before+between/2)
		}
	}
	return at
}

// Now returns the time of events.
func (p *PE) Now() int64 { return p.now() }

// Traces reports whether events are recorded.
func (p *PE) Traces() bool { return len(p.events) > 0 }

// Operation counts one operation on a PE of the job.
func (p *PE) Operation(k Kind, target, bytes int) {
	t := &p.peers[target]
	t.ops[k].Add(1)
	t.bytes[k].Add(uint64(bytes))
	if p.Traces() {
		p.sample(p.ops.Add(1), p.bytes.Add(uint64(bytes)))
	}
}

// samplePeriod is the least time between two events with the same counter.
const samplePeriod = int64(time.Millisecond)

// sample records the totals of operations and bytes from time to time.
func (p *PE) sample(ops, bytes uint64) {
	now := p.now()
	last := p.sampled.Load()
	if now-last < samplePeriod && last != 0 || !p.sampled.CompareAndSwap(last, max(now, 1)) {
		return
	}
	p.Record(Value, -1, Operations, ops)
	p.Record(Value, -1, Bytes, bytes)
}

// Add adds n to a counter.
func (p *PE) Add(c Counter, n uint64) { p.head.counters[c].Add(n) }

// Set sets a counter that is a gauge.
func (p *PE) Set(c Counter, v uint64) { p.head.counters[c].Store(v) }

// MessageCounters returns Messages, MessageBytes and MessageOps, for a transport that counts there; nil if p is nil.
func (p *PE) MessageCounters() *[3]atomic.Uint64 {
	if p == nil {
		return nil
	}
	return (*[3]atomic.Uint64)(p.head.counters[Messages:])
}

// NameLevels gives the names of the levels that LockMoves counts by, once. Those beyond LockLevels are left out.
func (p *PE) NameLevels(names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.head.nlevels.Load() > 0 {
		return
	}
	names = names[:min(len(names), LockLevels)]
	for i, s := range names {
		p.head.levels[i].set(s)
	}
	p.head.nlevels.Store(uint64(len(names)))
}

// Name returns the number of a name. The first call with a name notes it.
func (p *PE) Name(s string) uint16 {
	if v, ok := p.known.Load(s); ok {
		return v.(uint16)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if v, ok := p.known.Load(s); ok {
		return v.(uint16)
	}
	i := p.head.names.Load()
	if i == MaxNames-1 {
		s = Others
	}
	if i >= MaxNames {
		return MaxNames - 1 // not remembered: a program may make up names without end
	}
	p.names[i].set(s)
	p.head.names.Store(i + 1)
	p.known.Store(s, uint16(i))
	return uint16(i)
}

// A Mark is a wait or another event that has begun.
type Mark struct {
	event int32 // the index of the event in events, +1; 0: it is not traced
	name  uint16
	place uint16 // the number of the name that has the place, +1; 0: not known
	peer  int32
	start int64
}

// BeginWait notes that the PE is blocked from now on: the arguments are those of a Wait. EndWait gets what it returns.
func (p *PE) BeginWait(cause string, peer int, seq, value uint64) Mark {
	m := Mark{name: p.Name(cause), peer: int32(peer), start: p.Now()}
	m.event = p.begin(Event{Start: m.start, Dur: Open, Kind: Wait, Name: m.name, Peer: m.peer, Seq: seq, Value: value})
	return m
}

// ForAll returns m as the mark of a wait for no PE in particular: its event keeps the peer.
func (m Mark) ForAll() Mark {
	m.peer = -1
	return m
}

// EndWait notes that the PE goes on.
func (p *PE) EndWait(m Mark) {
	now := p.Now()
	took := max(0, now-m.start)
	p.last.Store(now)
	name := m.name
	if m.place != 0 {
		name = m.place - 1
	}
	p.waits[name].count.Add(1)
	p.waits[name].time.Add(uint64(took))
	if m.peer >= 0 && int(m.peer) < len(p.peers) {
		p.peers[m.peer].waited.Add(uint64(took))
	}
	p.endEvent(m.event, took)
}

// Begin records an event that lasts until End. It records nothing if there is no trace.
func (p *PE) Begin(k EventKind, name string, peer int, seq, value uint64) Mark {
	if !p.Traces() {
		return Mark{}
	}
	m := Mark{start: p.Now()}
	m.event = p.begin(Event{Start: m.start, Dur: Open, Kind: k, Name: p.Name(name), Peer: int32(peer), Seq: seq, Value: value})
	return m
}

// End ends an event that Begin has begun.
func (p *PE) End(m Mark) {
	if m.event != 0 {
		now := p.Now()
		p.last.Store(now)
		p.endEvent(m.event, max(0, now-m.start))
	}
}

// Record records an event without a duration. It records nothing if there is no trace. Updates may take half of the
// room: a program may make any number that nobody waits for.
func (p *PE) Record(k EventKind, peer int, seq, value uint64) {
	p.RecordAt(p.Moment(), k, peer, seq, value)
}

// Moment returns the time for RecordAt, or 0 if there is no trace.
func (p *PE) Moment() int64 {
	if !p.Traces() {
		return 0
	}
	return p.now()
}

// RecordAt is Record of an event that took place at a Moment before: of what another PE may notice before this one
// knows that it has been done.
func (p *PE) RecordAt(at int64, k EventKind, peer int, seq, value uint64) {
	if !p.Traces() {
		return
	}
	if k == Update && p.updates.Add(1) > int64(len(p.events)+1)/2 {
		p.head.dropped.Add(1)
		return
	}
	p.begin(Event{Start: at, Kind: k, Peer: int32(peer), Seq: seq, Value: value})
}

// RecordSlice records an event that has lasted since a Moment. It records nothing if there is no trace.
func (p *PE) RecordSlice(since int64, k EventKind, name string, peer int, seq uint64) {
	if p.Traces() {
		p.begin(Event{Start: since, Dur: max(0, p.now()-since), Kind: k, Peer: int32(peer), Name: p.Name(name), Seq: seq})
	}
}

// RecordName records an event of kind k that gives a name to seq. It records nothing if there is no trace.
func (p *PE) RecordName(k EventKind, name string, seq uint64) {
	if p.Traces() {
		p.begin(Event{Start: p.Now(), Kind: k, Peer: -1, Name: p.Name(name), Seq: seq})
	}
}

// begin returns the number of e from 1 on, or 0 if there is no room for it.
func (p *PE) begin(e Event) int32 {
	if len(p.events) == 0 {
		return 0
	}
	i := p.head.next.Add(1) - 1
	if i >= uint64(len(p.events)) {
		return 0
	}
	to := &p.events[i]
	to.Start, to.Seq, to.Value, to.Peer, to.Name = e.Start, e.Seq, e.Value, e.Peer, e.Name
	atomic.StoreInt64(&to.Dur, e.Dur)
	publish(to, e.Kind)
	return int32(i) + 1
}

func (p *PE) endEvent(i int32, took int64) {
	if i != 0 {
		atomic.StoreInt64(&p.events[i-1].Dur, took)
	}
}
