package carry

// The symmetric memory of one container: one allocation, in which the parts of the container take places one after
// another. Every allocation is collective and costs a barrier, so that a dozen of them would make containers slow to
// make.
//
// First each part reserves its place, then the memory is allocated, then each part binds to its place.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

// line is what places are a multiple of.
type line [8]uint64

const lineBytes = 64

// Memory is the memory of one container on this PE.
type Memory struct {
	Members *Members
	bytes   int            // what has been reserved
	lines   pgas.Sym[line] // what has been allocated
	first   pgas.Ref[line] // the first line, on the context of the members' team
	base    int            // bytes from the first line to an address that is a multiple of a line
}

// Reserve reserves room for n elements of T, and returns its place.
func Reserve[T any](mem *Memory, n int) (place int) {
	place = mem.bytes
	mem.bytes += (SizeOf[T]()*n + lineBytes - 1) / lineBytes * lineBytes
	return place
}

// Piece returns the n elements of T at a place.
func Piece[T any](mem *Memory, place, n int) pgas.Slice[T] {
	return pgas.FieldSlice[T](mem.first, uintptr(mem.base+place), n)
}

// Cleared returns the piece after clearing this PE's copy.
func Cleared[T any](mem *Memory, place, n int) pgas.Slice[T] {
	p := Piece[T](mem, place, n)
	clear(p.Local())
	return p
}

// Allocate allocates what has been reserved, with undefined contents. It is collective over all PEs of the job. With
// over, PEs that are no members may have reserved other numbers of bytes: all get what the members have reserved.
func (mem *Memory) Allocate(ctx context.Context, over bool) (err error) {
	m := mem.Members
	if over {
		if mem.bytes, err = membersSize(ctx, m, mem.bytes); err != nil {
			return fmt.Errorf("%s: %w", m.op, err)
		}
	}
	if mem.lines, err = pgas.AllocRaw[line](ctx, m.World, mem.bytes/lineBytes+1); err != nil {
		return fmt.Errorf("%s: %w", m.op, err)
	}
	mem.base = int(-mem.lines.All().Offset() % lineBytes)
	mem.first = mem.lines.At(0)
	if m.Ctx != nil {
		mem.first = mem.first.On(m.Ctx)
	}
	return nil
}

// Object is a number that no other container has, for pgas.Team.Joint.
func (mem *Memory) Object() uint64 { return mem.lines.All().Offset() }

// Ready returns when all members have bound their parts to the memory.
func (mem *Memory) Ready(ctx context.Context) error {
	if mem.Members.Team == nil {
		return nil
	}
	return mem.Members.Team.Barrier(ctx)
}

// Free is collective over all PEs of the job.
func (mem *Memory) Free(ctx context.Context) error { return mem.lines.Free(ctx) }

// MustBePlain panics with *pgas.UsageError if T cannot be in symmetric memory.
func MustBePlain[T any](ctx context.Context, w *pgas.World) error {
	_, err := pgas.Alloc[T](ctx, w, 0)
	return err
}

// membersSize returns the size that all members want; what others want does not matter. It is collective over all PEs
// of the job, and an error on all if members differ.
func membersSize(ctx context.Context, m *Members, mine int) (size int, err error) {
	var wanted []int
	if m.Team != nil {
		wanted = []int{mine}
	}
	all, err := pgas.AllGather(ctx, m.World.Team(), wanted)
	if err != nil {
		return 0, err
	}
	first := -1
	for pe, wanted := range all {
		switch {
		case len(wanted) == 0:
		case first < 0:
			first, size = pe, wanted[0]
		case wanted[0] != size:
			return 0, fmt.Errorf("PE %d of the job wants %d, PE %d %d: all members give the same sizes and options", first, size, pe, wanted[0])
		}
	}
	return size, nil
}

// Allocate allocates zeroed symmetric memory of n elements. It is collective over all PEs of the job. With over, PEs
// that are no members may ask for other numbers: all get room for as many as the members ask for.
func Allocate[T any](ctx context.Context, m *Members, over bool, n int) (s pgas.Sym[T], err error) {
	if over {
		if n, err = membersSize(ctx, m, n); err != nil {
			return s, fmt.Errorf("%s: %w", m.op, err)
		}
	}
	if s, err = pgas.Alloc[T](ctx, m.World, n); err != nil {
		return s, fmt.Errorf("%s: %w", m.op, err)
	}
	if m.Ctx != nil {
		s = s.On(m.Ctx)
	}
	return s, nil
}
