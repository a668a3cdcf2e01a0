package coll

// What all collectives share. A collective runs in two layers. The members of one host work through each
// other's memory, which all of them have mapped: nothing is sent, each member reads what it needs in place.
// The leaders of the hosts (or, when asked to, all members as if each were alone on its host) send each other
// mailboxes and pieces. The algorithm of the second layer is chosen by the size and by the number of hosts.
// Tests choose it by an option.
//
// Unlike in the specification, the destination is written only while its owner is inside the call, and
// the source read only while its owner is: so no barrier is needed between two collectives.

// Algorithm is how the hosts of a group talk to each other in a collective.
type Algorithm uint8

// The algorithms. Not every collective has all of them.
const (
	Auto              Algorithm = iota // chosen by size and number of hosts
	Linear                             // one host with all others, at once
	Tree                               // binomial tree
	RecursiveDoubling                  // each with a partner, at twice the distance in each round
	Ring                               // each with its neighbour, in as many rounds as there are hosts
)

var algorithmNames = [...]string{"auto", "linear", "tree", "doubling", "ring"}

func (a Algorithm) String() string { return algorithmNames[a] }

// Options is what the caller of a collective asks for.
type Options struct {
	Algorithm  Algorithm
	Flat       bool // every member takes part as if it were alone on its host
	Ordered    bool // a reduction combines in the order of the group
	ExceptRoot bool // a broadcast leaves the root's destination as it is
}

// fewHosts is up to how many hosts one message from each to each is the fastest: the next ones are on
// their way while the first arrives, and no trip waits for another.
const fewHosts = 8

// layoutFor returns the layout that the options ask for.
func (g *Group) layoutFor(o Options) *layout {
	if o.Flat {
		return &g.flat
	}
	return &g.layout
}

// bits packs the options that stand in an arrival record: four bits of those that all collectives have, then the
// others.
func (o Options) bits() uint8 {
	b := uint8(o.Algorithm)
	if o.Flat {
		b |= 1 << 3
	}
	if o.ExceptRoot {
		b |= exceptRoot << 4
	}
	if o.Ordered {
		b |= inOrder << 4
	}
	return b
}

// The options that only some collectives have. Where the bits beside Algorithm and Flat are taken, they stand in root.
const (
	inOrder = 1 << iota
	exceptRoot
)

// inReduction packs the options of a reduction or a scan, where the operator takes four bits of op, in op and root.
func (o Options) inReduction(operator uint8) (op uint8, root int) {
	b := o.bits()
	return operator | b<<4, int(b >> 4)
}

// optionsIn names the options that bits has packed, but for those that were left to the runtime.
func optionsIn(b uint8) (s string) {
	if a := Algorithm(b & (1<<3 - 1)); a != Auto && a <= Ring {
		s += " by " + a.String()
	}
	if b&(1<<3) != 0 {
		s += " flat"
	}
	if b>>4&inOrder != 0 {
		s += " in the order of the team"
	}
	if b>>4&exceptRoot != 0 {
		s += " except the root"
	}
	return s
}
