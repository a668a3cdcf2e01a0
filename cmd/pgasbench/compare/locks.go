package compare

// Locks: alone, and with all PEs at one lock, on this host and on several. The peers' are OSHMEM's
// shmem_set_lock and MPI's MPI_Win_lock. Groups of their own, because a peer in which a PE starves ends by its
// deadline and has no figures then.

import (
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/locks/kinds"
)

// A lock is one of ours.
type lock struct {
	bench, name string
	fair        bool // first come, first served on one host: the goals are for fair locks
	fairBetween bool // first come, first served between hosts
}

// ourLocks returns pgas.Lock and the locks of papers, without the baselines. The goals are not for locks that also
// have readers.
func ourLocks() []lock {
	all := []lock{{"lock", "pgas.Lock", true, true}}
	for _, k := range kinds.All() {
		if k.Baseline {
			continue
		}
		between := k.Order == kinds.FirstServed && !k.Readers
		all = append(all, lock{k.Bench(), k.Name, between || k.Order == kinds.ServedByGroup, between})
	}
	return all
}

// dmcs is the lock that is compared with MPI's.
func dmcs() lock {
	k := kinds.Of(kinds.DMCS)
	return lock{bench: k.Bench(), name: k.Name}
}

// A lockField is where locks are compared.
type lockField struct {
	place        string
	ours         string
	osh, mpi     []string // settings of the peers; the best setting counts
	alone        []string // settings of OSHMEM for one PE that is alone
	aloneMPI     []string // settings of MPI for one PE that is alone
	everywhere   bool     // look at locks of the last PE's memory too, and at all kinds
	betweenHosts bool
	aloneGoal    float64 // how many times better fair locks have to be
	goal         float64
}

func lockFields() []lockField {
	fields := []lockField{{"2 PEs", of("ours", 2), []string{of("osh", 2)}, []string{of("mpi", 2)}, []string{of("osh", 2)}, []string{of("mpi", 2)}, true, false, 5, 1}}
	for _, c := range []struct {
		npes int
		goal float64
	}{{4, 1}, {8, 5}, {16, 5}} {
		n := c.npes
		osh := []string{of("osh", n), of("osh-awake", n)}
		fields = append(fields, lockField{
			fmt.Sprintf("%d PEs", n), of("ours", n), osh, []string{of("mpi", n)}, []string{of("osh-awake", n)}, []string{of("mpi-awake", n)}, false, false, 5, c.goal,
		})
	}
	for _, c := range []struct {
		hosts int
		name  string
		goal  float64
	}{{2, "two hosts", 2}, {4, "four hosts", 1}} {
		osh, mpi := []string{ofHosts("osh", c.hosts)}, []string{ofHosts("mpi", c.hosts)}
		fields = append(fields, lockField{c.name, ofHosts("ours", c.hosts), osh, mpi, osh, mpi, true, true, 1, c.goal})
	}
	return fields
}

func rowsOfLocks() (rows []row) {
	for _, f := range lockFields() {
		rows = append(append(rows, f.rowsAlone()...), f.rowsContended()...)
	}
	return rows
}

// wanted returns the locks that one PE takes alone.
func (f lockField) wanted() []lock {
	if f.everywhere {
		return ourLocks()
	}
	return slices.DeleteFunc(ourLocks(), func(l lock) bool { return !l.fair })
}

func (f lockField) rowsAlone() (rows []row) {
	group := "locks alone, " + f.place
	for _, l := range f.wanted() {
		least := 0.0
		if l.fair {
			least = f.aloneGoal
		}
		rows = append(rows, f.row(group, l.name+" of the own memory", l.bench+"-own", "lock-own", f.alone, least, perOperation))
		if f.everywhere {
			rows = append(rows, f.row(group, l.name+" of another PE's memory", l.bench+"-other", "lock-other", f.alone, least, perOperation))
		}
	}
	return append(rows, f.row(group, dmcs().name+" of the own memory, against MPI", dmcs().bench+"-own", "lock-own", f.aloneMPI, 0, perOperation))
}

func (f lockField) rowsContended() (rows []row) {
	group := "locks contended, " + f.place
	for _, l := range ourLocks() {
		least := 0.0
		if l.fair && (l.fairBetween || !f.betweenHosts) {
			least = f.goal
		}
		rows = append(rows, f.row(group, l.name, l.bench+"-contended", "lock-contended", f.osh, least, perOperation))
	}
	for _, l := range ourLocks() {
		rows = append(rows, f.rowsOfFairness(group, l, "", f.osh)...)
	}
	rows = append(rows, f.row(group, dmcs().name+", against MPI", dmcs().bench+"-contended", "lock-contended", f.mpi, 0, perOperation))
	return append(rows, f.rowsOfFairness(group, dmcs(), ", against MPI", f.mpi)...)
}

// rowsOfFairness say how evenly PEs get l. They have no goals: a lock that lets one PE have it for long is fast.
func (f lockField) rowsOfFairness(group string, l lock, against string, theirs []string) (rows []row) {
	for _, c := range []struct {
		name string
		kind kind
	}{
		{"99th percentile of waits", waitP99},
		{"longest wait", longestWait},
		{"most turns of others in between", passings},
		{"most turns to fewest", unfairness},
	} {
		rows = append(rows, f.row(group, l.name+", "+c.name+against, l.bench+"-contended", "lock-contended", theirs, 0, c.kind))
	}
	return rows
}

func (f lockField) row(group, name, ours, theirs string, suites []string, least float64, k kind) row {
	var points []point
	for _, s := range suites {
		points = append(points, point{s, theirs, 8})
	}
	return row{group, name, point{f.ours, ours, 8}, points, least, goalOf(least), k}
}

// suitesOfLocks returns the suites that only locks need.
func suitesOfLocks() (all []suite) {
	for _, n := range []int{2, 4, 8, 16} {
		all = append(all,
			suite{name: of("mpi", n), says: fmt.Sprintf("MPI, %d PEs", n), needs: needs{mpi: true}, argv: mpi(n, chosen)},
			suite{name: of("mpi-awake", n), says: fmt.Sprintf("MPI that never yields, %d PEs", n), needs: needs{mpi: true}, argv: mpi(n, awake)},
			suite{name: of("osh-awake", n), says: fmt.Sprintf("OSHMEM that never yields, %d PEs", n), needs: needs{osh: true}, argv: oshmem(n, awake, "osh")})
	}
	for _, n := range []int{2, 4} {
		all = append(all, suite{name: ofHosts("mpi", n), says: fmt.Sprintf("MPI on %d hosts", n), needs: needs{mpi: true, hosts: n}, argv: mpiOnHosts(n)})
	}
	return all
}
