package growth

// What is measured: a job is one program at one place.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/compare"
	"github.com/gopgas/gopgas/locks/kinds"
)

// An axis is what a figure is drawn against.
type axis string

const (
	againstBytes     axis = "bytes"
	againstPEs       axis = "PEs"
	againstSimulated axis = "simulated PEs"
	againstHosts     axis = "hosts"
)

// A side is what is measured.
type side string

const (
	ours   side = "ours"
	oshmem side = "OSHMEM"
	ground side = "floor"
)

// A job is one program at one place. Its name is its key in the file of results.
type job struct {
	axis    axis
	side    side
	place   compare.Place
	spread  string // the levels of the machine that is simulated; "": a host for each PE
	benches []string
	sizes   []int
}

// name names everything by which jobs differ.
func (j job) name() string {
	text := fmt.Sprintf("%s: %s, %d PEs", j.axis, j.side, j.place.PEs)
	if j.place.Hosts > 1 {
		text += fmt.Sprintf(" on %d hosts", j.place.Hosts)
	}
	if j.spread != "" {
		text += " on " + j.spread
	}
	return text + ": " + strings.Join(j.benches, ",")
}

// flags returns the flags of the program.
func (j job) flags(point time.Duration) []string {
	sizes := make([]string, len(j.sizes))
	for i, n := range j.sizes {
		sizes[i] = strconv.Itoa(n)
	}
	flags := []string{"-bench", "^(" + strings.Join(j.benches, "|") + ")$", "-sizes", strings.Join(sizes, ",")}
	if j.axis != againstSimulated {
		flags = append(flags, "-time", strconv.FormatFloat(float64(point)/1e6, 'f', -1, 64)+"ms")
	}
	return flags
}

// A plan is how far each axis reaches.
type plan struct {
	sizes, few       []int // sizes in bytes; few are for collectives
	pes              []int
	peers            int // the largest number of PEs of the peer
	simulated        []int
	quadratic        int // the largest number of simulated PEs where each sends a message to each
	hosts, hostsPeer []int
	point            time.Duration
}

var long = plan{
	sizes: []int{8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20}, few: []int{8, 512, 8 << 10, 64 << 10, 512 << 10},
	pes: []int{2, 4, 8, 16, 32, 64}, peers: 16,
	simulated: []int{4, 16, 64, 256, 1024, 4096}, quadratic: 1024,
	hosts: []int{2, 4, 8, 16}, hostsPeer: []int{2, 4, 8, 16},
	point: 50 * time.Millisecond,
}

var short = plan{
	sizes: []int{8, 4096}, few: []int{8, 512}, pes: []int{2, 3, 4}, peers: 2, simulated: []int{4, 8, 16}, quadratic: 8,
	hosts: []int{2, 3}, hostsPeer: []int{2}, point: time.Microsecond,
}

// contendedDMCS is the bench of the only lock of a paper among the jobs.
var contendedDMCS = kinds.Of(kinds.DMCS).Bench() + "-contended"

// contended matches the benches of locks.
var contended = strings.Join(locks, "|")

var (
	oneSided      = []string{"put", "get", "put-quiet", "signal-pingpong", "notify-pingpong"}
	oneSidedOSH   = []string{"put", "get", "put-quiet", "flag-pingpong"}
	collectives   = []string{"broadcast", "fcollect", "alltoall", "sum"}
	words         = []string{"put", "put-quiet", "get", "fetch-add", "signal-pingpong"}
	locks         = []string{"lock-contended", contendedDMCS}
	everyTogether = append([]string{"barrier"}, collectives...)
	small         = []int{8}
	hostSizes     = []int{8, 64 << 10}
)

// spread16 has 16 PEs on each host.
const spread16 = "core:2,socket:8,host:1"

// jobs returns all jobs of p, in their order.
func (p plan) jobs() (all []job) {
	two, twoHosts := compare.Place{PEs: 2, Hosts: 1}, compare.Place{PEs: 2, Hosts: 2}
	add := func(a axis, s side, at compare.Place, sizes []int, benches []string) {
		all = append(all, job{axis: a, side: s, place: at, benches: benches, sizes: sizes})
	}
	copies := unite(p.sizes, p.few, hostSizes)
	add(againstBytes, ground, two, copies, []string{"locked-add", "cache-line", "yield", "copy"})
	add(againstBytes, ground, twoHosts, copies, []string{"hosts-roundtrip"})
	for _, at := range []compare.Place{two, twoHosts} {
		add(againstBytes, ours, at, p.sizes, oneSided)
		add(againstBytes, oshmem, at, p.sizes, oneSidedOSH)
		add(againstBytes, ours, at, p.few, collectives)
		add(againstBytes, oshmem, at, p.few, collectives)
	}
	for _, n := range p.pes {
		at := compare.Place{PEs: n, Hosts: 1}
		add(againstPEs, ours, at, small, append(append([]string{}, everyTogether...), words...))
		add(againstPEs, ours, at, small, locks)
		if n <= p.peers {
			add(againstPEs, oshmem, at, small, append([]string{"fetch-add", "put-quiet", "get"}, everyTogether...))
			add(againstPEs, oshmem, at, small, locks[:1])
		}
	}
	add(againstPEs, ground, two, small, []string{"locked-add", "locked-compare-swap", "cache-line", "yield", "copy"})
	for _, n := range p.hosts {
		add(againstHosts, ours, compare.Place{PEs: n, Hosts: n}, hostSizes, append(append([]string{}, everyTogether...), words...))
		add(againstHosts, ours, compare.Place{PEs: n, Hosts: n}, small, locks)
	}
	for _, n := range p.hostsPeer {
		add(againstHosts, oshmem, compare.Place{PEs: n, Hosts: n}, hostSizes, append([]string{"fetch-add", "put-quiet", "get"}, everyTogether...))
	}
	add(againstHosts, ground, twoHosts, hostSizes, []string{"hosts-roundtrip"})
	return append(all, p.simulatedJobs()...)
}

func (p plan) simulatedJobs() (all []job) {
	for _, spread := range []string{"", spread16} {
		for _, n := range p.simulated {
			at := compare.Place{PEs: n, Hosts: 1}
			all = append(all,
				job{againstSimulated, ours, at, spread, append(append([]string{}, words...), "barrier", "broadcast", "sum"), small},
				job{againstSimulated, ours, at, spread, locks, small})
			if n <= p.quadratic {
				all = append(all, job{againstSimulated, ours, at, spread, []string{"fcollect"}, small}, job{againstSimulated, ours, at, spread, []string{"alltoall"}, small})
			}
		}
	}
	return all
}

// unite returns all numbers of lists, each once, sorted.
func unite(lists ...[]int) []int {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
