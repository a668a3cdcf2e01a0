package containers

// A value of each member that others fetch, as dist_object of UPC++. It is published behind a version: odd while the
// owner writes, even when the value is whole. A reader reads the version, the value and the version again, and tries
// once more if they are not the same. The value is read and written word by word atomically, so a reader that comes too
// early reads something old or torn, which it drops, but nothing undefined.

import (
	"context"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// DistObject is one value of the plain type T for each member, which its owner publishes and others fetch.
//
// On each member one goroutine at a time publishes, and one at a time fetches. A second one
// panics with *UsageError, which names the lines of both.
type DistObject[T any] struct {
	members carry.Members
	memory  carry.Memory
	version pgas.Atomic[uint64]
	words   pgas.AtomicSlice[uint64] // the words of the value that is published

	publishing exclusive
	own        distView[T] // this member's value
	current    uint64      // the version of own

	fetching exclusive
	got      distView[T] // a value that is being fetched
	known    map[int]distKnown[T]
}

// distKnown is what a member has fetched from another one.
type distKnown[T any] struct {
	version uint64
	value   T
}

// distVersion is the room of the version: the value is on other cache lines.
const distVersion = 16

// distView is a place in this PE's symmetric memory that is seen as a value and as words.
type distView[T any] struct {
	value []T
	words []uint64
}

func newDistView[T any](mem *carry.Memory, place, words int) distView[T] {
	return distView[T]{value: carry.Piece[T](mem, place, 1).Local(), words: carry.Cleared[uint64](mem, place, words).Local()}
}

// NewDistObject makes a DistObject of which no member has published a value. It is collective over all PEs of the
// World. It returns the errors of pgas.Alloc, and panics with *pgas.UsageError if T is not plain. Option: Over.
func NewDistObject[T any](ctx context.Context, w *pgas.World, opts ...Option) (*DistObject[T], error) {
	const op = "NewDistObject"
	s := settingsOf(op, opts)
	d := &DistObject[T]{members: carry.MembersOf(ctx, op, w, !s.over, s.team), known: map[int]distKnown[T]{}}
	if err := carry.MustBePlain[T](ctx, w); err != nil {
		return nil, err
	}
	n := (carry.SizeOf[T]() + 7) / 8
	d.memory.Members = &d.members
	version, words := carry.Reserve[uint64](&d.memory, distVersion), carry.Reserve[uint64](&d.memory, n)
	own, got := carry.Reserve[uint64](&d.memory, n), carry.Reserve[uint64](&d.memory, n)
	if err := d.memory.Allocate(ctx, s.over); err != nil || d.members.Team == nil {
		return d, err
	}
	d.version = pgas.AtomicsOf(carry.Cleared[uint64](&d.memory, version, distVersion)).At(0)
	d.words = pgas.AtomicsOf(carry.Cleared[uint64](&d.memory, words, n))
	d.own, d.got = newDistView[T](&d.memory, own, n), newDistView[T](&d.memory, got, n)
	return d, d.memory.Ready(ctx)
}

func (d *DistObject[T]) check(op string) {
	if d == nil {
		carry.Misuse(op, "the container is nil or zero: make one with a New… function")
	}
	d.members.MustBeMember(op)
}

// Publish makes v this member's value, in place of the one before. It is local: no message. A member that fetches it
// gets the old value or the new one, never parts of both. It orders nothing else.
func (d *DistObject[T]) Publish(v T) {
	d.check("DistObject.Publish")
	d.publishing.enter(d.members.World)
	defer d.publishing.leave()
	d.own.value[0] = v
	d.version.Set(d.members.Me, d.current+1)
	d.members.Ctx.FencePE(d.members.Me)
	for i, word := range d.own.words {
		d.words.At(i).Set(d.members.Me, word)
	}
	d.members.Ctx.FencePE(d.members.Me)
	d.current += 2
	d.version.Set(d.members.Me, d.current)
}

// Fetch returns the value of member pe, and waits until pe has published one. It is one-sided: one round trip if the
// value is the one that this PE has fetched before, which it keeps in Go's memory; else three, and more if pe publishes
// at the same time. A wait polls. For this PE's own value it is local.
//
// It returns *pgas.PeerError if pe is lost, or any PE during a wait, and the cause of ctx if that ends a wait. It
// panics with
// *pgas.UsageError if pe is out of range.
func (d *DistObject[T]) Fetch(ctx context.Context, pe int) (T, error) {
	v, _, err := d.fetch(ctx, "DistObject.Fetch", pe, 0)
	return v, err
}

// FetchAfter returns the value of member pe and its version, and waits until that is greater than version. The values
// that a member publishes have the versions 1, 2, and so on. Messages, errors and panics are those of Fetch.
func (d *DistObject[T]) FetchAfter(ctx context.Context, pe int, version uint64) (T, uint64, error) {
	return d.fetch(ctx, "DistObject.FetchAfter", pe, version)
}

func (d *DistObject[T]) fetch(ctx context.Context, op string, pe int, after uint64) (v T, version uint64, err error) {
	d.check(op)
	d.members.MustBelong(ctx, op)
	d.members.MustReach(op, pe)
	d.fetching.enter(d.members.World)
	defer d.fetching.leave()
	defer orLost(&err)
	d.members.MustLive(pe)
	for p := (pace{}); ; {
		if at := d.version.Fetch(pe); at&1 == 0 && at/2 > after {
			if v, ok := d.read(pe, at); ok {
				return v, at / 2, nil
			}
		}
		if p.polls == 0 {
			d.fetching.note()
			ctx = d.members.WaitFor(ctx, op, pe)
		}
		if err := p.pause(ctx, d.members.World); err != nil {
			return v, 0, err
		}
	}
}

// read returns the value of pe whose version is at, unless pe has begun to publish another one.
func (d *DistObject[T]) read(pe int, at uint64) (v T, ok bool) {
	if k := d.known[pe]; k.version == at {
		return k.value, true
	}
	d.words.FetchNB(pe, d.got.words)
	d.members.Ctx.MustQuiet()
	if d.version.Fetch(pe) != at {
		return v, false
	}
	d.known[pe] = distKnown[T]{at, d.got.value[0]}
	return d.got.value[0], true
}

// Free frees the memory of the object. It is collective over all PEs of the World.
func (d *DistObject[T]) Free(ctx context.Context) error {
	if d == nil || d.members.World == nil {
		carry.Misuse("DistObject.Free", "the container is nil or zero: make one with a New… function")
	}
	return freeMemory(ctx, "DistObject.Free", &d.memory)
}
