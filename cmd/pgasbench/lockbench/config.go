package lockbench

// A point is one bench with one value for each parameter. The parameters have names, by which the command
// line varies them, the table shows them and a plot takes them as its axis or its curves.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/locks/kinds"
)

// config is one point to measure. What a lock or a bench has no use for is zero.
type config struct {
	Bench    string  `json:"bench"`
	Lock     string  `json:"lock"`
	PEs      int     `json:"pes"`
	Writers  float64 `json:"fw"`                 // F_W: the part of acquisitions that write, 0 to 1
	TDC      int     `json:"tdc,omitempty"`      // T_DC in PEs; 0: a counter for each host
	TL       []int   `json:"tl,omitempty"`       // T_L by level, the machine first; none: the lock's own
	TR       int     `json:"tr,omitempty"`       // T_R; 0: the lock's own
	TW       int     `json:"tw,omitempty"`       // T_W; 0: the product of all T_L
	Remote   int     `json:"remote,omitempty"`   // the remote budget of ALock; 0: the lock's own
	Local    int     `json:"local,omitempty"`    // the local budget of ALock; 0: the lock's own
	Locks    int     `json:"locks,omitempty"`    // the number of locks of a table
	Locality float64 `json:"locality,omitempty"` // the part of acquisitions that are near, 0 to 1
	Nodes    int     `json:"nodes,omitempty"`    // hosts of the machine that is simulated; 0: Topology says
	Threads  int     `json:"threads,omitempty"`  // PEs of each of these hosts

	Levels []string      `json:"levels,omitempty"`  // the levels of the topology that the lock has; none: all
	Rounds int           `json:"rounds,omitempty"`  // acquisitions of each PE, if Time is 0
	Time   time.Duration `json:"time_ns,omitempty"` // for how long each PE acquires; 0: Rounds says

	// Of the simulator.
	Simulated bool   `json:"simulated"`
	Topology  string `json:"topology,omitempty"`
	Costs     string `json:"costs,omitempty"`
	Vary      string `json:"vary,omitempty"` // which of Costs are multiplied
	Atomics   string `json:"atomics,omitempty"`
	Seed      uint64 `json:"seed,omitempty"`

	critical *criticalSection // where the simulator counts the holders; nil on real PEs
}

// A parameter is a field of config that can be varied.
type parameter struct {
	name  string // the name of the flag and the JSON field
	label string // the label of an axis
	text  func(config) string
	value func(config) float64 // the value as a number; nil if it is none
	zero  func(*config)        // takes the parameter out of a point that has no use for it
	used  func(kind) bool      // whether a lock uses the parameter; nil: every lock does
}

// Row makes parameters the rows of a table.
func (p parameter) Row() (name, doc string) { return p.name, p.label }

func number(v int) string { return strconv.Itoa(v) }

// percent writes a part of 1.
func percent(part float64) string { return strconv.FormatFloat(100*part, 'g', 4, 64) + "%" }

func numbers(vs []int) string {
	var parts []string
	for _, v := range vs {
		parts = append(parts, number(v))
	}
	return strings.Join(parts, ":")
}

// last returns the T_L of the innermost level, which is what a plot over T_L shows.
func last(vs []int) float64 {
	if len(vs) == 0 {
		return 0
	}
	return float64(vs[len(vs)-1])
}

// parameters in the order in which legends name them.
var parameters = []parameter{
	{name: "bench", text: func(c config) string { return c.Bench }},
	{name: "lock", text: func(c config) string { return c.Lock }},
	{name: "pes", label: "PEs", text: func(c config) string { return number(c.PEs) }, value: func(c config) float64 { return float64(c.PEs) }},
	{
		name: "fw", label: "F_W: writers, %",
		text: func(c config) string { return percent(c.Writers) }, value: func(c config) float64 { return 100 * c.Writers },
		zero: func(c *config) { c.Writers = 1 }, used: func(k kind) bool { return k.Readers },
	},
	{
		name: "tdc", label: "T_DC: PEs for each counter",
		text: func(c config) string { return number(c.TDC) }, value: func(c config) float64 { return float64(c.TDC) },
		zero: func(c *config) { c.TDC = 0 }, used: func(k kind) bool { return k.Counters },
	},
	{
		name: "tl", label: "T_L of the innermost level",
		text: func(c config) string { return numbers(c.TL) }, value: func(c config) float64 { return last(c.TL) },
		zero: func(c *config) { c.TL = nil }, used: func(k kind) bool { return k.Order == kinds.ByNearness },
	},
	{
		name: "tr", label: "T_R: readers before a writer",
		text: func(c config) string { return number(c.TR) }, value: func(c config) float64 { return float64(c.TR) },
		zero: func(c *config) { c.TR = 0 }, used: func(k kind) bool { return k.Counters },
	},
	{
		name: "tw", label: "T_W: writers before readers",
		text: func(c config) string { return number(c.TW) }, value: func(c config) float64 { return float64(c.TW) },
		zero: func(c *config) { c.TW = 0 }, used: func(k kind) bool { return k.Counters },
	},
	{
		name: "remote", label: "remote budget",
		text: func(c config) string { return number(c.Remote) }, value: func(c config) float64 { return float64(c.Remote) },
		zero: func(c *config) { c.Remote = 0 }, used: func(k kind) bool { return k.Budgets },
	},
	{
		name: "local", label: "local budget",
		text: func(c config) string { return number(c.Local) }, value: func(c config) float64 { return float64(c.Local) },
		zero: func(c *config) { c.Local = 0 }, used: func(k kind) bool { return k.Budgets },
	},
	{name: "locks", label: "locks", text: func(c config) string { return number(c.Locks) }, value: func(c config) float64 { return float64(c.Locks) }},
	{name: "locality", label: "local: acquisitions, %", text: func(c config) string { return percent(c.Locality) }, value: func(c config) float64 { return 100 * c.Locality }},
	{name: "nodes", label: "hosts", text: func(c config) string { return number(c.Nodes) }, value: func(c config) float64 { return float64(c.Nodes) }},
	{name: "threads", label: "PEs of a host", text: func(c config) string { return number(c.Threads) }, value: func(c config) float64 { return float64(c.Threads) }},
	{name: "topology", text: func(c config) string { return c.Topology }},
}

// trimmed returns c without what its lock has no use for: two points that differ in nothing else are one.
func (c config) trimmed() config {
	k, ok := sweep.Find(compared, c.Lock)
	for _, p := range parameters {
		if ok && p.used != nil && !p.used(k) {
			p.zero(&c)
		}
	}
	return c
}

// lockOptions returns the options of the lock of c.
func (c config) lockOptions() kinds.Options {
	return kinds.Options{
		Levels: c.Levels, TL: c.TL, TDC: c.TDC, TR: c.TR, TW: c.TW, RemoteBudget: c.Remote, LocalBudget: c.Local,
	}
}

// key returns what tells points apart.
func (c config) key() string {
	var parts []string
	for _, p := range parameters {
		parts = append(parts, p.text(c))
	}
	return strings.Join(parts, " ")
}

// name returns what messages call c: what is not zero.
func (c config) name() string {
	text := fmt.Sprintf("%s %s, %d PEs", c.Bench, c.Lock, c.PEs)
	for _, p := range parameters[3:] {
		if p.value != nil && p.value(c) != 0 {
			text += fmt.Sprintf(", %s %s", p.name, p.text(c))
		}
	}
	return text
}

// varied returns the names of the parameters in which points differ, but for those that follow from others.
func varied(points []config) (names []string) {
	shaped := !slices.ContainsFunc(points, func(c config) bool { return c.Nodes == 0 })
	for _, p := range parameters {
		if shaped && (p.name == "pes" || p.name == "topology") {
			continue
		}
		if slices.ContainsFunc(points, func(c config) bool { return p.text(c) != p.text(points[0]) }) {
			names = append(names, p.name)
		}
	}
	return names
}

// A grid is every combination of some values of each parameter. A list that is empty stands for one zero.
type grid struct {
	benches, locks        []string
	pes                   []int
	writers               []float64
	tdc                   []int
	tl                    [][]int
	tr, tw, remote, local []int
	tableLocks            []int
	locality              []float64
	nodes, threads        []int // hosts and their PEs; pes and topologies are instead of them
	topologies            []string
	rest                  config // what is not varied
}

// points lists the combinations, each once.
func (s grid) points() []config {
	all := []config{s.rest}
	all = vary(all, s.benches, func(c *config, v string) { c.Bench = v })
	all = vary(all, s.tableLocks, func(c *config, v int) { c.Locks = v })
	all = vary(all, s.locality, func(c *config, v float64) { c.Locality = v })
	all = vary(all, s.writers, func(c *config, v float64) { c.Writers = v })
	all = vary(all, s.locks, func(c *config, v string) { c.Lock = v })
	all = vary(all, s.tdc, func(c *config, v int) { c.TDC = v })
	all = vary(all, s.tl, func(c *config, v []int) { c.TL = v })
	all = vary(all, s.tr, func(c *config, v int) { c.TR = v })
	all = vary(all, s.tw, func(c *config, v int) { c.TW = v })
	all = vary(all, s.remote, func(c *config, v int) { c.Remote = v })
	all = vary(all, s.local, func(c *config, v int) { c.Local = v })
	all = vary(all, s.nodes, func(c *config, v int) { c.Nodes = v })
	all = vary(all, s.threads, func(c *config, v int) { c.Threads = v })
	all = vary(all, s.topologies, func(c *config, v string) { c.Topology = v })
	all = vary(all, s.pes, func(c *config, v int) { c.PEs = v })
	seen := map[string]bool{}
	var points []config
	for _, c := range all {
		c = c.trimmed()
		if c.Nodes > 0 {
			c.Threads = max(c.Threads, 1)
			c.PEs, c.Topology = c.Nodes*c.Threads, fmt.Sprintf("socket:%d,host:1", c.Threads)
		}
		if !seen[c.key()] {
			seen[c.key()] = true
			points = append(points, c)
		}
	}
	return points
}

// vary returns each of points with each of values.
func vary[T any](points []config, values []T, set func(*config, T)) []config {
	if len(values) == 0 {
		return points
	}
	var all []config
	for _, c := range points {
		for _, v := range values {
			set(&c, v)
			all = append(all, c)
		}
	}
	return all
}

// roundsFor returns how many acquisitions of each PE make a point that is long enough to mean something and
// short enough to wait for, in the simulator. PEs that poll do many operations for each.
func roundsFor(c config) int {
	all := 200_000
	if c.Lock == kinds.Spin {
		all /= 10
	}
	return min(max(all/c.PEs, 20), 2000)
}
