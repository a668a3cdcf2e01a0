package compare

// A suite is one command that delivers figures: ours or a peer's, with so many PEs, in so many places.
// Which benches and sizes it runs follows from the rows that are wanted.

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var suites = slices.Concat(theSuites(), suitesOnHosts(), suitesOfPEs(), suitesOfLocks(), suitesOfMPI(), suitesOfKernels(), suitesOfCoherentMemory())

func theSuites() []suite {
	return []suite{
		{name: "floor", says: "the machine's floor", argv: func(t *tools) []string { return []string{t.bin("pgasbench"), "floor", "-json"} }},
		{name: "ucp", says: "UCX on two hosts", needs: needs{ucp: true, hosts: 2}, argv: ucpOnHosts},
		{name: "floor-hosts", says: "TCP between two hosts", needs: needs{hosts: 2}, argv: func(t *tools) []string {
			return []string{t.bin("pgasbench"), "floor", "-json", "-hosts", strings.Join(t.hosts[:2], ",")}
		}},
		{name: "ours-hello", says: "pgas hello, 16 PEs", needs: needs{hello: true}, argv: pgasrun(16, "hello"), plain: true},
		{name: "osh-hello", says: "OSHMEM hello, 16 PEs", needs: needs{osh: true}, argv: oshmem(16, chosen, "osh", "hello"), plain: true},
		{name: "ours-idle", says: "idle pgas, 4 PEs", argv: pgasrun(4, "pgasbench", "-json", "-bench", "idle"), plain: true},
		{name: "osh-idle", says: "idle OSHMEM, 4 PEs", needs: needs{osh: true}, argv: oshmem(4, chosen, "osh", "idle"), plain: true},
	}
}

func suitesOnHosts() (all []suite) {
	for _, n := range []int{2, 4} {
		all = append(all,
			suite{name: ofHosts("ours", n), says: fmt.Sprintf("pgas on %d hosts", n), needs: needs{hosts: n}, argv: oursOnHosts(n, "pgasbench", "-json")},
			suite{name: ofHosts("osh", n), says: fmt.Sprintf("OSHMEM on %d hosts", n), needs: needs{osh: true, hosts: n}, argv: oshmemOnHosts(n, "osh")})
	}
	return all
}

// suitesOfPEs are jobs on this host, the peer's with each of its settings.
func suitesOfPEs() (all []suite) {
	for _, n := range []int{2, 4, 8, 16} {
		osh := func(prefix, collectives string, settings []string) suite {
			return suite{name: of(prefix, n), says: fmt.Sprintf("OSHMEM%s, %d PEs", collectives, n), needs: needs{osh: true}, argv: oshmem(n, settings, "osh")}
		}
		all = append(all,
			suite{name: of("ours", n), says: fmt.Sprintf("pgas, %d PEs", n), argv: pgasrun(n, "pgasbench", "-json")},
			osh("osh", "", chosen),
			osh("osh-simple", " with MPI's simplest collectives", simple),
			osh("osh-tree", " with MPI's collectives by topology", tree),
			osh("osh-own", " with its own collectives", own))
	}
	return all
}

func suiteNamed(name string) suite {
	i := slices.IndexFunc(suites, func(s suite) bool { return s.name == name })
	if i < 0 {
		panic("compare: no suite " + name)
	}
	return suites[i]
}

// job is one suite and the points that the wanted rows of a group need of it.
type job struct {
	suite
	group  string
	points []point
}

// jobsOf collects what the rows need, in their order: the sides of a row stand beside each other. A suite
// runs once for each group that needs it, because a program runs all its benches at all its sizes.
func jobsOf(wanted []row) []job {
	var jobs []job
	add := func(group string, p point) {
		i := slices.IndexFunc(jobs, func(j job) bool { return j.name == p.suite && j.group == group })
		if i < 0 {
			i, jobs = len(jobs), append(jobs, job{suite: suiteNamed(p.suite), group: group})
		}
		if !slices.Contains(jobs[i].points, p) {
			jobs[i].points = append(jobs[i].points, p)
		}
	}
	for _, r := range wanted {
		add(r.group, r.ours)
		for _, p := range r.theirs {
			add(r.group, p)
		}
	}
	return jobs
}

// command is the whole command line of j.
func (j job) command(t *tools, point time.Duration) []string {
	argv := j.argv(t)
	if !j.plain {
		argv = append(argv, "-bench", j.benches(), "-sizes", j.sizes(), "-time", milliseconds(point))
	}
	if j.name == "ucp" {
		argv = append(argv, t.hosts[:2]...)
	}
	return argv
}

// milliseconds writes d in the one unit that the peers read too.
func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64) + "ms"
}

// benches is a regular expression that matches the wanted names only.
func (j job) benches() string {
	var names []string
	for _, p := range j.points {
		if !slices.Contains(names, p.bench) {
			names = append(names, regexp.QuoteMeta(p.bench))
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

func (j job) sizes() string {
	var sizes []string
	for _, p := range j.points {
		if s := strconv.Itoa(p.bytes); p.bytes > 0 && !slices.Contains(sizes, s) {
			sizes = append(sizes, s)
		}
	}
	if sizes == nil {
		return "8"
	}
	return strings.Join(sizes, ",")
}
