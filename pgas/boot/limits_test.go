package boot

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestHeapRoom: the default heap is at most what the limits leave, a larger one is refused with the limit's name and
// the size that would do, and so is a limit that leaves nothing.
func TestHeapRoom(t *testing.T) {
	const least = ReservedBytes + heapUnit
	for _, local := range []int{1, 3, 16, 1000} {
		for _, bytes := range []uint64{0, 1 << 20, least, 64 << 20, 4 << 30, 1 << 50} {
			room := HeapRoom{bytes, "ulimit -f"}
			h := DefaultHeapMax(local, 24<<30, room)
			fits := SegmentBytes(local, least)+HeapAlign <= bytes
			err := CheckHeap(local, h, room)
			if fits != (err == nil) || fits && SegmentBytes(local, h)+HeapAlign > bytes {
				t.Errorf("%d bytes for %d PEs: heaps of %d, %v", bytes, local, h, err)
			}
			if err != nil && !strings.Contains(err.Error(), "`ulimit -f` leaves "+fmt.Sprint(bytes)) {
				t.Error(err)
			}
			if h == RoundHeap(24<<30) {
				continue // the limit leaves more than the memory
			}
			err = CheckHeap(local, h+heapUnit, room)
			if fits && (err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("set at most %d", h-ReservedBytes))) {
				t.Errorf("a heap larger than %d bytes: %v", h, err)
			}
		}
	}
}

// TestSecretOfAGroup: a file of root that a group may read is accepted from a process that is not root's.
func TestSecretOfAGroup(t *testing.T) {
	for _, c := range []struct {
		owner uint32
		mode  os.FileMode
		user  int
		want  bool
	}{{0, 0o440, 65532, true}, {0, 0o640, 65532, true}, {0, 0o444, 65532, false}, {0, 0o460, 65532, false}, {65532, 0o440, 65532, false}, {0, 0o440, 0, false}} {
		if got := groupMayRead(c.owner, c.mode, c.user); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
