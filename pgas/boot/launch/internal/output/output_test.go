package output

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/gopgas/gopgas/pgas/pgastest/capture"
)

// FuzzLines: whatever the pieces that a PE's output is read in, it arrives byte for byte when no
// other PE writes, and every piece but the last ends a line unless the line is very long.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), uint16(3))
	f.Add([]byte(strings.Repeat("x", 300)+"\ny\n"), uint16(40))
	f.Fuzz(func(t *testing.T, seed []byte, times uint16) {
		text := bytes.Repeat(seed, int(times)%2000)
		var got bytes.Buffer
		out := newLines(&got, false, 2)
		var pieces [][]byte
		SplitLines(iotest.HalfReader(bytes.NewReader(text)), func(p []byte) {
			pieces = append(pieces, bytes.Clone(p))
			out.Write(1, p)
		})
		if !bytes.Equal(got.Bytes(), text) {
			t.Fatalf("%d bytes arrive as %d", len(text), got.Len())
		}
		for i, p := range pieces {
			if i < len(pieces)-1 && p[len(p)-1] != '\n' && len(p) < MaxLine {
				t.Errorf("piece %d of %d bytes tears a line", i, len(p))
			}
		}
	})
}

func TestLines(t *testing.T) {
	type piece struct {
		pe   int
		text string
	}
	tests := map[string]struct {
		npes   int
		tag    bool
		pieces []piece
		want   string
	}{
		"whole":               {2, false, []piece{{0, "a\nb\n"}, {1, "c\n"}}, "a\nb\nc\n"},
		"resumed":             {2, false, []piece{{0, "a"}, {0, "b\n"}}, "ab\n"},
		"interrupted":         {2, false, []piece{{0, "a"}, {1, "c\n"}, {0, "b\n"}}, "a\nc\nb\n"},
		"tagged":              {2, true, []piece{{0, "a\nb\n"}, {1, "c\n"}}, "[0] a\n[0] b\n[1] c\n"},
		"tagged, resumed":     {2, true, []piece{{0, "a"}, {0, "b\nc"}, {0, "d\n"}}, "[0] ab\n[0] cd\n"},
		"tagged, interrupted": {2, true, []piece{{0, "a"}, {1, "c\n"}, {0, "b\n"}}, "[0] a\n[1] c\n[0] b\n"},
		"width of 100":        {100, true, []piece{{3, "a\n"}, {99, "b\n"}}, "[ 3] a\n[99] b\n"},
		"width of 101":        {101, true, []piece{{3, "a\n"}, {100, "b\n"}}, "[  3] a\n[100] b\n"},
	}
	for name, tt := range tests {
		var got bytes.Buffer
		l := newLines(&got, tt.tag, tt.npes)
		for _, p := range tt.pieces {
			l.Write(p.pe, []byte(p.text))
		}
		if got.String() != tt.want {
			t.Errorf("%s: %q, want %q", name, &got, tt.want)
		}
	}
}

func TestTail(t *testing.T) {
	tests := map[string]struct {
		pieces []string
		want   string // joined by |
	}{
		"few":         {[]string{"a\nb\n"}, "a|b"},
		"in pieces":   {[]string{"a", "b", "c\nd"}, "abc|d"},
		"many":        {[]string{"1\n2\n3\n4\n5\n", "6\n7\n8\n9\n"}, "2|3|4|5|6|7|8|9"},
		"a crash":     {[]string{"before\npanic: x\n1\n2\n3\n4\n5\n6\n7\n8\n", "9\n"}, "panic: x|1|2|3|4|5|6|7"},
		"a long line": {[]string{strings.Repeat("x", 1000) + "\n"}, strings.Repeat("x", tailWidth) + "…"},
		"a long line of words": {[]string{strings.Repeat("word ", 40), strings.Repeat("words ", 40), "more\nnext\n"},
			strings.Repeat("word ", 40) + strings.Repeat("words ", 6) + "…|next"},
		"a long line in letters of two bytes": {[]string{"x" + strings.Repeat("ü", 500) + "\n"}, "x" + strings.Repeat("ü", tailWidth/2-1) + "…"},
		"a line that just fits":               {[]string{strings.Repeat("y", tailWidth) + "\n"}, strings.Repeat("y", tailWidth)},
	}
	for name, tt := range tests {
		var l tail
		for _, p := range tt.pieces {
			l.add([]byte(p))
		}
		if got := string(bytes.Join(l.lines, []byte("|"))); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// Output that only looks like a crash is passed on completely and in order.
func TestCrashBuffer(t *testing.T) {
	var got capture.Output
	passed := make(chan bool, 10)
	c := &CrashBuffer{Emit: func(p []byte) { got.Write(p); passed <- true }}
	c.Write([]byte("one\npanic: not really\ntwo\n"))
	c.Write([]byte("three\n"))
	<-passed
	if got.String() != "one\n" {
		t.Errorf("before the crash %q is passed on", &got)
	}
	<-passed // by time
	c.Write([]byte("four\n"))
	<-passed
	c.Write(append([]byte("fatal error: "), make([]byte, crashBytes)...))
	<-passed // by size
	c.Write([]byte("\npanic: at the end\n"))
	<-passed
	c.Flush()
	<-passed
	c.Flush()
	want := "one\npanic: not really\ntwo\nthree\nfour\nfatal error: " + string(make([]byte, crashBytes)) + "\npanic: at the end\n"
	if got.String() != want {
		t.Errorf("%d bytes arrive, want %d", len(got.String()), len(want))
	}
}

// TestOneWriter gives both streams of a job the same writer, as a program does that wants all output in one buffer.
func TestOneWriter(t *testing.T) {
	w := &oneWrite{t: t}
	out, errs := New(w, w, false, 2)
	const n = 2000
	var writers sync.WaitGroup
	writers.Go(func() {
		for range n {
			out.Write(0, []byte("output\n"))
		}
	})
	writers.Go(func() {
		for range n {
			errs.Notice("message\n")
		}
	})
	writers.Wait()
	if got := strings.Count(w.text.String(), "\n"); got != 2*n {
		t.Errorf("%d lines of %d have arrived", got, 2*n)
	}
}

// oneWrite is a writer that fails its test if a Write begins before another has ended.
type oneWrite struct {
	t    *testing.T
	busy atomic.Bool
	text bytes.Buffer
}

func (w *oneWrite) Write(b []byte) (int, error) {
	if !w.busy.CompareAndSwap(false, true) {
		w.t.Error("a Write begins before another has ended")
		return len(b), nil
	}
	defer w.busy.Store(false)
	runtime.Gosched()
	return w.text.Write(b)
}
