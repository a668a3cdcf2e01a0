package pgas

// What all collectives share. A collective runs in two layers. The members of one host work through each
// other's memory, which all of them have mapped: nothing is sent, everyone reads what it needs where it
// is. The leaders of the hosts (or, when asked to, all members as if each were alone on its host) send
// each other boxes and pieces. Which algorithm the second layer uses is chosen by size and by how many
// there are, unless the caller says.
//
// Unlike in the specification, the destination is written only while its owner is inside the call, and
// the source read only while its owner is: so no barrier is needed between two collectives.

// Algorithm is how the hosts of a team talk to each other in a collective.
type Algorithm uint8

// The algorithms. Not every collective has all of them; what it has not is a *UsageError.
const (
	Auto     Algorithm = iota // by size and number of hosts
	Linear                    // one with all, all at once
	Tree                      // binomial tree
	Doubling                  // with a partner at twice the distance in each round
	Ring                      // with the neighbour, in as many rounds as there are hosts
)

var algorithmNames = [...]string{"auto", "linear", "tree", "doubling", "ring"}

func (a Algorithm) String() string { return algorithmNames[a] }

// CollectiveOption changes how a collective runs. All members must give the same.
type CollectiveOption func(*collectiveOptions)

type collectiveOptions struct {
	algorithm    Algorithm
	flat         bool
	reproducible bool
	exceptRoot   bool
}

// Using forces an algorithm.
func Using(a Algorithm) CollectiveOption {
	return func(o *collectiveOptions) { o.algorithm = a }
}

// Flat makes every member take part as if it were alone on its host: for measurements, and where hosts
// hold few members each.
func Flat(o *collectiveOptions) { o.flat = true }

// ExceptRoot makes a Broadcast leave dst of the root unchanged, unless dst is src. The deprecated broadcasts on active
// sets do so (OpenSHMEM 1.6, shmem_broadcast64). Other collectives ignore it.
func ExceptRoot(o *collectiveOptions) { o.exceptRoot = true }

func optionsOf(opts []CollectiveOption) collectiveOptions {
	if len(opts) == 0 {
		return collectiveOptions{} // the common case, in which nothing escapes to the heap
	}
	return gathered(opts)
}

func gathered(opts []CollectiveOption) (o collectiveOptions) {
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// fewHosts is up to how many hosts one message from each to each is the fastest: the next ones are on
// their way while the first arrives, and no trip waits for another.
const fewHosts = 8

// layoutFor is the layout that the options ask for.
func (t *Team) layoutFor(o collectiveOptions) *layout {
	if o.flat {
		return &t.alone
	}
	return &t.layout
}

// bits is what of the options stands in an entry.
func (o collectiveOptions) bits() uint8 {
	b := uint8(o.algorithm)
	if o.flat {
		b |= 1 << 3
	}
	return b
}

// optionsIn names the options that bits has packed, but for those that were left to the runtime.
func optionsIn(b uint8) (s string) {
	if a := Algorithm(b & (1<<3 - 1)); a != Auto && a <= Ring {
		s += " by " + a.String()
	}
	if b&(1<<3) != 0 {
		s += " flat"
	}
	return s
}
