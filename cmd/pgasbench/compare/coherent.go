package compare

// Coherent memory of package dsm against ArgoDSM: page faults and barriers of two PEs of this host. ArgoDSM is in no
// distribution, so its rows want -argodsm.

import (
	"fmt"

	"github.com/gopgas/gopgas/cmd/pgasbench/dsmbench"
)

// pageBytes is ArgoDSM's page, and the block that is compared with it.
const pageBytes = 4096

func rowsOfCoherentMemory() (rows []row) {
	for _, f := range []struct {
		bench, name string
		bytes       int
		least       float64
	}{
		{"read-fault", "read fault, 4 KiB", pageBytes, 2},
		{"write-fault", "write fault, 4 KiB", pageBytes, 2},
		{"upgrade", "write to a page that is there, 4 KiB", pageBytes, 2},
		{"barrier", "barrier, nothing written", dsmbench.BarrierBlock, 0},
	} {
		ours, theirs := point{"ours-dsm", f.bench, f.bytes}, point{"argodsm", f.bench, pageBytes}
		rows = append(rows, row{"coherent memory", f.name, ours, []point{theirs}, f.least, goalOf(f.least), perOperation})
	}
	return rows
}

func suitesOfCoherentMemory() []suite {
	return []suite{
		{
			name: "ours-dsm", says: "coherent memory, 2 PEs", plain: true, read: dsmbench.Results,
			argv: pgasrun(2, "pgasbench", "dsm", "-json", "-bench", "read-fault,write-fault,upgrade,barrier", "-blocks", fmt.Sprint(pageBytes)),
		},
		{
			name: "argodsm", says: "ArgoDSM, 2 nodes", needs: needs{argo: true},
			argv: func(t *tools) []string {
				return append(openMPI(t, "mpirun", 2, "--oversubscribe"), "-x", "ARGO_LOAD_SIZE=1", "-np", "2", t.bin("argo"))
			},
		},
	}
}
