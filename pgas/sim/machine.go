package sim

// The machine: hosts with a NIC each, cache lines, and how long everything takes. Links carry messages in
// the order of their sending; a NIC handles one message at a time in each direction, and one atomic.

import (
	"github.com/gopgas/gopgas/pgas/topo"
)

// A host has one NIC.
type host struct {
	tx   int64 // the NIC has sent everything by then
	rx   int64 // and received
	unit int64 // and executed every atomic
	name string
}

// lines is how many cache lines of a heap the simulator remembers the owners of. Two lines in the same
// place take each other for new ones.
const lines = 64

type cacheLine struct {
	line  uint64
	free  int64 // nobody has it before
	owner int32 // 1 + the PE whose core has it
}

// mostLag is how far a task may be ahead of what it has posted.
const mostLag = 1_000_000

// levels is what the tree says of distances.
type levels struct {
	tree   *topo.Tree
	host   int      // index of the level host in the tree
	memory []Memory // by level
	links  []Link   // by level, outside of the hosts
	// That PEs are in, by level.
	elements [][]int32
}

func newLevels(tree *topo.Tree, c *Costs, npes int) levels {
	l := levels{tree: tree}
	names := tree.Names()
	for i, name := range names {
		if name == topo.Host {
			l.host = i
		}
	}
	l.elements = make([][]int32, len(names))
	for i := range names {
		l.elements[i] = make([]int32, npes)
		for pe := range npes {
			l.elements[i][pe] = int32(tree.At(i).Element(pe))
		}
	}
	l.memory = make([]Memory, len(names))
	l.links = make([]Link, l.host)
	for i := l.host; i < len(names); i++ {
		name := names[i]
		if name == topo.Host && i == len(names)-1 {
			name = socket // nothing is said of its parts
		}
		m, known := c.Memory[name]
		if !known {
			m = c.Memory[topo.Host]
			if i > l.host {
				m = l.memory[i-1]
			}
		}
		l.memory[i] = m
	}
	for i := range l.host {
		l.links[i] = c.Network[min(l.host-1-i, len(c.Network)-1)]
	}
	return l
}

// socket is the level whose costs a host of one socket has.
const socket = "socket"

func (s *sim) sameHost(p, q int) bool {
	of := s.levels.elements[s.levels.host]
	return of[p] == of[q]
}

// apart is the innermost level that PEs p and q share an element of. It looks at neither: they may be far from
// any cache.
func (s *sim) apart(p, q int) int {
	i := len(s.levels.memory) - 1
	for i > 0 && s.levels.elements[i][p] != s.levels.elements[i][q] {
		i--
	}
	return i
}

// link is the way that a message takes from p to q by their NICs.
func (s *sim) link(p, q int) *Link {
	if s.sameHost(p, q) {
		return &s.costs.Loopback
	}
	return &s.levels.links[s.apart(p, q)]
}

func (s *sim) memory(p, q int) *Memory {
	if p == q {
		return &s.levels.memory[len(s.levels.memory)-1]
	}
	return &s.levels.memory[s.apart(p, q)]
}

// count numbers o.
func (s *sim) count(o *op) {
	s.issued++
	o.id = s.issued
	s.record(issueStep, o)
}

// issue starts o on its way. The time that t itself is busy with it is added to t's lag.
func (s *sim) issue(o *op, t *task) {
	s.count(o)
	switch {
	case s.exploring():
		s.explorer.later(o)
	case s.cfg.Adversary:
		o.phase = takes
		s.queue.push(s.now+t.lag+s.oddTime(), o)
	case o.nic:
		s.send(o, t)
	default:
		s.touch(o, t)
	}
}

// send hands o to the NIC.
func (s *sim) send(o *op, t *task) {
	t.lag += int64(s.costs.Overhead)
	n := len(o.data)
	if o.kind == opAtomic || o.signal {
		n += 8
	}
	if o.leaves {
		n += 8
	}
	o.phase = atTarget
	o.way = s.link(int(o.origin), int(o.target))
	s.queue.push(s.transmit(o.way, o.from.host, n, s.now+t.lag), o)
}

// transmit is when n bytes are there, by l, that the NIC of h may send from the given time on.
func (s *sim) transmit(l *Link, h *host, n int, from int64) int64 {
	wire := int64(n) * int64(l.PerByte)
	start := max(from, h.tx)
	h.tx = start + max(int64(s.costs.Gap), wire)
	return start + wire + int64(l.Latency)
}

// receive is when the NIC of h is through with a message of n bytes that has arrived now by l.
func (s *sim) receive(l *Link, h *host, n int) int64 {
	busy := max(int64(s.costs.Gap), int64(n)*int64(l.PerByte))
	h.rx = max(s.now, h.rx+busy)
	return h.rx
}

// arrive lets the target's NIC handle o.
func (s *sim) arrive(o *op) *task {
	if s.deaths && o.to.dead {
		return s.lose(o)
	}
	when := s.receive(o.way, o.to.host, len(o.data))
	if o.kind == opAtomic || o.signal {
		begin := max(when, o.to.host.unit)
		o.to.host.unit = begin + int64(s.costs.NICAtomic)
		when = o.to.host.unit
		if o.kind == opAtomic && s.cfg.Atomics == Split {
			when = begin + int64(s.costs.NICAtomic)/2
		}
	}
	when = o.inTurn(when)
	o.phase = takes
	if when > s.now {
		s.queue.push(when, o)
		return nil
	}
	return s.effect(o)
}

// touch lets the CPU of o's PE carry o out on the memory of its host.
func (s *sim) touch(o *op, t *task) {
	m := s.memory(int(o.origin), int(o.target))
	start := s.now + t.lag
	var done int64
	switch {
	case o.kind == opAtomic:
		done = s.takeLine(o, start, m)
	default:
		n := int64(max(len(o.data), o.size))
		done = start + int64(s.costs.Hit) + n*int64(m.PerByte)
		if o.from != o.to {
			done += int64(m.Line)
		}
	}
	if o.leaves && o.from != o.to {
		done += int64(m.Line)
	}
	done = o.inTurn(done)
	o.phase = takes
	s.queue.push(done, o)
	t.lag = done - s.now
}

// takeLine is when an atomic of a CPU is done that begins at start: it needs the line for itself.
func (s *sim) takeLine(o *op, start int64, m *Memory) int64 {
	at := o.off / 64
	l := &o.to.lines[at%lines]
	if l.line != at {
		*l = cacheLine{line: at, owner: int32(o.to.id) + 1}
	}
	cost := int64(s.costs.Hit)
	if l.owner != int32(o.from.id)+1 {
		cost += int64(m.Line)
	}
	done := max(start, l.free) + cost
	l.free, l.owner = done, int32(o.from.id)+1
	return done
}

// reply lets o return, which has taken effect.
func (s *sim) reply(o *op) *task {
	if s.chaotic() {
		o.flow.took(s, o)
	}
	o.phase = returns
	switch {
	case s.exploring() || !o.nic && !s.cfg.Adversary:
		return s.complete(o)
	case s.cfg.Adversary:
		s.queue.push(s.now+s.oddTime(), o)
	case o.task != nil || o.dst != nil:
		n := 8
		if o.kind == opGet {
			n = o.size
		}
		s.queue.push(s.transmit(o.way, o.to.host, n, s.now), o)
	default:
		// Acknowledgements wait for nobody.
		f := o.flow
		f.since = max(f.since, s.now+int64(o.way.Latency))
		f.ch.since = max(f.ch.since, f.since)
		return s.complete(o)
	}
	return nil
}

// back lets the NIC of o's PE handle the answer.
func (s *sim) back(o *op) *task {
	if o.nic && !s.chaotic() {
		n := 8
		if o.kind == opGet {
			n = o.size
		}
		if when := s.receive(o.way, o.from.host, n); when > s.now {
			o.phase = returned
			s.queue.push(when, o)
			return nil
		}
	}
	return s.complete(o)
}

// The times of what is no message.

func (s *sim) wakeTime() int64 {
	if s.cfg.Adversary {
		return s.oddTime()
	}
	return int64(s.costs.Poll + s.costs.Receive + s.costs.Notify)
}

func (s *sim) pollTime() int64 {
	if s.cfg.Adversary {
		return s.oddTime()
	}
	return int64(s.costs.Poll)
}

// answerTime is from when an answer is there to the PE that goes on with it.
func (s *sim) answerTime() int64 { return int64(s.costs.Answer + s.costs.Notify) }

// signalTime is between the data of a put and its signal.
func (s *sim) signalTime() int64 {
	if s.cfg.Adversary {
		return s.oddTime()
	}
	return 0
}

// splitTime is between the halves of a split atomic.
func (s *sim) splitTime() int64 {
	if s.cfg.Adversary {
		return s.oddTime()
	}
	return int64(s.costs.NICAtomic) / 2
}

// oddTime is what a step may take with an adversary: from 1 ns to 2^15.
func (s *sim) oddTime() int64 { return 1000 << (s.random.next() % 16) }
