package record

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// mapped returns a PE's side and a reader's of the same memory, as an agent and a process have them.
func mapped(t *testing.T, npes, first, pes, events int) (writer, reader *Memory) {
	t.Helper()
	f, err := Create(npes, first, pes, events)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	open := func() *Memory {
		m, err := Map(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	return open(), open()
}

// TestCounts: what PEs of a host count is what a reader of the memory sees, each of its own.
func TestCounts(t *testing.T) {
	writer, reader := mapped(t, 7, 2, 3, 0)
	for number := 2; number < 5; number++ {
		p := writer.PE(number)
		p.Start(nil)
		for k := range NumKinds {
			p.Operation(k, 6, number*int(k))
		}
		p.Add(NotesMatched, 2)
		p.Set(HeapInUse, uint64(number))
		p.EndWait(p.BeginWait("barrier", 0, 1, 0))
		p.EndWait(p.BeginWait("barrier", -1, 1, 0))
	}
	for number := 2; number < 5; number++ {
		c := reader.PE(number).Counts()
		if c.Counters[NotesMatched] != 2 || c.Counters[HeapInUse] != uint64(number) {
			t.Errorf("PE %d: counters %v", number, c.Counters)
		}
		if w := c.Waits["barrier"]; len(c.Waits) != 1 || w.Count != 2 {
			t.Errorf("PE %d: waits %v", number, c.Waits)
		}
		last := c.Peers[len(c.Peers)-1]
		if last.Peer != 6 || last.Operations() != uint64(NumKinds) || last.Total() != uint64(number*int(NumKinds*(NumKinds-1)/2)) {
			t.Errorf("PE %d: %+v", number, c.Peers)
		}
	}
	if c := reader.PE(3).Trace(); len(c.Events) != 0 || c.Dropped != 0 {
		t.Errorf("a memory without a trace has one: %+v", c)
	}
}

// TestPlaces: a wait with a place counts for its cause and for its line, also while it is open; places have a bound and
// leave room for causes; a name without room for the line is no place.
func TestPlaces(t *testing.T) {
	writer, reader := mapped(t, 1, 0, 1, 1000)
	p := writer.PE(0)
	now := time.Duration(0)
	p.Start(func() time.Duration { return now })
	now = time.Millisecond
	m := p.BeginWait("wait", -1, 8, 0)
	if !p.BeginsLate(m) || p.Lasts(m) {
		t.Error("a wait after a millisecond of other work does not begin late, or lasts")
	}
	m = p.Place(m, "wait at my solver/main.go:40")
	if p.BeginsLate(p.BeginWait("wait", -1, 8, 0)) {
		t.Error("what a wait with a place contains is worth one, too")
	}
	now = 2 * time.Millisecond
	if p.Lasts(m) {
		t.Error("a wait with a place is worth another one")
	}
	p.EndWait(m)
	short := p.BeginWait("wait", -1, 8, 0)
	now += time.Duration(worthPlace)
	if p.BeginsLate(short) || !p.Lasts(short) {
		t.Error("a wait that lasts begins late, or does not last")
	}
	p.EndWait(short)
	long := "wait at " + strings.Repeat("x", nameBytes) + ".go:1"
	p.EndWait(p.Place(p.BeginWait("wait", -1, 8, 0), long))
	for i := range 2 * MaxNames {
		p.EndWait(p.Place(p.BeginWait("get", -1, 8, 0), fmt.Sprintf("get at a.go:%d", i)))
	}
	p.EndWait(p.BeginWait("a cause", -1, 0, 0))
	c, tr := reader.PE(0).Counts(), reader.PE(0).Trace()
	if got := c.Lines["wait at my solver/main.go:40"]; got != (Waited{1, time.Millisecond}) || c.Waits["wait"].Count != 3 || c.Waits["a cause"].Count != 1 {
		t.Errorf("a place counts %+v, causes %+v", got, c.Waits)
	}
	if c.Waits["get"].Count != 2*MaxNames || len(c.Waits) != 3 || len(c.Lines) > mostPlaces {
		t.Errorf("%d places, and causes %v", len(c.Lines), c.Waits)
	}
	if got := tr.PlaceOf(tr.Events[0]); got != "my solver/main.go:40" || tr.NameOf(tr.Events[0]) != "wait" || tr.PlaceOf(tr.Events[1]) != "" {
		t.Errorf("the trace has the place %q of %q, and %q", got, tr.NameOf(tr.Events[0]), tr.PlaceOf(tr.Events[1]))
	}
}

// TestTrace: events keep what they were recorded with; one that has not ended is open; those without room are counted.
func TestTrace(t *testing.T) {
	writer, reader := mapped(t, 2, 0, 2, 4)
	p := writer.PE(1)
	now := time.Duration(5)
	p.Start(func() time.Duration { now += 10; return now })
	wait := p.BeginWait("lock", 0, 77, 0)
	region := p.Begin(Region, "solve", -1, 0, 3)
	p.Record(Update, 1, 4096, 9)
	p.EndWait(wait)
	open := p.Begin(Call, "broadcast", -1, 12, 0)
	p.Record(Note, 1, 0, 5)
	p.EndWait(p.BeginWait("late", 0, 0, 0))
	p.End(region)
	_ = open
	got := reader.PE(1).Trace()
	want := []Event{
		{Start: 15, Dur: 30, Kind: Wait, Name: 0, Peer: 0, Seq: 77},
		{Start: 25, Dur: 70, Kind: Region, Name: 1, Peer: -1, Value: 3},
		{Start: 35, Kind: Update, Peer: 1, Seq: 4096, Value: 9},
		{Start: 55, Dur: Open, Kind: Call, Name: 2, Peer: -1, Seq: 12},
	}
	if fmt.Sprint(got.Events) != fmt.Sprint(want) {
		t.Errorf("events\n%v, want\n%v", got.Events, want)
	}
	if got.Dropped != 2 || strings.Join(got.Names, " ") != "lock solve broadcast late" {
		t.Errorf("dropped %d, names %q", got.Dropped, got.Names)
	}
	if w := reader.PE(1).Counts().Waits["late"]; w.Count != 1 || w.Time != 10 {
		t.Errorf("a wait that is not in the trace counts as %+v", w)
	}
	if reader.PE(0).Trace().Events != nil {
		t.Error("PE 0 has the events of PE 1")
	}
}

// TestNamesOverflow: names without end neither fill the memory nor cost the names that there are.
func TestNamesOverflow(t *testing.T) {
	p := New(1, 0, 1, 0).PE(0)
	p.Start(nil)
	long := strings.Repeat("x", 300)
	p.EndWait(p.BeginWait(long, 0, 0, 0))
	for i := range 3 * MaxNames {
		p.EndWait(p.BeginWait(fmt.Sprint("cause ", i), 0, 0, 0))
	}
	c := p.Counts()
	if len(c.Waits) != MaxNames || c.Waits[long[:nameBytes-1]].Count != 1 || c.Waits["cause 7"].Count != 1 {
		t.Errorf("%d causes: %v", len(c.Waits), c.Waits)
	}
	if n := c.Waits[Others].Count; n != 3*MaxNames-(MaxNames-2) {
		t.Errorf("%d waits for other causes", n)
	}
}

// TestConcurrent: goroutines of a PE record at once, and a reader reads meanwhile. The race detector watches.
func TestConcurrent(t *testing.T) {
	m := New(1, 0, 1, 1000)
	p := m.PE(0)
	p.Start(nil)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 300 {
				w := p.BeginWait(fmt.Sprint("cause ", n%5), 0, 0, 0)
				p.Operation(Put, 0, 8)
				p.Record(Update, 0, uint64(i), uint64(n))
				p.EndWait(w)
			}
		})
	}
	for range 100 {
		for _, e := range p.Trace().Events {
			if e.Kind != Wait && e.Kind != Update && e.Kind != Value {
				t.Fatalf("a reader sees %+v", e)
			}
		}
	}
	all.Wait()
	if tr := p.Trace(); len(tr.Events) != 1000 || tr.Dropped+tr.Updates < 1402 { // 2,400, and samples of the counters
		t.Errorf("%d events, %d dropped", len(tr.Events), tr.Dropped)
	}
	if c := p.Counts(); c.Peers[0].Ops[Put] != 1200 || c.Waits["cause 3"].Count != 240 {
		t.Errorf("counts %+v", c)
	}
}

// TestUpdatesLeaveRoom: a program that updates words all the time fills half of the room, and its waits are recorded
// still.
func TestUpdatesLeaveRoom(t *testing.T) {
	p := New(1, 0, 1, 100).PE(0)
	p.Start(nil)
	for range 1000 {
		p.Record(Update, 0, 8, 1)
	}
	for range 30 {
		p.EndWait(p.BeginWait("barrier", 0, 1, 0))
	}
	n := map[EventKind]int{}
	tr := p.Trace()
	for _, e := range tr.Events {
		n[e.Kind]++
	}
	if n[Update] != 50 || n[Wait] != 30 || tr.Updates != 950 || tr.Dropped != 0 {
		t.Errorf("recorded %v, dropped %d", n, tr.Dropped)
	}
}

// TestMapsNoOther: a file that is no memory of records is refused.
func TestMapsNoOther(t *testing.T) {
	for _, change := range []func(mem []byte){
		func(mem []byte) { mem[0] ^= 1 },
		func(mem []byte) { mem[8] = 200 },            // PEs of the job
		func(mem []byte) { mem[16] = 200 },           // the first
		func(mem []byte) { mem[24]++ },               // PEs of the host
		func(mem []byte) { mem[39] = 0xff },          // events
		func(mem []byte) { mem[32], mem[33] = 0, 1 }, // other events
	} {
		f, err := Create(2, 0, 2, 8)
		if err != nil {
			t.Fatal(err)
		}
		page := make([]byte, pageBytes)
		f.ReadAt(page, 0)
		change(page)
		f.WriteAt(page, 0)
		if _, err := Map(f); err == nil || !strings.Contains(err.Error(), "another version") {
			t.Errorf("mapping it: %v", err)
		}
		f.Close()
	}
	small, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	small.Truncate(10)
	if _, err := Map(small); err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("mapping 10 bytes: %v", err)
	}
}

// TestSizeIsFixed: a PE cannot take the memory away that its agent reads, which would end the agent.
func TestSizeIsFixed(t *testing.T) {
	f, err := Create(2, 0, 2, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int64{0, pageBytes, 1 << 30} {
		if f.Truncate(size) == nil {
			t.Errorf("the file can be given %d bytes", size)
		}
	}
}

// TestNamesAlike: names that differ only where there is no room for them count together.
func TestNamesAlike(t *testing.T) {
	p := New(1, 0, 1, 0).PE(0)
	now := time.Duration(0)
	p.Start(func() time.Duration { now += 10; return now })
	long := strings.Repeat("x", nameBytes)
	for _, name := range []string{long + "a", long + "b", long + "a"} {
		p.EndWait(p.BeginWait(name, -1, 0, 0))
	}
	if w := p.Counts().Waits[long[:nameBytes-1]]; w.Count != 3 || w.Time != 30 {
		t.Errorf("3 waits of 10 ns count as %+v", w)
	}
}

// TestWithin: events that a PE cannot have recorded are found, those at either end of its time and open ones are not.
func TestWithin(t *testing.T) {
	const from, to = 100, 200
	good := []Event{{Start: from, Dur: 100}, {Start: to}, {Start: 150, Dur: Open}}
	bad := []Event{{Start: from - 1}, {Start: to + 1}, {Start: 150, Dur: 51}, {Start: 150, Dur: 1<<63 - 1}, {Start: 150, Dur: -2}, {Start: -1 << 63, Dur: -1 << 63}, {Start: 1<<63 - 1, Dur: 1<<63 - 1}}
	tr := Trace{Events: append(bad, good...)}
	if n := tr.Within(from, to); n != len(bad) || fmt.Sprint(tr.Events) != fmt.Sprint(good) {
		t.Errorf("%d are left out, and there are %v", n, tr.Events)
	}
}

// TestNamesCanBeShown: a name of any bytes is a line of text to whoever reads it, and a long one ends with a whole
// character.
func TestNamesCanBeShown(t *testing.T) {
	p := New(1, 0, 1, 0).PE(0)
	p.Start(nil)
	for _, name := range []string{"a\x1b[2Jb\nc", "d\xffe", strings.Repeat("é", nameBytes), "größe ⇒ 1"} {
		p.EndWait(p.BeginWait(name, -1, 0, 0))
	}
	p.NameLevels([]string{"f\tg"})
	want := []string{"a?[2Jb?c", "d?e", strings.Repeat("é", (nameBytes-1)/2), "größe ⇒ 1"}
	if got := p.Names(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if c := p.Counts(); len(c.Waits) != len(want) || c.Levels[0] != "f?g" {
		t.Errorf("counts %+v", c)
	}
}
