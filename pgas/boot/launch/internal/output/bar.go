package output

// The bar of a job's progress (package progress) on the terminal of the launcher. PE 0 sends what the bar shows as a
// line of its standard error that begins with boot.BarMark. It is no line of the output: it stands below all of it, and
// is taken away while anything else is written. An empty one takes it away for good.

import (
	"bytes"
	"io"
	"sync"

	"github.com/gopgas/gopgas/pgas/boot"
)

// A bar is the last line of a terminal.
type bar struct {
	w io.Writer

	mu    sync.Mutex
	text  []byte // what it shows; nil: nothing
	drawn bool
	open  bool // a line of the output has not ended: the bar waits for its end
}

// ShowBar shows the bar of a job on the terminal of its standard error, errs. both says that its standard output, out,
// is on that terminal too.
func ShowBar(out, errs *Lines, both bool) {
	errs.bar = &bar{w: errs.w}
	if both {
		out.bar = errs.bar
	}
}

// RemoveBar takes the bar away, if there is one.
func (l *Lines) RemoveBar() { l.bar.remove() }

// beside calls write, which writes to the terminal, without the bar. ended says that what is written ends a line.
func (b *bar) beside(write func(), ended bool) {
	if b == nil {
		write()
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	write()
	b.open = !ended
	b.draw()
}

// set changes what the bar shows.
func (b *bar) set(text []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	b.text = bytes.Clone(text)
	b.draw()
}

// remove takes the bar away.
func (b *bar) remove() {
	if b != nil {
		b.set(nil)
	}
}

func (b *bar) clear() {
	if b.drawn {
		io.WriteString(b.w, boot.BarMark)
		b.drawn = false
	}
}

func (b *bar) draw() {
	if len(b.text) > 0 && !b.open {
		b.w.Write(b.text)
		b.drawn = true
	}
}

// SplitBars takes what a PE has sent for the bar out of a piece of its output, and returns the last of it.
func SplitBars(piece []byte) (output, text []byte, found bool) {
	if !bytes.Contains(piece, []byte(boot.BarMark)) {
		return piece, nil, false
	}
	for line := range bytes.Lines(piece) {
		if t, is := bytes.CutPrefix(line, []byte(boot.BarMark)); is {
			text, found = bytes.TrimSuffix(t, []byte("\n")), true
		} else {
			output = append(output, line...)
		}
	}
	return output, text, found
}
