package ui

// What the numbers were before. A series has a bounded number of points: when it is full, each two become one, and from
// then on a point stands for twice as many looks. So a series covers the whole job, however long it takes.

import (
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// Bounds of the series: of the job, and of each PE of a job that has no more than mostTracked.
const (
	mostJobPoints = 240
	mostPEPoints  = 60
	mostTracked   = 4096
)

// shortest is the least time between two answers of a host from which a rate is computed.
const shortest = 50 * time.Millisecond

// point is the mean of some numbers over some looks.
type point struct {
	At      time.Duration // the time of the job at the last of its looks
	Blocked float64       // the blocked share of the time: 0 to 1
	Bytes   float64       // the bytes moved in a second
	Ops     float64       // operations in a second
	Heap    float64       // bytes in use
	Memory  float64       // resident bytes
	CPU     float64       // seconds of CPU time in a second
}

func (p *point) add(q point) {
	p.Blocked += q.Blocked
	p.Bytes += q.Bytes
	p.Ops += q.Ops
	p.Heap += q.Heap
	p.Memory += q.Memory
	p.CPU += q.CPU
	p.At = q.At
}

func (p *point) divide(n float64) {
	p.Blocked /= n
	p.Bytes /= n
	p.Ops /= n
	p.Heap /= n
	p.Memory /= n
	p.CPU /= n
}

// series is the points of a whole job.
type series struct {
	most   int
	points []point
	each   int   // the number of looks that a point stands for
	sum    point // the sum of the looks that are no point yet
	summed int
}

func (s *series) add(p point) {
	s.sum.add(p)
	if s.summed++; s.summed < max(s.each, 1) {
		return
	}
	s.sum.divide(float64(s.summed))
	s.points = append(s.points, s.sum)
	s.sum, s.summed = point{}, 0
	if len(s.points) >= s.most {
		s.thin()
	}
}

// thin makes one point of each two.
func (s *series) thin() {
	half := s.points[:0]
	for i := 0; i+1 < len(s.points); i += 2 {
		p := s.points[i]
		p.add(s.points[i+1])
		p.divide(2)
		half = append(half, p)
	}
	s.points, s.each = half, 2*max(s.each, 1)
}

// track is what is known of a PE's past.
type track struct {
	at     time.Duration   // the time of the job when its last answer came
	last   launch.PEState  // the last answer
	alive  *launch.PEState // the last from when it ran; nil: there was none
	since  time.Duration   // the time of the job since when it has done the same
	moved  time.Duration   // the time of the job when it was last seen to have done an operation
	point  point           // the numbers over the time between its last two answers
	series series          // its numbers over the time of the job
}

// history is what is known of a job's past.
type history struct {
	job series
	pes []track
}

func newHistory(pes int) *history {
	h := &history{job: series{most: mostJobPoints}, pes: make([]track, pes)}
	for i := range h.pes {
		h.pes[i].series.most = mostPEPoints
	}
	return h
}

// add adds what is known at a moment.
func (h *history) add(s launch.Snapshot) {
	sum := point{}
	running := 0
	for i := range s.PEs {
		if i >= len(h.pes) {
			break
		}
		t := &h.pes[i]
		has := t.note(s.PEs[i], s.Elapsed-s.Hosts[s.PEs[i].Host].Age)
		t.point.At = s.Elapsed
		if has {
			running++
			sum.add(t.point)
		}
		if len(h.pes) <= mostTracked && has {
			t.series.add(t.point)
		}
	}
	if running == 0 {
		return
	}
	sum.At = s.Elapsed
	sum.Blocked /= float64(running)
	h.job.add(sum)
}

// note notes what a PE was doing at a time of the job, and reports whether its point is one of its series: the last one
// is that of the look that finds the PE ended.
func (t *track) note(p launch.PEState, at time.Duration) bool {
	if !p.Known {
		return false
	}
	first, ended := !t.last.Known, t.last.Ended
	if first || !sameDoing(&p, &t.last) {
		t.since = max(0, at-p.Time)
	}
	if first || operations(&p) != operations(&t.last) {
		t.moved = at
	}
	if dt := at - t.at; !ended && dt >= shortest { // of the first look, since the job began
		t.point = pointBetween(&t.last, &p, dt)
	}
	t.point.Heap, t.point.Memory = float64(p.Counters[record.HeapInUse]), float64(p.Memory)
	if !p.Ended {
		alive := p
		t.alive = &alive
	}
	if first || at-t.at >= shortest || p.Ended {
		t.last, t.at = p, at
	}
	if ended {
		t.point = point{}
	}
	return !ended
}

// pointBetween returns what a PE has done between two answers.
func pointBetween(a, b *launch.PEState, dt time.Duration) point {
	seconds := dt.Seconds()
	share := float64(b.Blocked()-a.Blocked()) / float64(dt)
	bytesA, opsA := traffic(a)
	bytesB, opsB := traffic(b)
	return point{
		Blocked: min(1, max(0, share)),
		Bytes:   max(0, float64(bytesB)-float64(bytesA)) / seconds,
		Ops:     max(0, float64(opsB)-float64(opsA)) / seconds,
		CPU:     max(0, (b.CPU-a.CPU).Seconds()) / seconds,
	}
}

// sameDoing reports whether a PE seems to have done the same since: blocked in the same call, or not blocked at all.
func sameDoing(a, b *launch.PEState) bool {
	if a.Op != b.Op || a.Seq != b.Seq || a.Team != b.Team || a.Ended != b.Ended {
		return false
	}
	return a.Op != boot.NotBlocked || waits(a) == waits(b)
}

// waits returns how often a PE was blocked.
func waits(p *launch.PEState) (n uint64) {
	for _, w := range p.Waits {
		n += w.Count
	}
	return n
}

// traffic returns all that a PE has moved, and by how many operations.
func traffic(p *launch.PEState) (bytes, ops uint64) {
	for i := range p.Peers {
		bytes += p.Peers[i].Total()
		ops += p.Peers[i].Operations()
	}
	return bytes + p.Others.Total(), ops + p.Others.Operations()
}

func operations(p *launch.PEState) uint64 {
	_, ops := traffic(p)
	return ops
}
