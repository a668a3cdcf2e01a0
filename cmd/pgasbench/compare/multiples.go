package compare

// What a row is a multiple of: the parts of the machine's floor that its operation cannot do without. They follow from
// what our side of the row measures, and where. An operation without a meaningful floor has none.

import (
	"fmt"
	"math/bits"
	"strings"
)

const (
	lockedUnit   = "locked"
	tripUnit     = "trip"
	handOverUnit = "hand-over"
	copyUnit     = "copy"
	roundUnit    = "round trip"
	messageUnit  = "stream message"
)

func locked(times float64, which string) part {
	return part{times, point{floorSuite, "locked-" + which, 8}, lockedUnit}
}

func trips(times float64) part { return part{times, point{floorSuite, "cache-line", 8}, tripUnit} }

func handOvers(times float64) part { return part{times, point{floorSuite, "yield", 8}, handOverUnit} }

func copies(times float64, bytes int) part {
	return part{times, point{floorSuite, "copy", bytes}, copyUnit}
}

func roundTrips(times float64, bytes int) part {
	return part{times, point{floorHostsSuite, "hosts-roundtrip", max(bytes, 8)}, roundUnit}
}

// floor returns the parts of the floor of r on a machine of so many CPUs, or nil.
func (r row) floor(cpus int) []part {
	if r.kind != perOperation && r.kind != perByte {
		return nil
	}
	var n int
	switch suite := r.ours.suite; {
	case suite == fmt.Sprintf("ours-%d-hosts", number(suite)):
		n = number(suite)
		return floorOfHosts(r.ours.bench, r.ours.bytes, n)
	case suite == fmt.Sprintf("ours-%d", number(suite)):
		n = number(suite)
		return floorOfHost(r.ours.bench, r.ours.bytes, n, cpus)
	}
	return nil
}

// number returns the number in the name of one of our suites; without one, 0.
func number(suite string) (n int) {
	fmt.Sscanf(suite, "ours-%d", &n)
	return n
}

// floorOfHost returns the floor of an operation of npes PEs of one host.
func floorOfHost(bench string, bytes, npes, cpus int) []part {
	switch bench {
	case "put", "get", "rate", "bandwidth":
		return []part{copies(1, bytes)}
	case "put-quiet", "fetch-add":
		if bytes != 8 {
			return []part{copies(1, bytes)}
		}
		return []part{locked(1, "add")}
	case "compare-swap":
		return []part{locked(1, "compare-swap")}
	case "swap":
		return []part{locked(1, "exchange")}
	case "flag-pingpong", "signal-pingpong", "notify-pingpong", "get-notify-pingpong":
		if bytes == 8 {
			return []part{trips(1)}
		}
		return []part{trips(1), copies(1, bytes)}
	}
	switch _, what, _ := strings.Cut(bench, "-"); {
	case isLock(bench) && what == "contended" && npes == 2:
		return []part{trips(1)} // it goes to and fro
	case isLock(bench) && what != "contended":
		return []part{locked(2, "compare-swap")}
	case isLock(bench):
		return nil // the holder may take it again before another PE has a CPU
	}
	return floorOfCollective(bench, bytes, npes, cpus)
}

func isLock(bench string) bool {
	kind, _, _ := strings.Cut(bench, "-")
	for _, l := range ourLocks() {
		if l.bench == kind {
			return true
		}
	}
	return false
}

// floorOfCollective: every PE has to run, those that share a CPU one after the other, and all data has to be copied, by
// all CPUs at once.
func floorOfCollective(bench string, bytes, npes, cpus int) (parts []part) {
	moved := map[string]float64{"barrier": 0, "broadcast": float64(npes - 1), "fcollect": float64(npes * npes), "collect": float64(npes * npes),
		"alltoall": float64(npes * npes), "sum": float64(npes)}
	n, known := moved[bench]
	if !known {
		return nil
	}
	if npes > cpus {
		parts = append(parts, handOvers(float64(npes)/float64(cpus)))
	} else {
		parts = append(parts, trips(1))
	}
	if bytes > 8 {
		parts = append(parts, copies(n/float64(min(npes, cpus)), bytes))
	}
	return parts
}

// floorOfHosts returns the floor of an operation of n PEs on hosts of their own.
func floorOfHosts(bench string, bytes, n int) []part {
	switch bench {
	case "put-quiet", "get", "fetch-add", "compare-swap", "swap":
		if bytes > 8 { // one way only
			return []part{roundTrips(0.5, 8), roundTrips(0.5, bytes)}
		}
		return []part{roundTrips(1, 8)}
	case "signal-pingpong", "flag-pingpong", "notify-pingpong":
		return []part{roundTrips(0.5, bytes)}
	case "bandwidth":
		return []part{{1, point{floorHostsSuite, "hosts-stream", bytes}, messageUnit}}
	case "barrier", "broadcast", "alltoall", "sum":
		if n > 2 && bytes > 8<<10 {
			return nil // how it is cut into messages decides
		}
		return []part{roundTrips(0.5*float64(bits.Len(uint(n-1))), bytes)}
	}
	switch _, what, _ := strings.Cut(bench, "-"); {
	case isLock(bench) && what == "own":
		return []part{locked(2, "compare-swap")}
	case isLock(bench) && what == "other":
		return []part{roundTrips(1, 8)} // to take it; giving it back need not be waited for
	}
	return nil
}

// sum returns what parts cost in one round; 0 if a figure is missing.
func (f *figures) sum(parts []part, round int) (ns float64) {
	for _, p := range parts {
		x := f.rounds[round][p.point].P50ns
		if x <= 0 {
			return 0
		}
		ns += p.times * x
	}
	return ns
}

// inWords returns what a multiple is of: "trip", "8 hand-overs + 128 copies".
func inWords(parts []part) string {
	var words []string
	for _, p := range parts {
		words = append(words, p.inWords())
	}
	return strings.Join(words, " + ")
}

func (p part) inWords() string {
	switch {
	case p.times == 1:
		return p.unit
	case p.times == 0.5:
		return "½ " + p.unit
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", p.times), ".0") + " " + plural(p.unit)
}

func plural(unit string) string {
	switch unit {
	case lockedUnit:
		return unit
	case copyUnit:
		return "copies"
	}
	return unit + "s"
}

// multipleOf writes a multiple of what inWords says: "1.12 locked", "1.20 trips", "1.40 × 8 hand-overs".
func multipleOf(multiple float64, parts []part) string {
	switch {
	case multiple == 0:
		return ""
	case len(parts) == 1 && parts[0].times == 1:
		return fmt.Sprintf("%.2f %s", multiple, plural(parts[0].unit))
	case len(parts) == 1:
		return fmt.Sprintf("%.2f × %s", multiple, inWords(parts))
	}
	return fmt.Sprintf("%.2f × (%s)", multiple, inWords(parts))
}

const (
	floorSuite      = "floor"
	floorHostsSuite = "floor-hosts"
)
