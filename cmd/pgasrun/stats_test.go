package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/stats"
	"github.com/gopgas/gopgas/ucx"
)

// TestStats: in every kind of job, -stats=json has one object with all PEs, and the waits of the program are among
// theirs.
func TestStats(t *testing.T) {
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			if name != "local" && !ucx.Available {
				t.Skip("PEs on two hosts, which need cgo")
			}
			r := launchJob(t, nil, slices.Concat(place, []string{"-stats=json", "./testdata/waits"})...)
			status, _ := r.end()
			d := json.NewDecoder(strings.NewReader(r.stderr.String()))
			d.DisallowUnknownFields()
			var s jobStats
			if err := d.Decode(&s); status != 0 || err != nil {
				t.Fatalf("status %d, %v: %s", status, err, &r.stderr)
			}
			const pes = 3
			if s.Version != 2 || s.PEs != pes || len(s.Each) != pes {
				t.Fatalf("%+v", s)
			}
			for pe, p := range s.Each {
				if p.PE != pe || p.Elapsed <= 0 || p.CPU <= 0 || p.Memory == 0 || p.Host == "" || p.Blocked() > p.Elapsed || p.Counts == nil || p.Counts.PE != pe {
					t.Errorf("PE %d: %+v", pe, p)
				}
			}
			for pe, in := range []string{"wait", "", "barrier"} {
				seen := func(w launch.Wait) bool { return w.In == in && w.Time > 0 }
				if in != "" && (!slices.ContainsFunc(s.Each[pe].Waits, seen) || s.Each[pe].Counts.Blocked[in].Time == 0) {
					t.Errorf("PE %d has waited in %+v, and counted %+v, not in a %s", pe, s.Each[pe].Waits, s.Each[pe].Counts.Blocked, in)
				}
			}
			if set := s.Each[1].Counts.Kinds["atomic"]; set.Operations != 1 || set.Bytes != 8 || s.Kinds["atomic"] != set {
				t.Errorf("PE 1 has set one word, and counted %+v of %+v", s.Each[1].Counts.Kinds, s.Kinds)
			}
			if len(s.Traffic) == 0 || s.HeapHigh < 8 || (name == "local") != (s.Messages.Sent == 0) {
				t.Errorf("traffic %+v, messages %+v, %d bytes of heap", s.Traffic, s.Messages, s.HeapHigh)
			}
			if s.ByCause["wait"] == 0 || s.Blocked <= 0 || s.Blocked > 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestStatsOfLateArrival: the PEs at which arrivals at a barrier are counted are not blamed for one that is late.
func TestStatsOfLateArrival(t *testing.T) {
	r := launchJob(t, nil, "-n", "3", "-stats=json", "./testdata/waits", "late")
	status, _ := r.end()
	var s jobStats
	if err := json.Unmarshal([]byte(r.stderr.String()), &s); status != 0 || err != nil {
		t.Fatalf("status %d, %v: %s", status, err, &r.stderr)
	}
	if len(s.Pairs) > 0 || s.ByCause["barrier"] == 0 {
		t.Errorf("PEs have waited %v in the barrier, and of that for one in particular: %+v", s.ByCause["barrier"], s.Pairs)
	}
}

// TestStatsOfKilledPE: it has statistics, too, and the others.
func TestStatsOfKilledPE(t *testing.T) {
	t.Setenv("PGAS_STATS", "1")
	r := launchJob(t, nil, "-n", "3", "-stats=json", "./testdata/counted", "killed")
	status, _ := r.end()
	text := r.stderr.String()
	var s jobStats
	if err := json.Unmarshal([]byte(text[max(0, strings.LastIndex(text, "\n{")):]), &s); status == 0 || err != nil || len(s.Each) != 3 {
		t.Fatalf("status %d, %v: %s", status, err, text)
	}
	for pe, p := range s.Each {
		if p.Counts == nil || p.Counts.Kinds["put"] != (stats.Traffic{Operations: 7, Bytes: 7 * 8}) || p.Counts.Heap.High == 0 {
			t.Errorf("PE %d: %+v", pe, p.Counts)
		}
	}
	if w := s.Each[2].Counts.Blocked["barrier"]; w.Count == 0 || w.Time == 0 {
		t.Errorf("the PE that was killed waited at the barrier then: %+v", s.Each[2].Counts.Blocked)
	}
}

// TestStatsOf64PEs: the table of a job with many PEs has few lines, and the object all PEs.
func TestStatsOf64PEs(t *testing.T) {
	for _, flags := range [][]string{{"-stats"}, {"-stats=json"}} {
		r := launchJob(t, nil, slices.Concat([]string{"-n", "64"}, flags, []string{"./testdata/counted"})...)
		status, _ := r.end()
		text := r.stderr.String()
		if status != 0 {
			t.Fatalf("status %d: %s", status, text)
		}
		if flags[0] == "-stats" {
			if n := strings.Count(text, "\n"); n > mostRows+12 || !strings.Contains(text, "operations: 448 put of 3.6 kB\n") {
				t.Errorf("%d lines:\n%s", n, text)
			}
			continue
		}
		var s jobStats
		if err := json.Unmarshal([]byte(text), &s); err != nil || len(s.Each) != 64 || len(s.Traffic) != 64 || s.Kinds["put"].Operations != 7*64 {
			t.Errorf("%v: %s", err, text)
		}
	}
}

func TestStatsTable(t *testing.T) {
	const s = time.Second
	counts := func(pe int, set func(c *record.Counts)) *record.Counts {
		c := &record.Counts{PE: pe, Waits: map[string]record.Waited{}, Levels: []string{"machine", "host"}}
		c.Counters[record.HeapHigh] = 131072
		set(c)
		return c
	}
	each := []launch.PEStats{
		{PE: 0, Host: "a", Elapsed: 10 * s, CPU: 6 * s, Memory: 20e6, Waits: []launch.Wait{{In: "barrier", For: 1, Time: s}}, Counts: counts(0, func(c *record.Counts) {
			c.Waits["barrier"], c.Waits["quiet"] = record.Waited{Count: 7, Time: 3 * s}, record.Waited{Count: 1, Time: s}
			c.Peers = []record.Traffic{{Peer: 0}, {Peer: 1, Waited: 3 * s}}
			c.Peers[0].Ops[record.Put], c.Peers[0].Bytes[record.Put] = 5, 40
			c.Peers[1].Ops[record.Put], c.Peers[1].Bytes[record.Put] = 12345, 98760
			c.Peers[1].Ops[record.Fetch], c.Peers[1].Bytes[record.Fetch] = 10, 80
			c.Counters[record.Messages], c.Counters[record.MessageBytes], c.Counters[record.MessageOps] = 100, 200000, 1250
			c.Counters[record.LocksAlone], c.Counters[record.LocksWaited], c.Counters[record.LockMoves], c.Counters[record.LockMoves+1] = 5, 4, 1, 2
		})},
		{PE: 1, Host: "b", Elapsed: 10 * s, CPU: 9 * s, Memory: 21.5e6, Counts: counts(1, func(c *record.Counts) {
			c.Counters[record.NotesMatched], c.Counters[record.NotesUnexpected] = 3, 1
			c.Counters[record.Faults], c.Counters[record.PagesFetched], c.Counters[record.PagesReleased] = 30, 20, 10
			c.Counters[record.LocksWaited], c.Counters[record.LockMoves+1] = 1, 1
		})},
		// nothing was counted of PE 2
		{PE: 2, Host: "b", Elapsed: 5 * s, Memory: 1e6, Waits: []launch.Wait{{In: "init", For: -1, Time: s}}},
	}
	const want = `pgasrun: 4 PEs, 10s, 15s of CPU time; 20.0 % of the PEs' time is blocked
     PE      time       CPU     memory       heap      ops      bytes  blocked  in
      0       10s        6s    20.0 MB   131.1 kB   12.4 k    98.9 kB   40.0 %  barrier 30.0 %, quiet 10.0 %
      1       10s        9s    21.5 MB   131.1 kB        0        0 B    0.0 %  -
      2        5s        0s     1.0 MB          -        -          -   20.0 %  init 20.0 %
of 1 more there are no statistics: their agents were lost
by cause: barrier 12.0 %, init 4.0 %, quiet 4.0 %
imbalance: PE 1 is busy 1.50 times as long as the mean PE
longest waits: PE 0 for PE 1 3s
operations: 12.3 k put of 98.8 kB, 10 fetch of 80 B
most bytes: PE 0 to PE 1 98.8 kB in 12.4 k
messages to other hosts: 100, each of 2.0 kB and 12.5 operations in the mean
locks: 5 found free, 5 waited for, 1 from another PE of the machine, 3 from another PE of the host
notifications: 3, of which 1 unexpected
coherent memory: 30 page faults, 20 pages or blocks fetched, 10 released
`
	var b bytes.Buffer
	if err := writeStats(&b, each, 4, false); err != nil || b.String() != want {
		t.Errorf("%v, got\n%swant\n%s", err, &b, want)
	}
	b.Reset()
	if err := writeStats(&b, nil, 3, false); err != nil || b.String() != "pgasrun: no statistics: no PE has started, or their agents were lost\n" {
		t.Errorf("%v, %s", err, &b)
	}
	b.Reset()
	if err := writeStats(&b, each, 4, true); err != nil || !strings.Contains(b.String(), `"kinds":{"fetch":{"operations":10,"bytes":80},"put":{"operations":12350,"bytes":98800}}`) {
		t.Errorf("%v, %s", err, &b)
	}
}

// TestStatsOfLatePE: the PE that the others wait for is the one that waits least in collectives while all others wait
// there.
func TestStatsOfLatePE(t *testing.T) {
	each := func(times ...time.Duration) (list []launch.PEStats) {
		for pe, d := range times {
			list = append(list, launch.PEStats{PE: pe, Elapsed: time.Second, Waits: []launch.Wait{{In: "barrier", For: -1, Time: d}, {In: "get", For: 0, Time: time.Second - d}}})
		}
		return list
	}
	const ms = time.Millisecond
	for _, c := range []struct {
		each []launch.PEStats
		want string
	}{
		{each(300*ms, 290*ms, 2*ms, 310*ms), "in collectives: PE 2 waits least, 2ms, and the others 290ms to 310ms\n"},
		{each(0, 300*ms), "in collectives: PE 0 waits least, 0s, and the others 300ms\n"},
		{each(300*ms, 2*ms, 2*ms, 310*ms), ""},
		{each(100*ms, 150*ms, 180*ms), ""},
		{each(1*ms, 9*ms, 9*ms), ""},
		{each(1 * ms), ""},
	} {
		var b bytes.Buffer
		s := summarize(c.each)
		if s.writeArrivals(&b); b.String() != c.want {
			t.Errorf("%q, want %q", &b, c.want)
		}
	}
}

// TestStatsOfManyPEs: the table has the extremes of a large job, and says so.
func TestStatsOfManyPEs(t *testing.T) {
	var each []launch.PEStats
	for pe := range 1000 {
		blocked := time.Duration((pe*617)%1000) * time.Millisecond
		each = append(each, launch.PEStats{PE: pe, Elapsed: time.Second, Waits: []launch.Wait{{In: "get", For: (pe + 1) % 1000, Time: blocked}}})
	}
	var b bytes.Buffer
	if err := writeStats(&b, each, 1000, false); err != nil {
		t.Fatal(err)
	}
	for share, shown := range map[string]bool{" 0.0 %": true, " 1.5 %": true, " 1.6 %": false, "98.3 %": false, "98.4 %": true, "99.9 %": true} {
		if strings.Contains(b.String(), share+"  get") != shown {
			t.Errorf("%s: shown %v\n%s", share, !shown, &b)
		}
	}
	if !strings.Contains(b.String(), "of 1000 PEs, the 32 that were blocked least and most; -stats=json has all") {
		t.Error(b.String())
	}
}
