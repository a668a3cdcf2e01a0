package network

// The machine: hosts with a NIC each, cache lines, and how long operations take. Links carry messages in
// the order of their sending. A NIC handles one message at a time in each direction, and one atomic.

import (
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
)

// A host has one NIC.
type host struct {
	txFree     int64 // when the NIC has sent all messages so far
	rxFree     int64 // when the NIC has received all messages so far
	atomicFree int64 // when the NIC has executed all atomics so far
	name       string
}

// lineCount is how many cache lines of a heap have a recorded owner. Two lines that share an entry evict each other.
const lineCount = 64

// A cacheLine is a line of a heap that some core has.
type cacheLine struct {
	line   uint64 // offset of the line in the heap, in lines
	freeAt int64  // when the last atomic on it is done
	owner  int32  // 1 + the PE whose core has the line
}

// maxElapsed is how far the time of a task may be ahead of the operations that it has posted.
const maxElapsed = 1_000_000

// newHosts returns the hosts of a topology whose elements are the hosts of PEs.
func newHosts(elements []int32) []*host {
	hosts := make([]host, slices.Max(elements)+1)
	all := make([]*host, len(hosts))
	for i := range hosts {
		hosts[i].name = fmt.Sprintf("host%d", i)
		all[i] = &hosts[i]
	}
	return all
}

// number gives o its number, in the order of issue.
func (net *Network) number(o *Op) {
	net.issued++
	o.id = net.issued
	net.record(issueStep, o)
}

// issue sends o. The time that the CPU of t is busy with it is added to t.Elapsed.
func (net *Network) issue(o *Op, t *engine.Task) {
	net.number(o)
	switch {
	case net.exploring():
		o.phase = applying
		net.Engine.Schedule(0, &o.Event)
	case net.config.Adversary:
		net.adversary.issue(o, t)
	case o.nic:
		net.send(o, t)
	default:
		net.executeByCPU(o, t)
	}
}

// send passes o to the NIC.
func (net *Network) send(o *Op, t *engine.Task) {
	t.Elapsed += net.costs.Overhead
	n := net.payload(o)
	if o.kind == opAtomic || o.signal {
		n += 8
	}
	if o.notifies {
		n += 8
	}
	o.phase = arriving
	o.link = net.costs.link(int(o.origin), int(o.target))
	net.Engine.At(net.transmit(o.link, o.from.host, n, net.Engine.Now()+t.Elapsed), &o.Event)
}

// transmit returns when a message of n bytes arrives by l. The NIC of h may send it from the given time on.
func (net *Network) transmit(l *Link, h *host, n int, from int64) int64 {
	wire := int64(n) * l.PerByte
	if l != &net.costs.Loopback {
		net.traffic.Messages++
		net.traffic.Bytes += uint64(n)
	}
	start := max(from, h.txFree)
	h.txFree = start + max(net.costs.Gap, wire)
	return start + wire + l.Latency
}

// receive returns when the NIC of h has received a message of n bytes that has arrived now by l.
func (net *Network) receive(l *Link, h *host, n int) int64 {
	busy := max(net.costs.Gap, int64(n)*l.PerByte)
	h.rxFree = max(net.Engine.Now(), h.rxFree+busy)
	return h.rxFree
}

// arrive has the NIC of the target handle o.
func (net *Network) arrive(o *Op) *engine.Task {
	if net.anyDead && o.to.dead {
		return net.failOp(o)
	}
	when := net.receive(o.link, o.to.host, net.payload(o))
	if o.kind == opAtomic || o.signal {
		begin := max(when, o.to.host.atomicFree)
		o.to.host.atomicFree = begin + net.costs.NICAtomic
		when = o.to.host.atomicFree
		if o.kind == opAtomic && net.config.Split {
			when = begin + net.costs.NICAtomic/2
		}
	}
	when = o.afterEarlierNotes(when)
	o.phase = applying
	if when > net.Engine.Now() {
		net.Engine.At(when, &o.Event)
		return nil
	}
	return net.Effect(o)
}

// executeByCPU has the CPU of the initiator execute o on the memory of its host.
func (net *Network) executeByCPU(o *Op, t *engine.Task) {
	m := net.costs.memory(int(o.origin), int(o.target))
	start := net.Engine.Now() + t.Elapsed
	var done int64
	switch {
	case o.kind == opAtomic:
		done = net.takeLine(o, start, m)
	default:
		n := int64(net.weights.weighed(o.off, max(len(o.data), o.size)))
		done = start + net.costs.Hit + n*m.PerByte
		if o.from != o.to {
			done += m.Line
		}
	}
	if o.notifies && o.from != o.to {
		done += m.Line
	}
	done = o.afterEarlierNotes(done)
	o.phase = applying
	net.Engine.At(done, &o.Event)
	t.Elapsed = done - net.Engine.Now()
}

// takeLine returns when an atomic of a CPU that begins at start is done. It needs the cache line exclusively.
func (net *Network) takeLine(o *Op, start int64, m *Memory) int64 {
	at := o.off / 64
	l := &o.to.cacheLines[at%lineCount]
	if l.line != at {
		*l = cacheLine{line: at, owner: int32(o.to.ID) + 1}
	}
	cost := net.costs.Hit
	if l.owner != int32(o.from.ID)+1 {
		cost += m.Line
	}
	done := max(start, l.freeAt) + cost
	l.freeAt, l.owner = done, int32(o.from.ID)+1
	return done
}

// reply sends the result of o, which has taken effect, back to the initiator.
func (net *Network) reply(o *Op) *engine.Task {
	if net.unordered() {
		o.flow.markApplied(net, o)
	}
	o.phase = replying
	switch {
	case net.exploring() || !o.nic && !net.config.Adversary:
		return net.complete(o)
	case net.config.Adversary:
		if !net.adversary.keeps(o) {
			net.Engine.At(net.Engine.Now()+net.adversary.replyTime(o), &o.Event)
		}
	case o.Task() != nil || o.dst != nil:
		net.Engine.At(net.transmit(o.link, o.to.host, net.answer(o), net.Engine.Now()), &o.Event)
	default:
		// Acknowledgements occupy no NIC.
		f := o.flow
		f.completedAt = max(f.completedAt, net.Engine.Now()+o.link.Latency)
		f.ch.completedAt = max(f.ch.completedAt, f.completedAt)
		return net.complete(o)
	}
	return nil
}

// replyArrived has the NIC of the initiator handle the reply.
func (net *Network) replyArrived(o *Op) *engine.Task {
	if o.nic && !net.unordered() {
		if when := net.receive(o.link, o.from.host, net.answer(o)); when > net.Engine.Now() {
			o.phase = completing
			net.Engine.At(when, &o.Event)
			return nil
		}
	}
	return net.complete(o)
}

// payload returns how many bytes the data counts as that o carries to its target.
func (net *Network) payload(o *Op) int { return net.weights.weighed(o.off, len(o.data)) }

// answer returns how many bytes the answer to o counts as.
func (net *Network) answer(o *Op) int {
	if o.kind != opGet {
		return 8
	}
	return net.weights.weighed(o.off, o.size)
}

// The times of steps that are not messages.

// WakeTime implements engine.Model.
func (net *Network) WakeTime() int64 {
	if net.config.Adversary {
		return net.randomTime()
	}
	return net.costs.Poll + net.costs.Receive + net.costs.Notify
}

// PollTime implements engine.Model.
func (net *Network) PollTime() int64 {
	if net.config.Adversary {
		return net.randomTime()
	}
	return net.costs.Poll
}

// answerTime returns the time from the arrival of a reply until the waiting PE goes on.
func (net *Network) answerTime() int64 { return net.costs.Answer + net.costs.Notify }

// signalTime returns the time between the data of a put and its signal.
func (net *Network) signalTime() int64 {
	if net.config.Adversary {
		return net.randomTime()
	}
	return 0
}

// splitTime returns the time between the read and the write of a split atomic.
func (net *Network) splitTime() int64 {
	if net.config.Adversary {
		return net.randomTime()
	}
	return net.costs.NICAtomic / 2
}

// randomTime returns how long a step takes with an adversary: from 1 ns to 2^15 ns.
func (net *Network) randomTime() int64 { return 1000 << (net.random.Next() % 16) }
