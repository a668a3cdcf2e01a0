// Package transport is the narrow waist of the runtime: every operation that is not a plain load or
// store on mapped memory goes through a Channel. Above it, protocols are written once; below it are
// shared memory (shm), UCX (ucp), the simulator (pgas/sim), and a network for tests that delays and
// reorders (pgas/pgastest).
//
// Offsets are bytes from the start of the symmetric heap and mean the same on every PE. The caller has
// checked them; a transport checks only what it needs for its own safety.
//
// transporttest has the suite that each implementation must pass. docs/internals/transport.md lists the optional
// interfaces.
//
//ci:below nocgo=whole
package transport

import "context"

// Op is an atomic operation on one aligned word. A fetching operation returns the word's old value.
type Op uint8

// The atomic operations. CPUs and NICs have instructions for those of OpenSHMEM, which come first; from Min on
// they are loops of compare-swaps. A word holds the bits of a floating-point number.
const (
	Fetch       Op = iota // the value; operand unused
	Set                   // word = operand
	Swap                  // word = operand
	CompareSwap           // if word == cond, word = operand
	Add                   // word += operand
	And                   // word &= operand
	Or                    // word |= operand
	Xor                   // word ^= operand
	Min                   // word = min(word, operand), both signed
	Max                   // word = max(word, operand), both signed
	MinUnsigned           // word = min(word, operand), both unsigned
	MaxUnsigned           // word = max(word, operand), both unsigned
	AddFloat              // word += operand, both floating-point
	MinFloat              // word = min(word, operand), both floating-point, as Go's min has it
	MaxFloat              // word = max(word, operand), both floating-point, as Go's max has it
	NumOps
)

var opNames = [...]string{
	"fetch", "set", "swap", "compare-swap", "add", "and", "or", "xor", "min", "max",
	"unsigned min", "unsigned max", "float add", "float min", "float max",
}

func (op Op) String() string { return opNames[op] }

// Cmp is a comparison of the awaited word with a value.
type Cmp uint8

// The comparisons of OpenSHMEM. The wait says whether words compare as signed or as unsigned numbers.
const (
	EQ Cmp = iota
	NE
	GT
	GE
	LT
	LE
)

var cmpNames = [...]string{"==", "!=", ">", ">=", "<", "<="}

func (c Cmp) String() string { return cmpNames[c] }

// Word names one aligned word of a symmetric heap.
type Word struct {
	Off   uint64
	Bytes int // size of the word: 4 or 8
}

// Transport connects one PE to some or all PEs of its job, itself included.
type Transport interface {
	// Name returns the name in reports and benchmarks: "shm", "ucp".
	Name() string
	// Heap returns the heap of pe if this process can load and store it directly, else nil.
	Heap(pe int) []byte
	// Channel opens an ordering and completion domain of its own. A private one is used by one
	// goroutine at a time and takes no lock. It returns the error of the resources that a channel
	// needs (memory, a worker of UCX).
	Channel(private bool) (Channel, error)
	// Close ends the transport. The caller has closed all channels. It returns the first error of the
	// resources that it gives back.
	Close() error
}

// Channel carries operations of one context. Operations on one channel are complete, locally and remotely, after Quiet.
// Of two on the same bytes of a PE the later one wins, and a get finds what was written before it; everything else is
// ordered by fences alone. Two channels order nothing for each other. All methods panic if pe is not reachable by this
// transport. An operation that cannot be completed because pe died is reported by the next method that returns an
// error, as *PeerError.
//
// The methods with a Stamp are notified accesses: they leave a note at their target. The note arrives when the access
// is complete at the target: what was put is visible, what was got has been read and may be overwritten, an atomic has
// been applied. The notes of one channel to one PE arrive in the order in which they were issued. Between notes and
// accesses without a note, only fences order. Each PE has one bounded queue of notes. If it has no room for another
// note, a notified access does nothing and reports false: the caller then empties its own queue, on which the target
// may be waiting, and tries again. Fence and Quiet treat notified accesses as all others, and after a Quiet the notes
// of completed accesses are in the queue.
type Channel interface {
	// Put copies src to pe. src may be reused on return; it is visible at pe after Quiet.
	Put(pe int, dst uint64, src []byte)
	// PutSignal copies src to pe and then updates the 8-byte signal word of pe: a PE that sees the
	// update also sees src. op is Set or Add. src may be reused on return; it may be empty.
	PutSignal(pe int, dst uint64, src []byte, sig uint64, op Op, value uint64)
	// Get fills dst from pe. It returns *PeerError, or the cause of ctx's end.
	Get(ctx context.Context, pe int, dst []byte, src uint64) error
	// GetNB fills dst from pe at some time before Quiet returns.
	GetNB(pe int, dst []byte, src uint64)
	// Atomic applies op to the word of pe and returns the old value, zero-extended. It returns
	// *PeerError, or the cause of ctx's end.
	Atomic(ctx context.Context, pe int, op Op, word Word, operand, cond uint64) (old uint64, err error)
	// AtomicNB applies op to the word of pe and leaves the old value in dst, of at.Bytes bytes, at some
	// time before Quiet returns. Many may be in flight at once. A fence orders the update, not the value.
	AtomicNB(pe int, op Op, word Word, operand, cond uint64, dst []byte)
	// Post applies op to the word of pe and returns nothing: complete after Quiet.
	Post(pe int, op Op, word Word, operand uint64)

	// PutNotify copies src to pe. src may be reused on return; it may be empty.
	PutNotify(pe int, dst uint64, src []byte, s Stamp) bool
	// GetNotify fills dst from pe. It returns *PeerError, or the cause of ctx's end.
	GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s Stamp) (bool, error)
	// GetNotifyNB fills dst from pe at some time before Quiet returns.
	GetNotifyNB(pe int, dst []byte, src uint64, s Stamp) bool
	// AtomicNotify applies op to the word of pe and returns the old value, zero-extended. It returns
	// *PeerError, or the cause of ctx's end.
	AtomicNotify(ctx context.Context, pe int, op Op, word Word, operand, cond uint64, s Stamp) (old uint64, ok bool, err error)
	// PostNotify applies op to the word of pe and returns nothing.
	PostNotify(pe int, op Op, word Word, operand uint64, s Stamp) bool

	// Fence orders: Puts, PutSignals and atomics to pe (to every PE if pe < 0) that were issued before
	// it take effect at their target before those issued after it.
	Fence(pe int)
	// Quiet blocks until everything issued to pe (to every PE if pe < 0) is remotely complete, and every
	// GetNB and AtomicNB locally. It returns *PeerError, or the cause of ctx's end.
	Quiet(ctx context.Context, pe int) error
	// Close releases the channel, which the caller has quieted. It returns the error of the resources
	// that it gives back.
	Close() error
}
