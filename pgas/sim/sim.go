// Package sim runs the PEs of a job in virtual time, as coroutines of one goroutine: any program written
// against pgas, unchanged, with thousands of PEs, the same from run to run.
//
// Run with the zero Config measures: operations cost what the LogGP parameters of a machine say, and the
// NIC of a host handles one message at a time. Config.Adversary finds bugs instead: every step may take
// from 1 ns to 2^15 ns, and what no fence orders comes out of order. Explore tries every order of visible
// operations there is, for two or three PEs.
//
// What a PE does to its own copy through Local is not seen and takes no time; so is what a program shares
// with others by variables. Everything else goes through the simulator: a PE is alone on its (real) host,
// and World.Host, HostOf and Topology tell of the simulated machine. A body may not start goroutines, and
// may not wait for anything but through its World.
package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/topo"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Body is what one PE does.
type Body = func(ctx context.Context, w *pgas.World) error

// Atomics says how the atomics of CPUs and NICs go together.
type Atomics uint8

const (
	// Unified atomics are atomic to each other. Those on the own host are the CPU's.
	Unified Atomics = iota
	// Split atomics are the NIC's, on the own host by loopback. To a CPU, one is a read and a later write.
	// Contexts with pgas.ByCPU use the CPU on the own host.
	Split
)

// Config is what is simulated.
type Config struct {
	Seed uint64
	// Topology is what PGAS_TOPO would be, with a count for each level: "numa:4,host:2,rack:16". None: each
	// PE has a host of its own.
	Topology string
	Costs    *Costs // nil: Aries
	Atomics  Atomics
	// Adversary makes every step take any time, and what is not ordered come in any order.
	Adversary bool
	Deaths    []Death
	Delays    []Delay
	// Detection is how long after the death of a PE the others learn of it; 0: 100 ms.
	Detection time.Duration
	// HeapMax is how much a PE can allocate; 0: 16 MiB.
	HeapMax uint64
	// Check makes the PEs check their references, as PGAS_CHECK=1 does.
	Check bool
	// MaxEvents ends a run that does not end; 0: 100 million, which takes about a minute.
	MaxEvents uint64
	// Reduce is of Explore: orders are left out that differ only in steps which do not touch the same
	// memory. The body must tell by Shares of what the simulator does not see.
	Reduce bool
	// Trace gets a line for each step.
	Trace io.Writer
}

// Death is the end of a PE.
type Death struct {
	PE int
	At time.Duration
}

// Delay is a time in which a PE computes nothing, as if its CPU were another's.
type Delay struct {
	PE  int
	At  time.Duration
	For time.Duration
}

// Report is what a run was like.
type Report struct {
	Time   time.Duration // that has passed in it
	Ops    uint64        // operations on memory
	Events uint64        // steps of the simulator
}

const defaultMaxEvents = 100_000_000

// Run runs body on npes PEs until all are through, and returns the first error: a *Failure, which says
// what led to it.
func Run(ctx context.Context, cfg Config, npes int, body Body) (Report, error) {
	s, err := newSimIn(ctx, cfg, npes, body, nil)
	if err != nil {
		return Report{}, err
	}
	defer s.close()
	s.start()
	s.run()
	r := Report{Time: duration(s.now), Ops: s.issued, Events: s.events}
	return r, s.failure("")
}

// Seeds runs body with n adversaries, of seeds from cfg.Seed on, and returns the first failure.
func Seeds(ctx context.Context, cfg Config, npes, n int, body Body) error {
	cfg.Adversary = true
	for range n {
		if _, err := Run(ctx, cfg, npes, body); err != nil {
			return err
		}
		cfg.Seed++
	}
	return nil
}

// sim is a run.
type sim struct {
	cfg    Config
	ctx    context.Context
	costs  *Costs
	levels levels
	body   Body
	mem    []byte
	pes    []*pe
	hosts  []boot.Host
	common *pgas.Common

	now          int64 // picoseconds since the beginning
	queue        queue
	random       splitmix
	running      *task // whose code runs
	next         *task // whom the loop resumes next
	liveTasks    int   // tasks that are not over
	issued       uint64
	events       uint64
	freeOps      []*op
	exceedsCache bool // PEs: more than caches hold
	anyDead      bool // some PE is dead

	cancellable     []*task // that wait with contexts which may end
	nextCancellable int
	cancelled       bool // one of them has ended
	stallReported   bool // nothing has come of it since

	trace    trace
	explorer *explorer
	failedPE *pe
	err      error
}

// pe is a PE, and the transport of its World.
//
// With thousands of PEs, none of them is in a cache. The first line of 64 bytes is what operations of others
// look at, the second what the PE's own do besides.
type pe struct {
	heap       []byte
	waiting    []*task
	dead       bool
	deathKnown bool // that it is dead

	s            *sim
	host         *host
	id           int
	tasks        []*task
	random       splitmix
	delayedUntil int64 // it computes nothing before that time
	world        *pgas.World

	channels    int   // made so far
	serials     int32 // of what an exploration tells apart
	lockedWords []lockedWord
	notes       noteQueue
	seg         *boot.Segment
	unanswered  []*op // that it has not answered
	cacheLines  []cacheLine
}

// newSimIn makes a run in the mapping mem of an earlier one, or in a new one.
func newSimIn(ctx context.Context, cfg Config, npes int, body Body, mem []byte) (*sim, error) {
	if npes < 1 {
		return nil, fmt.Errorf("sim: a job of %d PEs", npes)
	}
	for _, d := range cfg.Deaths {
		if d.PE < 0 || d.PE >= npes {
			return nil, fmt.Errorf("sim: PE %d is to die, in a job of %d", d.PE, npes)
		}
	}
	for _, d := range cfg.Delays {
		if d.PE < 0 || d.PE >= npes {
			return nil, fmt.Errorf("sim: PE %d is to be delayed, in a job of %d", d.PE, npes)
		}
	}
	tree, err := treeOf(cfg.Topology, npes)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	if cfg.Costs == nil {
		cfg.Costs = &Aries
	}
	if cfg.HeapMax == 0 {
		cfg.HeapMax = 16 << 20
	}
	if cfg.MaxEvents == 0 {
		cfg.MaxEvents = defaultMaxEvents
	}
	if cfg.Detection == 0 {
		cfg.Detection = 100 * time.Millisecond
	}
	s := &sim{mem: mem, cfg: cfg, ctx: ctx, costs: cfg.Costs, levels: newLevels(tree, cfg.Costs, npes), body: body}
	s.random = splitmix(mix(cfg.Seed))
	s.trace.out = cfg.Trace
	return s, s.makePEs(npes)
}

// treeOf is the machine.
func treeOf(list string, npes int) (*topo.Tree, error) {
	if list == "" {
		list = "host:1"
	}
	spec, err := topo.Parse(list)
	if err != nil {
		return nil, fmt.Errorf("topology %s: %w", list, err)
	}
	tree, err := topo.Build(spec, []int{npes}, nil)
	return tree, err
}

// makePEs lays out the PEs in one mapping, which costs what is touched.
func (s *sim) makePEs(npes int) error {
	heapMax := roundUp(s.cfg.HeapMax+boot.ReservedBytes, boot.PageBytes)
	each := boot.SegmentBytes(1, heapMax)
	if err := s.mapMemory(npes * int(each)); err != nil {
		return fmt.Errorf("sim: the heaps of %d PEs of %d bytes: %w", npes, heapMax, err)
	}
	level, _ := s.levels.tree.Level(topo.Host)
	hosts := make([]host, level.Elements())
	for i := range hosts {
		hosts[i].name = fmt.Sprintf("host%d", i)
	}
	s.pes = make([]*pe, npes)
	if s.exceedsCache = npes >= cachedPEs; s.exceedsCache {
		s.queue.lookahead = distanceOps
	}
	all, owners := make([]pe, npes), make([]cacheLine, npes*lineCount)
	s.hosts = make([]boot.Host, npes)
	for i := range s.pes {
		h := &hosts[level.Element(i)]
		seg, err := boot.NewSegmentIn(s.mem[uint64(i)*each:uint64(i+1)*each], npes, i, heapMax)
		if err != nil {
			return fmt.Errorf("sim: %w", err)
		}
		all[i] = pe{s: s, id: i, host: h, seg: seg, heap: seg.Heap(0), cacheLines: owners[i*lineCount : (i+1)*lineCount], random: splitmix(mix(s.cfg.Seed) + mix(uint64(i+1)))}
		s.pes[i] = &all[i]
		s.hosts[i] = boot.Host{Name: h.name, First: i, PEs: 1}
	}
	s.common = pgas.NewCommon(npes)
	return nil
}

// mapMemory gets zeroed memory.
func (s *sim) mapMemory(n int) (err error) {
	if s.mem != nil {
		return unix.Madvise(s.mem, unix.MADV_DONTNEED)
	}
	s.mem, err = boot.MapAnonymous(n)
	return err
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

func (s *sim) close() {
	boot.UnmapAnonymous(s.mem)
}

// start makes the tasks that run the body, and the deaths that are planned.
func (s *sim) start() {
	for _, p := range s.pes {
		s.resumeAt(s.newTask(p, func() {
			if err := p.main(); err != nil {
				s.fail(p, err)
			}
		}), 0, reasonCreated)
	}
	if s.explorer == nil {
		s.planFaults()
	}
}

// main is what a PE does.
func (p *pe) main() error {
	s := p.s
	ctx := context.WithValue(s.ctx, peKey{}, p)
	job := &boot.Job{ID: "sim", PE: p.id, NPEs: len(s.pes), Hosts: s.hosts, Here: p.id, Segment: p.seg, Launched: true}
	w, err := pgas.OpenWith(ctx, job, pgas.Options{
		Goroutines: true,
		NoFastPath: true,
		Check:      s.cfg.Check,
		Remote:     func(context.Context, *boot.Job) (transport.Transport, error) { return p, nil },
		Tree:       s.levels.tree,
		Common:     s.common,
	})
	if err != nil {
		return err
	}
	p.world = w
	if err := s.body(ctx, w); err != nil {
		return err
	}
	if s.explorer != nil {
		return w.Abandon()
	}
	return p.ignorePlannedDeath(w.Close())
}

// peKey is where a context says which PE of a simulator it belongs to.
type peKey struct{}

// ignorePlannedDeath drops an error of Close that is about a death which was planned.
func (p *pe) ignorePlannedDeath(err error) error {
	var peer *pgas.PeerError
	if errors.As(err, &peer) && p.s.pes[peer.PE].dead {
		return nil
	}
	return err
}

// unordered says that operations overtake each other.
func (s *sim) unordered() bool { return s.cfg.Adversary || s.exploring() }

func (s *sim) exploring() bool { return s.explorer != nil && s.explorer.on }

func (s *sim) reducing() bool { return s.cfg.Reduce && s.exploring() }
