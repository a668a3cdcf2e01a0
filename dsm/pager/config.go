package pager

// Config is what a Pager needs to know of its job. Offsets are in the symmetric heap of every PE.
type Config struct {
	Block, Blocks  int       // bytes of a block, a multiple of the page; number of blocks
	PEs, PE        int       // the number of PEs of the job; this PE
	Pub, Ver, Hint uint64    // offsets of block 0 as its PE has released it, and of its version and hint words
	Near           []uintptr // the address of each PE's symmetric heap in this process; 0: it is on another host
	Outside        uintptr   // the address of a struct outside, which reaches PEs of other hosts; 0: there are none
	Lease          uint64    // logical time that a copy stays valid without a notice
	UserOnly       bool      // serve no faults of system calls
	Keep           int       // blocks that may have pages, besides dirty and pinned ones; 0: all
	Faults         Faults    // what serves page faults
}

// Faults is what serves page faults.
type Faults int

const (
	// BySignal: the faulting thread, in a handler of SIGBUS. A system call on memory without a copy fails with EFAULT.
	// Where there can be no handler, because the program has installed one of its own, faults are served ByThread.
	BySignal Faults = iota
	ByThread        // a thread for all, also for system calls unless Config.UserOnly is set
)

// Known is what a PE knows of a block.
type Known struct {
	Valid      bool
	Untouched  bool   // neither accessed nor invalidated yet
	Home       int32  // the PE to ask for a newer version
	Generation uint32 // changes when a fence may have made what is being fetched out of date
	Lease, Now uint64 // the end of the copy's lease; the PE's logical time
}

// Stats are counters of what has been served.
type Stats struct {
	// Faults of reads, of writes, and of first writes to blocks that could be read.
	ReadFaults, WriteFaults, Upgrades uint64
	Fast, Slow, Hops                  uint64 // fetches by one message, fetches with a lease, homes that had moved
	Bytes                             uint64 // the bytes that were fetched
	Lost                              uint64 // faults that ended with an error
	Evicted                           uint64 // copies whose pages have been given back
}
