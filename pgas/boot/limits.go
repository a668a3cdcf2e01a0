package boot

// What the limits of a process, which a shell sets with ulimit, leave for heaps.

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
)

// HeapRoom is what the limits of a process leave for the heaps of its host, which it maps all of.
type HeapRoom struct {
	Bytes uint64 // the bytes of all heaps together
	Limit string // the limit, as a shell sets it; "" if there is none
}

// Room returns what the limits of this process leave for heaps. The segment is one file. The program and its libraries
// need addresses too, so the heaps get half of those that are left.
func Room() HeapRoom {
	var room HeapRoom
	if limit, ok := softLimit(unix.RLIMIT_FSIZE); ok {
		room = HeapRoom{limit, "ulimit -f"}
	}
	if limit, ok := softLimit(unix.RLIMIT_AS); ok {
		left := (limit - min(limit, addressesInUse())) / 2
		if room.Limit == "" || left < room.Bytes {
			room = HeapRoom{left, "ulimit -v"}
		}
	}
	return room
}

func softLimit(resource int) (limit uint64, limited bool) {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return 0, false
	}
	return l.Cur, l.Cur != unix.RLIM_INFINITY
}

// addressesInUse returns how many bytes this process has mapped.
func addressesInUse() uint64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _, _ := strings.Cut(string(statm), " ")
	n, _ := strconv.ParseUint(pages, 10, 50) // 0 if it cannot be read
	return n * uint64(os.Getpagesize())
}

// each returns how many bytes the program may use of the heap of each of local PEs.
func (r HeapRoom) each(local int) uint64 {
	if r.Limit == "" {
		return math.MaxUint64
	}
	fixed := heapOffset(local, 0, 0) + HeapAlign // a mapping reserves HeapAlign more at first
	heap := (r.Bytes - min(r.Bytes, fixed)) / uint64(local) &^ (heapUnit - 1)
	return heap - min(heap, ReservedBytes)
}

// check returns an error if local heaps of heapMax bytes are more than the limits leave.
func (r HeapRoom) check(local int, heapMax uint64) error {
	switch each := r.each(local); {
	case r.Limit == "" || each > 0 && heapMax <= each+ReservedBytes:
		return nil
	case each == 0:
		return fmt.Errorf("`%s` leaves %d bytes for heaps, and each of a host (PEs: %d) takes %d before the program allocates: raise the limit where PEs start, or run fewer PEs on a host", r.Limit, r.Bytes, local, ReservedBytes+heapUnit)
	default:
		return fmt.Errorf("%s: heaps of %d bytes, with %d on a host, are more than `%s` leaves: raise the limit where PEs start, or set at most %d", EnvHeapMax, heapMax-ReservedBytes, local, r.Limit, each)
	}
}

// addressLimit returns what to add to the error of a mapping: which limit is too low, or nothing.
func addressLimit(err error) string {
	limit, ok := softLimit(unix.RLIMIT_AS)
	if !ok || !errors.Is(err, unix.ENOMEM) {
		return ""
	}
	return fmt.Sprintf(": a process may have %d bytes of addresses: raise `ulimit -v` where PEs start, or set %s to less", limit, EnvHeapMax)
}

// The heap of a PE is a range of addresses; memory is committed as it is touched. Its size is a multiple of heapUnit,
// the size of a huge page. The heaps of one host may reserve addressBudget together: a quarter of the addresses of
// a process.
const (
	heapUnit      = 2 << 20
	addressBudget = 32 << 40
)

// DefaultHeapMax returns the HeapMax of a host with local PEs and memory bytes: all of the memory for each PE,
// as far as addresses and the limits of its processes reach.
func DefaultHeapMax(local int, memory uint64, room HeapRoom) uint64 {
	return RoundHeap(min(memory, (addressBudget/uint64(local)-ReservedBytes)&^(heapUnit-1), room.each(local)))
}

// RoundHeap returns the size of a heap of which the program may use bytes: with the reserved bytes, and rounded up to
// a multiple of heapUnit.
func RoundHeap(bytes uint64) uint64 {
	return (bytes + ReservedBytes + heapUnit - 1) &^ (heapUnit - 1)
}

// PGAS_CHECK=race takes this many bytes of each heap for each PE of the job.
const (
	RaceLeast = 145 << 10
	RaceMost  = 385 << 10
)

// UserHeap returns the size of a heap of which the user lets the program have bytes. What PGAS_CHECK=race takes in a
// job of npes PEs comes on top if races is set: a third of bytes, but at least RaceLeast and at most RaceMost for each
// PE.
func UserHeap(bytes uint64, races bool, npes int) uint64 {
	if races {
		n := uint64(npes)
		bytes += min(n*RaceMost, max(n*RaceLeast, (bytes+2)/3))
	}
	return RoundHeap(bytes)
}

// RaceRoom returns the most that PGAS_CHECK=race takes of the bytes of a heap behind the reserved ones, in a job of
// npes PEs.
func RaceRoom(bytes uint64, npes int) uint64 {
	return max(bytes/4, min(bytes, uint64(npes)*RaceLeast))
}

// CheckHeap returns an error if local PEs of one host cannot map heaps of heapMax bytes together.
func CheckHeap(local int, heapMax uint64, room HeapRoom) error {
	if err := room.check(local, heapMax); err != nil {
		return err
	}
	if heapMax > addressBudget/uint64(local) {
		return fmt.Errorf("%s: heaps of %d bytes for %s are more than the addresses of a process: at most %d each", EnvHeapMax, heapMax-ReservedBytes, plural.Count(local, "PE"), (addressBudget/uint64(local)-ReservedBytes)&^(heapUnit-1))
	}
	return nil
}
