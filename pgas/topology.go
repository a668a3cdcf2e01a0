package pgas

// The places of the PEs. Each PE finds its own place when it joins: the CPUs that it may use, and what Slurm says of
// its node. It publishes the place in the reserved start of its heap. A PE that needs the tree reads the places of
// all PEs.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/topo"
)

var _ [boot.PlaceBytes - topo.PlaceBytes]byte // a place fits its region

// leavePlace finds this PE's place and publishes it. PEs that are goroutines, and simulated PEs, have no place of
// their own.
func (w *World) leavePlace() {
	var p topo.Place
	if !w.opts.Goroutines && w.opts.Tree == nil {
		p = topo.Detect()
	}
	b := p.Encode()
	copy(w.n.Heap[boot.PlaceOff:], b[:])
}

// Topology returns the tree of levels that the PEs of the job are in (machine, host, socket, …), as detected or as
// the user gave it with PGAS_TOPO. It is the same on every PE. The first call reads the places of all PEs; it is not
// collective. It returns *PeerError if a PE is lost, the cause of ctx if ctx ends, or an error that tells what is
// wrong with PGAS_TOPO or with a place.
func (w *World) Topology(ctx context.Context) (*topo.Tree, error) {
	w.mustBeOpen("Topology")
	mustHaveContext("Topology", ctx)
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	if w.tree != nil {
		return w.tree, nil
	}
	tree, err := w.readTopology(ctx)
	if err != nil {
		return nil, fmt.Errorf("topology: %w", err)
	}
	w.tree = tree
	return tree, nil
}

// readLockLevels reads the tree for a PE that counts hand-overs of locks, and notes the names of its levels.
func (w *World) readLockLevels() *topo.Tree {
	tree, err := w.Topology(w.n.Ctx)
	if err != nil {
		w.n.Rec.NameLevels([]string{topo.Machine})
		return nil
	}
	w.n.Rec.NameLevels(tree.Names())
	return tree
}

// readTopology reads the places of all PEs and builds the tree.
func (w *World) readTopology(ctx context.Context) (*topo.Tree, error) {
	spec, err := topo.Parse(w.n.Job.Settings.Topo)
	if err != nil {
		return nil, fmt.Errorf("PGAS_TOPO=%s: %w", w.n.Job.Settings.Topo, err)
	}
	raw := make([][topo.PlaceBytes]byte, w.n.Job.NPEs)
	for pe := range raw {
		w.n.Channel(pe).GetNB(pe, raw[pe][:], boot.PlaceOff)
	}
	if err := w.n.Flush(ctx); err != nil {
		return nil, err
	}
	places := make([]topo.Place, len(raw))
	for pe := range raw {
		if places[pe], err = topo.DecodePlace(raw[pe][:]); err != nil {
			return nil, fmt.Errorf("place of PE %d: %w", pe, err)
		}
	}
	var hosts []int
	for _, h := range w.n.Job.Hosts {
		hosts = append(hosts, h.PEs)
	}
	return topo.Build(spec, hosts, places)
}

// SplitLevel makes a team of the members of t in each element of a level of the topology, such as "host", "socket",
// "numa", "cache" or "core"; this PE gets the team of its own element. A PE whose element is not known is the only
// member of its team. It is collective over t. It returns the errors of World.Topology, which names the levels, an
// error if there is no such level, and the errors of SplitColor. It is an extension of OpenSHMEM.
func (t *Team) SplitLevel(ctx context.Context, level string, opts ...TeamOption) (*Team, error) {
	t.alive("SplitLevel")
	tree, err := t.w.Topology(ctx)
	if err != nil {
		return nil, err
	}
	l, err := tree.Level(level)
	if err != nil {
		return nil, fmt.Errorf("splitting team %s%s: %w", t.g.Name, callsite.At(), err)
	}
	return t.SplitColor(ctx, l.Element(t.w.n.Job.PE), t.g.Me, opts...)
}
