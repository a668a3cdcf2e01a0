package containers

// What the containers that are items of a ckpt.Set have in common.

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// notMade panics with *pgas.UsageError: a call of op is of a container that is nil or zero.
func notMade(op string) {
	carry.Misuse(op, "the container is nil or zero: make one with a New… function")
}

// allRestore reports whether no member has an error in a Restore, before they wait for one another. A member that has
// one gets it back; the others get none, because the Set tells them. It is collective over the members.
func allRestore(ctx context.Context, m *carry.Members, mine error) (all bool, err error) {
	failed := 0
	if mine != nil {
		failed = 1
	}
	failed, err = pgas.MaxValue(ctx, m.Team, failed)
	if mine != nil {
		err = mine
	}
	return failed == 0 && err == nil, err
}

// savedSection returns the section with a name that a PE has saved, and its number, which is -1 if there is none.
func savedSection(ctx context.Context, from *ckpt.Saved, pe int, name string) (s ckpt.Section, number int, err error) {
	all, err := from.Sections(ctx, pe)
	if err != nil {
		return s, -1, err
	}
	for i := range all {
		if all[i].Name == name {
			return all[i], i, nil
		}
	}
	return s, -1, nil
}

// savedElements returns the elements of the section with a name that a PE has saved, and the section. Without the
// section there are none.
func savedElements[T any](ctx context.Context, from *ckpt.Saved, pe int, name string) (elements []T, s ckpt.Section, err error) {
	s, number, err := savedSection(ctx, from, pe, name)
	if err != nil || number < 0 {
		return nil, s, err
	}
	if err := ckpt.MustBe[T](&s); err != nil {
		return nil, s, err
	}
	elements = make([]T, s.Count)
	return elements, s, ckpt.Read(ctx, from, pe, number, 0, elements)
}

// firstSaved returns the first PE that has saved a section with a name: that of the home of a container.
func firstSaved(ctx context.Context, from *ckpt.Saved, name string) (pe int, err error) {
	for pe := range from.PEs() {
		if _, number, err := savedSection(ctx, from, pe, name); err != nil || number >= 0 {
			return pe, err
		}
	}
	return -1, fmt.Errorf("no PE has saved a part of it")
}

// savedNumber returns the one number that a Shape holds.
func savedNumber(shape []byte) (n uint64, ok bool) {
	n, used := binary.Uvarint(shape)
	return n, used > 0 && used == len(shape)
}
