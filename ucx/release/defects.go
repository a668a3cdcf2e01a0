package release

// The defects of UCX that this module works around.
//
// A defect that depends on the release is looked up by Has. One that depends on how the library was compiled is tried
// at run time. Where a workaround costs nothing in a sound release, or has a use of its own, it is always on.

// A Defect is something that UCX does wrong.
type Defect int

// The defects, in the order of Defects.
const (
	BitwiseFetch    Defect = iota // fetching and, or, xor compute nonsense over shared memory
	NoHandler                     // an active message without a handler crashes its receiver
	EmulatedAtomics               // UCX refuses atomics over TCP on endpoints that detect dead peers
	AtomicsLosePeer               // the loss of a peer crashes a process with atomics on their way over TCP
	EmulatedPuts                  // the loss of an initiator ends the process of its target, over TCP
	FlushSucceeds                 // a worker's flush succeeds although that of an endpoint has failed
	EmptyRendezvous               // receiving a rendezvous without payload leaks its descriptor
	BlockingConnect               // a connection over TCP is set up by a call that may block for minutes
	numDefects
)

// Means says how this module knows whether a library has a defect.
type Means int

// The means.
const (
	Tried      Means = iota // an operation is tried at run time
	Keyed                   // by the version, with Has
	Unasked                 // not at all: the workaround is on with every release
	Unremedied              // not at all: there is no workaround, and this module avoids the operation
)

func (m Means) String() string {
	return [...]string{"a trial at run time", "the version", "(always worked around)", "(avoided)"}[m]
}

// An Entry is what is known about a defect.
type Entry struct {
	Defect  Defect
	What    string  // what happens
	Since   Version // the first release from Oldest on that has it
	Fixed   Version // the first release without it; zero: none up to Newest
	Seen    string  // the library, or the place in its sources, that shows the defect
	Means   Means
	Instead string // what this module does
}

// Defects is the table.
var Defects = []Entry{
	{BitwiseFetch, "fetching and, or and xor combine the word with itself over shared memory and to itself", Version{1, 13, 0}, Version{},
		"Debian 12's build of 1.13.1, which is miscompiled (uct_sm_ep_atomic64_fetch); not in Debian 13's of 1.18.1",
		Tried, "compare-swaps until one succeeds (ucx/bitwise.c)"},
	{NoHandler, "a message for an id without handler crashes the receiver, when the table of handlers has grown before", Version{1, 13, 0}, Version{1, 17, 0},
		"1.13.1; in the sources of 1.16 ucp_worker_set_am_handler_common clears the wrong entry, in those of 1.17 the right ones",
		Unasked, "every id has a handler, which counts such messages: Worker.Dropped and Engine.Refused need it"},
	{EmulatedAtomics, "atomics over TCP fail with `Request canceled` or end the process, if the endpoint detects dead peers", Version{1, 16, 0}, Version{},
		"1.18.1: `cannot find remote protocol`, and the assertion of tcp_ep.c that its queue of pending sends is empty; the protocols that UCX_PROTO_ENABLE chooses, the default since 1.16, have no emulated atomics with error handling, up to the sources of 1.22",
		Keyed, "UCX_PROTO_ENABLE=n for contexts with atomics, unless the user has set it"},
	{AtomicsLosePeer, "a process with atomics on their way over TCP crashes when their target dies: UCX 1.13 releases memory that it has not registered", Version{1, 13, 0}, Version{},
		"1.13.1, and 1.18.1 and 1.19.1 in one of four to one of eight tries of TestPeerDies and TestPeerStops of pgas/transport/ucp", Unremedied, "atomics are active messages of the engine unless the user chooses PGAS_AMO=nic"},
	{EmulatedPuts, "the target of puts over TCP ends (`Fatal: unexpected error`) when their initiator dies with some on their way", Version{1, 13, 0}, Version{},
		"1.13.1; the call that ends the process is in the sources up to 1.22 (ucp_request.inl)", Unremedied, "puts are active messages of the engine unless the user chooses PGAS_RMA=native"},
	{FlushSucceeds, "a flush of a worker succeeds although that of one of its endpoints has failed", Version{1, 13, 0}, Version{},
		"1.13.1, 1.18.1; the sources of 1.22 say that it is meant (ucp_worker_flush_progress)", Unasked, "the request fails with the status of the endpoint"},
	{EmptyRendezvous, "receiving a rendezvous without payload leaks its descriptor", Version{1, 13, 0}, Version{},
		"1.13.1", Unasked, "such a message is released instead of received"},
	{BlockingConnect, "connect(2) blocks for two minutes if the host of the peer is cut off, unless UCX_TCP_CONN_NB=y", Version{1, 13, 0}, Version{},
		"1.13.1; the default is the same in the sources up to 1.22", Unasked, "a thread of the engine shuts such sockets down (ucx/engine/connect_timeout.c)"},
}

// Has reports whether releases like v have the defect.
func (v Version) Has(d Defect) bool {
	e := Defects[d]
	return !v.Before(e.Since) && (e.Fixed == Version{} || v.Before(e.Fixed))
}
