package boot

import (
	"fmt"
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

// TestRaceRoom: what PGAS_CHECK=race takes of a heap leaves the program what the user lets it have.
func TestRaceRoom(t *testing.T) {
	for _, npes := range []int{1, 2, 6, 64, 1000} {
		for _, bytes := range []uint64{0, 1, 4096, 1 << 20, 17 << 20, 64 << 20, 1<<30 + 1, 1 << 40} {
			heap := UserHeap(bytes, true, npes)
			room := heap - ReservedBytes
			taken := min(RaceRoom(room, npes), uint64(npes)*RaceMost)
			if taken < uint64(npes)*RaceLeast || room-taken < bytes {
				t.Errorf("%d PEs: a heap of %d bytes has %d, and %d of them are taken", npes, bytes, room, taken)
			}
			if UserHeap(bytes, false, npes) != RoundHeap(bytes) {
				t.Errorf("%d PEs: a heap of %d bytes is larger without a detector", npes, bytes)
			}
		}
	}
}
