// Package floor measures what the machine itself can do, below any runtime: one locked instruction, one trip of a cache
// line, the hand-over of a CPU, copies, TCP. An operation of a runtime is made of these, and can be no faster than they
// are: so its time as a multiple of them says what is left to gain, and stays when the CPU is another.
//
//	floor.go          the command: benches, options, output
//	alone.go          benches of one process: locked instructions, copies
//	copies.go         copies, which pgasbench measures beside puts, too
//	handover.go       benches of two processes and more in shared memory
//	tcp.go            benches of two processes by TCP
//	pair.go           the processes, and what they agree upon
//	shared_unsafe.go  the words that they share
//	cpus.go           where they run
//
//ci:computes
package floor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/pgasbench/lists"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// A bench is one figure of the floor.
type bench struct {
	name, says string
	sizes      []int // the sizes if the user names none; 8: a word, and no other size
	place      place
	ways       float64 // how often an operation does what is counted
}

// place is where the processes of a bench run.
type place uint8

const (
	alone    place = iota // one process
	oneCPU                // two processes on one CPU, or more
	twoCPUs               // two processes on the two nearest CPUs
	loopback              // two processes on two CPUs, which talk by loopback
	twoHosts              // two processes in two network namespaces
)

var word8 = []int{8}

// benches are all figures, in the order in which they are measured.
var benches = []bench{
	{"locked-add", "one locked add", word8, alone, 1},
	{"locked-compare-swap", "one locked compare-and-swap", word8, alone, 1},
	{"locked-exchange", "one locked exchange", word8, alone, 1},
	{"cache-line", "one trip of a cache line between the two nearest CPUs", word8, twoCPUs, 2},
	{"yield", "hand-over of a CPU by sched_yield, two processes on it", word8, oneCPU, 2},
	{"yield-4", "the same, four processes on it", word8, oneCPU, 3},
	{"yield-8", "the same, eight", word8, oneCPU, 7},
	{"yield-16", "the same, sixteen", word8, oneCPU, 15},
	{"yield-32", "the same, thirty-two", word8, oneCPU, 31},
	{"futex", "hand-over of a CPU by a futex: a sleeper on it is woken", word8, oneCPU, 2},
	{"futex-two-cpus", "wake of a sleeper on the other CPU by a futex", word8, twoCPUs, 2},
	{"copy", "one copy between two mappings; the largest is beyond the cache", []int{8, 8 << 10, 1 << 20, 0}, alone, 1},
	{"loopback-roundtrip", "TCP round trip over loopback", []int{8, 8 << 10}, loopback, 1},
	{"loopback-stream", "one message of a TCP stream over loopback", []int{1 << 20}, loopback, 1},
	{"hosts-roundtrip", "TCP round trip between two network namespaces", []int{8, 8 << 10}, twoHosts, 1},
	{"hosts-stream", "one message of a TCP stream between two network namespaces", []int{1 << 20}, twoHosts, 1},
}

// Options are what the command line says.
type Options struct {
	List bool

	benches []bench
	sizes   []int
	point   time.Duration
	json    bool
	hosts   []string
}

const usage = `DESCRIPTION
  Measure what this machine can do at best: what operations of any runtime are made of, and can be no faster than.

USAGE
  pgasbench floor [flags]

A fetch-add of a runtime is at least one locked instruction. Telling another CPU something is at least one trip of a cache line.
Where more PEs than CPUs have to take turns, each turn is at least one hand-over of a CPU. Data that moves inside a host is
copied at least once, and between hosts it travels as fast as TCP. pgasbench compare prints its rows as multiples of these.

Two hosts are network namespaces and need root; without it their lines say so. Everything else runs on the CPUs that this
process may use: a busy machine shows in the column p99.

EXAMPLES
  $ pgasbench floor                                       # everything, in a few seconds
  $ pgasbench floor -bench 'locked|cache-line'            # what inter-PE operations of a host are made of
  $ pgasbench floor -bench copy -sizes 8,64,4k,1m,64m     # copies by size
  $ pgasbench floor -bench '^hosts' -hosts a,b            # TCP between two namespaces that exist
  $ pgasbench floor -json > floor.jsonl                   # one object a line

FLAGS
`

// Help returns what -h prints.
func Help() string {
	var text strings.Builder
	fs, _, _ := declareFlags()
	fs.SetOutput(&text)
	fs.PrintDefaults()
	return usage + text.String()
}

// List returns a line for each bench.
func List() string {
	text := ""
	for _, b := range benches {
		text += fmt.Sprintf("%-20s %s\n", b.name, b.says)
	}
	return text
}

type texts struct{ bench, sizes, hosts string }

func declareFlags() (*flag.FlagSet, *Options, *texts) {
	fs := flags.New("pgasbench floor")
	o, t := &Options{}, &texts{}
	fs.StringVar(&t.bench, "bench", ".", "figures to measure, a `regexp` on their names (-list shows them)")
	fs.StringVar(&t.sizes, "sizes", "", "`bytes` of copies and messages, divided by commas (default: some of each)")
	fs.StringVar(&t.hosts, "hosts", "", "two network `namespaces`, divided by a comma; without it they are made")
	flags.DurationVar(fs, &o.point, "time", 100*time.Millisecond, "`time` for each figure")
	flags.BoolVar(fs, &o.json, "json", false, "print one JSON object a line")
	flags.BoolVar(fs, &o.List, "list", false, "list the figures and end")
	return fs, o, t
}

// mostBytes is the largest copy and message.
const mostBytes = 1 << 30

// Parse reads the command line. The error is flag.ErrHelp, or names a mistake and the remedy.
func Parse(args []string) (*Options, error) {
	fs, o, t := declareFlags()
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: figures are chosen with -bench", fs.Arg(0))
	}
	pattern, err := regexp.Compile(t.bench)
	if err != nil {
		return nil, fmt.Errorf("-bench %s: not a regular expression (%v)", t.bench, err)
	}
	for _, b := range benches {
		if pattern.MatchString(b.name) {
			o.benches = append(o.benches, b)
		}
	}
	var read lists.Reader
	if t.sizes != "" {
		o.sizes = read.Sizes("sizes", t.sizes, 1, mostBytes)
	}
	if t.hosts != "" {
		o.hosts = strings.Split(t.hosts, ",")
	}
	switch {
	case read.Err != nil:
		return nil, read.Err
	case len(o.benches) == 0:
		return nil, fmt.Errorf("-bench %s: matches no figure; -list shows them", t.bench)
	case o.point <= 0 || o.point > time.Hour:
		return nil, fmt.Errorf("-time %v: give each figure more than nothing and at most an hour, such as 100ms", o.point)
	case t.hosts != "" && (len(o.hosts) != 2 || o.hosts[0] == o.hosts[1] || o.hosts[0] == "" || o.hosts[1] == ""):
		return nil, fmt.Errorf("-hosts %s: name two different network namespaces, such as a,b", t.hosts)
	}
	return o, nil
}

// Main measures what o asks for, and prints each figure when it is there. A figure that cannot be had is named on
// stderr with the reason, and is an error only if there is no other.
func Main(ctx context.Context, o *Options, stdout, stderr io.Writer) error {
	m := &machine{Options: o, ctx: ctx}
	defer m.close()
	var err error
	if m.cpu, m.other, err = nearestPair(ctx); err != nil {
		return err
	}
	out := &output{w: stdout, json: o.json}
	var missing error
	for _, b := range o.benches {
		for _, size := range b.wanted(o.sizes) {
			r, err := m.measure(b, size)
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			if err != nil {
				missing = fmt.Errorf("%s: %w", b.name, err)
				fmt.Fprintf(stderr, "pgasbench: %v\n", missing)
				break
			}
			if err := out.add(b, r); err != nil {
				return err
			}
		}
	}
	if out.lines == 0 {
		return missing
	}
	return nil
}

// wanted returns the sizes to measure b at.
func (b bench) wanted(asked []int) []int {
	switch {
	case len(b.sizes) == 1 && b.sizes[0] == 8:
		return b.sizes
	case len(asked) == 0:
		sizes := slices.Clone(b.sizes)
		if i := slices.Index(sizes, 0); i >= 0 {
			sizes[i] = beyondCache()
		}
		return sizes
	case b.place == alone:
		return asked
	}
	return slices.DeleteFunc(slices.Clone(asked), func(n int) bool { return n < leastLine })
}

// machine is where a run measures.
type machine struct {
	*Options
	ctx        context.Context
	cpu, other int // the two nearest CPUs; other is -1 if there is one only
	made       *netns.Hosts
	noHosts    error
}

func (m *machine) close() {
	if m.made != nil {
		m.made.Close()
	}
}

// measure measures b at one size.
func (m *machine) measure(b bench, size int) (result.Result, error) {
	s, err := m.series(b, size)
	if err != nil {
		return result.Result{}, err
	}
	pes, via := b.processes(), "cpu"
	if b.place >= loopback {
		via = "tcp"
	}
	return result.Of(b.name, size, pes, via, s, b.ways), nil
}

// processes returns how many processes b has. Where more than two share a CPU, a round takes a hand-over less than
// that.
func (b bench) processes() int {
	switch {
	case b.place == alone:
		return 1
	case b.ways > 2:
		return int(b.ways) + 1
	}
	return 2
}

func (m *machine) series(b bench, size int) (result.Series, error) {
	if b.place == alone {
		if batches := locked[b.name]; batches != nil {
			return onCPU(m.cpu, result.Standard(m.point), batches(new(line)))
		}
		return measureCopies(m.cpu, size, result.Standard(m.point))
	}
	o, host := order{Bench: b.name, Bytes: size, CPU: m.other, Point: m.point, Processes: b.processes()}, ""
	switch {
	case b.place == oneCPU:
		o.CPU = m.cpu
	case b.place == twoHosts:
		if err := m.findHosts(); err != nil {
			return result.Series{}, err
		}
		host, o.Host = m.hosts[0], m.hosts[1]
	}
	if o.CPU < 0 {
		return result.Series{}, errors.New("this takes two CPUs, and there is one")
	}
	return together(m.ctx, o, m.cpu, host)
}

// findHosts makes two network namespaces, unless -hosts names two.
func (m *machine) findHosts() error {
	if m.made == nil {
		for _, name := range m.hosts {
			if _, err := os.Stat(namespaces + name); err != nil {
				return noNamespace(name)
			}
		}
	}
	if m.hosts != nil || m.noHosts != nil {
		return m.noHosts
	}
	if m.noHosts = netns.Usable(); m.noHosts != nil {
		return m.noHosts
	}
	if m.made, m.noHosts = netns.New(2); m.noHosts == nil {
		m.hosts = m.made.Names
	}
	return m.noHosts
}

// output prints figures: a table whose lines appear as they are measured, or a JSON object a line.
type output struct {
	w     io.Writer
	json  bool
	lines int
}

func (o *output) add(b bench, r result.Result) error {
	o.lines++
	if o.json {
		return r.Write(o.w)
	}
	if o.lines == 1 {
		fmt.Fprintf(o.w, "%-20s %10s %10s %10s %10s %10s\n", "floor", "bytes", "median", "min", "p99", "GB/s")
	}
	rate := "-"
	if r.Bytes > 8 {
		rate = fmt.Sprintf("%.2f", r.MBps/1e3)
	}
	_, err := fmt.Fprintf(o.w, "%-20s %10s %10s %10s %10s %10s  %s\n", r.Bench, lists.SizeLabel(r.Bytes),
		result.Duration(r.P50ns), result.Duration(r.MinNs), result.Duration(r.P99ns), rate, b.says)
	return err
}
