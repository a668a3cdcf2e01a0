// Package transport is the narrow waist of the runtime: every operation that is not a plain load or
// store on mapped memory goes through a Channel. Above it, protocols are written once; below it are
// shared memory (shm), UCX (ucp), and later the simulator.
//
// Offsets are bytes from the start of the symmetric heap and mean the same on every PE. The heap's
// caller has checked them; a transport checks only what it needs for its own safety.
//
// transporttest holds the suite each implementation must pass.
package transport

import "context"

// Op is an atomic operation on one aligned word. Every fetching one returns the word's old value.
type Op uint8

// The atomic operations: those of OpenSHMEM, which CPUs and NICs have instructions for, and from Min on
// those that are loops of compare-swaps. Floating-point numbers are in words by their bits.
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

// Cmp is a comparison of a wait.
type Cmp uint8

// The comparisons of OpenSHMEM. Words compare as the wait says: signed or unsigned.
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
	Bytes int // 4 or 8
}

// Transport connects one PE to some or all PEs of its job, itself included.
type Transport interface {
	// Name is what -v and the benchmarks call it: "shm", "ucp".
	Name() string
	// Heap is the heap of pe if this process can load and store it directly, else nil.
	Heap(pe int) []byte
	// Channel opens an ordering and completion domain of its own. A private one is used by one
	// goroutine at a time and takes no lock.
	Channel(private bool) (Channel, error)
	// Close ends it. Channels must be closed before.
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
	// PutSignal copies src to pe and then updates the 8-byte signal word there: whoever sees the
	// signal sees src. op is Set or Add. src may be reused on return; it may be empty.
	PutSignal(pe int, dst uint64, src []byte, sig uint64, op Op, value uint64)
	// Get fills dst from pe.
	Get(ctx context.Context, pe int, dst []byte, src uint64) error
	// GetNB fills dst from pe at some time before Quiet returns.
	GetNB(pe int, dst []byte, src uint64)
	// Atomic applies op to the word of pe and returns the old value, zero-extended.
	Atomic(ctx context.Context, pe int, op Op, word Word, operand, cond uint64) (old uint64, err error)
	// AtomicNB applies op to the word of pe and leaves the old value in dst, of at.Bytes bytes, at some
	// time before Quiet returns. Many are on their way at once. A fence orders the update, not the value.
	AtomicNB(pe int, op Op, word Word, operand, cond uint64, dst []byte)
	// Post applies op to the word of pe and returns nothing: complete after Quiet.
	Post(pe int, op Op, word Word, operand uint64)

	// PutNotify copies src to pe. src may be reused on return; it may be empty.
	PutNotify(pe int, dst uint64, src []byte, s Stamp) bool
	// GetNotify fills dst from pe.
	GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s Stamp) (bool, error)
	// GetNotifyNB fills dst from pe at some time before Quiet returns.
	GetNotifyNB(pe int, dst []byte, src uint64, s Stamp) bool
	// AtomicNotify applies op to the word of pe and returns the old value, zero-extended.
	AtomicNotify(ctx context.Context, pe int, op Op, word Word, operand, cond uint64, s Stamp) (old uint64, ok bool, err error)
	// PostNotify applies op to the word of pe and returns nothing.
	PostNotify(pe int, op Op, word Word, operand uint64, s Stamp) bool

	// Fence: Puts, PutSignals and atomics to pe (to every PE if pe < 0) that were issued before it
	// take effect there before those issued after it.
	Fence(pe int)
	// Quiet returns when everything issued to pe (to every PE if pe < 0) is complete there, and every
	// GetNB and AtomicNB is complete here.
	Quiet(ctx context.Context, pe int) error
	// Close abandons the channel after a Quiet of the caller's.
	Close() error
}
