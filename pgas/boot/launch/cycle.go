package launch

// What a report says of PEs that wait for each other's locks. A PE that waits for a lock shows the PE before it in the
// queue, and the first of a queue waits for the holder, so these edges lead to holders. If they lead back, the PEs wait
// for each other. Another goroutine of one of them may hold the lock that ends it, so this is for reports that are
// asked for, and ends no job.

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gopgas/gopgas/pgas/boot"
)

// lockCycle returns a line about the first PEs that wait for each other in locks, or "".
func lockCycle(hosts []*host) string {
	waits := map[int]int{} // by PE, the PE that it waits for in a lock
	for _, h := range hosts {
		for _, row := range h.table {
			if row.Op == boot.InLock && !row.Exited && row.Peer >= 0 && row.Peer != row.PE {
				waits[row.PE] = row.Peer
			}
		}
	}
	for _, pe := range slices.Sorted(maps.Keys(waits)) {
		if cycle := cycleThrough(pe, waits); cycle != nil {
			return fmt.Sprintf("  PEs %s wait for each other's locks: take locks in the same order on every PE\n", Ranges(cycle))
		}
	}
	return ""
}

// cycleThrough returns the PEs of the cycle that pe is part of, in ascending order, or nil.
func cycleThrough(pe int, waits map[int]int) []int {
	cycle := []int{pe}
	for at, ok := waits[pe]; ok && len(cycle) <= len(waits); at, ok = waits[at] {
		if at == pe {
			slices.Sort(cycle)
			return cycle
		}
		cycle = append(cycle, at)
	}
	return nil
}
