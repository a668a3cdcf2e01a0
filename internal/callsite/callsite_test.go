package callsite

import (
	"fmt"
	"runtime"
	"testing"
)

// TestIsRuntime: reports show calls of the program, not those of the runtime, of libraries above it or of generated
// code.
func TestIsRuntime(t *testing.T) {
	for _, c := range []struct {
		function, file string
		want           bool
	}{
		{Module + "pgas.(*World).Barrier", "collective.go", true},
		{Module + "pgas/internal/coll.(*Group).Sync", "sync.go", true},
		{Module + "dsm.(*Region).Barrier", "barrier.go", true},
		{Module + "dsm/pager.Open", "pager.go", true},
		{Module + "locks.(*mcs).Lock", "mcs.go", true},
		{Module + "dsm_test.TestX", "x_test.go", false},
		{Module + "samples/wordcount.main", "main.go", false},
		{"example.com/solver.Cell", "cell_pgas.go", true},
		{"main.main", "main.go", false},
		{"main.main", checkout + "samples/why/main.go", false},
		{"main.main", checkout + "pgas/sym.go", true}, // inlined
		{"main.main-range1", checkout + "containers/array.go", true},
		{Module + "containers.(*Queue[...]).Push", "queue.go", true},
		{Module + "arena.(*Arena).Alloc", "arena.go", true},
		{Module + "coherent.(*Array[...]).At", "array.go", true},
		{Module + "input.ReadShare", "readshare.go", true},
		{Module + "progress.New", "progress.go", true},
		{"runtime.goexit", "asm.s", true},
	} {
		if got := IsRuntime(c.function, c.file); got != c.want {
			t.Errorf("%s in %s: %t, want %t", c.function, c.file, got, c.want)
		}
	}
}

// TestIsCall: a report names the accessor that the program calls, and not what stands between them.
func TestIsCall(t *testing.T) {
	for _, c := range []struct {
		function, file string
		want           string
	}{
		{Module + "pgas.GetField[...]", "generated_unsafe.go", "GetField"},
		{"example.com/solver.CellRef.GetSum", "cell_pgas.go", "CellRef.GetSum"},
		{"main.CellRef.GetSum", "cell_pgas.go", "CellRef.GetSum"},
		{Module + "containers.(*Queue[...]).Push.func1", "queue.go", "Queue.Push"},
		{"slices.SortFunc[...]", "sort.go", ""},
	} {
		got := ""
		if isCall(c.function, c.file) {
			got = shortName(c.function)
		}
		if got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.function, c.file, got, c.want)
		}
	}
}

// TestOfPanic: the site of a panic is that of the call that has panicked, not of the deferred function that asks.
func TestOfPanic(t *testing.T) {
	var at, asked string
	var line int
	func() {
		defer func() {
			recover()
			at, asked = OfPanic(), Program()
		}()
		panics(&line)
	}()
	if at != fmt.Sprint("callsite/callsite_test.go:", line) || asked == at {
		t.Errorf("it panicked at %q, and %q asked", at, asked)
	}
}

func panics(line *int) {
	_, _, *line, _ = runtime.Caller(0)
	*line += 2 // where it panics
	panic("here")
}

// TestTakeAgain: a Stack says where it was taken last, also in the same function, and in one that several places call.
func TestTakeAgain(t *testing.T) {
	var s Stack
	for range 3 {
		s.Take()
		expect(t, &s, 0, line()-1)
		s.Take()
		expect(t, &s, 0, line()-1)
		take(&s)
		expect(t, &s, 1, line()-1)
		take(&s)
		expect(t, &s, 1, line()-1)
		func() { take(&s) }()
		expect(t, &s, 1, line()-1)
		expect(t, &s, 2, line()-2)
	}
}

//go:noinline
func take(s *Stack) { s.Take() }

// line returns the line of its call.
func line() int {
	_, _, n, _ := runtime.Caller(1)
	return n
}

// expect reports an error unless the call in a frame of s, from the innermost one on, is at a line.
func expect(t *testing.T, s *Stack, frame, want int) {
	t.Helper()
	frames := runtime.CallersFrames(s.pcs[:s.n])
	f, _ := frames.Next()
	for range frame {
		f, _ = frames.Next()
	}
	if f.Line != want {
		t.Errorf("frame %d is at line %d, want %d", frame, f.Line, want)
	}
}

// TestGoroutine: two goroutines have different numbers, and each keeps its own.
func TestGoroutine(t *testing.T) {
	mine := Goroutine()
	other := make(chan uint64)
	go func() { other <- Goroutine() }()
	if its := <-other; mine == 0 || its == 0 || mine == its || Goroutine() != mine {
		t.Errorf("this goroutine is %d, and then %d; another is %d", mine, Goroutine(), its)
	}
}
