package node

// What a wait can be part of, and what it then publishes.

// A Party is what a wait is part of: a collective call. A wait asks it only after it has polled in vain.
type Party interface {
	// Check returns the reason why the wait cannot end, or nil. With remote it asks PEs of other hosts too, at
	// intervals.
	Check(remote bool) error
	// Edge returns what this PE publishes about a wait for PE peer of the job.
	Edge(peer int) WaitEdge
}

// A WaitEdge is what a PE that is blocked in a collective publishes.
type WaitEdge struct {
	Since int64  // when the wait began, in Unix nanoseconds
	Seen  int64  // when this PE last found that the wait is for Peer, or 0
	Peer  int    // the PE of the job that is waited for
	Kind  uint8  // kind of the call
	Call  uint64 // number of the call in its team
	Slot  int    // slot of the team; not published in the heap
	First int    // first PE of the team, in the job
	Size  int    // number of members
}
