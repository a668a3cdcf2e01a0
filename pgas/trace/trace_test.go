package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// script records what PEs do at given times.
type script struct {
	memory *record.Memory
	now    time.Duration
	pes    []*record.PE
}

func newScript(npes, events int) *script {
	s := &script{memory: record.New(npes, 0, npes, events)}
	for i := range npes {
		p := s.memory.PE(i)
		p.Start(func() time.Duration { return s.now })
		s.pes = append(s.pes, p)
	}
	return s
}

// trace returns the trace of s, each PE on a host of its own if clocks are given.
func (s *script) trace(hosts []Host, clocks []Clock) *Trace {
	var all Collector
	for i, p := range s.pes {
		t, counts := p.Trace(), p.Counts()
		if len(hosts) > 1 {
			t.Host = i
		}
		for n := len(t.Events); n > 0; n = len(t.Events) { // in pieces, as they come from hosts
			n = min(n, 3)
			piece := t
			piece.Events = t.Events[:n]
			all.Add(piece, nil)
			t.Events = t.Events[n:]
		}
		all.Add(record.Trace{PE: t.PE}, &counts)
	}
	return all.Trace(hosts, clocks)
}

var oneHost = []Host{{Name: "a", Known: true}}

// TestFlows: an arrow leads from what has ended a wait, and from nothing else.
func TestFlows(t *testing.T) {
	const word, lock = 4096, 8192
	cases := []struct {
		name string
		run  func(s *script)
		want []Flow
	}{
		{"an update of the word", func(s *script) {
			w := s.pes[0].BeginWait("wait", -1, word, 0)
			s.now = 5
			s.pes[1].Record(record.Update, 0, word+8, 1) // another word
			s.pes[1].Record(record.Update, 2, word, 1)   // of another PE
			s.pes[2].Record(record.Update, 0, word, 1)
			s.now = 9
			s.pes[0].EndWait(w)
			s.now = 10
			s.pes[1].Record(record.Update, 0, word, 2) // too late
		}, []Flow{{From: 2, To: 0, FromAt: 5, ToAt: 9, Name: "update"}}},
		{"one that was there before", func(s *script) {
			s.pes[1].Record(record.Update, 0, word, 1)
			s.now = 5
			w := s.pes[0].BeginWait("wait", -1, word, 0)
			s.now = 6
			s.pes[0].EndWait(w)
		}, nil},
		{"a lock that is handed on", func(s *script) {
			w := s.pes[0].BeginWait("lock", 1, lock, 0)
			s.now = 7
			s.pes[1].Record(record.Update, 0, lock+16, 1)
			s.now = 8
			s.pes[0].EndWait(w)
		}, []Flow{{From: 1, To: 0, FromAt: 7, ToAt: 8, Name: "release"}}},
		{"a note", func(s *script) {
			w := s.pes[0].BeginWait("notified access", -1, 0, 0)
			s.now = 3
			s.pes[2].Record(record.Note, 0, 0, 77)
			s.now = 4
			s.pes[0].EndWait(w)
		}, []Flow{{From: 2, To: 0, FromAt: 3, ToAt: 4, Name: "note"}}},
		{"room for a note", func(s *script) {
			w := s.pes[0].BeginWait("notified access", 1, 0, 0)
			s.now = 3
			s.pes[2].Record(record.Note, 0, 0, 77)
			s.now = 4
			s.pes[0].EndWait(w)
		}, nil},
		{"a barrier: the last to come", func(s *script) {
			c := s.pes[0].Begin(record.Call, "sync", -1, 3, 9)
			w := s.pes[0].BeginWait("barrier", 2, 3, 9)
			s.now = 5
			s.pes[2].Begin(record.Call, "sync", -1, 3, 9)
			s.now = 6
			s.pes[1].Begin(record.Call, "sync", -1, 3, 9)
			s.pes[1].Begin(record.Call, "sync", -1, 3, 8) // of another team
			s.now = 7
			s.pes[0].EndWait(w)
			s.pes[0].End(c)
		}, []Flow{{From: 1, To: 0, FromAt: 6, ToAt: 7, Name: "arrival"}}},
		{"a broadcast: the root, not the last", func(s *script) {
			w := s.pes[0].BeginWait("broadcast", 2, 3, 9)
			s.now = 5
			s.pes[2].Begin(record.Call, "broadcast", -1, 3, 9)
			s.now = 6
			s.pes[1].Begin(record.Call, "broadcast", -1, 3, 9)
			s.now = 7
			s.pes[0].EndWait(w)
		}, []Flow{{From: 2, To: 0, FromAt: 5, ToAt: 7, Name: "arrival"}}},
		{"the PE itself came last", func(s *script) {
			s.pes[1].Begin(record.Call, "sync", -1, 3, 9)
			s.now = 5
			s.pes[0].Begin(record.Call, "sync", -1, 3, 9)
			w := s.pes[0].BeginWait("barrier", 1, 3, 9)
			s.now = 7
			s.pes[0].EndWait(w)
		}, nil},
		{"a wait that has not ended", func(s *script) {
			s.pes[0].BeginWait("wait", -1, word, 0)
			s.now = 5
			s.pes[1].Record(record.Update, 0, word, 1)
		}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(3, 100)
			c.run(s)
			if got := s.trace(oneHost, []Clock{nil}).Flows; !reflect.DeepEqual(got, c.want) {
				t.Errorf("arrows %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestClocks: times of hosts whose clocks differ are put on one clock, durations too, and an update that seems to come
// after the wait that it has ended, by less than the clocks may be wrong, has ended it.
func TestClocks(t *testing.T) {
	s := newScript(2, 100)
	const ahead = int64(time.Hour)
	hosts := []Host{{Name: "a", Known: true}, {Name: "b", Known: true, Error: 50, Drift: 1}}
	clocks := []Clock{nil, func(at int64) int64 { return (at - ahead) / 2 }} // its second is half as long
	w := s.pes[0].BeginWait("wait", -1, 64, 0)
	s.now = time.Duration(ahead) + 2*1030
	s.pes[1].Record(record.Update, 0, 64, 1)
	r := s.pes[1].Begin(record.Region, "r", -1, 0, 0)
	s.now += 40
	s.pes[1].End(r)
	s.now = 1000
	s.pes[0].EndWait(w)
	tr := s.trace(hosts, clocks)
	if got := tr.PEs[1].Slices[0]; got.Start != 1030 || got.Dur != 20 {
		t.Errorf("the region is at %d for %d", got.Start, got.Dur)
	}
	if want := []Flow{{From: 1, To: 0, FromAt: 1000, ToAt: 1000, Name: "update"}}; !reflect.DeepEqual(tr.Flows, want) {
		t.Errorf("arrows %+v, want %+v", tr.Flows, want)
	}
	hosts[1].Error = 10
	if tr := s.trace(hosts, clocks); tr.Flows != nil {
		t.Errorf("clocks that are known better have arrows %+v", tr.Flows)
	}
	hosts[1].Known = false
	if e, bounded := s.trace(hosts, clocks).Error(); bounded {
		t.Errorf("times are known to %v, with a clock that is not known", e)
	}
}

// random returns a trace of random events of some PEs, with slices that overlap.
func random(seed uint64) *Trace {
	r := rand.New(rand.NewPCG(seed, 1))
	s := newScript(1+r.IntN(4), 200)
	open := map[int][]record.Mark{}
	for range 150 {
		s.now += time.Duration(r.IntN(5000))
		pe := r.IntN(len(s.pes))
		p, peer := s.pes[pe], r.IntN(len(s.pes)+1)-1
		switch r.IntN(7) {
		case 0:
			open[pe] = append(open[pe], p.BeginWait([]string{"wait", "lock", "barrier"}[r.IntN(3)], peer, uint64(1+r.IntN(4))*8, uint64(r.IntN(2))))
		case 1:
			if n := len(open[pe]); n > 0 { // any of them: goroutines
				k := r.IntN(n)
				p.EndWait(open[pe][k])
				open[pe] = slices.Delete(open[pe], k, k+1)
			}
		case 2:
			p.Record(record.Update, max(0, peer), uint64(1+r.IntN(4))*8, 1)
		case 3:
			p.End(p.Begin(record.Region, fmt.Sprintf("region %q <%d>", "\\", r.IntN(3)), -1, 0, 0))
		case 4:
			p.Operation(record.Kind(r.IntN(int(record.NumKinds))), max(0, peer), r.IntN(100))
		case 5:
			off := uint64(1+r.IntN(4)) * 8
			p.RecordName(record.Word, fmt.Sprint("Word", off), off)
		case 6:
			p.Begin(record.Call, "sync", -1, uint64(1+r.IntN(4))*8, uint64(r.IntN(2)))
		}
	}
	t := s.trace(oneHost, []Clock{nil})
	t.Program = `pro"gram`
	return t
}

// TestFile: what is written is read again, and is what viewers take: slices of a track nest, arrows begin and end in
// slices.
func TestFile(t *testing.T) {
	for seed := range uint64(200) {
		tr := random(seed)
		var file bytes.Buffer
		if err := tr.Write(&file); err != nil {
			t.Fatal(err)
		}
		checkViewable(t, seed, file.Bytes())
		got, err := Read(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := sameTrace(got, tr); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if a, b := got.Summarize(), tr.Summarize(); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: the summary of what was read is\n%+v, want\n%+v", seed, a, b)
		}
	}
}

// TestScan: what is scanned of an event is what package encoding/json reads, and few events need that package.
func TestScan(t *testing.T) {
	scanned, all := 0, 0
	for seed := range uint64(20) {
		var file bytes.Buffer
		if err := random(seed).Write(&file); err != nil {
			t.Fatal(err)
		}
		names := texts{}
		for line := range strings.Lines(file.String()) {
			line = strings.TrimRight(line, ",\n")
			var got, want fileEvent
			if json.Unmarshal([]byte(line), &want) != nil || want.Ph == "" || want.Ph == "M" {
				continue // the head, the end, and names
			}
			all++
			if !names.scan([]byte(line), &got) {
				continue
			}
			if scanned++; !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %s is read as %+v, want %+v", seed, line, got, want)
			}
		}
	}
	if scanned < all/2 {
		t.Errorf("%d of %d events are scanned", scanned, all)
	}
}

// sameTrace returns an error if got is not what a file of want keeps.
func sameTrace(got, want *Trace) error {
	if got.Program != want.Program || got.End != want.End || !reflect.DeepEqual(got.Hosts, want.Hosts) || len(got.PEs) != len(want.PEs) {
		return fmt.Errorf("the head is %+v", got)
	}
	if !reflect.DeepEqual(got.Flows, want.Flows) {
		return fmt.Errorf("arrows %+v, want %+v", got.Flows, want.Flows)
	}
	byContent := func(a, b Slice) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	for i := range want.PEs {
		g, w := got.PEs[i], want.PEs[i]
		a, b := slices.SortedFunc(slices.Values(g.Slices), byContent), slices.SortedFunc(slices.Values(w.Slices), byContent)
		if !slices.Equal(a, b) {
			return fmt.Errorf("PE %d: slices %+v, want %+v", w.Number, a, b)
		}
		if g.End != w.End || g.Dropped != w.Dropped || g.Updates != w.Updates || !reflect.DeepEqual(g.Counts, w.Counts) {
			return fmt.Errorf("PE %d: %+v, want %+v", w.Number, g, w)
		}
		names := want.wordNames()
		for _, s := range w.Slices {
			if at := s.word(); g.Words[at] != names[at] {
				return fmt.Errorf("PE %d: word %d is called %q, want %q", w.Number, at, g.Words[at], names[at])
			}
		}
	}
	return nil
}

// checkViewable checks that the file is one of the trace event format.
func checkViewable(t *testing.T, seed uint64, file []byte) {
	t.Helper()
	var f struct {
		TraceEvents []struct {
			Ph       string
			Pid, Tid int
			Ts, Dur  float64
			ID       int
			Name     string
		}
	}
	if err := json.Unmarshal(file, &f); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	type span struct{ from, to int64 }
	ns := func(us float64) int64 { return int64(us*1000 + 0.5) }
	tracks, begun, named := map[int][]span{}, map[int]bool{}, map[int]bool{}
	for _, e := range f.TraceEvents {
		switch e.Ph {
		case "X":
			tracks[e.Tid] = append(tracks[e.Tid], span{ns(e.Ts), ns(e.Ts) + ns(e.Dur)})
		case "M":
			named[e.Tid] = named[e.Tid] || e.Name == "thread_name"
		}
	}
	for tid, list := range tracks {
		if !named[tid] {
			t.Fatalf("seed %d: track %d has no name", seed, tid)
		}
		var stack []span
		for _, s := range list { // as written: by the start, outer ones first
			for len(stack) > 0 && stack[len(stack)-1].to <= s.from {
				stack = stack[:len(stack)-1]
			}
			if n := len(stack); n > 0 && (stack[n-1].to < s.to || stack[n-1].from > s.from) {
				t.Fatalf("seed %d: on track %d, %v is across %v", seed, tid, s, stack[n-1])
			}
			stack = append(stack, s)
		}
	}
	for _, e := range f.TraceEvents {
		if e.Ph != "s" && e.Ph != "f" {
			continue
		}
		if e.Ph == "f" && !begun[e.ID] {
			t.Fatalf("seed %d: arrow %d ends before it begins", seed, e.ID)
		}
		begun[e.ID] = begun[e.ID] || e.Ph == "s"
		if !slices.ContainsFunc(tracks[e.Tid], func(s span) bool { return s.from <= ns(e.Ts) && ns(e.Ts) <= s.to }) {
			t.Fatalf("seed %d: an arrow is at %v of track %d, where there is no slice", seed, e.Ts, e.Tid)
		}
	}
}

// TestReadsNoOther: what is no trace is refused with a reason.
func TestReadsNoOther(t *testing.T) {
	var file bytes.Buffer
	two := newScript(2, 9)
	two.pes[0].EndWait(two.pes[0].BeginWait("wait", 1, 8, 0))
	if err := two.trace(oneHost, []Clock{nil}).Write(&file); err != nil {
		t.Fatal(err)
	}
	whole := file.String()
	for name, c := range map[string]struct{ text, want string }{
		"nothing":         {"", "no trace"},
		"text":            {"hello", "no trace"},
		"a list":          {"[]", "no trace"},
		"another object":  {`{"a":1}`, "no trace"},
		"another trace":   {`{"traceEvents":[{"ph":"X","ts":1}],"otherData":{}}`, "no trace"},
		"half":            {whole[:len(whole)/2], "no trace"},
		"without its end": {whole[:len(whole)-3], "no trace"},
		"a later version": {strings.Replace(whole, `"gopgas_trace":1`, `"gopgas_trace":2`, 1), "version 2"},
		"PEs twice":       {strings.Replace(whole, `{"pe":1,`, `{"pe":0,`, 1), "no trace"},
		"peers below 0":   {strings.Replace(whole, `"Peers":null`, `"Peers":[{"Peer":-1}]`, 1), "no trace"},
		"a time of words": {strings.Replace(whole, `"ts":`, `"ts":1e5,"x":`, 1), "no trace"},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRead: no input makes Read or what follows it fail in another way than with an error.
func FuzzRead(f *testing.F) {
	s := newScript(2, 20)
	w := s.pes[0].BeginWait("wait", 1, 8, 0)
	s.now = 5
	s.pes[1].Record(record.Update, 0, 8, 1)
	s.pes[0].EndWait(w)
	var file bytes.Buffer
	if err := s.trace(oneHost, []Clock{nil}).Write(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add([]byte(`{"otherData":{"gopgas_trace":1,"hosts":[{"name":"a"}],"each":[{"pe":0}]},"traceEvents":[{"ph":"X","tid":0,"ts":-5,"args":{"kind":1,"ns":-7,"PE":99999}},{"ph":"s","ts":3,"id":1,"args":{"from":7}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		s := tr.Summarize()
		if err := s.WriteText(&strings.Builder{}); err != nil {
			t.Error(err)
		}
	})
}

// TestManyAtOnce: more waits at once than a PE has tracks are all written, and drawn so that they nest.
func TestManyAtOnce(t *testing.T) {
	s := newScript(1, 1000)
	var marks []record.Mark
	for range 3 * mostTracks {
		s.now += 10
		marks = append(marks, s.pes[0].BeginWait("wait", -1, 8, 0))
	}
	for _, m := range marks { // the first first: none nests
		s.now += 10
		s.pes[0].EndWait(m)
	}
	tr := s.trace(oneHost, []Clock{nil})
	var file bytes.Buffer
	if err := tr.Write(&file); err != nil {
		t.Fatal(err)
	}
	checkViewable(t, 0, file.Bytes())
	got, err := Read(&file)
	if err != nil || sameTrace(got, tr) != nil {
		t.Errorf("reading it: %v, %v", err, sameTrace(got, tr))
	}
}

// TestText: the text names what matters, in lines that fit a terminal.
func TestText(t *testing.T) {
	s := newScript(3, 100)
	r := s.pes[1].Begin(record.Region, "solve", -1, 0, 0)
	s.pes[0].RecordName(record.Word, "Table.Lock", 512)
	w, l := s.pes[0].BeginWait("wait", -1, 64, 0), s.pes[2].BeginWait("lock", 0, 512, 0)
	q := s.pes[2].BeginWait("quiet", 1, 0, 0)
	s.pes[1].Operation(record.Put, 0, 12_345_678)
	s.now = 4 * time.Millisecond
	s.pes[1].Record(record.Update, 0, 64, 1)
	s.pes[1].End(r)
	s.now = 5 * time.Millisecond
	s.pes[0].EndWait(w)
	s.pes[2].EndWait(l)
	s.pes[2].EndWait(q)
	tr := s.trace(oneHost, []Clock{nil})
	tr.Program = "solver"
	sum := tr.Summarize()
	var text strings.Builder
	if err := sum.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"solver: 3 PEs on 1 host, 5ms of time", "late senders", "late receivers", "Table.Lock", "solve", "12M", "critical path"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, &text)
		}
	}
	for line := range strings.Lines(text.String()) {
		if len(line) > 130 {
			t.Errorf("a line has %d bytes: %s", len(line), line)
		}
	}
	if late := sum.LateSenders; len(late) != 1 || late[0].PE != 1 || late[0].For != 0 || late[0].Time != 4*time.Millisecond {
		t.Errorf("late senders: %+v", late)
	}
	if late := sum.LateReceivers; len(late) != 1 || late[0].PE != 1 || late[0].For != 2 || late[0].In != "quiet" {
		t.Errorf("late receivers: %+v", late)
	}
}

// TestLines: a step of the critical path is between the lines of the waits and calls around it, which a file keeps.
func TestLines(t *testing.T) {
	s := newScript(2, 100)
	s.now = time.Millisecond
	w := s.pes[0].Place(s.pes[0].BeginWait("wait", -1, 64, 0), "wait at solver/main.go:10")
	first := s.pes[1].Place(s.pes[1].BeginWait("barrier", -1, 1, 0), "barrier at solver/main.go:5")
	s.now = 2 * time.Millisecond
	s.pes[1].EndWait(first)
	s.now = 40 * time.Millisecond
	s.pes[1].Record(record.Update, 0, 64, 1)
	s.now = 41 * time.Millisecond
	s.pes[0].EndWait(w)
	last := s.pes[1].Place(s.pes[1].Begin(record.Call, "sync", -1, 2, 0), "sync at solver/main.go:20")
	s.now = 45 * time.Millisecond
	s.pes[1].End(last)
	s.pes[0].EndWait(s.pes[0].BeginWait("barrier", -1, 2, 0)) // of a line that is not known
	tr := s.trace(oneHost, []Clock{nil})
	var file bytes.Buffer
	if err := tr.Write(&file); err != nil {
		t.Fatal(err)
	}
	tr, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	sum := tr.Summarize()
	var text strings.Builder
	if err := sum.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "solver/main.go:5 to solver/main.go:20") {
		t.Errorf("the longest step has no lines: %s", &text)
	}
	for from, want := range map[[2]string]string{{"", ""}: "", {"a", ""}: "from a", {"", "b"}: "to b", {"a", "b"}: "a to b", {"a", "a"}: "around a"} {
		if got := (&Step{After: from[0], Before: from[1]}).lines(); got != want {
			t.Errorf("%q: %q, not %q", from, got, want)
		}
	}
}

// TestDeadlockOfLocks: a cycle of PEs that hold a lock and wait in vain for the next is named, and nothing else is.
func TestDeadlockOfLocks(t *testing.T) {
	const a, b, c = 512, 1024, 2048
	hold := func(s *script, pe int, lock uint64) record.Mark {
		return s.pes[pe].Begin(record.Hold, "lock", -1, lock, 0)
	}
	wait := func(s *script, pe int, lock uint64) record.Mark {
		return s.pes[pe].Place(s.pes[pe].BeginWait("lock", -1, lock, 0), fmt.Sprintf("lock at main.go:%d", 10+pe))
	}
	for _, test := range []struct {
		name string
		run  func(s *script)
		want string
	}{
		{"two PEs", func(s *script) {
			hold(s, 0, a)
			hold(s, 1, b)
			s.now = 5
			wait(s, 0, b)
			wait(s, 1, a)
		}, "deadlock of locks: PE 0 holds A and waits for B at main.go:10; PE 1 holds B and waits for A at main.go:11: take locks in the same order on every PE"},
		{"three PEs, whose waits the end of the job ends, and one behind them", func(s *script) {
			for pe, lock := range []uint64{a, b, c} {
				hold(s, pe, lock)
			}
			s.now = 5
			marks := []record.Mark{wait(s, 0, b), wait(s, 1, c), wait(s, 2, a), wait(s, 3, a)}
			s.now = 100
			for pe, m := range marks {
				s.pes[pe].EndWait(m)
			}
		}, "PE 0 holds A and waits for B at main.go:10; PE 1 holds B and waits for the lock at offset 2048 at main.go:11; PE 2 holds the lock at offset 2048 and waits for A"},
		{"a wait that ended in the lock", func(s *script) {
			hold(s, 0, a)
			first := hold(s, 1, b)
			w, never := wait(s, 0, b), wait(s, 1, a)
			s.now = 5
			s.pes[1].End(first)
			s.pes[0].EndWait(w)
			hold(s, 0, b)
			_ = never
		}, ""},
		{"a lock whose holder waits for something else", func(s *script) {
			hold(s, 0, a)
			wait(s, 1, a)
			s.pes[0].BeginWait("barrier", -1, 1, 0)
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript(4, 100)
			s.pes[0].RecordName(record.Word, "A", a)
			s.pes[0].RecordName(record.Word, "B", b)
			test.run(s)
			sum := s.trace(oneHost, []Clock{nil}).Summarize()
			var text strings.Builder
			if err := sum.WriteText(&text); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text.String(), test.want) || strings.Contains(text.String(), "deadlock") != (test.want != "") {
				t.Errorf("want %q in\n%s", test.want, &text)
			}
		})
	}
}

// TestWithin: time counts for the innermost region, and for none outside of all.
func TestWithin(t *testing.T) {
	at := func(name string, start, end int64) *Slice {
		return &Slice{Kind: record.Region, Name: name, Start: start, Dur: end - start}
	}
	regions := []*Slice{at("before", 0, 5), at("outer", 10, 50), at("inner", 20, 30), at("innermost", 22, 24), at("inner", 40, 50), at("after", 60, 70)}
	for _, c := range []struct {
		from, to int64
		want     map[string]time.Duration
	}{
		{6, 9, map[string]time.Duration{}},
		{0, 100, map[string]time.Duration{"before": 5, "outer": 20, "inner": 18, "innermost": 2, "after": 10}},
		{23, 45, map[string]time.Duration{"innermost": 1, "inner": 11, "outer": 10}},
		{55, 65, map[string]time.Duration{"after": 5}},
	} {
		if got := (&walk{next: regions}).within(c.from, c.to); !reflect.DeepEqual(got, c.want) {
			t.Errorf("from %d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// TestWithinInSteps: what steps one behind the other spend in regions is what one step over all of them spends.
func TestWithinInSteps(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		var regions []*Slice
		for start := int64(0); start < 1000; start += r.Int64N(9) {
			regions = append(regions, &Slice{Kind: record.Region, Name: fmt.Sprint(r.IntN(5)), Start: start, Dur: r.Int64N(60)})
		}
		slices.SortStableFunc(regions, func(a, b *Slice) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur)) })
		want := (&walk{next: regions}).within(0, 2000)
		got, steps := map[string]time.Duration{}, &walk{next: regions}
		for from := int64(0); from < 2000; {
			to := from + r.Int64N(20)
			for name, d := range steps.within(from, min(to, 2000)) {
				got[name] += d
			}
			from = to
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

// long returns a trace of 64 PEs that have marked regions and waited for their neighbours, of some events.
func long(events int) *Trace {
	const npes = 64
	t := &Trace{Program: "long", Hosts: oneHost, PEs: make([]PE, npes)}
	for i := range t.PEs {
		t.PEs[i] = PE{Number: i}
	}
	for step := range int64(events / (2 * npes)) {
		for i := range t.PEs {
			p, at := &t.PEs[i], 1000*step
			end := at + 900 + int64(i)
			p.Slices = append(p.Slices, Slice{Kind: record.Region, Name: "step", Start: at, Dur: 990, Peer: -1},
				Slice{Kind: record.Wait, Name: "wait", Start: at + 500, Dur: end - at - 500, Peer: (i + 1) % npes, Seq: 8})
			t.Flows = append(t.Flows, Flow{From: (i + 1) % npes, To: i, FromAt: end - 10, ToAt: end, Name: "update"})
			p.End, t.End = end+50, end+50
		}
	}
	return t
}

// BenchmarkSummarize: the time of an event must not grow with their number.
func BenchmarkSummarize(b *testing.B) {
	for _, events := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(events), func(b *testing.B) {
			t := long(events)
			for b.Loop() {
				t.Summarize()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
		})
	}
}

// TestByLatePE: the text tells how late a PE was for all others together.
func TestByLatePE(t *testing.T) {
	got := byLatePE([]Late{{PE: 3, For: 1, In: "wait", Count: 1, Time: 9}, {PE: 1, For: 0, In: "wait", Count: 2, Time: 8}, {PE: 1, For: 2, In: "wait", Count: 1, Time: 7}, {PE: 1, For: 2, In: "lock", Count: 1, Time: 1}})
	want := []lateSum{{Late{PE: 1, For: 0, In: "wait", Count: 3, Time: 15}, 2}, {Late{PE: 3, For: 1, In: "wait", Count: 1, Time: 9}, 1}, {Late{PE: 1, For: 2, In: "lock", Count: 1, Time: 1}, 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestLocks: a lock's own waits and those of locks that are built of words count alike, and each lock for itself.
func TestLocks(t *testing.T) {
	s := newScript(3, 100)
	s.pes[0].RecordName(record.Word, "D-MCS lock at offset 64", 64)
	for i, p := range s.pes {
		began := p.Moment()
		s.now += 10
		if i > 0 {
			p.RecordSlice(began, record.Acquire, "D-MCS lock at offset 64", -1, 64)
		}
		hold := p.Begin(record.Hold, "D-MCS lock at offset 64", -1, 64, 0)
		s.now += 100
		p.End(hold)
	}
	w := s.pes[1].BeginWait("lock", 0, 128, 0)
	s.now += 7
	s.pes[1].EndWait(w)
	want := []LockUse{
		{Lock: "D-MCS lock at offset 64", Held: 3, Waits: 2, PEs: 3, Holding: 300, Waiting: 20, Longest: 10},
		{Lock: "at offset 128", Waits: 1, PEs: 1, Waiting: 7, Longest: 7},
	}
	if got := s.trace(oneHost, []Clock{nil}).Summarize().Locks; !reflect.DeepEqual(got, want) {
		t.Errorf("locks %+v, want %+v", got, want)
	}
}

// TestOpen: what had not ended when a PE ended has lasted until then, by the clock of its host, and counts as blocked.
func TestOpen(t *testing.T) {
	s := newScript(2, 100)
	s.pes[1].Record(record.Note, 0, 0, 1)
	s.now = 40
	s.pes[0].BeginWait("barrier", 1, 1, 0)
	var all Collector
	for i, p := range s.pes {
		tr := p.Trace()
		tr.Ended = 1000
		tr.Host = i
		all.Add(tr, nil)
	}
	got := all.Trace([]Host{{Name: "a", Known: true}, {Name: "b", Known: true}}, []Clock{func(at int64) int64 { return at + 5000 }, func(at int64) int64 { return at + 5000 }})
	wait := got.PE(0).Slices[0]
	if !wait.Open || wait.Start != 40 || wait.Dur != 960 || got.End != 1000 {
		t.Errorf("the wait is %+v, the end %d", wait, got.End)
	}
	if got.PE(1).End != 0 {
		t.Errorf("PE 1, of which nothing is open, ends at %d", got.PE(1).End)
	}
	if sum := got.Summarize(); len(sum.Causes) != 1 || sum.Causes[0].Time != 960 || sum.Critical.Waits != 960 {
		t.Errorf("the summary says %+v, %+v", sum.Causes, sum.Critical)
	}
}

// TestBlocked: goroutines that wait at once make a PE no more blocked than it is, though the waits of each count by
// cause.
func TestBlocked(t *testing.T) {
	s := newScript(2, 100)
	wait := func(from, to time.Duration) func() {
		s.now = from
		m := s.pes[0].BeginWait("wait", -1, 8, 0)
		return func() { s.now = to; s.pes[0].EndWait(m) }
	}
	first, inner, over := wait(0, 40), wait(10, 20), wait(30, 50)
	inner()
	first()
	over()
	wait(70, 80)()
	s.now = 100
	s.pes[1].Record(record.Note, 0, 0, 1)
	sum := s.trace(oneHost, []Clock{nil}).Summarize()
	if sum.Blocked != 60.0/200 || sum.Causes[0].Time != 80 {
		t.Errorf("blocked %v of the time, in %+v", sum.Blocked, sum.Causes)
	}
}
