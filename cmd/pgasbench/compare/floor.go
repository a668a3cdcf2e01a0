package compare

// The machine's floor, which every report ends with, by `pgasbench floor` in each round: what one locked instruction
// and one trip of a cache line cost, and whatever else the rows are made of. Nearly every operation inside a host is a
// few of these, and they differ between CPUs more than the runtimes do, so ratios of two machines compare only with
// both floors beside them.

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// floorPoints are the figures that the report says of every machine, with what it calls them.
var floorPoints = []struct {
	point
	says string
}{
	{point{floorSuite, "locked-add", 8}, "one locked add"},
	{point{floorSuite, "locked-compare-swap", 8}, "one locked compare-and-swap"},
	{point{floorSuite, "cache-line", 8}, "one trip of a cache line"},
	{point{floorSuite, "yield", 8}, "one hand-over of a CPU"},
}

// floorJobs are the runs that measure the floor, once a round: of this host, and of TCP between two if rows are of
// hosts.
func floorJobs(wanted []row, cpus int) []job {
	jobs := []job{{suite: suiteNamed(floorSuite), group: floorSuite}, {suite: suiteNamed(floorHostsSuite), group: floorSuite}}
	add := func(p point) {
		j := &jobs[0]
		if p.suite == floorHostsSuite {
			j = &jobs[1]
		}
		if !slices.Contains(j.points, p) {
			j.points = append(j.points, p)
		}
	}
	for _, p := range floorPoints {
		add(p.point)
	}
	for _, r := range wanted {
		for _, part := range r.floor(cpus) {
			add(part.point)
		}
	}
	if jobs[1].points == nil {
		return jobs[:1]
	}
	return jobs
}

// floorVerdicts returns the floor as rows of the report that have no other side: the least of the rounds.
func (f *figures) floorVerdicts() []verdict {
	var rows []verdict
	for _, p := range floorPoints {
		v := verdict{Row: floorSuite + ": " + p.says, Unit: perOperation.unit(), Reached: "-"}
		var all []float64
		for _, round := range f.rounds {
			if x := round[p.point].P50ns; x > 0 {
				all = append(all, x)
			}
		}
		if v.Rounds = len(all); v.Rounds > 0 {
			v.Theirs = slices.Min(all) // nothing makes an instruction faster, and other processes make it slower
		} else if v.Reached = "?"; f.failed[floorSuite] != nil {
			v.Why = f.failed[floorSuite].Error()
		}
		rows = append(rows, v)
	}
	return rows
}

// floor returns the sentence of the report about the machine.
func (f *figures) floor() string {
	var parts []string
	for i, v := range f.floorVerdicts() {
		if v.Rounds == 0 {
			return strings.TrimSuffix("The machine's floor was not measured: "+v.Why, ": ") + ".\n"
		}
		parts = append(parts, floorPoints[i].says+" "+perOperation.write(v.Theirs))
	}
	return fmt.Sprintf("The floor of this machine%s: %s.\n", f.machine, strings.Join(parts, ", "))
}

// machine returns the name of the CPU and the number of CPUs, in brackets.
func machine() string {
	name := "unknown CPU"
	info, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		if _, rest, ok := strings.Cut(string(info), "model name"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			name = strings.TrimSpace(strings.TrimLeft(line, " \t:"))
		}
	}
	return fmt.Sprintf(" (%s, %d CPUs)", name, runtime.NumCPU())
}
