package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/ucx"
)

// TestStats: in every kind of job, -json has one object with all PEs, and the waits of the program are among theirs.
func TestStats(t *testing.T) {
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			if name != "local" && !ucx.Available {
				t.Skip("PEs on two hosts, which need cgo")
			}
			r := launchJob(t, nil, slices.Concat(place, []string{"-stats", "-json", "./testdata/waits"})...)
			status, _ := r.end()
			d := json.NewDecoder(strings.NewReader(r.stderr.String()))
			d.DisallowUnknownFields()
			var s jobStats
			if err := d.Decode(&s); status != 0 || err != nil {
				t.Fatalf("status %d, %v: %s", status, err, &r.stderr)
			}
			const pes = 3
			if s.Version != 1 || s.PEs != pes || len(s.Each) != pes {
				t.Fatalf("%+v", s)
			}
			for pe, p := range s.Each {
				if p.PE != pe || p.Elapsed <= 0 || p.CPU <= 0 || p.Memory == 0 || p.Host == "" || p.Blocked() > p.Elapsed {
					t.Errorf("PE %d: %+v", pe, p)
				}
			}
			for pe, in := range []string{"wait", "", "barrier"} {
				has := func(w launch.Wait) bool { return w.In == in && w.Time > 0 }
				if in != "" && !slices.ContainsFunc(s.Each[pe].Waits, has) {
					t.Errorf("PE %d has waited in %+v, not in a %s", pe, s.Each[pe].Waits, in)
				}
			}
			if s.ByCause["wait"] == 0 || s.Blocked <= 0 || s.Blocked > 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestStatsOfKilledPE: it has statistics, too, and the others.
func TestStatsOfKilledPE(t *testing.T) {
	t.Setenv("PGAS_STATS", "1")
	r := launchJob(t, nil, "-n", "3", profiled, "1")
	if status, _ := r.end(); status == 0 || strings.Count(r.stderr.String(), " MB ") != 3 || !strings.Contains(r.stderr.String(), "pgasrun: 3 PEs, ") {
		t.Errorf("status %d: %s", status, &r.stderr)
	}
}

func TestStatsTable(t *testing.T) {
	const s = time.Second
	each := []launch.PEStats{
		{PE: 0, Host: "a", Elapsed: 10 * s, CPU: 6 * s, Memory: 20e6, Waits: []launch.Wait{{In: "barrier", For: 1, Time: 3 * s}, {In: "quiet", For: -1, Time: s}}},
		{PE: 1, Host: "b", Elapsed: 10 * s, CPU: 9 * s, Memory: 21.5e6},
	}
	const want = `pgasrun: 3 PEs, 10s, 15s of CPU time; 20.0 % of the PEs' time is blocked, looked at every millisecond
     PE      time       CPU     memory  blocked  in
      0       10s        6s    20.0 MB   40.0 %  barrier for PE 1 30.0 %, quiet 10.0 %
      1       10s        9s    21.5 MB    0.0 %  -
of 1 more there are no statistics: their agents were lost
by cause: barrier 15.0 %, quiet 5.0 %
imbalance: PE 1 is busy 1.25 times as long as the mean PE
longest waits: PE 0 for PE 1 3s
`
	var b bytes.Buffer
	if err := writeStats(&b, each, 3, false); err != nil || b.String() != want {
		t.Errorf("%v, got\n%swant\n%s", err, &b, want)
	}
	b.Reset()
	if err := writeStats(&b, nil, 3, false); err != nil || b.String() != "pgasrun: no statistics: no PE has started, or their agents were lost\n" {
		t.Errorf("%v, %s", err, &b)
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
	if !strings.Contains(b.String(), "of 1000 PEs, the 32 that were blocked least and most; -json has all") {
		t.Error(b.String())
	}
}
