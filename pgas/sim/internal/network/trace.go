package network

// The trace: what has happened, step by step. The last steps are kept for the report of a failure, and all go to
// Config.Trace.

import (
	"fmt"
	"io"
	"strings"

	"github.com/gopgas/gopgas/pgas/transport"
)

type stepKind uint8

const (
	issueStep stepKind = iota
	effectStep
	signalStep
	readStep
	writeStep
	noteStep
	deathStep
)

// step is one line of a trace.
type step struct {
	time               int64
	kind               stepKind
	opKind             kind
	rmw                transport.Op
	from, to           int32
	id                 uint64
	off                uint64
	size               int
	operand, cond, old uint64
}

// stepsKept is how many steps are remembered.
const stepsKept = 1 << 6

type trace struct {
	out  io.Writer
	name func(pe int32, off uint64) string // what the program calls a word of a PE's heap, or ""
	n    uint64                            // steps so far
	last [stepsKept]step                   // the last steps: step i at i%stepsKept
}

// next returns the place of the next step.
func (t *trace) next() *step {
	e := &t.last[t.n%stepsKept]
	t.n++
	return e
}

// print writes e to out.
func (t *trace) print(e *step) { fmt.Fprintln(t.out, e.text(t.name)) }

// tail returns the last n steps, or fewer.
func (t *trace) tail(n int) []string {
	var lines []string
	for i := t.n - min(t.n, stepsKept, uint64(n)); i < t.n; i++ {
		lines = append(lines, t.last[i%stepsKept].text(t.name))
	}
	return lines
}

// text returns the line, with the name of its place in the heap.
func (e *step) text(name func(pe int32, off uint64) string) string {
	at := fmt.Sprintf("%12.3f µs  PE %d", float64(e.time)/1e6, e.from)
	if e.kind == deathStep {
		return at + " dies"
	}
	return fmt.Sprintf("%s #%d %s PE %d: %s", at, e.id, [...]string{"issues", "has", "signals", "reads for", "writes for", "notifies"}[e.kind], e.to, e.operation(name))
}

func (e *step) operation(name func(pe int32, off uint64) string) string {
	var b strings.Builder
	place := fmt.Sprint("at ", e.off)
	if word := name(e.to, e.off); word != "" {
		place += " (" + word + ")"
	}
	switch e.opKind {
	case opPut:
		if e.kind == signalStep {
			fmt.Fprintf(&b, "%s %d %s", e.rmw, e.operand, place)
		} else {
			fmt.Fprintf(&b, "put %d bytes %s", e.size, place)
		}
	case opGet:
		fmt.Fprintf(&b, "get %d bytes %s", e.size, place)
	case opAtomic:
		fmt.Fprintf(&b, "%s", e.rmw)
		if e.rmw == transport.CompareSwap {
			fmt.Fprintf(&b, " %d", e.cond)
		}
		if e.rmw != transport.Fetch {
			fmt.Fprintf(&b, " %d", e.operand)
		}
		b.WriteString(" " + place)
		if e.kind != issueStep {
			fmt.Fprintf(&b, ", which was %d", e.old)
		}
	}
	return b.String()
}
