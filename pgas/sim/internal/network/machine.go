package network

// The machine: hosts with a NIC each, cache lines, and how long operations take. Links carry messages in
// the order of their sending. A NIC handles one message at a time in each direction, and one atomic.

import (
	"fmt"
	"slices"
)

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
