package pgas

// What libraries above pgas need so that their calls are seen: a call of all members of a team that members in another
// call find out about, and waits that reports of the job show by the name of the library's call.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Joint runs f as a collective call of t for a library above pgas. op names the call, as "Mailbox.Flush" does, and
// object is a number of what it is called on, the same on all members: such as the offset of its memory. Members that
// are in different calls get *MismatchError, which names all of them, in place of a hang. Reports of the job show a
// wait with f's context as a wait in op.
//
// With barrier, a Barrier of t is part of the call, before f. Without, Joint waits for no member and completes nothing.
// f returns nil only after all members have called Joint. It calls no collective of t.
//
// It returns the error of f, or the errors of a collective (see Team); after an error of f the team can be used. It
// panics with
// *UsageError if t is no team of this PE, ctx is nil, or another goroutine is in a collective of t.
func (t *Team) Joint(ctx context.Context, op string, object uint64, barrier bool, f func(ctx context.Context) error) error {
	t.alive(op)
	mustHaveContext(op, ctx)
	if barrier {
		if err := t.quiet(ctx); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	return t.g.Library(ctx, op, object, barrier, f)
}

// WithCall returns a context derived from ctx. While a wait with it is blocked, and while World.Sleep sleeps with it,
// reports of the job show the call of a library that op names, as "Queue.Push" does, and that it waits for PE pe of the
// job, unless pe is -1.
func WithCall(ctx context.Context, op string, pe int) context.Context {
	why := node.Blocked{Op: boot.InLibrary, Peer: pe, Name: op, Cause: op}
	return node.WithPurpose(ctx, func() (node.Blocked, bool) { return why, true })
}
