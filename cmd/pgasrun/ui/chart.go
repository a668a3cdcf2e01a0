package ui

// Small charts of a series, as SVG. Their sizes are attributes, since the page allows no styles but those of its own
// sheet.

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// A quantity is a number of a point, and how it is written.
type quantity struct {
	name  string
	of    func(point) float64
	write func(float64) string
	most  float64 // the top of its charts; 0: the largest value
}

var (
	blockedShare = quantity{"blocked", func(p point) float64 { return p.Blocked }, percent, 1}
	byteRate     = quantity{"moved", func(p point) float64 { return p.Bytes }, func(v float64) string { return bytesOf(v) + "/s" }, 0}
	opRate       = quantity{"operations", func(p point) float64 { return p.Ops }, func(v float64) string { return number(v) + "/s" }, 0}
	heapInUse    = quantity{"heap in use", func(p point) float64 { return p.Heap }, bytesOf, 0}
	resident     = quantity{"resident memory", func(p point) float64 { return p.Memory }, bytesOf, 0}
	cpuUse       = quantity{"CPUs in use", func(p point) float64 { return p.CPU }, func(v float64) string { return fmt.Sprintf("%.1f", v) }, 0}
)

// chart draws a series: width and height are those of its coordinates.
func (s *series) chart(q quantity, width, height float64, label string) template.HTML {
	points := s.all()
	if len(points) == 0 {
		return ""
	}
	top := q.most
	for _, p := range points {
		if q.most == 0 {
			top = max(top, q.of(p))
		}
	}
	end := max(points[len(points)-1].At, 1)
	x := func(p point) float64 { return width * float64(p.At) / float64(end) }
	y := func(p point) float64 {
		if top == 0 {
			return height - 1
		}
		return 1 + (height-2)*(1-min(1, q.of(p)/top))
	}
	var line strings.Builder
	if len(points) == 1 {
		fmt.Fprintf(&line, "0,%.1f ", y(points[0]))
	}
	for _, p := range points {
		fmt.Fprintf(&line, "%.1f,%.1f ", x(p), y(p))
	}
	first := x(points[0])
	if len(points) == 1 {
		first = 0
	}
	return template.HTML(fmt.Sprintf( // of numbers, but for the label
		`<svg class="chart" viewBox="0 0 %g %g" preserveAspectRatio="none" role="img" aria-label="%s"><polygon points="%.1f,%g %s%.1f,%g"/><polyline points="%s"/></svg>`,
		width, height, template.HTMLEscapeString(label), first, height, line.String(), width, height, line.String()))
}

// spark draws a series in a row of a table, with its maximum; nothing if it has no points.
func (s *series) spark(q quantity, label string) template.HTML {
	if len(s.all()) == 0 {
		return ""
	}
	most := q.write(s.largest(q))
	return s.chart(q, 90, 20, label+", at most "+most) + template.HTML(`<small class="most">max `+template.HTMLEscapeString(most)+`</small>`)
}

// all returns the points, with that of the looks that are none yet.
func (s *series) all() []point {
	if s.summed == 0 {
		return s.points
	}
	p := s.sum
	p.divide(float64(s.summed))
	return append(s.points[:len(s.points):len(s.points)], p)
}

// last returns the last point.
func (s *series) last() point {
	if all := s.all(); len(all) > 0 {
		return all[len(all)-1]
	}
	return point{}
}

// largest returns the largest value of q.
func (s *series) largest(q quantity) (v float64) {
	for _, p := range s.all() {
		v = max(v, q.of(p))
	}
	return v
}

func percent(v float64) string {
	switch {
	case v > 0 && v < 0.001:
		return "< 0.1 %"
	case v > 0 && v < 0.0995:
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// bytesOf writes a number of bytes in units of a thousand.
func bytesOf(v float64) string { return scaled(v, "B", "kB", "MB", "GB", "TB", "PB") }

// number writes a number in units of a thousand.
func number(v float64) string { return strings.TrimSuffix(scaled(v, "", "k", "M", "G", "T", "P"), " ") }

func scaled(v float64, units ...string) string {
	i := 0
	for v >= 999.5 && i+1 < len(units) {
		v, i = v/1000, i+1
	}
	digits := 0 // behind the point: three in all
	switch {
	case i == 0 && v == float64(int(v)):
	case v < 9.995:
		digits = 2
	case v < 99.95:
		digits = 1
	}
	return fmt.Sprintf("%.*f %s", digits, v, units[i])
}

// clock writes a time of the job.
func clock(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return duration(d)
}
