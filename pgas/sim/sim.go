package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/topo"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Body is the program of one PE.
type Body = func(ctx context.Context, w *pgas.World) error

// Atomics selects whether the atomics of CPUs and of NICs are atomic to each other.
type Atomics uint8

const (
	// Unified atomics are atomic to each other. Those on the PE's own host are the CPU's.
	Unified Atomics = iota
	// Split atomics are the NIC's, on the PE's own host by loopback. To a CPU, one is a read and a later write.
	// Contexts with pgas.ByCPU() use the CPU on the PE's own host.
	Split
)

// Config selects what is simulated.
type Config struct {
	Seed uint64
	// Topology is a list as in PGAS_TOPO, with a count for each level: "numa:4,host:2,rack:16". Empty: each
	// PE has a host of its own.
	Topology string
	Costs    *Costs // nil: Aries
	Atomics  Atomics
	// Adversary makes every step take a random time, and unordered operations take effect in any order.
	Adversary bool
	Deaths    []Death
	Delays    []Delay
	// Detection is the time from the death of a PE until the other PEs are told; 0: 100 ms.
	Detection time.Duration
	// HeapMax is how much a PE can allocate; 0: 16 MiB.
	HeapMax uint64
	// Check makes the PEs check their references, as PGAS_CHECK=1 does.
	Check bool
	// Stats makes the PEs count what they do, as PGAS_STATS=1 does: World.Stats has the counts, in virtual time.
	Stats bool
	// MaxEvents ends a run that does not end itself; 0: 100 million, which takes about a minute.
	MaxEvents uint64
	// Reduce makes Explore leave out orders that differ only in steps which do not touch the same
	// memory (partial-order reduction). The body must call Shares for what the simulator does not see.
	Reduce bool
	// Trace gets a line for each step.
	Trace io.Writer
	// Timeline gets what PEs waited for, on whom and when, when a Run has ended: the file of pgasrun -trace, in virtual
	// time. Explore ignores it.
	Timeline io.Writer
	// TimelineEvents is how many events of each PE it has at most; later ones are counted and dropped. 0: 65,536, less
	// for each of more than 16 PEs.
	TimelineEvents int
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

// Report counts what happened in a run.
type Report struct {
	Time   time.Duration // virtual time that has passed
	Ops    uint64        // operations on memory
	Events uint64        // steps of the simulator
}

const defaultMaxEvents = 100_000_000

// Run runs body on npes PEs until all have returned. The error is about a Config that cannot be, or a *Failure with
// the first error of a PE and the steps before it.
func Run(ctx context.Context, cfg Config, npes int, body Body) (Report, error) {
	s, err := newSimIn(ctx, cfg, npes, body, nil)
	if err != nil {
		return Report{}, err
	}
	defer s.close()
	s.start()
	s.engine.Run()
	r := Report{Time: engine.Duration(s.engine.Now()), Ops: s.issued, Events: s.engine.Events()}
	err = s.failure("")
	if lost := s.writeTimeline(); err == nil && lost != nil {
		err = fmt.Errorf("sim: %w", lost)
	}
	return r, err
}

// Seeds runs body n times with an adversary, with seeds from cfg.Seed on, and returns the first error of Run.
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

// sim is one run.
type sim struct {
	cfg    Config
	ctx    context.Context
	costs  *Costs
	levels levels
	body   Body
	mem    []byte
	pes    []*pe
	hosts  []boot.Host
	common *coll.Common

	engine  engine.Engine
	weights []weight
	traffic Traffic
	random  engine.Random
	issued  uint64 // operations so far
	freeOps []*op
	anyDead bool // some PE is dead

	trace    trace
	timeline timeline
	explorer *explorer // the explorer of an exploration, or nil
}

// pe is a PE, and the transport of its World.
//
// With thousands of PEs, none of them is in a cache. The first line of 64 bytes has what operations of other PEs
// read, the next three what the PE's own operations read besides.
type pe struct {
	heap       []byte
	dead       bool
	deathKnown bool // the other PEs have been told that it is dead
	engine.PE
	host *host

	s           *sim
	world       *pgas.World
	channels    int // channels made so far
	lockedWords []lockedWord
	notes       noteQueue
	seg         *boot.Segment
	unanswered  []*op // operations on it since its death, which fail once the death is known
	cacheLines  []cacheLine
}

// newSimIn makes a run. It uses the mapping mem of an earlier run, or maps memory if mem is nil.
func newSimIn(ctx context.Context, cfg Config, npes int, body Body, mem []byte) (*sim, error) {
	if npes < 1 {
		return nil, fmt.Errorf("sim: a job of %s", plural.Count(npes, "PE"))
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
	s.random = engine.Random(engine.Mix(cfg.Seed))
	s.engine.Init(s, engine.Config{Context: ctx, MaxEvents: cfg.MaxEvents})
	s.engine.Prefetch(npes >= engine.CachedPEs)
	s.trace.out, s.trace.name = cfg.Trace, s.nameOf
	if s.timeline, err = newTimeline(&cfg, npes); err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	return s, s.makePEs(npes)
}

// treeOf returns the topology of the machine.
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

// makePEs lays out the PEs in one mapping, of which the kernel provides the pages that are touched.
func (s *sim) makePEs(npes int) error {
	heapMax := roundUp(s.cfg.HeapMax+boot.ReservedBytes, boot.PageBytes)
	each := boot.SegmentBytes(1, heapMax)
	if err := s.mapMemory(npes * int(each)); err != nil {
		return fmt.Errorf("sim: the heaps of %s of %d bytes: %w", plural.Count(npes, "PE"), heapMax, err)
	}
	level, _ := s.levels.tree.Level(topo.Host)
	hosts := make([]host, level.Elements())
	for i := range hosts {
		hosts[i].name = fmt.Sprintf("host%d", i)
	}
	s.pes = make([]*pe, npes)
	all, owners := make([]pe, npes), make([]cacheLine, npes*lineCount)
	s.hosts = make([]boot.Host, npes)
	for i := range s.pes {
		h := &hosts[level.Element(i)]
		seg, err := boot.NewSegmentIn(s.mem[uint64(i)*each:uint64(i+1)*each], npes, i, heapMax)
		if err != nil {
			return fmt.Errorf("sim: %w", err)
		}
		all[i] = pe{s: s, PE: engine.PE{ID: i}, host: h, seg: seg, heap: seg.Heap(0), cacheLines: owners[i*lineCount : (i+1)*lineCount]}
		s.pes[i] = &all[i]
		s.engine.Add(&all[i].PE, engine.Mix(s.cfg.Seed)+engine.Mix(uint64(i+1)))
		s.hosts[i] = boot.Host{Name: h.name, First: i, PEs: 1}
	}
	s.common = coll.NewCommon(npes)
	return nil
}

// mapMemory maps n bytes of zeroed memory, or zeroes those of the earlier run.
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

// start makes the tasks that run the body, and schedules the planned deaths and delays.
func (s *sim) start() {
	for _, p := range s.pes {
		s.engine.Start(&p.PE, func() {
			if err := p.main(); err != nil {
				s.engine.Fail(&p.PE, err)
			}
		})
	}
	if s.explorer == nil {
		s.planFaults()
	}
}

// main opens the World of p, runs the body and closes the World.
func (p *pe) main() error {
	s := p.s
	ctx := context.WithValue(s.ctx, peKey{}, p)
	job := &boot.Job{ID: "sim", PE: p.ID, NPEs: len(s.pes), Hosts: s.hosts, HostIndex: p.ID, Segment: p.seg, Launched: true, Record: s.timeline.of(p.ID),
		Settings: boot.Settings{Stats: s.cfg.Stats}}
	opened, err := private.Open(ctx, job, private.Options{
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
	w := opened.(*pgas.World)
	p.world = w
	if s.engine.Prefetches() {
		p.recordHotLines()
	}
	if err := s.body(ctx, w); err != nil {
		return err
	}
	if s.explorer != nil {
		return w.Abandon()
	}
	return p.ignorePlannedDeath(w.Close())
}

// peKey is the key under which a context has its PE of a simulator.
type peKey struct{}

// ignorePlannedDeath returns nil for an error of Close about a PE whose death was planned, otherwise err.
func (p *pe) ignorePlannedDeath(err error) error {
	var peer *pgas.PeerError
	if errors.As(err, &peer) && p.s.pes[peer.PE].dead {
		return nil
	}
	return err
}

// unordered reports whether operations may overtake each other.
func (s *sim) unordered() bool { return s.cfg.Adversary || s.exploring() }

func (s *sim) exploring() bool { return s.engine.Ordered() }

func (s *sim) reducing() bool { return s.cfg.Reduce && s.exploring() }
