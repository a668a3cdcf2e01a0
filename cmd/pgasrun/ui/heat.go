package ui

// The traffic of each PE to each, as a map of colours. Colours are by the logarithm: a job has pairs that move a few
// bytes, and others that move gigabytes. A cell of a large job stands for a block of PEs.

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// Sizes of a map.
const (
	mostCells   = 64 // of a row
	writtenUpTo = 8  // PEs: each cell has its number in it
	heatLevels  = 8
	cellSize    = 10.0
	mapWidth    = 560.0
	mostPairs   = 8
)

// heatMap is what the page shows of the traffic by one measure.
type heatMap struct {
	Title   string
	SVG     template.HTML
	Legend  []legendEntry
	Block   int    // the PEs of a row
	Beyond  string // what moved to PEs which are not told apart; empty: nothing
	Pairs   []pairOf
	Nothing bool
}

type legendEntry struct {
	Class string
	From  string
}

// pairOf is one of the pairs with most.
type pairOf struct {
	From, To int
	Much     string
}

// cells is the sums of a map.
type cells struct {
	n, block int
	v        []float64 // the values, by from*n+to
	beyond   float64
	pairs    []pairSum
}

type pairSum struct {
	from, to int
	v        float64
}

func newCells(pes []launch.PEState, of func(bytes, ops uint64) float64) *cells {
	c := &cells{block: (len(pes) + mostCells - 1) / mostCells}
	c.block = max(c.block, 1)
	c.n = (len(pes) + c.block - 1) / c.block
	c.v = make([]float64, c.n*c.n)
	for i := range pes {
		for j := range pes[i].Peers {
			t := &pes[i].Peers[j]
			if v := of(t.Total(), t.Operations()); v > 0 && t.Peer >= 0 && t.Peer < len(pes) {
				c.v[i/c.block*c.n+t.Peer/c.block] += v
				c.pairs = append(c.pairs, pairSum{i, t.Peer, v})
			}
		}
		c.beyond += of(pes[i].Others.Total(), pes[i].Others.Operations())
	}
	slices.SortFunc(c.pairs, func(a, b pairSum) int {
		return cmp.Or(cmp.Compare(b.v, a.v), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	c.pairs = c.pairs[:min(len(c.pairs), mostPairs)]
	return c
}

// scale is how values become levels.
type scale struct{ least, most float64 }

// leastSpan is by how much the ends of a scale differ at least: almost equal values have the same colour.
const leastSpan = 100

func (c *cells) scale() scale {
	s := scale{least: math.Inf(1)}
	for _, v := range c.v {
		if v > 0 {
			s.least, s.most = min(s.least, v), max(s.most, v)
		}
	}
	s.least = min(s.least, s.most/leastSpan)
	return s
}

// level returns 0 of no traffic, otherwise 1 to heatLevels.
func (s scale) level(v float64) int {
	if v <= 0 {
		return 0
	}
	at := math.Log(v/s.least) / math.Log(s.most/s.least)
	return 1 + min(heatLevels-1, int(at*heatLevels))
}

// from returns the least value of a level.
func (s scale) from(level int) float64 {
	return s.least * math.Pow(s.most/s.least, float64(level-1)/heatLevels)
}

// newHeatMap returns the map of one measure. With titles, each cell says what it is; without, the page's script does.
func newHeatMap(title string, pes []launch.PEState, of func(bytes, ops uint64) float64, write func(float64) string, titles bool) heatMap {
	c := newCells(pes, of)
	s := c.scale()
	m := heatMap{Title: title, Block: c.block, Nothing: s.most == 0}
	if m.Nothing {
		return m
	}
	if c.beyond > 0 {
		m.Beyond = write(c.beyond)
	}
	for l := 1; l <= heatLevels; l++ {
		from := math.Ceil(s.from(l))
		if l < heatLevels && from == math.Ceil(s.from(l+1)) {
			continue // no number is of that level
		}
		m.Legend = append(m.Legend, legendEntry{fmt.Sprint("h", l), write(from)})
	}
	for _, p := range c.pairs {
		m.Pairs = append(m.Pairs, pairOf{p.from, p.to, write(p.v)})
	}
	m.SVG = c.draw(s, title, write, titles || len(pes) <= writtenUpTo)
	return m
}

// draw draws the map with numbers at its axes. All that is written is numbers and their units.
func (c *cells) draw(s scale, title string, write func(float64) string, titles bool) template.HTML {
	written := c.block == 1 && c.n <= writtenUpTo
	size := cellSize
	if written {
		size = 60
	}
	font := max(size*float64(c.n)/42, 3)
	if written {
		font = 12
	}
	margin := 2.2 * font
	side := size * float64(c.n)
	width := mapWidth
	if written {
		width = margin + side + 1
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="heat" width="%.0f" viewBox="0 0 %.1f %.1f" role="img" aria-label="%s" data-n="%d" data-block="%d" data-margin="%.1f" data-size="%.1f"`,
		width, margin+side+1, margin+side+1, template.HTMLEscapeString(title), c.n, c.block, margin, size)
	if !titles {
		fmt.Fprintf(&b, ` data-cells="%s"`, c.list(write))
	}
	b.WriteString(">")
	fmt.Fprintf(&b, `<rect class="h0" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, margin, margin, side, side)
	if titles {
		c.drawCells(&b, s, size, margin, write, written)
	} else {
		c.drawLevels(&b, s, size, margin)
	}
	c.drawAxes(&b, size, margin, font)
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// drawLevels draws all cells of a level as one path, neighbours as one: a map of 64 PEs has 4,096 cells.
func (c *cells) drawLevels(b *strings.Builder, s scale, size, margin float64) {
	var paths [heatLevels + 1]strings.Builder
	for y := range c.n {
		for x := 0; x < c.n; {
			l, first := s.level(c.v[y*c.n+x]), x
			for x < c.n && s.level(c.v[y*c.n+x]) == l {
				x++
			}
			fmt.Fprintf(&paths[l], "M%d %dh%dv1h-%dz", first, y, x-first, x-first)
		}
	}
	fmt.Fprintf(b, `<g transform="translate(%.1f %.1f) scale(%g)">`, margin, margin, size)
	for l := 1; l <= heatLevels; l++ {
		if paths[l].Len() > 0 {
			fmt.Fprintf(b, `<path class="h%d" d="%s"/>`, l, paths[l].String())
		}
	}
	b.WriteString("</g>")
}

// drawCells draws each cell by itself, with a title.
func (c *cells) drawCells(b *strings.Builder, s scale, size, margin float64, write func(float64) string, written bool) {
	line := ""
	if written {
		line = " cell"
	}
	for i, v := range c.v {
		l := s.level(v)
		if l == 0 && !written {
			continue
		}
		x, y := margin+size*float64(i%c.n), margin+size*float64(i/c.n)
		fmt.Fprintf(b, `<g><title>%s to %s: %s</title><rect class="h%d%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`,
			c.name(i/c.n), c.name(i%c.n), write(v), l, line, x, y, size, size)
		if written {
			much := write(v)
			if l == 0 {
				much = "–"
			}
			fmt.Fprintf(b, `<text class="t%d" x="%.1f" y="%.1f" font-size="11" text-anchor="middle">%s</text>`, l, x+size/2, y+size/2+4, much)
		}
		b.WriteString("</g>")
	}
}

// drawAxes writes the numbers of PEs, as many as have room.
func (c *cells) drawAxes(b *strings.Builder, size, margin, font float64) {
	step := 1
	for float64(step)*size < 2.2*font || c.n > 12 && step < 4 {
		step *= 2
	}
	for i := 0; i < c.n; i += step {
		at := margin + size*(float64(i)+0.5)
		fmt.Fprintf(b, `<text class="axis" x="%.1f" y="%.1f" font-size="%.1f" text-anchor="middle">%d</text>`, at, margin-font/2, font, i*c.block)
		fmt.Fprintf(b, `<text class="axis" x="%.1f" y="%.1f" font-size="%.1f" text-anchor="end">%d</text>`, margin-font/3, at+font/3, font, i*c.block)
	}
}

// name names the PEs of a row.
func (c *cells) name(i int) string {
	if c.block == 1 {
		return fmt.Sprint("PE ", i)
	}
	return fmt.Sprintf("PE %d-%d", i*c.block, (i+1)*c.block-1)
}

// list writes all values for the page's script: rows end with a semicolon.
func (c *cells) list(write func(float64) string) string {
	var b strings.Builder
	for i, v := range c.v {
		switch {
		case i == 0:
		case i%c.n == 0:
			b.WriteByte(';')
		default:
			b.WriteByte(',')
		}
		if v > 0 {
			b.WriteString(write(v))
		}
	}
	return b.String()
}
