package output

// The output of many PEs becomes one text without torn lines: an agent sends whole lines, and the
// launcher writes each frame in one piece. A line longer than a buffer is sent in pieces, and so is
// a last line without an end. The launcher breaks such a line only if another PE writes in between, so
// the output of a single PE arrives byte for byte.

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"sync"
	"unicode/utf8"
)

// MaxLine is how much of a line is buffered to keep it whole.
const MaxLine = 64 << 10

// SplitLines reads r until its end and emits pieces that end with a line, as far as MaxLine allows. A piece
// is valid during the call.
func SplitLines(r io.Reader, emit func(piece []byte)) {
	buf := make([]byte, 4<<10)
	held := 0
	for {
		n, err := r.Read(buf[held:])
		fresh := held
		held += n
		if end := bytes.LastIndexByte(buf[fresh:held], '\n') + 1; end > 0 {
			emit(buf[:fresh+end])
			held = copy(buf, buf[fresh+end:held])
		}
		if err != nil {
			break
		}
		if held == len(buf) {
			if len(buf) < MaxLine {
				buf = append(buf, make([]byte, len(buf))...)
			} else {
				emit(buf)
				held = 0
			}
		}
	}
	if held > 0 {
		emit(buf[:held])
	}
}

// Lines writes the pieces of many PEs to one stream.
type Lines struct {
	width int // the width of the number in a tag; 0: no tags

	bar *bar // the bar on the same terminal; nil: none

	mu     sync.Mutex
	w      io.Writer
	openPE int   // 1 + the PE whose line has not ended, or 0
	failed error // the error of the first write that has failed

	// lost is called once, when the first write has failed.
	lost func(error)
}

// newLines returns lines that go to w; if tag is set, each begins with the number of its PE in a job of npes.
func newLines(w io.Writer, tag bool, npes int) *Lines {
	l := &Lines{w: w}
	if tag {
		l.width = len(strconv.Itoa(npes - 1))
	}
	return l
}

// Write writes a piece of the output of PE pe.
func (l *Lines) Write(pe int, piece []byte) {
	if len(piece) == 0 || l.w == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bar != nil {
		output, text, found := SplitBars(piece)
		if found {
			l.bar.set(text)
		}
		if piece = output; len(piece) == 0 {
			return
		}
	}
	var b []byte
	resumed := l.openPE == 1+pe
	if l.openPE != 0 && !resumed {
		b = append(b, '\n')
	}
	for line := range bytes.Lines(piece) {
		if l.width > 0 && !resumed {
			b = fmt.Appendf(b, "[%*d] ", l.width, pe)
		}
		resumed = false
		b = append(b, line...)
	}
	l.openPE = 0
	if piece[len(piece)-1] != '\n' {
		l.openPE = 1 + pe
	}
	l.writeBeside(b, l.openPE == 0)
}

// writeBeside writes b without the bar. ended says that b ends a line.
func (l *Lines) writeBeside(b []byte, ended bool) {
	var err error
	l.bar.beside(func() { _, err = l.w.Write(b) }, ended)
	if err == nil || l.failed != nil {
		return
	}
	l.failed = err
	if l.lost != nil {
		l.lost(err)
	}
}

// err returns the error of the first write that has failed, or nil.
func (l *Lines) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// New returns the lines of the standard output and error of a job with npes PEs; if tag is set, each begins with the
// number of its PE. When the output cannot be written, a line of the
// error says so: what is lost must not be lost without a word. The job goes on.
func New(toOut, toErrs io.Writer, tag bool, npes int) (out, errs *Lines) {
	if sameWriter(toOut, toErrs) {
		w := &lockedWriter{w: toOut}
		toOut, toErrs = w, w
	}
	out, errs = newLines(toOut, tag, npes), newLines(toErrs, tag, npes)
	out.lost = func(err error) {
		errs.Notice(fmt.Sprintf("%s: standard output: %v: what PEs print there is lost, and the job goes on\n", filepath.Base(os.Args[0]), Unwrapped(err)))
	}
	return out, errs
}

// sameWriter reports whether a and b are one writer, whose Write the two streams of a job must not call at once.
func sameWriter(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// lockedWriter is a writer that both streams of a job write to. It runs one Write at a time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// Status returns the exit status of a job whose output has gone to out and errs, and whose own status is given.
func Status(status int, out, errs *Lines) int {
	if out.err() != nil || errs.err() != nil {
		return max(status, 1)
	}
	return status
}

// Notice writes text of the launcher, on a line of its own.
func (l *Lines) Notice(text string) {
	l.EndLine()
	if l.w == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeBeside([]byte(text), true)
}

// EndLine ends the line that a PE has left open.
func (l *Lines) EndLine() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.openPE != 0 {
		l.writeBeside([]byte("\n"), true)
		l.openPE = 0
	}
}

// tail keeps the last lines that a PE has written to its standard error. If it crashed as Go
// programs do, tail keeps the first lines of the traceback, since the last ones are registers.
type tail struct {
	lines   [][]byte
	open    bool // the last line has not ended
	cut     bool // the last line has not been kept whole
	crashed bool // lines starts with a crash
}

const (
	tailLines = 8
	tailWidth = 240
)

// crashes are the beginnings of a traceback.
var crashes = [...]string{"panic: ", "fatal error: ", "SIG", "unexpected fault address", "WARNING: DATA RACE"}

func (t *tail) add(piece []byte) {
	for line := range bytes.Lines(piece) {
		text := bytes.TrimRight(line, "\r\n")
		if t.open {
			if last := len(t.lines) - 1; last >= 0 && !t.cut {
				t.lines[last], t.cut = Clip(append(t.lines[last], text...))
			}
		} else {
			text, t.cut = Clip(bytes.Clone(text))
			t.addLine(text)
		}
		t.open = line[len(line)-1] != '\n'
	}
}

func (t *tail) addLine(text []byte) {
	if !t.crashed && startsCrash(text) {
		t.crashed, t.lines = true, nil
	}
	if len(t.lines) == tailLines {
		if t.crashed {
			return
		}
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, text)
}

// text returns the lines.
func (t *tail) text() []string {
	var lines []string
	for _, line := range t.lines {
		lines = append(lines, string(line))
	}
	return lines
}

// Tails are the tails of PEs with numbers from first on. Any number of goroutines may use them.
type Tails struct {
	first int
	mu    sync.Mutex
	list  []tail
}

// NewTails returns the tails of n PEs, whose first has the number first.
func NewTails(first, n int) *Tails { return &Tails{first: first, list: make([]tail, n)} }

// Add adds a piece of the standard error of PE pe.
func (t *Tails) Add(pe int, piece []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list[pe-t.first].add(piece)
}

// Clear forgets all lines.
func (t *Tails) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.list)
}

// Of returns the last lines of PE pe.
func (t *Tails) Of(pe int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[pe-t.first].text()
}

func startsCrash(text []byte) bool {
	for _, c := range crashes {
		if bytes.HasPrefix(text, []byte(c)) {
			return true
		}
	}
	return false
}

// Clip returns what is kept of a line, and whether that is not the whole line. A long line ends behind a word, with …
// for the rest.
func Clip(b []byte) (kept []byte, cut bool) {
	if len(b) <= tailWidth {
		return b, false
	}
	kept = b[:tailWidth]
	for !utf8.RuneStart(b[len(kept)]) && len(kept) > tailWidth-utf8.UTFMax {
		kept = kept[:len(kept)-1]
	}
	if space := bytes.LastIndexByte(b[:tailWidth+1], ' '); space > tailWidth/2 {
		kept = b[:space+1]
	}
	return append(kept[:len(kept):len(kept)], "…"...), true
}

// Unwrapped returns the system's error of one that names a file.
func Unwrapped(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}
