// Package record is what a PE records about itself, for whoever looks at the job: counters, and the events of a trace.
//
// The records of a host's PEs are one memory. The launcher's agent makes it and hands it down, PEs write to it, and the
// agent reads it at any time without their help, also when a PE hangs or has died:
//
//	head      one page: how many PEs and events there are
//	a PE's    counters · time waited by cause · names · one entry for each PE of the job · events
//
// What a PE writes is words that are accessed with sync/atomic, or is written before the word that publishes it. Pages
// that nothing touches take no memory. A job of which nothing is recorded has no such memory.
//
// Where to read: layout_unsafe.go has the memory; pe.go and place.go what a PE writes; read.go what its
// readers get.
package record

// Kind is a kind of operation that a PE counts for each target.
type Kind uint8

// The kinds. Bytes of an atomic are those of its word.
const (
	Put      Kind = iota // puts, strided ones too
	Get                  // gets, strided ones too
	Atomic               // atomics whose old value nobody wants, updates of signals too
	Fetch                // atomics that return a value
	Signal               // puts with a signal
	Notified             // accesses that leave a note at their target
	Runtime              // messages of the runtime itself, between hosts: those of collectives
	NumKinds
)

var kindNames = [NumKinds]string{"put", "get", "atomic", "fetch", "signal", "notified", "runtime"}

func (k Kind) String() string {
	if k < NumKinds {
		return kindNames[k]
	}
	return "unknown"
}

// Counter is a number that a PE records of itself as a whole.
type Counter uint8

// The counters. Gauges have the last value, all others only grow.
const (
	HeapInUse Counter = iota // gauge: bytes of live allocations
	HeapHigh                 // gauge: bytes of the heap that were ever in use
	// notes that a request took when it was waiting for them, or that were there when it came
	NotesMatched
	NotesUnexpected // of these, the notes that were found when no request asked for them
	LocksAlone      // lock acquisitions that found the lock free
	LocksWaited     // lock acquisitions behind another holder
	// + level of the topology, the machine being 0: acquisitions of which it is known that the lock came from another
	// PE of the same element
	LockMoves
	_
	_
	_
	_
	_
	_
	_
	Faults        // page faults of coherent memory
	PagesFetched  // pages or blocks of coherent memory that were fetched
	PagesReleased // pages or blocks of coherent memory that were written back
	Messages      // messages to other hosts
	MessageBytes  // bytes in them
	MessageOps    // operations in them
	NumCounters
)

// LockLevels is how many levels LockMoves distinguishes. Further levels, inwards, count as the last.
const LockLevels = 8

var counterNames = [NumCounters]string{
	HeapInUse: "heap_in_use_bytes", HeapHigh: "heap_high_bytes", NotesMatched: "notes_matched", NotesUnexpected: "notes_unexpected",
	LocksAlone: "locks_alone", LocksWaited: "locks_waited", LockMoves: "lock_moves_0", LockMoves + 1: "lock_moves_1", LockMoves + 2: "lock_moves_2",
	LockMoves + 3: "lock_moves_3", LockMoves + 4: "lock_moves_4", LockMoves + 5: "lock_moves_5", LockMoves + 6: "lock_moves_6", LockMoves + 7: "lock_moves_7",
	Faults: "faults", PagesFetched: "pages_fetched", PagesReleased: "pages_released",
	Messages: "messages", MessageBytes: "message_bytes", MessageOps: "message_operations",
}

func (c Counter) String() string {
	if c < NumCounters {
		return counterNames[c]
	}
	return "unknown"
}

// EventKind says what an event is.
type EventKind uint8

// The events. All times are of the host's monotonic clock, in nanoseconds, or of the simulator's.
const (
	// None: an event that a PE has begun to write.
	None EventKind = iota
	// Wait: the PE was blocked. Name is the cause, Peer the PE that it waited for or -1, Seq the offset of the word or
	// lock, or the number of the collective, Value then the number of the team.
	Wait
	// Call: a call of a collective. Seq is its number in the team, Value the number of the team.
	Call
	// Region: what the program has named.
	Region
	// Update: the PE has changed the word at offset Seq of Peer, to or by Value: an atomic, a signal or a small put.
	Update
	// Note: the PE has left a note with tag Value at Peer.
	Note
	// Hold: the PE held the lock at offset Seq. Name is the lock's.
	Hold
	// Acquire: the PE was about to take the lock at offset Seq, which others held. Waits for words are within it.
	Acquire
	// Word: the word or lock at offset Seq is called Name.
	Word
	// Value: Operations or Bytes, as Seq says, are Value so far.
	Value
	// Serve: the service thread was awake. Value is how many messages it has handled.
	Serve
	NumEvents
)

// IsSlice reports whether events of the kind last: the others have no duration.
func (k EventKind) IsSlice() bool {
	return k == Wait || k == Call || k == Region || k == Hold || k == Acquire || k == Serve
}

// What Seq of a Value is.
const (
	Operations = iota
	Bytes
)

// Open is the duration of an event that has not ended.
const Open = -1

// Event is one event of a trace.
type Event struct {
	Start int64 // when it began, in nanoseconds
	Dur   int64 // how long it took in nanoseconds, or Open
	Seq   uint64
	Value uint64
	Peer  int32 // a PE of the job, or -1
	Name  uint16
	Kind  EventKind
	Place uint8 // the number of a name that PlaceOf reads, plus one; 0: not known
}
