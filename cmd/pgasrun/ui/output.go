package ui

// The last lines of each PE, bounded by PE and in all.

import (
	"bytes"
	"strings"
	"sync"
)

// Bounds of what is kept. In a large job a PE has a smaller share of mostOutput.
const (
	mostLines   = 100
	longestLine = 1 << 10
	mostOutput  = 8 << 20
	leastOutput = 1 << 10 // of a PE
)

// output is what the PEs have printed.
type output struct {
	mu   sync.Mutex
	most int // bytes of a PE
	pes  []printed
}

// printed is what one PE has printed.
type printed struct {
	lines [][]byte // the last ones, without their ends
	bytes int      // the bytes in lines
	all   int      // the number of all lines, those that are gone too
	open  bool     // the last has not ended
}

func newOutput(pes int) *output {
	return &output{most: max(leastOutput, mostOutput/max(pes, 1)), pes: make([]printed, pes)}
}

// add adds a piece of what a PE has printed.
func (o *output) add(pe int, piece []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if pe < 0 || pe >= len(o.pes) {
		return
	}
	p := &o.pes[pe]
	for line := range bytes.Lines(piece) {
		p.add(bytes.TrimRight(line, "\r\n"))
		p.open = line[len(line)-1] != '\n'
	}
	for len(p.lines) > mostLines || p.bytes > o.most && len(p.lines) > 1 {
		p.bytes -= len(p.lines[0])
		p.lines = p.lines[1:]
	}
}

func (p *printed) add(text []byte) {
	if !p.open || len(p.lines) == 0 {
		p.lines = append(p.lines, nil)
		p.all++
	}
	last := &p.lines[len(p.lines)-1]
	room := longestLine - len(*last)
	added := text[:min(len(text), max(room, 0))]
	*last = append(*last, added...)
	p.bytes += len(added)
}

// count returns how many lines a PE has printed, and the last of them.
func (o *output) count(pe int) (lines int, last string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := &o.pes[pe]
	if len(p.lines) == 0 {
		return 0, ""
	}
	return p.all, text(p.lines[len(p.lines)-1])
}

// text returns the lines of a PE that are kept, and how many are gone.
func (o *output) text(pe int) (kept string, gone int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := &o.pes[pe]
	var b strings.Builder
	for i, line := range p.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text(line))
	}
	return b.String(), p.all - len(p.lines)
}

// text makes bytes printable: what is no UTF-8 and no character is shown as such.
func text(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r == 0x7f {
			return '␡'
		}
		if r < ' ' && r != '\t' {
			return '␀' + r
		}
		return r
	}, strings.ToValidUTF8(string(b), "�"))
}
