package checked

import (
	"fmt"
	"strings"
	"testing"
)

// heaps are what is allocated, for tests: each allocation has 100 bytes from a multiple of 100 on, and offset 0 is the
// runtime's.
type heaps struct{}

func (heaps) Live(off uint64) any {
	if off < 100 {
		return nil
	}
	return off / 100
}

func (heaps) OwnOffset(uintptr) (uint64, bool) { return 0, false }

// refused is what misuse panics with.
type refused string

func misuse(op, format string, args ...any) { panic(refused(op + ": " + fmt.Sprintf(format, args...))) }

// refusal returns what f panics with, or "".
func refusal(f func()) (text refused) {
	defer func() {
		if p := recover(); p != nil {
			text = p.(refused)
		}
	}()
	f()
	return ""
}

// TestOnto: an operation is under way to its allocation from its issue to a quiet of its PE, or of all PEs, that began
// later.
func TestOnto(t *testing.T) {
	type step func(d *Domain)
	issue := func(pe int, off uint64) step { return func(d *Domain) { d.issue("a put", pe, off) } }
	quiet := func(pe int) step { return func(d *Domain) { d.Quieted(pe, d.LastIssued()) } }
	late := func(pe int, off uint64) step { // an operation that is issued while a quiet waits
		return func(d *Domain) {
			last := d.LastIssued()
			d.issue("a put", pe, off)
			d.Quieted(-1, last)
		}
	}
	for _, tt := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"nothing", nil, ""},
		{"one", []step{issue(3, 210)}, "a put on PE 3"},
		{"the runtime's memory", []step{issue(3, 10)}, ""},
		{"another allocation", []step{issue(3, 310)}, ""},
		{"a quiet", []step{issue(3, 210), quiet(-1)}, ""},
		{"a quiet of the PE", []step{issue(3, 210), quiet(3)}, ""},
		{"a quiet of another PE", []step{issue(3, 210), quiet(2)}, "a put on PE 3"},
		{"two, and a quiet of one", []step{issue(3, 210), issue(2, 220), quiet(3)}, "a put on PE 2"},
		{"after a quiet", []step{issue(3, 210), quiet(-1), issue(1, 299)}, "a put on PE 1"},
		{"during a quiet", []step{issue(3, 210), late(3, 220)}, "a put on PE 3"},
	} {
		d := NewDomain(heaps{}, misuse, false, false)
		for _, s := range tt.steps {
			s(d)
		}
		if got := d.Onto(uint64(2)); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	var none *Domain
	none.Use("Put")()
	none.Quieted(-1, none.LastIssued())
	if got := none.Onto(uint64(2)); got != "" {
		t.Errorf("no domain has %q under way", got)
	}
}

// TestUse: a private domain is its first goroutine's, and a serialized one has one goroutine at a time.
func TestUse(t *testing.T) {
	elsewhere := func(f func()) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f()
		}()
		<-done
	}
	for _, tt := range []struct {
		name                string
		private, serialized bool
		after, during       bool // another goroutine's use is refused
	}{
		{"open to all", false, false, false, false},
		{"private", true, false, true, true},
		{"serialized", false, true, false, true},
	} {
		d := NewDomain(heaps{}, misuse, tt.private, tt.serialized)
		done := d.Use("Put")
		var during, after refused
		elsewhere(func() { during = refusal(func() { d.Use("Get")() }) })
		done()
		elsewhere(func() { after = refusal(func() { d.Use("Quiet")() }) })
		if (during != "") != tt.during || (after != "") != tt.after {
			t.Errorf("%s: %q during and %q after a use", tt.name, during, after)
		}
		if got := refusal(func() { d.Use("Fence")() }); got != "" {
			t.Errorf("%s: the first goroutine is refused: %s", tt.name, got)
		}
	}
}

// TestLocks: In finds the locks between two offsets that some goroutine holds.
func TestLocks(t *testing.T) {
	var l Locks
	l.Add(100, "a", 1)
	l.Add(200, "b", 1)
	l.Add(200, "b", 1)
	l.Add(200, "b", -1)
	l.Add(300, "c", 1)
	l.Add(300, "c", -1)
	l.Add(400, "d", -1) // it was taken before anything was noted
	for _, tt := range []struct {
		lo, hi uint64
		want   string
	}{
		{0, 100, ""}, {0, 101, "a"}, {100, 101, "a"}, {101, 200, ""}, {150, 250, "b"}, {201, 1000, ""}, {300, 500, ""},
	} {
		if _, name, _, ok := l.In(tt.lo, tt.hi); name != tt.want || ok != (tt.want != "") {
			t.Errorf("between %d and %d: %q, want %q", tt.lo, tt.hi, name, tt.want)
		}
	}
	l.Add(200, "b", -1)
	if _, name, _, ok := l.In(150, 250); ok {
		t.Errorf("%s is held after its last unlock", name)
	}
}

// TestRequests: a collective is under way on both of its allocations until it is over.
func TestRequests(t *testing.T) {
	var r Requests
	over := [2]bool{}
	for i := range over {
		r.Add(func() bool { return over[i] }, fmt.Sprint("dst", i), fmt.Sprint("src", i))
	}
	for _, step := range []struct {
		ends int
		want map[string]bool
	}{
		{-1, map[string]bool{"dst0": true, "src0": true, "dst1": true, "src1": true, "other": false}},
		{0, map[string]bool{"dst0": false, "src0": false, "dst1": true, "src1": true}},
		{1, map[string]bool{"dst0": false, "src0": false, "dst1": false, "src1": false}},
	} {
		if step.ends >= 0 {
			over[step.ends] = true
		}
		for key, want := range step.want {
			if got := r.busy(key); got != want {
				t.Errorf("after the end of %d: something on %s is %v", step.ends, key, got)
			}
		}
	}
	r.Add(func() bool { return true }, nil, nil)
	if len(r.list) != 1 {
		t.Errorf("%d collectives are kept, of which none is under way", len(r.list))
	}
}

// busy reports whether a collective is under way on the allocation of a key.
func (r *Requests) busy(key any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.list {
		if q := &r.list[i]; q.touches(key) {
			return true
		}
	}
	return false
}

// TestSignals: of a set and an add of two PEs to one signal the second is reported, if both have returned from as many
// barriers, and the second has learned nothing since.
func TestSignals(t *testing.T) {
	type pes [3]*Signals
	type step func(p pes) string
	updateOf := func(by, pe int, off uint64, add bool) step {
		return func(p pes) string { return p[by].Update(pe, off, add) }
	}
	learn := func(by int) step { return func(p pes) string { p[by].Learn(); return "" } }
	meet := func(by ...int) step {
		return func(p pes) string {
			for _, i := range by {
				p[i].Learn() // as every collective does
				p[i].Meet()
			}
			return ""
		}
	}
	set, add := updateOf(0, 12, 8, false), updateOf(1, 12, 8, true)
	for _, tt := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"set, add", []step{set, add}, "PE 10, at"},
		{"add, set", []step{add, set}, "PE 11, at"},
		{"two sets", []step{set, updateOf(1, 12, 8, false)}, ""},
		{"two adds", []step{updateOf(0, 12, 8, true), add}, ""},
		{"one PE", []step{set, updateOf(0, 12, 8, true)}, ""},
		{"two targets", []step{set, updateOf(1, 11, 8, true)}, ""},
		{"two signals", []step{set, updateOf(1, 12, 16, true)}, ""},
		{"a barrier between", []step{set, meet(0, 1, 2), add}, ""},
		{"a barrier before", []step{meet(0, 1, 2), set, add}, "PE 10, at"},
		{"the second is still in the barrier", []step{meet(0), set, add}, ""},
		{"the second has learned", []step{set, learn(1), add}, ""},
		{"the first has learned", []step{set, learn(0), add}, "PE 10, at"},
		{"the second has learned before the barrier", []step{learn(1), meet(0, 1, 2), set, add}, "PE 10, at"},
		{"found once", []step{set, add, add}, ""},
		{"the third", []step{set, updateOf(2, 12, 8, true)}, "PE 10, at"},
	} {
		boards := make([]Board, 3)
		for i := range boards {
			boards[i] = make(Board, BoardWords)
			for word, v := range []uint64{1, 8, update{12, 8, false}.word()} { // left by another job
				boards[i][word].Store(v)
			}
		}
		var p pes
		for i := range p {
			p[i] = new(Signals)
			p[i].Open(boards, 10, 10+i)
		}
		got := ""
		for _, s := range tt.steps {
			got = s(p)
		}
		if (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := new(Signals).Update(0, 8, true); got != "" {
		t.Errorf("without boards: %q", got)
	}
}

// TestSignalsForget: a board keeps the latest notes.
func TestSignalsForget(t *testing.T) {
	boards := []Board{make(Board, BoardWords), make(Board, BoardWords)}
	var a, b Signals
	a.Open(boards, 0, 0)
	b.Open(boards, 0, 1)
	for i := range uint64(boardNotes + 2) {
		a.Update(0, 8*i, false)
	}
	for i := range uint64(boardNotes + 2) {
		if got, want := b.Update(0, 8*i, true) != "", i >= 2; got != want {
			t.Errorf("note %d is found: %v", i, got)
		}
	}
}
