package launch

// The parts that need no job: frames, lines, the report.

import (
	"bufio"
	"bytes"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/pgastest/capture"
)

func TestAwaitGreeting(t *testing.T) {
	const rest = "the rest"
	for name, tt := range map[string]struct {
		text string
		err  error
	}{
		"at once":      {greeting + rest, nil},
		"after a motd": {"welcome\n\x00 to \x00pgas-\x00\x00" + greeting + rest, nil},
		"never":        {"no", io.EOF},
		"too long":     {greetingMark + strings.Repeat("1", longestGreeting) + "\n", errNoGreeting},
		"too late":     {strings.Repeat("y\n", maxBanner) + greeting, errNoGreeting},
	} {
		r := bufio.NewReader(strings.NewReader(tt.text))
		if text, err := awaitGreeting(r, nil, nil, nil); err != tt.err || err == nil && text != greeting {
			t.Errorf("%s: %v, want %v", name, err, tt.err)
		} else if left, _ := io.ReadAll(r); err == nil && string(left) != rest {
			t.Errorf("%s: leaves %q", name, left)
		}
	}
}

func FuzzFrames(f *testing.F) {
	var b bytes.Buffer
	s := &sender{w: &b}
	s.bytes(fromStdout, []byte{0, 0, 0, 1}, []byte("text\n"))
	s.value(fromDeath, death{PE: 3})
	f.Add(b.Bytes())
	f.Add([]byte{'o', 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, text []byte) {
		var again bytes.Buffer
		r := bufio.NewReader(bytes.NewReader(text))
		for {
			k, data, err := readFrame(r)
			if err != nil {
				break
			}
			(&sender{w: &again}).bytes(k, data)
		}
		if !bytes.HasPrefix(text, again.Bytes()) {
			t.Errorf("%x is read as %x", text, again.Bytes())
		}
	})
}

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
		splitLines(iotest.HalfReader(bytes.NewReader(text)), func(p []byte) {
			pieces = append(pieces, bytes.Clone(p))
			out.write(1, p)
		})
		if !bytes.Equal(got.Bytes(), text) {
			t.Fatalf("%d bytes arrive as %d", len(text), got.Len())
		}
		for i, p := range pieces {
			if i < len(pieces)-1 && p[len(p)-1] != '\n' && len(p) < maxLine {
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
			l.write(p.pe, []byte(p.text))
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
	c := &crashBuffer{emit: func(p []byte) { got.Write(p); passed <- true }}
	c.write([]byte("one\npanic: not really\ntwo\n"))
	c.write([]byte("three\n"))
	<-passed
	if got.String() != "one\n" {
		t.Errorf("before the crash %q is passed on", &got)
	}
	<-passed // by time
	c.write([]byte("four\n"))
	<-passed
	c.write(append([]byte("fatal error: "), make([]byte, crashBytes)...))
	<-passed // by size
	c.write([]byte("\npanic: at the end\n"))
	<-passed
	c.flush()
	<-passed
	c.flush()
	want := "one\npanic: not really\ntwo\nthree\nfour\nfatal error: " + string(make([]byte, crashBytes)) + "\npanic: at the end\n"
	if got.String() != want {
		t.Errorf("%d bytes arrive, want %d", len(got.String()), len(want))
	}
}

func TestReport(t *testing.T) {
	hosts := []*host{
		{table: []blocked{{PE: 0, Op: boot.InBarrier, Peer: -1, Seq: 3, ForNsec: 2e9}, {PE: 1, Op: boot.NotBlocked}, {PE: 2, Exited: true},
			{PE: 11, Ends: true, Reason: boot.EndMismatch}, {PE: 12, Ends: true, Reason: boot.EndMismatch}, {PE: 13, Ends: true, Reason: boot.EndOwn}}},
		{table: []blocked{{PE: 3, Op: boot.InBarrier, Peer: -1, Seq: 3, ForNsec: 1234567}, {PE: 4, Op: boot.InWait, Peer: -1, Seq: 64, ForNsec: 1e6}, {PE: 5, Op: boot.InGet, Peer: 2, ForNsec: 90e9}, {PE: 6, Op: boot.InLock, Peer: 3, Seq: 64},
			{PE: 7, Op: boot.InWait, Peer: -1, Seq: 0x1000048, Name: "Tally.Ready[0]", Site: "count/main.go:40"}, {PE: 8, Op: boot.InPageFault, Peer: 2},
			{PE: 9, Op: boot.InFetch, Peer: 2, Seq: 5}, {PE: 10, Op: boot.InRelease, Peer: 2, Seq: 6, Name: "array 0 ([]int)[64:128]", Site: "count/main.go:40"}}},
	}
	const want = "    PE 0,3: in barrier number 3, for 2s\n" +
		"    PE 11-12: ending with a mismatch of collectives\n" +
		"    PE 13: ending with an error of its own\n" +
		"    PE 4: in wait on the word at 0x40 of its heap, for 1ms\n" +
		"    PE 5: in get, waiting for PE 2, for 1m30s\n" +
		"    PE 6: in lock at 0x40 of the heap, waiting for PE 3\n" +
		"    PE 7: in wait on Tally.Ready[0] (at 0x1000048 of its heap), called at count/main.go:40\n" +
		"    PE 8: in a page fault of coherent memory, waiting for PE 2\n" +
		"    PE 9: in a fetch of coherent memory, block 5, waiting for PE 2\n" +
		"    PE 10: in a release of coherent memory, block 6 (array 0 ([]int)[64:128]), waiting for PE 2, called at count/main.go:40\n"
	if got := formatTable(hosts, 1); got != want {
		t.Errorf("the table is\n%s, want\n%s", got, want)
	}
	f := &Failure{death: death{PE: 1, Process: 42, Status: syscall.WaitStatus(9)}, Host: "a", Tail: []string{"oops"}, Others: want}
	if got := f.String(); got != "PE 1 on host a (process 42) was killed by signal 9 (SIGKILL)\n  its last lines:\n    oops\n  the others were doing:\n"+want {
		t.Errorf("the report is\n%s", got)
	}
	if got := f.Signal(); got != syscall.SIGKILL {
		t.Errorf("signal %v", got)
	}
}

// TestRootCause gives the launcher deaths in some order and checks which PE it reports.
func TestRootCause(t *testing.T) {
	killed, exited := syscall.WaitStatus(9), syscall.WaitStatus(1<<8)
	fail := func(pe int, when int64) death {
		return death{PE: pe, Status: exited, Reason: boot.EndOwn, Peer: -1, FailedAt: when}
	}
	lose := func(pe, peer int, when int64) death {
		return death{PE: pe, Status: exited, Reason: boot.EndLost, Peer: peer, FailedAt: when}
	}
	silent := func(pe int, status syscall.WaitStatus, lost int, when int64) death {
		return death{PE: pe, Status: status, Peer: lost, FailedAt: when}
	}
	const ended = 100 // when the launcher asked the PEs to end, after the first death that it saw
	tests := map[string]struct {
		deaths   []death
		pe, lost int
	}{
		"one":                             {[]death{fail(1, 5)}, 1, -1},
		"the earlier of two":              {[]death{fail(1, 5), fail(2, 4)}, 2, -1},
		"a survivor first":                {[]death{lose(0, 2, 7), silent(2, killed, -1, 9)}, 2, -1},
		"a survivor with an earlier time": {[]death{lose(0, 2, 7), fail(2, 9)}, 2, -1},
		"one survivor blames another":     {[]death{lose(0, 1, 7), lose(1, 2, 8), silent(2, killed, -1, 9)}, 2, -1},
		"none failed by itself":           {[]death{lose(0, 1, 7), lose(1, 2, 8)}, 1, 2},
		"two that lost each other":        {[]death{lose(0, 1, 7), lose(1, 0, 8)}, 0, -1},
		"a survivor that says nothing":    {[]death{silent(0, exited, 2, 7), silent(2, killed, -1, 9)}, 2, -1},
		"a survivor that aborts":          {[]death{silent(0, syscall.WaitStatus(6), -1, 7), silent(2, killed, -1, 9)}, 2, -1},
		"an abort alone":                  {[]death{silent(0, syscall.WaitStatus(6), -1, 7), lose(1, 0, 8)}, 0, -1},
		"told to end":                     {[]death{lose(0, 2, 7), {PE: 1, Status: exited, Reason: boot.EndOnRequest, Peer: -1, FailedAt: 150}}, 0, 2},
		"ended by the launcher":           {[]death{lose(0, 2, 7), {PE: 2, Status: syscall.WaitStatus(15), Peer: -1, FailedAt: 150, ByLauncher: true}}, 0, 2},
		"failed, then ended":              {[]death{lose(0, 2, 7), {PE: 2, Status: syscall.WaitStatus(15), Reason: boot.EndOwn, Peer: -1, FailedAt: 3, ByLauncher: true}}, 2, -1},
		"an error because of the end":     {[]death{lose(0, 2, 7), fail(1, 150)}, 0, 2},
		"all disagree":                    {[]death{{PE: 1, Status: exited, Reason: boot.EndMismatch, FailedAt: 3}, fail(2, 4)}, 2, -1},
	}
	for name, tt := range tests {
		j := &job{tails: make([]tail, 3)}
		for i, d := range tt.deaths {
			j.recordDeath(&host{}, d)
			if i == 0 {
				j.terminating, j.terminatedAt = true, ended
			}
		}
		if o, lost := j.rootCause(); o.PE != tt.pe || lost != tt.lost {
			t.Errorf("%s: PE %d, lost %d; want PE %d, lost %d", name, o.PE, lost, tt.pe, tt.lost)
		}
	}
}

// Of PEs that have failed for the same reason one prints it, and the launcher reports that one.
func TestWithOutput(t *testing.T) {
	for _, why := range []boot.EndReason{boot.EndOwn, boot.EndMismatch} {
		j, h := &job{tails: make([]tail, 3)}, &host{}
		for pe, at := range []int64{4, 5, 6} {
			j.recordDeath(h, death{PE: pe, Status: 1 << 8, Reason: why, Peer: -1, FailedAt: at})
		}
		j.tails[1].lines = [][]byte{[]byte("pgas: PE 1 on a: the heap is full")}
		if o, _ := j.rootCause(); o.PE != 1 {
			t.Errorf("reason %d: PE %d is named, which has printed nothing", why, o.PE)
		}
	}
}

// The clocks of two hosts differ by much more than deaths do.
func TestClockOffset(t *testing.T) {
	j := &job{tails: make([]tail, 2)}
	a, b := &host{}, &host{}
	a.updateClockOffset(1000, 5010)
	b.updateClockOffset(9_000_000, 5007)
	a.updateClockOffset(2000, 6900) // held up
	b.updateClockOffset(9_000_500, 5502)
	j.recordDeath(b, death{PE: 1, Status: 9, Peer: -1, FailedAt: 9_001_100})
	j.recordDeath(a, death{PE: 0, Status: 9, Peer: -1, FailedAt: 2090})
	if o, _ := j.rootCause(); o.PE != 0 {
		t.Errorf("PE %d, which failed 1 after PE 0", o.PE)
	}
}

func TestExitStatus(t *testing.T) {
	for _, tt := range []struct {
		d    death
		want int
	}{
		{death{}, 0},
		{death{Status: 3 << 8}, 3},
		{death{Status: 11}, 128 + 11},
		{death{NeverLeft: true}, 1},
		{death{Status: 3 << 8, NeverLeft: true}, 3},
	} {
		if got := exitStatus(tt.d); got != tt.want {
			t.Errorf("%+v: %d, want %d", tt.d, got, tt.want)
		}
	}
}

func TestRanges(t *testing.T) {
	for want, n := range map[string][]int{"": nil, "4": {4}, "0-3,5,7-8": {0, 1, 2, 3, 5, 7, 8}} {
		if got := Ranges(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

func TestRoundAge(t *testing.T) {
	for want, d := range map[string]time.Duration{"2m3s": 123456 * time.Millisecond, "1.2s": 1234 * time.Millisecond, "12.3ms": 12345 * time.Microsecond} {
		if got := roundAge(d).String(); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// TestTraceOfStrangePiece: nothing that a piece of a trace says of itself leads outside of the job.
func TestTraceOfStrangePiece(t *testing.T) {
	var got []PETrace
	j := &job{npes: 4, spec: Spec{Trace: func(p PETrace) { got = append(got, p) }}}
	h := &host{Host: boot.Host{First: 2, PEs: 2}, index: 1}
	send := func(p PETrace) {
		var frame bytes.Buffer
		if err := (&sender{w: &frame}).value(fromTrace, p); err != nil {
			t.Fatal(err)
		}
		_, data, err := readFrame(bufio.NewReader(&frame))
		if err != nil {
			t.Fatal(err)
		}
		j.trace(h, data)
	}
	send(PETrace{Trace: record.Trace{PE: 1}}) // of another host
	send(PETrace{Trace: record.Trace{PE: 4}})
	send(PETrace{Trace: record.Trace{PE: 3, Host: 77, Events: []record.Event{{Kind: record.Wait, Peer: 4}, {Kind: record.NumEvents}, {Kind: record.Note, Peer: 1}}},
		Counts: &record.Counts{PE: 9, Peers: []record.Traffic{{Peer: -1}, {Peer: 3}, {Peer: 4}}}})
	if len(got) != 1 || got[0].PE != 3 || got[0].Host != 1 || len(got[0].Events) != 1 || got[0].Counts.PE != 3 || len(got[0].Counts.Peers) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestOneWriter gives both streams of a job the same writer, as a program does that wants all output in one buffer.
func TestOneWriter(t *testing.T) {
	w := &oneWrite{t: t}
	out, errs := newOutput(&Spec{Stdout: w, Stderr: w}, 2)
	const n = 2000
	var writers sync.WaitGroup
	writers.Go(func() {
		for range n {
			out.write(0, []byte("output\n"))
		}
	})
	writers.Go(func() {
		for range n {
			errs.notice("message\n")
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
