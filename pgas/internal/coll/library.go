package coll

// Calls of libraries above package pgas. The library does the work by one-sided operations and waits, in which the
// members are not in step. That it is a call of the group has two uses: members that are in different calls find out,
// in the library's waits as in those of other collectives, and reports name the library's call.

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Library makes a call that a library names op, on the object with the given number: f, after a barrier if barrier is
// set. f waits with its context, and returns nil only when all members have entered the call. An error of f is returned
// as it is, and does not end the use of the team; the others are those of Sync.
func (g *Group) Library(ctx context.Context, op string, object uint64, barrier bool, f func(context.Context) error) error {
	digest := fnv.New64a()
	digest.Write([]byte(op))
	c := Call{Kind: kindLibrary, count: digest.Sum64() >> 24, bufferHash: object, detail: detailText{text: op}}
	e, err := g.begin(ctx, &c, 0)
	if err == nil {
		defer g.end()
		clear(e.data[copy(e.data[:nameBytes-1], op):nameBytes])
		if barrier {
			err = g.barrierIn(ctx, e)
		} else {
			err = g.arrive(e)
		}
	}
	if err != nil {
		return fmt.Errorf("%s of team %s%s: %w", op, g.Name, callsite.At(), err)
	}
	if err := f(node.WithPurpose(ctx, g.purposeOf(op))); err != nil {
		return err
	}
	g.noteAllArrived()
	return nil
}

// purposeOf returns what the waits inside the library's call under way show.
func (g *Group) purposeOf(op string) node.Purpose {
	why := node.Blocked{Op: boot.InLibrary, Peer: -1, Seq: g.calls.n, Name: op, Cause: op, Party: g}
	return func() (node.Blocked, bool) { return why, true }
}
