package compare

// One-sided operations of MPI, by two implementations: a put or a get and a flush, and fetching atomics, in an epoch
// that stays open. MPICH is not among the peers of other groups; where Debian has both, its commands end in .mpich.

import (
	"path/filepath"
	"strconv"
	"strings"
)

var mpiOperations = []struct{ bench, name string }{
	{"put-quiet", "8 B put+quiet"}, {"get", "8 B get"}, {"fetch-add", "fetch-add"}, {"compare-swap", "compare-swap"},
}

func rowsOfMPI() (rows []row) {
	for _, f := range []struct{ place, ours, openMPI, mpich string }{
		{"2 PEs", of("ours", 2), of("mpi-sm", 2), of("mpich", 2)},
		{"2 hosts", ofHosts("ours", 2), ofHosts("mpi", 2), ofHosts("mpich", 2)},
	} {
		for _, o := range mpiOperations {
			for _, peer := range []struct{ suite, name string }{{f.openMPI, "Open MPI"}, {f.mpich, "MPICH"}} {
				rows = append(rows, row{
					group: "MPI, " + f.place, name: o.name + ", against " + peer.name,
					ours: point{f.ours, o.bench, 8}, theirs: one(peer.suite, o.bench, 8), kind: perOperation,
				})
			}
		}
	}
	return rows
}

// suitesOfMPI: on one host Open MPI 4.1 dies of a segmentation fault in a compare-and-swap of the windows it chooses,
// which are of the kind rdma. Those of the kind sm are faster, too.
func suitesOfMPI() []suite {
	return []suite{
		{name: of("mpi-sm", 2), says: "MPI with shared windows, 2 PEs", needs: needs{mpi: true}, argv: mpi(2, []string{"--mca", "osc", "^rdma"})},
		{name: of("mpich", 2), says: "MPICH, 2 PEs", needs: needs{mpich: true}, argv: mpich(2)},
		{name: ofHosts("mpich", 2), says: "MPICH on 2 hosts", needs: needs{mpich: true, hosts: 2}, argv: mpichOnHosts(2)},
	}
}

func mpich(npes int) func(t *tools) []string {
	return func(t *tools) []string { return []string{"mpiexec.mpich", "-n", strconv.Itoa(npes), t.bin("mpich")} }
}

// mpichOnHosts runs one PE on each of n hosts. The launcher rsh passes no options to agent.sh, as ssh would; UCX_TLS
// keeps MPICH from using shared memory.
func mpichOnHosts(n int) func(t *tools) []string {
	return func(t *tools) []string {
		return append(onFirstHost(t), "mpiexec.mpich", "-launcher", "rsh", "-launcher-exec", filepath.Join(t.peers, "agent.sh"),
			"-iface", "eth0", "-genv", "UCX_TLS", "tcp,self", "-hosts", strings.Join(t.hosts[:n], ","), "-n", strconv.Itoa(n), t.bin("mpich"))
	}
}
