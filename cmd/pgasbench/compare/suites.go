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

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// needs is what a suite's program is built from, or where it runs.
type needs struct {
	osh, mpi, mpich, ucp, hello, samples, kernels, argo bool
	hosts                                               int // network namespaces
}

type suite struct {
	name  string
	says  string // what runs, for progress and reports
	needs needs
	argv  func(t *tools) []string                    // without -bench, -sizes and -time
	plain bool                                       // takes no such flags
	read  func(text []byte) ([]result.Result, error) // what it prints; nil: result.Read
}

// Settings of Open MPI's collectives. No one of them is the best everywhere.
var (
	chosen = []string{}                                     // what it chooses: MPI's
	simple = []string{"--mca", "coll", "basic,libnbc,self"} // MPI's simplest
	tree   = []string{"--mca", "coll_han_priority", "99"}   // MPI's by topology
	own    = []string{"--mca", "scoll", "basic"}            // OSHMEM's; only its barrier and alltoall end in any case
)

// awake is for what one PE does alone while others spin.
var awake = []string{"--mca", yields, "0"}

const yields = "mpi_yield_when_idle"

// oshmem starts a program of tests/peers on this host.
func oshmem(npes int, settings []string, program ...string) func(t *tools) []string {
	return func(t *tools) []string {
		argv := oshrun(t, npes, append([]string{"--oversubscribe"}, settings...)...)
		argv = append(argv, "-np", strconv.Itoa(npes), t.bin(program[0]))
		return append(argv, program[1:]...)
	}
}

// mpi starts mpi.c on this host.
func mpi(npes int, settings []string) func(t *tools) []string {
	return func(t *tools) []string {
		argv := openMPI(t, "mpirun", npes, append([]string{"--oversubscribe"}, settings...)...)
		return append(argv, "-np", strconv.Itoa(npes), t.bin("mpi"))
	}
}

// oshrun is how each command of OSHMEM begins. rdma: see tests/peers/osh.c.
func oshrun(t *tools, npes int, more ...string) []string {
	return openMPI(t, "oshrun", npes, append([]string{"--mca", "osc", "^rdma"}, more...)...)
}

// openMPI is how each command of Open MPI begins. With more PEs than cores the peer gets its best setting,
// which is to yield; with fewer, yielding would slow it down.
func openMPI(t *tools, launcher string, npes int, more ...string) []string {
	argv := append([]string{launcher, "--allow-run-as-root"}, more...)
	if npes > t.cores && !slices.Contains(more, yields) {
		argv = append(argv, "--mca", yields, "1")
	}
	return argv
}

func pgasrun(npes int, program ...string) func(t *tools) []string {
	return func(t *tools) []string {
		argv := []string{t.bin("pgasrun"), "-n", strconv.Itoa(npes), t.bin(program[0])}
		return append(argv, program[1:]...)
	}
}

// oursOnHosts runs one PE on each of n network namespaces, on the CPU that onhost.sh gives it; ucp and
// `pgasbench floor` place themselves in the same way.
func oursOnHosts(n int, program ...string) func(t *tools) []string {
	return func(t *tools) []string {
		hosts := strings.Join(t.hosts[:n], ":1,") + ":1"
		argv := []string{t.bin("pgasrun"), "-hosts", hosts, "-launch", onHost(t) + " {host}", t.bin(program[0])}
		return append(argv, program[1:]...)
	}
}

// oshmemOnHosts runs one PE on each of n hosts.
func oshmemOnHosts(n int, program ...string) func(t *tools) []string {
	return func(t *tools) []string {
		return append(openMPIOnHosts(t, n, "oshrun", "--mca", "osc", "^rdma"), append([]string{t.bin(program[0])}, program[1:]...)...)
	}
}

// mpiOnHosts does the same. Windows of the kind ucx did not end over TCP. Debian's configuration leaves out pt2pt,
// which this brings back; Open MPI 5 has rdma instead.
func mpiOnHosts(n int) func(t *tools) []string {
	return func(t *tools) []string {
		return append(openMPIOnHosts(t, n, "mpirun", "--mca", "osc", "^ucx"), t.bin("mpi"))
	}
}

// openMPIOnHosts: the launcher itself runs on the first host, under a host name of its own, and reaches the
// others through agent.sh. Each host would bind its PE to its first core, which here is the same one:
// hence --bind-to none.
func openMPIOnHosts(t *tools, n int, launcher string, settings ...string) []string {
	argv := append(onFirstHost(t), openMPI(t, launcher, n, append(settings, "--bind-to", "none", "--mca", "plm_rsh_agent", filepath.Join(t.peers, "agent.sh"))...)...)
	return append(argv, "-x", "UCX_TLS=tcp,self", "--host", strings.Join(t.hosts[:n], ","), "-np", strconv.Itoa(n))
}

// onFirstHost is how a command begins that runs on the first host, under a host name of its own.
func onFirstHost(t *tools) []string {
	return []string{"ip", "netns", "exec", t.hosts[0], "unshare", "--uts", "sh", "-c", `hostname "$0" && exec "$@"`, t.hosts[0]}
}

func onHost(t *tools) string { return filepath.Join(t.peers, "onhost.sh") }

func ucpOnHosts(t *tools) []string { return []string{t.bin("ucp")} }

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

func of(prefix string, npes int) string { return fmt.Sprintf("%s-%d", prefix, npes) }

func ofHosts(prefix string, hosts int) string { return fmt.Sprintf("%s-%d-hosts", prefix, hosts) }

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
