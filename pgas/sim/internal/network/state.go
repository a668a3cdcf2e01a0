package network

// The types of a machine, which name each other, and what they tell of themselves.

import (
	"io"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Config is what a network is told of a run.
type Config struct {
	Costs     Costs
	Split     bool // the atomics of the NIC are not atomic to those of the CPU
	Adversary bool // steps take random times, and unordered operations take effect in any order
	Seed      uint64
	Detection time.Duration // time from the death of a PE until the other PEs are told
	Trace     io.Writer     // gets a line for each step, if it is not nil
	// NameOf returns what the program calls a word of a PE's heap, or "".
	NameOf func(pe int32, off uint64) string
	// Idle and Deadlock are those of engine.Model.
	Idle     func() bool
	Deadlock func() error
}

// An Observer is told what operations read and write besides their targets. An exploration has one.
type Observer interface {
	// Issued says that o was issued. The task of o is nil if o is non-blocking.
	Issued(o *Op)
	// Fetched says that o, which is non-blocking, has brought its result to its initiator.
	Fetched(o *Op)
	// WroteBytes says that b was written at an offset of p's heap.
	WroteBytes(p *PE, off uint64, b []byte)
	// WroteWord says that something was written at an offset of p's heap: v identifies it.
	WroteWord(p *PE, off, v uint64)
	// ReadsNotes says that the running task, which is of p, reads p's queue of notes.
	ReadsNotes(p *PE)
	// UsesHeap says that the running task, which is of p, reads or writes the offsets from lo to hi of its own heap.
	UsesHeap(p *PE, lo, hi uint64, write bool)
}

// Network is the machine of one run: its PEs, their hosts and what is under way between them.
type Network struct {
	Engine   engine.Engine
	config   Config
	costs    Costs
	pes      []*PE
	observer Observer // the observer of an exploration, or nil
	weights  weights
	traffic  Traffic
	random   engine.Random
	issued   uint64 // operations so far
	freeOps  []*Op
	anyDead  bool // some PE is dead
	trace    trace

	adversary *adversary // the lateness of operations, or nil
}

// PE is the memory of a PE, and the transport of its World.
//
// With thousands of PEs, none of them is in a cache. The first line of 64 bytes has what operations of other PEs
// read, the next three what the PE's own operations read besides.
type PE struct {
	heap       []byte
	dead       bool
	deathKnown bool // the other PEs have been told that it is dead
	engine.PE
	host *host

	net         *Network
	channels    int // channels made so far
	lockedWords []lockedWord
	notes       noteQueue
	seg         *boot.Segment
	unanswered  []*Op // operations on it since its death, which fail once the death is known
	cacheLines  []cacheLine
}

// A host has one NIC.
type host struct {
	txFree     int64 // when the NIC has sent all messages so far
	rxFree     int64 // when the NIC has received all messages so far
	atomicFree int64 // when the NIC has executed all atomics so far
	name       string
}

// A cacheLine is a line of a heap that some core has.
type cacheLine struct {
	line   uint64 // offset of the line in the heap, in lines
	freeAt int64  // when the last atomic on it is done
	owner  int32  // 1 + the PE whose core has the line
}

// lineCount is how many cache lines of a heap have a recorded owner. Two lines that share an entry evict each other.
const lineCount = 64

// A lockedWord is a word between the two halves of a split atomic.
type lockedWord struct {
	off     uint64
	waiting []*Op
}

// note is what an operation delivers at its target.
type note struct {
	stamp transport.Stamp
	bytes uint64
}

// noteQueue is the queue of a PE's notes, and those for which it has no room.
type noteQueue struct {
	ring     *shm.NoteQueue   // the queue, or nil as long as it is not used
	overflow []transport.Note // notes that wait at the PE's NIC
}

// An Op is an operation under way, on the memory of a PE. The fields that every event of an operation reads are in its
// first two lines of 64 bytes.
type Op struct {
	engine.Event // its task waits for the reply
	kind         kind
	phase        phase
	nic          bool // executed by the NICs, not by the CPU
	signal       bool // a signal follows the put
	notifies     bool // a note follows
	atomicOp     transport.Op
	bytes        uint8 // size of the word
	origin       int32 // number of from
	target       int32 // number of to
	from         *PE
	to           *PE
	link         *Link  // the link between their NICs
	off          uint64 // offset of the data, or of the word

	flow    *flow
	operand uint64
	cond    uint64
	old     uint64 // the word before an atomic
	id      uint64 // number in the order of issue
	data    []byte // what a put carries, or the result of a get

	size int    // bytes of a get
	dst  []byte // where the result of a non-blocking operation goes
	sig  uint64 // offset of the word of the signal
	note note
	late *lateness // with an adversary only
	order
}

// order is an operation's place in its flow.
type order struct {
	successors   []*Op // operations that wait for this one
	epoch        uint32
	predecessors int32 // operations on the same bytes that must take effect first
	Serial       int32 // for an Observer: the number among its PE's non-blocking operations
	blocked      bool  // it has arrived, and waits for operations before it
}

// A flow is the operations of a channel on one PE.
type flow struct {
	ch          *channel
	to          *PE
	pendingOps  int   // non-blocking operations under way
	completedAt int64 // when the last of the complete ones was acknowledged
	lastNote    int64 // when the last note is delivered
	err         error // about the PE, which is dead: an operation is lost
	// With an adversary only:
	epoch       uint32   // of the next operation
	oldestEpoch uint32   // all operations of earlier epochs have taken effect
	perEpoch    []uint32 // operations of oldestEpoch, oldestEpoch+1, … that have not taken effect
	unapplied   []*Op    // the same operations, in the order of their issue
	laterEpochs []*Op    // operations of later epochs that have arrived
}

// A channel is the way of one goroutine to the memory of all PEs.
type channel struct {
	pe               *PE
	cpu              bool // atomics on its own host are the CPU's
	flows            map[int]*flow
	all              []*flow     // the flows in the order in which they were made
	lastFlow         *flow       // the flow used last
	pendingOps       int         // non-blocking operations under way
	postedSinceQuiet bool        // something was posted since the last Quiet
	serial           int         // index among its PE's channels
	completedAt      int64       // when the last complete operation was acknowledged
	quietWaits       []quietWait // tasks that wait in a quiet
	err              error       // error of all later quiets: about the first dead PE that an operation went to
}

// quietWait is a task that waits for operations to complete.
type quietWait struct {
	t *engine.Task
	f *flow // the operations that it waits for, to one PE; nil: those to all
}

// An adversary is the lateness of a network. A nil one holds nothing.
type adversary struct {
	net     *Network
	held    []*Op  // in the order of their issue
	kept    []*Op  // operations whose results have arrived, in that order
	last    []look // by PE: what its last blocking operation looked at
	ticking bool   // a call of elapse is scheduled
}

// lateness is what an adversary knows about an operation.
type lateness struct {
	held   bool   // nothing has demanded it
	since  int64  // time of its issue
	keep   bool   // its result is kept until a quiet
	source []byte // memory that a put is going to read, or nil
	handle uint64 // handle of that memory
}

// A look is a place at which a PE has looked so many times in a row.
type look struct {
	at    *PE
	off   uint64
	kind  kind
	times int
}

// unordered reports whether operations may overtake each other.
func (net *Network) unordered() bool { return net.config.Adversary || net.exploring() }

// exploring reports whether an exploration decides what happens next.
func (net *Network) exploring() bool { return net.observer != nil }

// late returns the adversary of net, or nil: in an exploration each order is tried anyway.
func (net *Network) late() *adversary {
	if net.exploring() {
		return nil
	}
	return net.adversary
}

// HeapRange returns the offsets of b in p's heap. ok is false if b is not in there.
func (p *PE) HeapRange(b []byte) (lo, hi uint64, ok bool) { return rangeIn(p.heap, b) }

// HostName returns the name of the host of p.
func (p *PE) HostName() string { return p.host.name }
