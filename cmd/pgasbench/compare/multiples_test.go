package compare

import (
	"regexp"
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// TestFloorOfRows: what rows of each kind are multiples of, on a machine of two CPUs.
func TestFloorOfRows(t *testing.T) {
	for name, want := range map[string]string{
		"same host: 8 B put":                              "copy",
		"same host: 8 B put.quiet":                        "locked",
		"same host: fetch-add":                            "locked",
		"same host: put.flag ping-pong, one way":          "trip",
		"same host: 1 MiB put":                            "copy",
		"same host: barrier, 2 PEs":                       "trip",
		"more PEs than cores: barrier, 16 PEs":            "8 hand-overs",
		"collectives, 2 PEs: broadcast, 8 KiB":            "trip + ½ copy",
		"collectives, 8 PEs: alltoall, 8 B":               "4 hand-overs",
		"collectives, 16 PEs: alltoall, 8 KiB":            "8 hand-overs + 128 copies",
		"collectives, 16 PEs: sum, 64 KiB":                "8 hand-overs + 8 copies",
		"notify, 2 PEs: 8 B, against put-with-signal.*":   "trip",
		"notify, 2 PEs: 1 KiB, against put-with-signal.*": "trip + copy",
		"locks alone, 2 PEs: pgas.Lock of the own memory": "2 locked",
		"locks contended, 2 PEs: D-MCS":                   "trip",
		"locks contended, 2 PEs: D-MCS, longest wait":     "",
		"locks contended, 16 PEs: D-MCS":                  "",
		"locks alone, two hosts: ALock of another PE's.*": "round trip",
		"two hosts: 8 B get, against the best":            "round trip",
		"two hosts: put-with-signal.*OSHMEM put.flag":     "½ round trip",
		"two hosts: 1 MiB put stream, against raw TCP":    "stream message",
		"collectives of two hosts: barrier":               "½ round trip",
		"collectives of four hosts: broadcast, 8 B":       "round trip",
		"collectives of four hosts: broadcast, 64 KiB":    "",
		"programs: gups, 2 PEs":                           "",
		"whole job: hello of 16 PEs, start to end":        "",
	} {
		found := choose(regexp.MustCompile("^" + name + "$"))
		if len(found) != 1 {
			t.Errorf("%s: %d rows", name, len(found))
			continue
		}
		if got := inWords(found[0].floor(2)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestFloorJobs: the floor's figures that rows need are measured, and hosts only if rows are of hosts.
func TestFloorJobs(t *testing.T) {
	jobs := floorJobs(choose(regexp.MustCompile("^same host: 1 MiB put$|^two hosts: 8 B get")), 2)
	if len(jobs) != 2 || jobs[0].benches() != "^(locked-add|locked-compare-swap|cache-line|yield|copy)$" || jobs[0].sizes() != "8,1048576" || jobs[1].benches() != "^(hosts-roundtrip)$" {
		t.Errorf("%+v", jobs)
	}
	if jobs := floorJobs(choose(regexp.MustCompile("^same host: fetch-add$")), 2); len(jobs) != 1 {
		t.Errorf("%d jobs", len(jobs))
	}
}

// TestMultiples: multiples are of one round, and their median counts. A round without a part of the floor has none.
func TestMultiples(t *testing.T) {
	r := choose(regexp.MustCompile("^collectives, 16 PEs: sum, 64 KiB$"))[0]
	f := newFigures()
	f.cpus = 2
	for _, x := range [][3]float64{{48000, 1000, 1000}, {64000, 2000, 2000}, {16000, 500, 500}, {1, 1, 0}} {
		f.rounds = append(f.rounds, map[point]result.Result{
			r.ours: {P50ns: x[0]}, {floorSuite, "yield", 8}: {P50ns: x[1]}, {floorSuite, "copy", 64 << 10}: {P50ns: x[2]},
		})
	}
	v := judge(r, f)
	if v.Multiple != 2 || v.FloorNs != 16000 || multipleOf(v.Multiple, v.parts) != "2.00 × (8 hand-overs + 8 copies)" {
		t.Errorf("%+v", v)
	}
	for want, parts := range map[string][]part{
		"1.50 locked": {locked(1, "add")}, "1.50 × 2 locked": {locked(2, "compare-swap")}, "1.50 copies": {copies(1, 8)},
		"1.50 × ½ round trip": {roundTrips(0.5, 8)}, "1.50 × 8 hand-overs": {handOvers(8)},
	} {
		if got := multipleOf(1.5, parts); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
