package metrics

// The metrics. Their values are those of package stats, which says what each counts; times are in seconds, as Prometheus has
// them.

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopgas/gopgas/pgas/stats"
)

// newDesc describes a metric with the labels pe, host and more.
func newDesc(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("pgas_"+name, help, append([]string{"pe", "host"}, more...), nil)
}

var (
	recorded = newDesc("recorded", "Whether the PE counts what it does: 1 with pgasrun -stats, -metrics or PGAS_STATS=1. At 0 it has the metrics of its heap and no others.")
	heapUse  = newDesc("heap_in_use_bytes", "Bytes of live allocations in the symmetric heap.")
	heapHigh = newDesc("heap_high_bytes", "Bytes of the symmetric heap that were ever in use.")

	operations     = newDesc("operations_total", "Operations on any PE, by kind.", "kind")
	operationBytes = newDesc("operation_bytes_total", "Bytes that operations have moved, by kind.", "kind")
	waits          = newDesc("waits_total", "Waits that have ended, by cause.", "cause")
	blocked        = newDesc("blocked_seconds_total", "Time that goroutines were blocked in waits that have ended, by cause.", "cause")

	peerOperations = newDesc("peer_operations_total", "Operations of all kinds, by target.", "peer")
	peerBytes      = newDesc("peer_bytes_total", "Bytes that operations of all kinds have moved, by target.", "peer")
	peerBlocked    = newDesc("peer_blocked_seconds_total", "Time that goroutines were blocked in waits that have ended, by the PE that they waited for.", "peer")

	messages          = newDesc("messages_total", "Messages with operations that have left for other hosts.")
	messageBytes      = newDesc("message_bytes_total", "Bytes in these messages: divided by their number, how full they leave.")
	messageOperations = newDesc("message_operations_total", "Operations in these messages.")

	locks      = newDesc("lock_acquisitions_total", "Acquisitions of locks; waited is true if the lock was not free.", "waited")
	handOvers  = newDesc("lock_hand_overs_total", "Acquisitions of locks from another PE of the same element of a level of the topology, and of no smaller one.", "level")
	matched    = newDesc("notifications_matched_total", "Notifications that requests have taken.")
	unexpected = newDesc("notifications_unexpected_total", "Of these, notifications that no request had asked for when they were found.")

	faults   = newDesc("page_faults_total", "Page faults of coherent memory.")
	fetched  = newDesc("pages_fetched_total", "Pages or blocks of coherent memory that were fetched.")
	released = newDesc("pages_released_total", "Pages or blocks of coherent memory that were released.")
)

var (
	running    = newDesc("running", "Whether the process of the PE runs.")
	cpu        = newDesc("cpu_seconds_total", "User and system time that the process of the PE has taken.")
	memory     = newDesc("resident_memory_bytes", "Memory of the process of the PE that is resident.")
	blockedNow = newDesc("blocked_now_seconds", "How long the PE has been blocked, in what and for which PE, if it is; the peer is -1 if that is not known.", "cause", "peer")
)

var all = []*prometheus.Desc{
	recorded, heapUse, heapHigh, operations, operationBytes, waits, blocked, peerOperations, peerBytes, peerBlocked,
	messages, messageBytes, messageOperations, locks, handOvers, matched, unexpected, faults, fetched, released, running, cpu, memory, blockedNow,
}

// collector makes metrics of PEs.
type collector struct {
	peers bool // by peer, too
	pes   func() []PE
}

// Describe is that of prometheus.Collector.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range all {
		to <- d
	}
}

// Collect is that of prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	for _, p := range c.pes() {
		e := emitter{to, strconv.Itoa(p.PE.PE), strings.ToValidUTF8(p.Host, "?")}
		e.process(p.Process)
		e.gauge(heapUse, float64(p.Heap.InUse))
		e.gauge(heapHigh, float64(p.Heap.High))
		if !p.Recorded {
			e.gauge(recorded, 0)
			continue
		}
		e.gauge(recorded, 1)
		e.traffic(p)
		e.waits(p.Blocked)
		e.others(p)
		if c.peers {
			e.peers(p.Peers)
		}
	}
}

// emitter sends the metrics of one PE.
type emitter struct {
	to       chan<- prometheus.Metric
	pe, host string
}

func (e emitter) send(d *prometheus.Desc, t prometheus.ValueType, v float64, labels ...string) {
	e.to <- prometheus.MustNewConstMetric(d, t, v, append([]string{e.pe, e.host}, labels...)...)
}

func (e emitter) gauge(d *prometheus.Desc, v float64) { e.send(d, prometheus.GaugeValue, v) }

func (e emitter) count(d *prometheus.Desc, n uint64, labels ...string) {
	e.send(d, prometheus.CounterValue, float64(n), labels...)
}

func (e emitter) seconds(d *prometheus.Desc, t time.Duration, labels ...string) {
	e.send(d, prometheus.CounterValue, t.Seconds(), labels...)
}

// process sends what the launcher knows, if it does.
func (e emitter) process(p *Process) {
	if p == nil {
		return
	}
	up := 0.0
	if p.Running {
		up = 1
	}
	e.gauge(running, up)
	e.seconds(cpu, p.CPU)
	e.gauge(memory, float64(p.Memory))
	if p.BlockedIn != "" {
		e.send(blockedNow, prometheus.GaugeValue, p.Blocked.Seconds(), strings.ToValidUTF8(p.BlockedIn, "?"), strconv.Itoa(p.BlockedFor))
	}
}

// traffic sends all kinds, those without an operation too: a counter that appears late has no rate.
func (e emitter) traffic(p PE) {
	for _, kind := range stats.KindNames() {
		e.count(operations, p.Kinds[kind].Operations, kind)
		e.count(operationBytes, p.Kinds[kind].Bytes, kind)
	}
}

// waits sends waits by cause. Causes may have names of the program, of any bytes.
func (e emitter) waits(byCause map[string]stats.Wait) {
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

func (e emitter) others(p PE) {
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

func (e emitter) peers(list []stats.Peer) {
	for _, p := range list {
		peer, t := strconv.Itoa(p.PE), p.Total()
		e.count(peerOperations, t.Operations, peer)
		e.count(peerBytes, t.Bytes, peer)
		e.seconds(peerBlocked, p.Blocked, peer)
	}
}
