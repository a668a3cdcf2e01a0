package boot

// The map of the reserved memory: the first ReservedBytes of every heap belong to the runtime. They hold what PEs
// of other hosts must reach, at the same offsets on every PE, so that nothing has to be allocated or agreed upon. The
// pages of a region take no memory until they are touched.
//
// The map is in this package, and not in one that knows what the regions are for, because packages that may not import
// each other have regions: pgas, internal/node, internal/coll, transport/shm and, by the offset that it is given,
// ucx/engine. A region's owner checks by the size of an array, which must not be negative, that its data fits.

// ReservedBytes is the size of the reserved start of every heap.
const ReservedBytes = 16 << 20

// The regions, in their order. Each starts where the one before it ends, so none overlaps another.
const (
	// Nothing: offset 0 is the nil reference.
	nilOff   = 0
	nilBytes = 1 << 10

	// PlaceOff is where the PE is in the machine (pgas/topology.go). Written by the PE as it joins; read by PEs that
	// ask for the topology.
	PlaceOff   = nilOff + nilBytes
	PlaceBytes = 1 << 10

	// WaitEdgeOff is what the PE waits for in a collective: which PE, in which call (internal/node/edge_unsafe.go).
	// Written by the PE as long as it is blocked; read by PEs that search for a cycle of waits.
	WaitEdgeOff   = PlaceOff + PlaceBytes
	WaitEdgeBytes = 64

	// LeavingOff says that the PE has called Close, and where (internal/node/leaving_unsafe.go). Written by the PE;
	// read by members of its teams that miss it in a call.
	LeavingOff   = WaitEdgeOff + WaitEdgeBytes
	LeavingBytes = 2<<10 - WaitEdgeBytes

	// NoteQueueOff is the queue of notes of notified accesses (transport/shm/notequeue.go, ucx/engine/note_queue.c).
	// Written by initiators on the PE's host, by the PE's service thread for initiators on other hosts, and by the PE
	// as it takes notes.
	NoteQueueOff   = LeavingOff + LeavingBytes
	NoteQueueBytes = 60 << 10

	// TeamSlotsOff is a slot for each team that the PE can be a member of at once (internal/coll/slot_unsafe.go).
	// Written by the members of the team that has the slot.
	TeamSlotsOff  = NoteQueueOff + NoteQueueBytes
	TeamSlotBytes = 108 << 10
	TeamSlots     = 128

	// StagingOff is where large messages of collectives arrive (internal/coll/staging_unsafe.go). Written by leaders on
	// other hosts.
	StagingOff   = TeamSlotsOff + TeamSlots*TeamSlotBytes
	StagingBytes = SignalBoardOff - StagingOff

	// SignalBoardOff is what the PE has noted of its updates of signals (internal/checked/signals.go). Written by the
	// PE if accesses are checked; read by the PEs of its host.
	SignalBoardOff   = ReservedBytes - SignalBoardBytes
	SignalBoardBytes = 4 << 10
)

// Checks: a negative constant is no uint, so what they convert must not be negative, or must be 0 where they negate it.
const (
	_ = uint(StagingBytes - 2<<20)          // the regions fit, with two staging areas at the end
	_ = uint(LeavingBytes - 1)              // the region between two others is not empty
	_ = uint(-(PlaceOff % 64))              // words of different writers have cache lines of their own
	_ = uint(-(LeavingOff % 64))            //
	_ = uint(-(NoteQueueOff % PageBytes))   // the queue has pages of its own
	_ = uint(-(TeamSlotsOff % PageBytes))   //
	_ = uint(-(TeamSlotBytes % 128))        // CPUs fetch cache lines in pairs
	_ = uint(-(StagingOff % PageBytes))     //
	_ = uint(-(SignalBoardOff % PageBytes)) //
	_ = uint(-(ReservedBytes % HeapAlign))  // what follows is aligned as the heap is
)
