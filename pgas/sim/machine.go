package sim

// The machine: hosts with a NIC each, cache lines, and how long operations take. Links carry messages in
// the order of their sending. A NIC handles one message at a time in each direction, and one atomic.

import (
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/topo"
)

// A host has one NIC.
type host struct {
	txFree     int64 // when the NIC has sent all messages so far
	rxFree     int64 // when it has received all
	atomicFree int64 // when it has executed all atomics
	name       string
}

// lineCount is how many cache lines of a heap have a recorded owner. Two lines that share an entry evict each other.
const lineCount = 64

type cacheLine struct {
	line   uint64
	freeAt int64 // when the last atomic on it is done
	owner  int32 // 1 + the PE whose core has the line
}

// maxElapsed is how far the time of a task may be ahead of the operations that it has posted.
const maxElapsed = 1_000_000

// levels are the costs between PEs, by the levels of the topology.
type levels struct {
	tree   *topo.Tree
	host   int      // index of the level host in the tree
	memory []Memory // by level
	links  []Link   // by level, outside the hosts
	// elements[level][pe] is the element of the level that pe is in.
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
			l.elements[i][pe] = int32(tree.LevelAt(i).Element(pe))
		}
	}
	l.memory = make([]Memory, len(names))
	l.links = make([]Link, l.host)
	for i := l.host; i < len(names); i++ {
		name := names[i]
		if name == topo.Host && i == len(names)-1 {
			name = socket // the topology does not divide hosts
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

// socket is the level that gives the costs of a host that is not divided.
const socket = "socket"

func (s *sim) sameHost(p, q int) bool {
	of := s.levels.elements[s.levels.host]
	return of[p] == of[q]
}

// commonLevel returns the innermost level of which PEs p and q share an element. It reads neither pe: they may be in
// no cache.
func (s *sim) commonLevel(p, q int) int {
	i := len(s.levels.memory) - 1
	for i > 0 && s.levels.elements[i][p] != s.levels.elements[i][q] {
		i--
	}
	return i
}

// link returns the link between the NICs of p and q.
func (s *sim) link(p, q int) *Link {
	if s.sameHost(p, q) {
		return &s.costs.Loopback
	}
	return &s.levels.links[s.commonLevel(p, q)]
}

func (s *sim) memory(p, q int) *Memory {
	if p == q {
		return &s.levels.memory[len(s.levels.memory)-1]
	}
	return &s.levels.memory[s.commonLevel(p, q)]
}

// number gives o its number, in the order of issue.
func (s *sim) number(o *op) {
	s.issued++
	o.id = s.issued
	s.record(issueStep, o)
}

// issue sends o. The time that the CPU of t is busy with it is added to t.Elapsed.
func (s *sim) issue(o *op, t *engine.Task) {
	s.number(o)
	switch {
	case s.exploring():
		s.engine.Schedule(0, &o.Event)
	case s.cfg.Adversary:
		o.phase = applying
		s.engine.At(s.engine.Now()+t.Elapsed+s.randomTime(), &o.Event)
	case o.nic:
		s.send(o, t)
	default:
		s.executeByCPU(o, t)
	}
}

// send passes o to the NIC.
func (s *sim) send(o *op, t *engine.Task) {
	t.Elapsed += int64(s.costs.Overhead)
	n := s.payload(o)
	if o.kind == opAtomic || o.signal {
		n += 8
	}
	if o.notifies {
		n += 8
	}
	o.phase = arriving
	o.link = s.link(int(o.origin), int(o.target))
	s.engine.At(s.transmit(o.link, o.from.host, n, s.engine.Now()+t.Elapsed), &o.Event)
}

// transmit returns when a message of n bytes arrives by l. The NIC of h may send it from the given time on.
func (s *sim) transmit(l *Link, h *host, n int, from int64) int64 {
	wire := int64(n) * int64(l.PerByte)
	if l != &s.costs.Loopback {
		s.traffic.Messages++
		s.traffic.Bytes += uint64(n)
	}
	start := max(from, h.txFree)
	h.txFree = start + max(int64(s.costs.Gap), wire)
	return start + wire + int64(l.Latency)
}

// receive returns when the NIC of h has received a message of n bytes that has arrived now by l.
func (s *sim) receive(l *Link, h *host, n int) int64 {
	busy := max(int64(s.costs.Gap), int64(n)*int64(l.PerByte))
	h.rxFree = max(s.engine.Now(), h.rxFree+busy)
	return h.rxFree
}

// arrive has the NIC of the target handle o.
func (s *sim) arrive(o *op) *engine.Task {
	if s.anyDead && o.to.dead {
		return s.failOp(o)
	}
	when := s.receive(o.link, o.to.host, s.payload(o))
	if o.kind == opAtomic || o.signal {
		begin := max(when, o.to.host.atomicFree)
		o.to.host.atomicFree = begin + int64(s.costs.NICAtomic)
		when = o.to.host.atomicFree
		if o.kind == opAtomic && s.cfg.Atomics == Split {
			when = begin + int64(s.costs.NICAtomic)/2
		}
	}
	when = o.afterEarlierNotes(when)
	o.phase = applying
	if when > s.engine.Now() {
		s.engine.At(when, &o.Event)
		return nil
	}
	return s.effect(o)
}

// executeByCPU has the CPU of the initiator execute o on the memory of its host.
func (s *sim) executeByCPU(o *op, t *engine.Task) {
	m := s.memory(int(o.origin), int(o.target))
	start := s.engine.Now() + t.Elapsed
	var done int64
	switch {
	case o.kind == opAtomic:
		done = s.takeLine(o, start, m)
	default:
		n := int64(s.weighed(o.off, max(len(o.data), o.size)))
		done = start + int64(s.costs.Hit) + n*int64(m.PerByte)
		if o.from != o.to {
			done += int64(m.Line)
		}
	}
	if o.notifies && o.from != o.to {
		done += int64(m.Line)
	}
	done = o.afterEarlierNotes(done)
	o.phase = applying
	s.engine.At(done, &o.Event)
	t.Elapsed = done - s.engine.Now()
}

// takeLine returns when an atomic of a CPU that begins at start is done. It needs the cache line exclusively.
func (s *sim) takeLine(o *op, start int64, m *Memory) int64 {
	at := o.off / 64
	l := &o.to.cacheLines[at%lineCount]
	if l.line != at {
		*l = cacheLine{line: at, owner: int32(o.to.ID) + 1}
	}
	cost := int64(s.costs.Hit)
	if l.owner != int32(o.from.ID)+1 {
		cost += int64(m.Line)
	}
	done := max(start, l.freeAt) + cost
	l.freeAt, l.owner = done, int32(o.from.ID)+1
	return done
}

// reply sends the result of o, which has taken effect, back to the initiator.
func (s *sim) reply(o *op) *engine.Task {
	if s.unordered() {
		o.flow.markApplied(s, o)
	}
	o.phase = replying
	switch {
	case s.exploring() || !o.nic && !s.cfg.Adversary:
		return s.complete(o)
	case s.cfg.Adversary:
		s.engine.At(s.engine.Now()+s.randomTime(), &o.Event)
	case o.Task() != nil || o.dst != nil:
		s.engine.At(s.transmit(o.link, o.to.host, s.answer(o), s.engine.Now()), &o.Event)
	default:
		// Acknowledgements occupy no NIC.
		f := o.flow
		f.completedAt = max(f.completedAt, s.engine.Now()+int64(o.link.Latency))
		f.ch.completedAt = max(f.ch.completedAt, f.completedAt)
		return s.complete(o)
	}
	return nil
}

// replyArrived has the NIC of the initiator handle the reply.
func (s *sim) replyArrived(o *op) *engine.Task {
	if o.nic && !s.unordered() {
		if when := s.receive(o.link, o.from.host, s.answer(o)); when > s.engine.Now() {
			o.phase = completing
			s.engine.At(when, &o.Event)
			return nil
		}
	}
	return s.complete(o)
}

// The times of steps that are not messages.

// WakeTime implements engine.Model.
func (s *sim) WakeTime() int64 {
	if s.cfg.Adversary {
		return s.randomTime()
	}
	return int64(s.costs.Poll + s.costs.Receive + s.costs.Notify)
}

// PollTime implements engine.Model.
func (s *sim) PollTime() int64 {
	if s.cfg.Adversary {
		return s.randomTime()
	}
	return int64(s.costs.Poll)
}

// answerTime returns the time from the arrival of a reply until the waiting PE goes on.
func (s *sim) answerTime() int64 { return int64(s.costs.Answer + s.costs.Notify) }

// signalTime returns the time between the data of a put and its signal.
func (s *sim) signalTime() int64 {
	if s.cfg.Adversary {
		return s.randomTime()
	}
	return 0
}

// splitTime returns the time between the read and the write of a split atomic.
func (s *sim) splitTime() int64 {
	if s.cfg.Adversary {
		return s.randomTime()
	}
	return int64(s.costs.NICAtomic) / 2
}

// randomTime returns how long a step takes with an adversary: from 1 ns to 2^15 ns.
func (s *sim) randomTime() int64 { return 1000 << (s.random.Next() % 16) }
