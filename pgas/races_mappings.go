package pgas

// Memory that PEs of a host share beside the symmetric heaps, by mappings of their own (mmap, shmget, or C that does
// so). PGAS_CHECK=race sees nothing of what they do there, so it does not know what that orders.

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// ownMappings is how the names of mappings begin that PEs share and that are none of the program: memory of the
// runtime, and of the network library.
var ownMappings = []string{"/memfd:pgas", "/dev/shm/ucx_", "/dev/infiniband/", "anon_inode:"}

// sharedMapping returns what two PEs of the host of n map writable and shared, beside the memory of the runtime, and
// reports whether there is such a thing.
func sharedMapping(n *node.Node) (what string, ok bool) {
	first := n.Job.Host().First
	by := map[string]int{}
	for i, st := range n.Job.Segment.States {
		if boot.Membership(st.Membership.Load()) != boot.Joined {
			continue
		}
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", st.Process.Load()))
		if err != nil {
			continue // it has ended, or is none of this user's
		}
		for _, m := range sharedMappings(maps) {
			if pe, is := by[m.file]; is && pe != first+i {
				return fmt.Sprintf("PE %d and PE %d share memory beside the symmetric heaps, by mappings of %s: what they order by it is not known", pe, first+i, m.name), true
			}
			by[m.file] = first + i
		}
	}
	return "", false
}

// mapping is memory that a process may share with others.
type mapping struct {
	file string // device and inode
	name string
}

// sharedMappings returns the mappings of the program in a file maps of the system that are writable and shared.
func sharedMappings(maps []byte) (shared []mapping) {
	for s := bufio.NewScanner(bytes.NewReader(maps)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 6 || f[1][1:2] != "w" || !strings.HasSuffix(f[1], "s") {
			continue
		}
		m := mapping{f[3] + " " + f[4], strings.Join(f[5:], " ")}
		own := false
		for _, prefix := range ownMappings {
			own = own || strings.HasPrefix(m.name, prefix)
		}
		if !own {
			shared = append(shared, m)
		}
	}
	return shared
}
