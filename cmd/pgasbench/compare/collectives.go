package compare

// The rows of the collectives: each of them, at four sizes, at 2 to 16 PEs of this host, and between two
// and four hosts.

import "fmt"

// contributions are what one PE adds: the bytes of a point.
var contributions = []struct {
	bytes int
	name  string
}{{8, "8 B"}, {8 << 10, "8 KiB"}, {64 << 10, "64 KiB"}, {512 << 10, "512 KiB"}}

// A field is where collectives are compared: the two sides, and how many times faster ours has to be.
type field struct {
	group   string
	benches []string
	ours    string
	theirs  []string // settings of the peer; the best setting counts
	barrier []string // settings of the peer for the barrier
	least   float64
	sums    float64 // least for sums of 8 KiB and more
}

// fields: at 2 PEs and between hosts the peer runs as it chooses to, because the goals are set there.
// Where PEs are crowded its best setting is sought. Its own collectives take milliseconds then, or do not
// end; only its barrier is quick.
func fields() []field {
	all := []string{"broadcast", "fcollect", "collect", "alltoall", "sum"}
	some := []string{"broadcast", "alltoall", "sum"}
	fields := []field{{"collectives, 2 PEs", all, "ours-2", []string{"osh-2"}, []string{"osh-2"}, 1, 2}}
	for _, c := range []struct {
		npes        int
		least, sums float64
	}{{4, 1, 2}, {8, 2, 2}, {16, 3, 3}} {
		theirs := []string{of("osh", c.npes), of("osh-simple", c.npes), of("osh-tree", c.npes)}
		fields = append(fields, field{
			fmt.Sprintf("collectives, %d PEs", c.npes), all, of("ours", c.npes), theirs, append(theirs, of("osh-own", c.npes)), c.least, c.sums,
		})
	}
	return append(fields,
		field{"collectives of two hosts", some, ofHosts("ours", 2), []string{ofHosts("osh", 2)}, []string{ofHosts("osh", 2)}, 1, 1},
		field{"collectives of four hosts", some, ofHosts("ours", 4), []string{ofHosts("osh", 4)}, []string{ofHosts("osh", 4)}, 1, 1})
}

func rowsOfCollectives() (rows []row) {
	for _, f := range fields() {
		rows = append(rows, f.row("barrier", "barrier", 0, f.barrier, f.least))
		for _, bench := range f.benches {
			for _, c := range contributions {
				least := f.least
				if bench == "sum" && c.bytes > 8 {
					least = f.sums
				}
				rows = append(rows, f.row(bench+", "+c.name, bench, c.bytes, f.theirs, least))
			}
		}
	}
	return rows
}

func (f field) row(name, bench string, bytes int, suites []string, least float64) row {
	var theirs []point
	for _, s := range suites {
		theirs = append(theirs, point{s, bench, bytes})
	}
	goal := noSlower
	if least > 1 {
		goal = fmt.Sprintf("%.0fx", least)
	}
	return row{f.group, name, point{f.ours, bench, bytes}, theirs, least, goal, perOperation}
}
