package ucx

// The vocabulary shared by both builds of the package, with and without cgo.

// Feature is a set of things that a context will be used for. UCX opens only what they need.
type Feature uint64

// The features of a context.
const (
	FeatureRMA      Feature = 1 << 1 // put and get
	FeatureAtomic32 Feature = 1 << 2 // atomics on 4-byte words
	FeatureAtomic64 Feature = 1 << 3 // atomics on 8-byte words
	FeatureWakeup   Feature = 1 << 4 // event descriptors: waits sleep in the kernel
	FeatureAM       Feature = 1 << 6 // active messages

	// FeatureAll is everything that this package can use.
	FeatureAll = FeatureRMA | FeatureAtomic32 | FeatureAtomic64 | FeatureWakeup | FeatureAM
)

// Params says what a context is for.
type Params struct {
	Features  Feature // what the context can do; FeatureAll when zero
	Config    *Config // the configuration; nil: the environment's (UCX_...). It may be closed after NewContext
	Name      string  // name that UCX's own tools show; may be empty
	Endpoints int     // a hint of how many endpoints there will be, 0 when unknown
	PerNode   int     // a hint of how many processes share this machine, 0 when unknown
}

// WorkerParams says how a worker is used.
type WorkerParams struct {
	// Shared makes the worker and everything made from it safe for any number of goroutines, at the
	// price of a lock around every call. Otherwise one goroutine at a time may use them.
	Shared bool
	Name   string // name that UCX's own tools show; may be empty
}

// EndpointParams says how an endpoint is connected.
type EndpointParams struct {
	// Trusting leaves out the detection of dead peers. UCX then has more transports to choose from
	// (as of 1.13, shared memory is among them only then), and an operation to a peer that died may
	// never complete. Both ends should agree.
	Trusting bool
}

// PrintFlags says what Config.Print shows.
type PrintFlags int

// What Config.Print can show.
const (
	PrintValues PrintFlags = 1 << 0 // name=value
	PrintHeader PrintFlags = 1 << 1 // the title
	PrintDoc    PrintFlags = 1 << 2 // what each setting means
	PrintHidden PrintFlags = 1 << 3 // settings that users normally leave alone
)

// AtomicOp is an atomic operation on one word of remote memory.
type AtomicOp uint32

// The atomic operations. "operand" and "compare" are the arguments of PostAtomic and FetchAtomic.
const (
	AtomicAdd         AtomicOp = iota // word += operand
	AtomicSwap                        // word = operand
	AtomicCompareSwap                 // if word == compare, word = operand
	AtomicAnd                         // word &= operand
	AtomicOr                          // word |= operand
	AtomicXor                         // word ^= operand
	numAtomicOps
)

var atomicNames = [numAtomicOps]string{"add", "swap", "compare-swap", "and", "or", "xor"}

func (op AtomicOp) String() string {
	if op < numAtomicOps {
		return atomicNames[op]
	}
	return "unknown"
}

// AMFlags chooses the protocol of an active message. UCX chooses by size when it is zero.
type AMFlags uint32

// The protocols of active messages.
const (
	AMEager      AMFlags = 1 << 1 // the payload travels with the message
	AMRendezvous AMFlags = 1 << 2 // the payload is fetched when the receiver asks for it
)

// CopyMax is the size in bytes up to which a put, or the header and payload of an active message
// together, are copied while they are posted: those buffers may be reused at once.
const CopyMax = 1024
