package network

// Costs are what the parts of a machine cost, in picoseconds. Levels are those of its topology, the outermost first.
type Costs struct {
	Memory   []Memory  // by level; used from Host on
	Links    []Link    // by level outside of the hosts
	Host     int       // index of the level of hosts
	Elements [][]int32 // by level and PE: the element of the level that the PE is in
	Loopback Link      // from a host to itself by its NIC

	Overhead  int64 // CPU of the initiator, for each operation that its NIC executes
	Answer    int64 // CPU of the initiator, for each reply that it waits for
	Gap       int64 // time between two messages of a NIC, sent or received
	NICAtomic int64 // NIC, for each atomic: half of it between its read and its write
	Hit       int64 // atomic of a CPU on a line that its core has
	Poll      int64 // one poll of memory
	Receive   int64 // CPU of a PE, for a change of its memory that it has waited for, besides Poll
	Notify    int64 // waking a PE by an interrupt, for each wait for the network; 0: PEs poll
}

// Link is the network between two PEs.
type Link struct {
	Latency int64 // one way
	PerByte int64
}

// Memory is the memory that PEs of one host share.
type Memory struct {
	Line    int64 // moving a cache line from one PE's core to another's
	PerByte int64 // copying
}

// Traffic is what hosts have sent to each other, replies included.
type Traffic struct {
	Messages uint64
	Bytes    uint64
}

// sameHost reports whether PEs p and q are on one host.
func (c *Costs) sameHost(p, q int) bool {
	of := c.Elements[c.Host]
	return of[p] == of[q]
}

// commonLevel returns the innermost level of which PEs p and q share an element. It reads neither PE: they may be in
// no cache.
func (c *Costs) commonLevel(p, q int) int {
	i := len(c.Memory) - 1
	for i > 0 && c.Elements[i][p] != c.Elements[i][q] {
		i--
	}
	return i
}

// link returns the link between the NICs of p and q.
func (c *Costs) link(p, q int) *Link {
	if c.sameHost(p, q) {
		return &c.Loopback
	}
	return &c.Links[c.commonLevel(p, q)]
}

// memory returns the memory that p and q share.
func (c *Costs) memory(p, q int) *Memory {
	if p == q {
		return &c.Memory[len(c.Memory)-1]
	}
	return &c.Memory[c.commonLevel(p, q)]
}
