package trace

// How a trace is put together: pieces arrive from hosts in any order, but those of one PE in theirs; the clocks of
// hosts are known at the end.

import (
	"cmp"
	"slices"
	"sync"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// Clock turns a time of a host's clock into one of the job's.
type Clock func(at int64) int64

// Collector collects the pieces. Its methods may be called from several goroutines.
type Collector struct {
	mu    sync.Mutex
	parts map[int]*part
}

// part is what has arrived of one PE.
type part struct {
	record.Trace
	counts *record.Counts
}

// Add adds a piece of the trace of a PE. The first piece has the names and how many events were dropped. counts is nil
// in all pieces but one.
func (c *Collector) Add(piece record.Trace, counts *record.Counts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parts == nil {
		c.parts = map[int]*part{}
	}
	p := c.parts[piece.PE]
	if p == nil {
		p = &part{Trace: record.Trace{PE: piece.PE, Host: piece.Host, Names: piece.Names, Dropped: piece.Dropped, Updates: piece.Updates, Ended: piece.Ended}}
		c.parts[piece.PE] = p
	}
	p.Events = append(p.Events, piece.Events...)
	p.counts = cmp.Or(p.counts, counts)
}

// Trace returns the trace of what has been added. clocks has one for each host.
func (c *Collector) Trace(hosts []Host, clocks []Clock) *Trace {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &Trace{Hosts: hosts}
	start := int64(1<<63 - 1)
	for _, p := range c.parts {
		if clock := clocks[p.Host]; clock != nil {
			for i := range p.Events {
				e := &p.Events[i]
				if e.Dur != record.Open {
					e.Dur = clock(e.Start+e.Dur) - clock(e.Start)
				}
				e.Start = clock(e.Start)
			}
			if p.Ended != 0 {
				p.Ended = clock(p.Ended)
			}
		}
		for _, e := range p.Events {
			start = min(start, e.Start)
		}
	}
	for _, p := range c.parts {
		t.PEs = append(t.PEs, p.pe(start))
	}
	slices.SortFunc(t.PEs, func(a, b PE) int { return cmp.Compare(a.Number, b.Number) })
	for _, p := range t.PEs {
		t.End = max(t.End, p.End)
	}
	t.findFlows()
	return t
}

// pe returns the events of one PE, from start on. What is open has lasted until the PE ended, or if that is not known,
// until its last event.
func (p *part) pe(start int64) PE {
	out := PE{Number: p.PE, Host: p.Host, Dropped: p.Dropped, Updates: p.Updates, Counts: p.counts, Words: map[uint64]string{}}
	for _, e := range p.Events {
		out.End = max(out.End, e.Start-start+max(0, e.Dur))
	}
	ended := out.End
	if p.Ended != 0 {
		ended = max(ended, p.Ended-start)
	}
	for _, e := range p.Events {
		at := e.Start - start
		switch {
		case e.Kind == record.Word:
			out.Words[e.Seq] = p.NameOf(e)
		case e.Kind.IsSlice():
			s := Slice{Kind: e.Kind, Name: p.NameOf(e), Start: at, Dur: e.Dur, Peer: int(e.Peer), Seq: e.Seq, Value: e.Value, Line: p.PlaceOf(e)}
			if e.Dur == record.Open {
				s.Dur, s.Open = ended-at, true
				out.End = ended
			}
			s.Dur = max(0, s.Dur)
			out.Slices = append(out.Slices, s)
		default:
			out.Points = append(out.Points, Point{Kind: e.Kind, At: at, Peer: int(e.Peer), Seq: e.Seq, Value: e.Value})
		}
	}
	sortSlices(out.Slices)
	slices.SortStableFunc(out.Points, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	return out
}
