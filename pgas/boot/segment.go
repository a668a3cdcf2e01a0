package boot

// The host segment is the memory that the PEs of one host share, laid out by the launcher and mapped
// by every PE and by the launcher itself:
//
//	Header    one page: what the job is, whether a PE has failed
//	State     one page per local PE: its doorbell, what it is blocked in
//	Heap      HeapMax bytes per local PE: its symmetric heap, sparse until touched. It starts at a multiple of
//	          HeapAlign in the segment and, as every mapping of the segment does, in memory. Its first bytes
//	          are the runtime's (reserved.go)
//
// The segment is a memfd inherited by file descriptor, so it has no name and nothing stays behind, or
// plain Go memory if PEs are goroutines. All words are accessed with sync/atomic.

import "sync/atomic"

const (
	// PageBytes is the unit of the layout: the header and each State have one page.
	PageBytes = 4096
	// SegmentMagic is the first word of every segment; it changes with the layout.
	SegmentMagic = 0x70676173_00000013
	// HeapAlign is the alignment of every heap's address in every process. So an offset with a smaller power of
	// two as its alignment gives an address with the same alignment, on all PEs. It is the size of a huge page,
	// and costs addresses only.
	HeapAlign = 2 << 20
)

// Header is the first page of a segment.
type Header struct {
	Magic   uint64
	NPEs    uint32 // the number of PEs of the job
	First   uint32 // first PE of this host
	Local   uint32 // PEs of this host
	Cores   uint32 // CPUs that the PEs of this host may use together
	HeapMax uint64 // bytes of each heap
	// StallAfter: for how many nanoseconds nothing may move in a PE before it says in Blocked.Stalled that it is
	// stalled; 0: it never does. Written by the agent before the PEs start.
	StallAfter atomic.Int64
	_          [16]byte

	// Failed: 0, or 1+PE of the first PE known to have died. Written by the agent, read by every
	// blocked PE. FailedHow then holds the wait status as the kernel returns it, LostHow, or an Accusation.How.
	Failed    atomic.Uint64
	FailedHow atomic.Uint64
	// LastReport: the hash of the last error that a PE of this host has printed, so that an error of every PE is
	// printed once.
	LastReport atomic.Uint64
	// Exit: 0, or the exit status that the first PE of this host to call GlobalExit has asked for (exit.go).
	Exit atomic.Uint32
	// EndRequested: 1 after the launcher has asked the PEs to end. Written by the agent (end.go).
	EndRequested atomic.Uint32
	// Accused: 0, or a silent PE and its accuser (accuse.go). AccusedBell is incremented and woken afterwards.
	AccusedBell atomic.Uint32
	// races: 0, or whether the PEs of this host look for races: 1 for no, 2 for yes (AgreeOnRaces).
	races   atomic.Uint32
	Accused atomic.Uint64
	// ArbiterHeard: Clock when the last question was asked that the arbiter of a job without agents has answered to a
	// PE of this host, or 0 (arbiter.go).
	ArbiterHeard atomic.Int64
	// Unseen: the kinds of what PGAS_CHECK=race does not see any more, of which a PE of this host has told.
	Unseen atomic.Uint32
	_      [68]byte
	// InQueues: how many PEs of this host, where PEs outnumber CPUs, stand in a queue behind another PE and poll for
	// their turn. Written by these PEs, read by one that has handed its turn on. A PE that dies there stays counted,
	// which costs the others of a job that is ending some yields.
	InQueues atomic.Int32
	_        [60]byte
	// Contention: what PEs that share CPUs have learned of other programs on them. Written and read by PEs that wait.
	Contention Contention
	_          [24]byte
	// racesTold: the hashes of the races that PEs of this host have reported; 0: none (FirstRace).
	racesTold [64]atomic.Uint64
}

// FirstRace notes that a PE of this host is about to report a race with a hash. It reports false if one has. When there
// is no room for more, every PE reports its own.
func (h *Header) FirstRace(hash uint64) bool {
	hash = max(hash, 1)
	for i := range h.racesTold {
		at := &h.racesTold[i]
		if at.CompareAndSwap(0, hash) {
			return true
		}
		if at.Load() == hash {
			return false
		}
	}
	return true
}

// AgreeOnRaces says whether a PE looks for races between PEs that are processes. It reports whether the PEs of this
// host that have called it before have said the same.
func (h *Header) AgreeOnRaces(looks bool) bool {
	mine := uint32(1)
	if looks {
		mine = 2
	}
	return h.races.CompareAndSwap(0, mine) || h.races.Load() == mine
}

// State is the page of one PE. Each group of words has cache lines of its own, and its comment names its writer.
type State struct {
	// Written by the PE: AnyWord, or the WatchRange of the words that a goroutine of this PE sleeps on; 0 if none
	// sleeps. Read by updaters of atomic words and signals of this PE, after the update.
	Waiting atomic.Uint64
	// Written by the PE: how many of its goroutines sleep until members of a team on this host arrive, which are
	// words of the segment and not of a heap. Read by these members. Updaters of the heap's words need not know.
	WaitingForGroup atomic.Uint64
	_               [48]byte
	// Written by updaters that wake this PE, which increment it: the futex word.
	Doorbell atomic.Uint32
	_        [60]byte
	// Written by the PE, read by the launcher without the PE's help: what the PE is blocked in.
	Blocked Blocked
	_       [24]byte
	// Written by the PE when it claims this page, joins and leaves; read by the launcher.
	Process    atomic.Int64  // its process id
	Membership atomic.Uint32 // a value of type Membership
	// Written by the PE when it reports a race, read by its agent: its exit status if its process ends with 0.
	RaceExit atomic.Uint32
	// Written by the PE before it ends, read by its agent.
	End End
	// Written by the PE when it has been blocked for a while, read by the launcher: the name of the word or the
	// lock, a newline, and the site of the program's call.
	Text Text
	_    [64]byte
	// Contention: the same for a PE that has CPUs of its own. Written and read by its threads that wait.
	Contention Contention
	_          [24]byte
	// Written by the PE, read by its agent when the PE has ended.
	Journals Journals
	_        [40]byte
}

// Journals says where in the heap of a PE journals of PEs of other hosts are, in one piece of Count times Bytes.
type Journals struct {
	At    atomic.Uint64 // the offset in the heap
	Bytes atomic.Uint64 // of each
	Count atomic.Uint64 // 0: there are none
}

// Blocked says what a PE is blocked in. Op is written last and cleared first.
type Blocked struct {
	Op   atomic.Uint32 // a value of type BlockedOp
	Peer atomic.Int32  // PE it waits for, or -1
	// Seq is the sequence number of the collective or of the library's call, the heap offset of the word or lock, or
	// the block of coherent memory.
	Seq   atomic.Uint64
	Since atomic.Int64  // when it blocked, in Unix nanoseconds
	Team  atomic.Uint32 // slot of the team of a collective, 0 for all PEs
	// Stalled: not 0 while every goroutine of the program waits, and has for Header.StallAfter. It counts how often
	// waiters have looked since, in vain.
	Stalled atomic.Uint32
}

// BlockedOp names an operation that can block.
type BlockedOp uint32

// The operations that can block.
const (
	NotBlocked BlockedOp = iota
	InBarrier
	InWait
	InQuiet
	InGet
	InAtomic
	InInit
	InCollective
	InLock
	InNotify
	InClose
	InPageFault
	InFetch
	InRelease
	InLibrary // a call of a library, whose name is in Text
)

var blockedNames = [...]string{"computing", "barrier", "wait", "quiet", "get", "atomic", "init", "collective", "lock", "notified access", "World.Close", "a page fault of coherent memory",
	"a fetch of coherent memory", "a release of coherent memory", "a call of a library"}

func (op BlockedOp) String() string {
	if int(op) < len(blockedNames) {
		return blockedNames[op]
	}
	return "unknown"
}

// Collective reports whether the operation is one of all members of a team. The peer of such a wait is where arrivals
// are counted, which may be a PE that has arrived itself.
func (op BlockedOp) Collective() bool { return op == InBarrier || op == InCollective || op == InClose }

// SegmentBytes returns the size of a segment for local PEs with heaps of heapMax bytes.
func SegmentBytes(local int, heapMax uint64) uint64 {
	return heapOffset(local, local, heapMax)
}

// HeapOffset returns the offset in the segment at which the heap of local PE i starts.
func (s *Segment) HeapOffset(i int) uint64 {
	return heapOffset(int(s.Header.Local), i, s.Header.HeapMax)
}

func heapOffset(local, i int, heapMax uint64) uint64 {
	return alignUp(uint64(1+local)*PageBytes) + uint64(i)*alignUp(heapMax)
}

func alignUp(n uint64) uint64 { return (n + HeapAlign - 1) &^ (HeapAlign - 1) }
