package metrics

// The values of the metrics, read from what PEs have counted.

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/stats"
)

// A Sample is the value of a metric of one PE.
type Sample struct {
	*Description
	Values []string // the values of the labels, in valid UTF-8
	Value  float64
}

// Samples returns the values of now, PE by PE.
func (m Metrics) Samples() iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		for _, p := range m.pes() {
			e := emitter{pe: strconv.Itoa(p.PE.PE), host: strings.ToValidUTF8(p.Host, "?")}
			e.all(p, m.peers)
			for _, s := range e.samples {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// emitter collects the samples of one PE.
type emitter struct {
	pe, host string
	samples  []Sample
}

func (e *emitter) send(d *Description, v float64, labels ...string) {
	e.samples = append(e.samples, Sample{d, append([]string{e.pe, e.host}, labels...), v})
}

func (e *emitter) count(d *Description, n uint64, labels ...string) { e.send(d, float64(n), labels...) }

func (e *emitter) seconds(d *Description, t time.Duration, labels ...string) {
	e.send(d, t.Seconds(), labels...)
}

// all sends what there is of p. A PE that does not count has its heap, and what its launcher knows.
func (e *emitter) all(p PE, peers bool) {
	e.process(p.Process)
	e.count(heapUse, p.Heap.InUse)
	e.count(heapHigh, p.Heap.High)
	if !p.Recorded {
		e.send(recorded, 0)
		return
	}
	e.send(recorded, 1)
	e.traffic(p)
	e.waits(p.Blocked)
	e.others(p)
	if peers {
		e.peers(p.Peers)
	}
}

// process sends what the launcher knows, if it does.
func (e *emitter) process(p *Process) {
	if p == nil {
		return
	}
	up := 0.0
	if p.Running {
		up = 1
	}
	e.send(running, up)
	e.seconds(cpu, p.CPU)
	e.count(memory, p.Memory)
	if p.BlockedIn != "" {
		e.seconds(blockedNow, p.Blocked, strings.ToValidUTF8(p.BlockedIn, "?"), strconv.Itoa(p.BlockedFor))
	}
}

// traffic sends all kinds, those without an operation too: a counter that appears late has no rate.
func (e *emitter) traffic(p PE) {
	for _, kind := range stats.KindNames() {
		e.count(operations, p.Kinds[kind].Operations, kind)
		e.count(operationBytes, p.Kinds[kind].Bytes, kind)
	}
}

// waits sends waits by cause. Causes may have names of the program, of any bytes.
func (e *emitter) waits(byCause map[string]stats.Wait) {
	valid := map[string]stats.Wait{}
	for cause, w := range byCause {
		cause = strings.ToValidUTF8(cause, "?")
		valid[cause] = stats.Wait{Count: valid[cause].Count + w.Count, Time: valid[cause].Time + w.Time}
	}
	for cause, w := range valid {
		e.count(waits, w.Count, cause)
		e.seconds(blocked, w.Time, cause)
	}
}

func (e *emitter) others(p PE) {
	e.count(messages, p.Messages.Sent)
	e.count(messageBytes, p.Messages.Bytes)
	e.count(messageOperations, p.Messages.Operations)
	e.count(locks, p.Locks.Alone, "false")
	e.count(locks, p.Locks.Waited, "true")
	for _, h := range p.Locks.HandOvers {
		e.count(handOvers, h.Count, strings.ToValidUTF8(h.Level, "?"))
	}
	e.count(matched, p.Notes.Matched)
	e.count(unexpected, p.Notes.Unexpected)
	e.count(faults, p.Coherent.Faults)
	e.count(fetched, p.Coherent.Fetched)
	e.count(released, p.Coherent.Released)
}

func (e *emitter) peers(list []stats.Peer) {
	for _, p := range list {
		peer, t := strconv.Itoa(p.PE), p.Total()
		e.count(peerOperations, t.Operations, peer)
		e.count(peerBytes, t.Bytes, peer)
		e.seconds(peerBlocked, p.Blocked, peer)
	}
}
