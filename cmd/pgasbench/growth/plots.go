package growth

// The plots of the page: a panel for each operation, with ours, the peer, the floor, and what log P would be.

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
	"github.com/gopgas/gopgas/cmd/pgasbench/lists"
)

// A plotFile is one picture of the page.
type plotFile struct {
	name, title, says string // says stands below the picture
	axis              axis
	curves            []curve // of our side; each has a panel, unless there are costs
	costs             []cost  // each has a panel with all curves
}

// peerBench is what the peer calls an operation that it has by another name.
var peerBench = map[string]string{"signal-pingpong": "flag-pingpong", "notify-pingpong": "flag-pingpong", contendedDMCS: "lock-contended"}

func curvesOf(a axis, hosts int, spread string, bytes int, benches ...[]string) (all []curve) {
	for _, list := range benches {
		for _, name := range list {
			all = append(all, curve{axis: a, side: ours, hosts: hosts, spread: spread, bench: name, bytes: bytes})
		}
	}
	return all
}

// files returns all pictures.
func files() []plotFile {
	return slices.Concat(filesOfBytes(), filesOfPEs(), filesOfHosts(), filesOfSimulated())
}

// What several pictures say.
const (
	perPanel = "Each panel is an operation; OSHMEM and the floor stand in it where there is one."
	inTable  = " The table has our times, in brackets as multiples of the floor."
)

// filesOfBytes returns the pictures against bytes.
func filesOfBytes() []plotFile {
	return []plotFile{
		{
			name: "bytes-host.svg", title: "Against bytes, two PEs of one host",
			says: perPanel,
			axis: againstBytes, curves: curvesOf(againstBytes, 1, "", 0, oneSided, collectives),
		},
		{
			name: "bytes-hosts.svg", title: "Against bytes, two hosts",
			says: perPanel,
			axis: againstBytes, curves: curvesOf(againstBytes, 2, "", 0, oneSided, collectives),
		},
		{
			name: "bytes-wire.svg", title: "Against bytes, two hosts: other costs",
			says: "CPU time is for both PEs, or for one where both do the operation. Bytes on the wire are whole Ethernet frames, with acknowledgements.",
			axis: againstBytes, curves: curvesOf(againstBytes, 2, "", 0, oneSided, collectives),
			costs: []cost{ofCPU, ofWire},
		},
	}
}

// filesOfPEs returns the pictures against the PEs of one host.
func filesOfPEs() []plotFile {
	return []plotFile{
		{
			name: "pes.svg", title: "Against PEs of one host",
			says: perPanel + inTable,
			axis: againstPEs, curves: curvesOf(againstPEs, 0, "", 8, everyTogether, locks),
		},
		{
			name: "pes-words.svg", title: "Against PEs of one host: one or two work",
			says: "The other PEs wait in a barrier." + inTable,
			axis: againstPEs, curves: curvesOf(againstPEs, 0, "", 8, words),
		},
		{
			name: "pes-costs.svg", title: "Against PEs of one host: other costs",
			says: "CPU time is for one PE where all do the operation, and for all PEs in a turn of a lock. Memory is the share of a PE (Pss).",
			axis: againstPEs, curves: curvesOf(againstPEs, 0, "", 8, everyTogether, locks, words),
			costs: []cost{ofCPU, ofMemory},
		},
	}
}

// filesOfHosts returns the pictures against hosts.
func filesOfHosts() []plotFile {
	return []plotFile{
		{
			name: "hosts.svg", title: "Against hosts, one PE on each: 8 bytes",
			says: perPanel + inTable,
			axis: againstHosts, curves: curvesOf(againstHosts, 0, "", 8, everyTogether, locks),
		},
		{
			name: "hosts-words.svg", title: "Against hosts: one or two PEs work",
			says: "The other PEs wait in a barrier." + inTable,
			axis: againstHosts, curves: curvesOf(againstHosts, 0, "", 8, words),
		},
		{
			name: "hosts-64k.svg", title: "Against hosts, one PE on each: 64 KiB",
			says: perPanel + inTable,
			axis: againstHosts, curves: curvesOf(againstHosts, 0, "", 64<<10, collectives),
		},
		{
			name: "hosts-costs.svg", title: "Against hosts: other costs",
			says: "Of 8 bytes: CPU time of one PE, bytes of one host in Ethernet frames, with acknowledgements.",
			axis: againstHosts, curves: curvesOf(againstHosts, 0, "", 8, everyTogether),
			costs: []cost{ofCPU, ofWire, ofMemory},
		},
	}
}

// filesOfSimulated returns the pictures against simulated PEs.
func filesOfSimulated() []plotFile {
	return []plotFile{
		{
			name: "simulated.svg", title: "Against simulated PEs, each on a host",
			says: "The machine is a Cray XC30, with the parameters of [the simulator](../use/sim.md). Of fcollect and alltoall, which send P² messages, there are fewer PEs.",
			axis: againstSimulated, curves: curvesOf(againstSimulated, 0, "", 8, everyTogether, locks, words),
		},
		{
			name: "simulated-16.svg", title: "Against simulated PEs, 16 on each host",
			says: "The same, with hosts of two sockets of eight cores: up to 16 PEs share memory.",
			axis: againstSimulated, curves: curvesOf(againstSimulated, 0, spread16, 8, everyTogether, locks, words),
		},
		{
			name: "simulated-costs.svg", title: "Against simulated PEs: other costs",
			says: "Bytes count the operands of one host. Memory is a PE's part of the process of the simulator.",
			axis: againstSimulated, curves: curvesOf(againstSimulated, 0, "", 8, everyTogether, locks),
			costs: []cost{ofWire, ofMemory},
		},
	}
}

// plots draws all pictures into dir, and returns those that have something in them.
func (r *results) plots(dir string, all []job) (drawn []plotFile, err error) {
	for _, f := range files() {
		panels, err := r.panels(all, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if len(panels) == 0 {
			continue
		}
		if err := chart.WriteGrid(filepath.Join(dir, f.name), panels...); err != nil {
			return nil, err
		}
		drawn = append(drawn, f)
	}
	return drawn, nil
}

func (r *results) panels(all []job, f plotFile) (panels []*plot.Plot, err error) {
	if f.costs != nil {
		for _, what := range f.costs {
			var curves []chart.Curve
			for _, c := range f.curves {
				curves = appendCurve(curves, c.bench, r.series(all, c, what), what.scale())
			}
			if panels, err = appendPanel(panels, string(what), f.axis, what.unit(), curves); err != nil {
				return nil, err
			}
		}
		return panels, nil
	}
	for _, c := range f.curves {
		if panels, err = appendPanel(panels, c.bench, f.axis, ofTime.unit(), r.panelOf(all, c)); err != nil {
			return nil, err
		}
	}
	return panels, nil
}

// panelOf returns the curves of one operation.
func (r *results) panelOf(all []job, c curve) (curves []chart.Curve) {
	points := r.series(all, c, ofTime)
	scale := ofTime.scale()
	curves = appendCurve(curves, "ours", points, scale)
	peer := c
	peer.side = oshmem
	if name := peerBench[c.bench]; name != "" {
		peer.bench = name
	}
	curves = appendCurve(curves, "OSHMEM", r.series(all, peer, ofTime), scale)
	if c.axis != againstSimulated {
		floor, words := r.floorSeries(all, c, points)
		if c.axis != againstBytes {
			words = ""
		}
		curves = appendCurve(curves, floorName(words), floor, scale)
	}
	if c.axis != againstBytes {
		curves = appendCurve(curves, "log P", logarithm(points), scale)
	}
	return curves
}

func floorName(words string) string {
	if words == "" {
		return "floor"
	}
	return "floor: " + words
}

// logarithm returns what points would be if they grew as log x.
func logarithm(points []xy) (all []xy) {
	for _, p := range points {
		all = append(all, xy{p.x, points[0].y * math.Log(p.x) / math.Log(points[0].x)})
	}
	return all
}

func appendCurve(curves []chart.Curve, name string, points []xy, scale float64) []chart.Curve {
	if len(points) < 2 {
		return curves
	}
	xys := make(plotter.XYs, len(points))
	for i, p := range points {
		xys[i] = plotter.XY{X: p.x, Y: p.y / scale}
	}
	return append(curves, chart.Curve{Name: name, Points: xys})
}

func appendPanel(panels []*plot.Plot, title string, a axis, unit string, curves []chart.Curve) ([]*plot.Plot, error) {
	if len(curves) == 0 {
		return panels, nil
	}
	p, err := chart.Diagram(title, string(a), unit, curves)
	if err != nil {
		return nil, err
	}
	if a == againstBytes {
		p.X.Tick.Marker = sizeTicks{}
	}
	return append(panels, p), nil
}

// sizeTicks marks powers of 16.
type sizeTicks struct{}

func (sizeTicks) Ticks(least, most float64) (ticks []plot.Tick) {
	for size := 1.0; size <= most; size *= 16 {
		if size >= least {
			ticks = append(ticks, plot.Tick{Value: size, Label: lists.SizeLabel(int(size))})
		}
	}
	return ticks
}

// scale and unit are those of an axis of the cost.
func (c cost) scale() float64 {
	if c == ofWire {
		return 1
	}
	return 1e3
}

func (c cost) unit() string {
	switch c {
	case ofWire:
		return "bytes"
	case ofMemory:
		return "MB"
	}
	return "µs"
}
