package growth

// Series: one cost of one operation along one axis, and how fast it grows.

import (
	"math"
	"slices"
	"strconv"

	"github.com/gopgas/gopgas/cmd/pgasbench/compare"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// A cost is what an operation takes.
type cost string

const (
	ofTime   cost = "time"
	ofCPU    cost = "CPU time"
	ofWire   cost = "bytes on the wire"
	ofMemory cost = "memory of a PE"
)

var allCosts = []cost{ofTime, ofCPU, ofWire, ofMemory}

// A curve names a series.
type curve struct {
	axis   axis
	side   side
	hosts  int // the hosts of the place, against bytes
	spread string
	bench  string
	bytes  int // the size, if not against bytes
}

// xy is a point of a series.
type xy struct{ x, y float64 }

// series returns the points of c that were measured, by x.
func (r *results) series(all []job, c curve, what cost) (points []xy) {
	for _, j := range all {
		if j.axis != c.axis || j.side != c.side || j.spread != c.spread || c.axis == againstBytes && j.place.Hosts != c.hosts {
			continue
		}
		for _, one := range r.records[j.name()].Results {
			if one.Bench != c.bench || c.axis != againstBytes && one.Bytes != c.bytes && one.Bytes != 0 {
				continue
			}
			x := float64(j.place.PEs)
			if c.axis == againstBytes {
				x = float64(one.Bytes)
			}
			if y := what.of(one, j); y > 0 {
				points = append(points, xy{x, y})
			}
		}
	}
	slices.SortFunc(points, func(a, b xy) int { return int(a.x - b.x) })
	return slices.CompactFunc(points, func(a, b xy) bool { return a.x == b.x })
}

// of returns the cost in a result. Where all PEs take part it is that of one of them, or of one of their hosts.
func (c cost) of(r result.Result, j job) float64 {
	if c.drowned(r.Bench, j.axis) {
		return 0
	}
	pes, hosts := 1.0, 1.0
	if together(r.Bench) {
		pes, hosts = float64(j.place.PEs), float64(j.numberOfHosts())
	}
	switch c {
	case ofTime:
		return r.P50ns
	case ofCPU:
		return r.CPUns / pes
	case ofWire:
		return r.WireBytes / hosts
	}
	return r.PssKB
}

// drowned reports that the cost is not that of the operation: where few PEs do it, the barriers in which the others
// wait cost more.
func (c cost) drowned(bench string, a axis) bool {
	switch {
	case a == againstBytes || together(bench):
		return false
	case slices.Contains(locks, bench):
		return c == ofWire
	}
	return c == ofCPU || c == ofWire
}

// together reports whether all PEs do the operation.
func together(bench string) bool { return slices.Contains(everyTogether, bench) }

func (j job) numberOfHosts() int {
	switch {
	case j.spread != "":
		return (j.place.PEs + 15) / 16
	case j.axis == againstSimulated:
		return j.place.PEs
	}
	return max(j.place.Hosts, 1)
}

// slack is how much faster than log P a cost may grow before it is named: figures scatter.
const slack = 1.5

// fasterThanLog reports whether points grow faster than log x to the last one, and from which: from the first, or else
// from the one in the middle.
func fasterThanLog(points []xy) (from int, faster bool) {
	last := len(points) - 1
	for _, first := range []int{0, last / 2} {
		if first >= last {
			continue
		}
		allowed := math.Log(points[last].x) / math.Log(points[first].x)
		if points[last].y/points[first].y > slack*allowed {
			return first, true
		}
	}
	return 0, false
}

// judged returns the points of c by which its growth is judged. There is a step from memory to network, so that of
// hosts with 16 PEs those count that have several hosts, and against the number of hosts; and one from PEs that have a
// CPU each to PEs that share the cpus.
func (c curve) judged(points []xy, cpus int) (judged []xy) {
	for _, p := range points {
		switch {
		case c.spread != "" && p.x <= 16, c.axis != againstSimulated && p.x <= float64(cpus):
			continue
		case c.spread != "":
			p.x /= 16
		}
		judged = append(judged, p)
	}
	return judged
}

// exponent returns k of the power x^k nearest to points: the slope of a line through their logarithms.
func exponent(points []xy) float64 {
	var mx, my, xx, both float64
	n := float64(len(points))
	for _, p := range points {
		mx, my = mx+math.Log(p.x)/n, my+math.Log(p.y)/n
	}
	for _, p := range points {
		dx := math.Log(p.x) - mx
		xx, both = xx+dx*dx, both+dx*(math.Log(p.y)-my)
	}
	return both / xx
}

// floorSeries returns the floor of an operation, from the figures of the floor in the same run.
func (r *results) floorSeries(all []job, c curve, points []xy) (floor []xy, inWords string) {
	for _, p := range points {
		place, bytes := compare.Place{PEs: int(p.x), Hosts: 1}, c.bytes
		switch c.axis {
		case againstHosts:
			place.Hosts = int(p.x)
		case againstBytes:
			place, bytes = compare.Place{PEs: 2, Hosts: c.hosts}, int(p.x)
		}
		if c.bench == "barrier" {
			bytes = 0
		}
		parts, words := compare.FloorOf(place, c.bench, bytes)
		sum := 0.0
		for _, part := range parts {
			ns := r.floorFigure(all, part.Bench, part.Bytes)
			if ns == 0 {
				sum = 0
				break
			}
			sum += part.Times * ns
		}
		if sum > 0 {
			floor, inWords = append(floor, xy{p.x, sum}), words
		}
	}
	return floor, inWords
}

// floorFigure returns the median of a figure of the floor in all jobs of it; 0 if it is in none.
func (r *results) floorFigure(all []job, bench string, bytes int) float64 {
	var found []float64
	for _, j := range all {
		if j.side != ground {
			continue
		}
		for _, one := range r.records[j.name()].Results {
			if one.Bench == bench && one.Bytes == bytes {
				found = append(found, one.P50ns)
			}
		}
	}
	return result.Median(found)
}

// round returns v with four digits.
func round(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}
