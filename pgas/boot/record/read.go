package record

// What readers get: the PE itself, its agent while it runs, and the launcher at the end.

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Traffic is what a PE has done to one PE of the job, by kind.
type Traffic struct {
	Peer   int
	Ops    [NumKinds]uint64
	Bytes  [NumKinds]uint64
	Waited time.Duration // the time waited for that PE
}

// Operations returns how many there were of all kinds.
func (t *Traffic) Operations() (n uint64) {
	for _, k := range t.Ops {
		n += k
	}
	return n
}

// Total returns the bytes of all kinds.
func (t *Traffic) Total() (n uint64) {
	for _, k := range t.Bytes {
		n += k
	}
	return n
}

// Own returns the operations and bytes of the program itself, without the runtime's messages.
func (t *Traffic) Own() (ops, bytes uint64) {
	return t.Operations() - t.Ops[Runtime], t.Total() - t.Bytes[Runtime]
}

// Waited is how often and how long a PE was blocked for one cause.
type Waited struct {
	Count uint64
	Time  time.Duration
}

// Plus returns the sum of w and v.
func (w Waited) Plus(v Waited) Waited { return Waited{w.Count + v.Count, w.Time + v.Time} }

// Counts is what a PE has counted so far. The numbers are not of one moment: others may be counting.
type Counts struct {
	PE       int
	Counters [NumCounters]uint64
	Levels   []string          // the levels of LockMoves, from the machine inwards
	Waits    map[string]Waited // the waits by cause
	Lines    map[string]Waited // the waits whose line in the program is known, by "cause at file:line"
	Peers    []Traffic         // the peers that moved anything, in their order
}

// Counts returns what p has counted.
func (p *PE) Counts() Counts {
	c := Counts{PE: p.number, Waits: map[string]Waited{}, Lines: map[string]Waited{}}
	for i := range c.Counters {
		c.Counters[i] = p.head.counters[i].Load()
	}
	for i := range min(p.head.nlevels.Load(), LockLevels) {
		c.Levels = append(c.Levels, p.head.levels[i].String())
	}
	for i, name := range p.Names() {
		if n := p.waits[i].count.Load(); n > 0 { // of long names that begin alike, too: they are one
			w := Waited{n, time.Duration(p.waits[i].time.Load())}
			cause, site := CutPlace(name)
			c.Waits[cause] = c.Waits[cause].Plus(w)
			if site != "" {
				c.Lines[name] = c.Lines[name].Plus(w)
			}
		}
	}
	for i := range p.peers {
		from, t, any := &p.peers[i], Traffic{Peer: i}, false
		for k := range NumKinds {
			t.Ops[k], t.Bytes[k] = from.ops[k].Load(), from.bytes[k].Load()
			any = any || t.Ops[k] != 0
		}
		t.Waited = time.Duration(from.waited.Load())
		if any || t.Waited != 0 {
			c.Peers = append(c.Peers, t)
		}
	}
	return c
}

// Names returns the names that p has noted, by their numbers.
func (p *PE) Names() []string {
	var all []string
	for i := range min(p.head.names.Load(), MaxNames) {
		all = append(all, p.names[i].String())
	}
	return all
}

// Trace is the events of a PE. Those in the middle may be missing: another goroutine was about to write them.
type Trace struct {
	PE      int
	Host    int // the index of the host in the job
	Names   []string
	Events  []Event // the events in the order in which they began to be recorded
	Dropped uint64  // the number of events for which there was no room
	Updates uint64  // the number of updates that were more than may be recorded
	// when the PE ended, on the clock of the events, which tells how long Open ones have lasted; 0: not known
	Ended int64
}

// Within removes the events that are not of the time from one moment to another, and returns how many: a PE that writes
// where it should not has any. Nothing that it writes elsewhere makes the times of other PEs wrong.
func (t *Trace) Within(from, to int64) int {
	n := len(t.Events)
	t.Events = slices.DeleteFunc(t.Events, func(e Event) bool {
		return e.Start < from || e.Start > to || e.Dur < Open || e.Dur > to-e.Start
	})
	return n - len(t.Events)
}

// Trace returns a copy of p's events so far.
func (p *PE) Trace() Trace {
	t := Trace{PE: p.number, Names: p.Names(), Updates: p.head.dropped.Load()}
	n := p.head.next.Load()
	if n > uint64(len(p.events)) {
		t.Dropped, n = n-uint64(len(p.events)), uint64(len(p.events))
	}
	for i := range n {
		if e := load(&p.events[i]); e.Kind != None && e.Kind < NumEvents {
			t.Events = append(t.Events, e)
		}
	}
	return t
}

// NameOf returns the name of an event.
func (t *Trace) NameOf(e Event) string {
	if int(e.Name) < len(t.Names) {
		return t.Names[e.Name]
	}
	return fmt.Sprint("name ", e.Name)
}

// AddWait adds a wait that is not among those counted: for one of the PE's peers, or -1.
func (c *Counts) AddWait(cause string, peer int, d time.Duration) {
	w := c.Waits[cause]
	c.Waits[cause] = Waited{w.Count + 1, w.Time + d}
	if peer < 0 || peer == c.PE {
		return
	}
	i, known := slices.BinarySearchFunc(c.Peers, peer, func(t Traffic, pe int) int { return t.Peer - pe })
	if !known {
		c.Peers = slices.Insert(c.Peers, i, Traffic{Peer: peer})
	}
	c.Peers[i].Waited += d
}

// Causes returns the causes of waits, the longest time first.
func (c *Counts) Causes() []string {
	return slices.SortedFunc(maps.Keys(c.Waits), func(a, b string) int {
		if d := c.Waits[b].Time - c.Waits[a].Time; d != 0 {
			return int(max(-1, min(1, d)))
		}
		if a < b {
			return -1
		}
		return 1
	})
}
