package metrics

// The metrics. Their values are those of package stats, which says what each counts; times are in seconds, as
// Prometheus has them.

// A Description says what a metric is.
type Description struct {
	Name    string // begins with pgas_, and ends with its unit, and with total if it is a counter
	Help    string
	Counter bool     // it only grows; otherwise it is a gauge
	Labels  []string // the names of the labels: pe, host, and those of the metric
}

// Descriptions lists the metrics, in the order in which they are written.
func Descriptions() []*Description { return append([]*Description(nil), all...) }

var all []*Description // in the order of their declarations

func gauge(name, help string, more ...string) *Description { return describe(name, help, false, more) }

func counter(name, help string, more ...string) *Description {
	return describe(name+"_total", help, true, more)
}

func describe(name, help string, counter bool, more []string) *Description {
	d := &Description{Name: "pgas_" + name, Help: help, Counter: counter, Labels: append([]string{"pe", "host"}, more...)}
	all = append(all, d)
	return d
}

var (
	recorded = gauge("recorded", "Whether the PE counts what it does: 1 with pgasrun -stats, -metrics or PGAS_STATS=1. At 0 it has the metrics of its heap and no others.")
	heapUse  = gauge("heap_in_use_bytes", "Bytes of live allocations in the symmetric heap.")
	heapHigh = gauge("heap_high_bytes", "Bytes of the symmetric heap that were ever in use.")

	operations     = counter("operations", "Operations on any PE, by kind.", "kind")
	operationBytes = counter("operation_bytes", "Bytes that operations have moved, by kind.", "kind")
	waits          = counter("waits", "Waits that have ended, by cause.", "cause")
	blocked        = counter("blocked_seconds", "Time that goroutines were blocked in waits that have ended, by cause.", "cause")

	peerOperations = counter("peer_operations", "Operations of all kinds, by target.", "peer")
	peerBytes      = counter("peer_bytes", "Bytes that operations of all kinds have moved, by target.", "peer")
	peerBlocked    = counter("peer_blocked_seconds", "Time that goroutines were blocked in waits that have ended, by the PE that they waited for.", "peer")

	messages          = counter("messages", "Messages with operations that have left for other hosts.")
	messageBytes      = counter("message_bytes", "Bytes in these messages: divided by their number, how full they leave.")
	messageOperations = counter("message_operations", "Operations in these messages.")

	locks      = counter("lock_acquisitions", "Acquisitions of locks; waited is true if the lock was not free.", "waited")
	handOvers  = counter("lock_hand_overs", "Acquisitions of locks from another PE of the same element of a level of the topology, and of no smaller one.", "level")
	matched    = counter("notifications_matched", "Notifications that requests have taken.")
	unexpected = counter("notifications_unexpected", "Of these, notifications that no request had asked for when they were found.")

	faults   = counter("page_faults", "Page faults of coherent memory.")
	fetched  = counter("pages_fetched", "Pages or blocks of coherent memory that were fetched.")
	released = counter("pages_released", "Pages or blocks of coherent memory that were released.")

	running    = gauge("running", "Whether the process of the PE runs.")
	cpu        = counter("cpu_seconds", "User and system time that the process of the PE has taken.")
	memory     = gauge("resident_memory_bytes", "Memory of the process of the PE that is resident.")
	blockedNow = gauge("blocked_now_seconds", "How long the PE has been blocked, in what and for which PE, if it is; the peer is -1 if that is not known.", "cause", "peer")
)
