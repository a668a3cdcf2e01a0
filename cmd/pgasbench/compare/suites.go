package compare

// A suite is one command that delivers figures: ours or a peer's, with so many PEs, in so many places.
// Which benches and sizes it runs follows from the rows that are wanted.

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// needs is what a suite's program is built from, or where it runs.
type needs struct {
	osh, ucp, floor, hello, hosts bool
}

type suite struct {
	name  string
	says  string // what runs, for progress and reports
	needs needs
	argv  func(t *tools) []string // without -bench, -sizes and -time
	plain bool                    // takes no such flags
}

// oshmem starts osh on this host. rdma: see tests/peers/osh.c. With more PEs than cores the peer gets its
// best setting, which is to yield; with fewer, yielding would slow it down.
func oshmem(npes int, settings ...string) func(t *tools) []string {
	return func(t *tools) []string {
		argv := []string{"oshrun", "--allow-run-as-root", "--mca", "osc", "^rdma", "--oversubscribe"}
		if npes > t.cores {
			argv = append(argv, "--mca", "mpi_yield_when_idle", "1")
		}
		argv = append(argv, settings...)
		return append(argv, "-np", strconv.Itoa(npes), t.bin("osh"))
	}
}

func pgasrun(npes int, program ...string) func(t *tools) []string {
	return func(t *tools) []string {
		argv := []string{t.bin("pgasrun"), "-n", strconv.Itoa(npes), t.bin(program[0])}
		return append(argv, program[1:]...)
	}
}

// oursOnHosts runs one PE on each of two network namespaces, on the CPU that onhost.sh gives it; ucp and
// floor place themselves in the same way.
func oursOnHosts(t *tools) []string {
	hosts := t.hosts[0] + ":1," + t.hosts[1] + ":1"
	return []string{t.bin("pgasrun"), "-hosts", hosts, "-launch", onHost(t) + " {host}", t.bin("pgasbench"), "-json"}
}

// oshmemOnHosts: oshrun itself runs on the first host, under a host name of its own, and reaches the
// second through agent.sh. Each host would bind its PE to its first core, which here is the same one:
// hence --bind-to none.
func oshmemOnHosts(t *tools) []string {
	return []string{
		"ip", "netns", "exec", t.hosts[0], "unshare", "--uts", "sh", "-c", `hostname "$0" && exec "$@"`, t.hosts[0],
		"oshrun", "--allow-run-as-root", "--bind-to", "none", "--mca", "osc", "^rdma",
		"--mca", "plm_rsh_agent", filepath.Join(t.peers, "agent.sh"),
		"-x", "UCX_TLS=tcp,self", "--host", t.hosts[0] + "," + t.hosts[1], "-np", "2", t.bin("osh"),
	}
}

func onHost(t *tools) string { return filepath.Join(t.peers, "onhost.sh") }

func onHosts(program string) func(t *tools) []string {
	return func(t *tools) []string { return []string{t.bin(program)} }
}

var suites = func() []suite {
	all := []suite{
		{name: "floor", says: "the machine's floor", needs: needs{floor: true}, argv: onHosts("floor")},
		{name: "ours-hosts", says: "pgas on two hosts", needs: needs{hosts: true}, argv: oursOnHosts},
		{name: "osh-hosts", says: "OSHMEM on two hosts", needs: needs{osh: true, hosts: true}, argv: oshmemOnHosts},
		{name: "ucp", says: "UCX on two hosts", needs: needs{ucp: true, hosts: true}, argv: onHosts("ucp")},
		{name: "floor-hosts", says: "TCP between two hosts", needs: needs{floor: true, hosts: true}, argv: onHosts("floor")},
		{name: "osh-basic-16", says: "OSHMEM with basic collectives, 16 PEs", needs: needs{osh: true}, argv: oshmem(16, "--mca", "scoll", "basic")},
		{name: "ours-hello", says: "pgas hello, 16 PEs", needs: needs{hello: true}, argv: pgasrun(16, "hello"), plain: true},
		{name: "osh-hello", says: "OSHMEM hello, 16 PEs", needs: needs{osh: true}, argv: func(t *tools) []string { return append(oshmem(16)(t), "hello") }, plain: true},
		{name: "ours-idle", says: "idle pgas, 4 PEs", argv: pgasrun(4, "pgasbench", "-json", "-bench", "idle"), plain: true},
		{name: "osh-idle", says: "idle OSHMEM, 4 PEs", needs: needs{osh: true}, argv: func(t *tools) []string { return append(oshmem(4)(t), "idle") }, plain: true},
	}
	for _, n := range []int{2, 4, 8, 16} {
		all = append(all,
			suite{name: fmt.Sprintf("ours-%d", n), says: fmt.Sprintf("pgas, %d PEs", n), argv: pgasrun(n, "pgasbench", "-json")},
			suite{name: fmt.Sprintf("osh-%d", n), says: fmt.Sprintf("OSHMEM, %d PEs", n), needs: needs{osh: true}, argv: oshmem(n)})
	}
	return all
}()

func suiteNamed(name string) suite {
	i := slices.IndexFunc(suites, func(s suite) bool { return s.name == name })
	if i < 0 {
		panic("compare: no suite " + name)
	}
	return suites[i]
}

// job is one suite and the points that the wanted rows need of it.
type job struct {
	suite
	points []point
}

// jobsOf collects what the rows need, in their order: the sides of a row stand beside each other.
func jobsOf(wanted []row) []job {
	var jobs []job
	add := func(p point) {
		i := slices.IndexFunc(jobs, func(j job) bool { return j.name == p.suite })
		if i < 0 {
			i, jobs = len(jobs), append(jobs, job{suite: suiteNamed(p.suite)})
		}
		if !slices.Contains(jobs[i].points, p) {
			jobs[i].points = append(jobs[i].points, p)
		}
	}
	for _, r := range wanted {
		add(r.ours)
		for _, p := range r.theirs {
			add(p)
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
	if j.name == "ucp" || j.name == "floor-hosts" {
		argv = append(argv, t.hosts...)
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
