package compare

// What a suite is, and how those of the peers are started.

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

type suite struct {
	name  string
	says  string // what runs, for progress and reports
	needs needs
	argv  func(t *tools) []string                    // the command without -bench, -sizes and -time
	plain bool                                       // the command takes no such flags
	read  func(text []byte) ([]result.Result, error) // reads what the command prints; nil: result.Read
}

// Settings of Open MPI's collectives. No one of them is the best everywhere.
var (
	chosen = []string{}                                     // what MPI chooses itself
	simple = []string{"--mca", "coll", "basic,libnbc,self"} // the simplest setting of MPI
	tree   = []string{"--mca", "coll_han_priority", "99"}   // the setting of MPI that follows the topology
	own    = []string{"--mca", "scoll", "basic"}            // OSHMEM's own; only its barrier and alltoall always end
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

func of(prefix string, npes int) string { return fmt.Sprintf("%s-%d", prefix, npes) }

func ofHosts(prefix string, hosts int) string { return fmt.Sprintf("%s-%d-hosts", prefix, hosts) }
