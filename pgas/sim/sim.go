package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/sim/internal/explorer"
	"github.com/gopgas/gopgas/pgas/sim/internal/network"
	"github.com/gopgas/gopgas/pgas/topo"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Run runs body on npes PEs until all have returned. The error is about a Config that cannot be, or a *Failure with
// the first error of a PE and the steps before it.
func Run(ctx context.Context, cfg Config, npes int, body Body) (Report, error) {
	s, err := newSimIn(ctx, cfg, npes, body, nil)
	if err != nil {
		return Report{}, err
	}
	defer s.close()
	s.start()
	s.net.Engine.Run()
	r := Report{Time: engine.Duration(s.net.Engine.Now()), Ops: s.net.Issued(), Events: s.net.Engine.Events()}
	err = s.failure("")
	if lost := s.timeline.write(s.hosts, r.Time); err == nil && lost != nil {
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
	tree   *topo.Tree // the machine
	body   Body
	mem    []byte
	pes    []*pe
	hosts  []boot.Host
	common *coll.Common
	races  *racecheck.Job // nil: races are not looked for

	net      *network.Network
	timeline timeline
	explorer *explorer.Explorer // the explorer of an exploration, or nil
}

// pe is a PE.
type pe struct {
	s     *sim
	net   *network.PE // its memory and its transport
	seg   *boot.Segment
	world *pgas.World // its World, or nil before it is open
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
	s := &sim{mem: mem, cfg: cfg, ctx: ctx, tree: tree, body: body}
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
	segments := make([]*boot.Segment, npes)
	for i := range segments {
		var err error
		if segments[i], err = boot.NewSegmentIn(s.mem[uint64(i)*each:uint64(i+1)*each], npes, i, heapMax); err != nil {
			return fmt.Errorf("sim: %w", err)
		}
	}
	s.net = network.New(network.Config{
		Costs: s.cfg.Costs.onLevels(s.tree, npes), Split: s.cfg.Atomics == Split, Adversary: s.cfg.Adversary, Seed: s.cfg.Seed,
		Detection: s.cfg.Detection, Trace: s.cfg.Trace, NameOf: s.nameOf, Idle: s.begin, Deadlock: s.deadlock,
	}, engine.Config{Context: s.ctx, MaxEvents: s.cfg.MaxEvents}, segments)
	s.pes = make([]*pe, npes)
	s.hosts = make([]boot.Host, npes)
	for i, p := range s.net.PEs() {
		s.pes[i] = &pe{s: s, net: p, seg: segments[i]}
		s.hosts[i] = boot.Host{Name: p.HostName(), First: i, PEs: 1}
	}
	s.common = coll.NewCommon(npes)
	if s.cfg.Races {
		s.races = racecheck.NewJob(npes, s.raced, func(line string) { fmt.Fprintln(os.Stderr, "sim: "+line) })
	}
	return nil
}

// raced fails the run: an access of a PE races with an earlier one.
func (s *sim) raced(pe int, line string) { s.net.Engine.Fail(&s.pes[pe].net.PE, errors.New(line)) }

// nameOf returns what the program of a PE calls the word at an offset of its heap, or "" if it has no name.
func (s *sim) nameOf(pe int32, off uint64) string {
	if w := s.pes[pe].world; w != nil {
		return private.Node(w).NameOf(off)
	}
	return ""
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
		s.net.Engine.Start(&p.net.PE, func() {
			if err := p.main(); err != nil {
				s.net.Engine.Fail(&p.net.PE, err)
			}
		})
	}
	if s.explorer == nil {
		s.planFaults()
	}
}

// planFaults schedules the deaths and delays of the Config. An exploration tries a death at every point, and has no
// time for a delay.
func (s *sim) planFaults() {
	for _, d := range s.cfg.Deaths {
		if d.After > 0 && s.explorer == nil {
			s.net.PlanDeathAfter(d.PE, d.After)
			continue
		}
		s.net.PlanDeath(d.PE, d.At)
	}
	if s.explorer != nil {
		return
	}
	for _, d := range s.cfg.Delays {
		s.net.PlanDelay(d.PE, d.At, d.For)
	}
}

// main opens the World of p, runs the body and closes the World.
func (p *pe) main() error {
	s := p.s
	ctx := context.WithValue(s.ctx, peKey{}, p)
	job := &boot.Job{ID: "sim", PE: p.net.ID, NPEs: len(s.pes), Hosts: s.hosts, HostIndex: p.net.ID, Segment: p.seg, Launched: true, Record: s.timeline.of(p.net.ID),
		Settings: boot.Settings{Stats: s.cfg.Stats}}
	opened, err := private.Open(ctx, job, private.Options{
		Goroutines: true,
		NoFastPath: true,
		Check:      s.cfg.Check,
		Races:      s.races,
		Remote:     func(context.Context, *boot.Job) (transport.Transport, error) { return p.net, nil },
		Tree:       s.tree,
		Common:     s.common,
	})
	if err != nil {
		return err
	}
	w := opened.(*pgas.World)
	p.world = w
	if s.net.Engine.Prefetches() {
		p.recordHotLines()
	}
	if err := s.body(private.Node(w).Races.In(ctx), w); err != nil {
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
	if errors.As(err, &peer) && p.s.pes[peer.PE].net.Dead() {
		return nil
	}
	return err
}

// recordHotLines tells the engine the lines that the operations of p read, once its World is open: the first ones of
// its channel and of its World, and those of the World's objects. It returns for how many there is no room.
func (p *pe) recordHotLines() (left int) {
	objects, channel := private.HotLines(p.world)
	world := reflect.ValueOf(p.world).Pointer()
	lines := []uintptr{reflect.ValueOf(channel).Pointer(), world, world + 64, world + 128}
	return p.net.SetHotLines(append(lines, objects...))
}
