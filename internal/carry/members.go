package carry

// The PEs that share a container.

import (
	"context"
	"reflect"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// Members are the PEs that share a container, as one of the PEs of the job sees them.
type Members struct {
	op    string        // the call that made the container, for messages
	World *pgas.World   // the job
	Team  *pgas.Team    // nil on a PE that is no member
	Ctx   *pgas.Context // the context of the team, whose operations take PE numbers of the team
	Me, N int           // this PE and the number of members; -1 and 0 on a PE that is no member
	whole bool          // PE numbers of the team are those of the job
}

// MembersOf returns the members that a call of op names: the PEs of t, or with whole those of w. t is nil on a PE that
// is no member. It panics with *pgas.UsageError if w or ctx is missing, or t is of another World.
func MembersOf(ctx context.Context, op string, w *pgas.World, whole bool, t *pgas.Team) Members {
	MustHaveContext(op, ctx)
	if whole {
		t = w.Team() // panics if w is nil or zero
	}
	if t == nil {
		return Members{op: op, World: w, Me: -1}
	}
	if t.World() != w {
		Misuse(op, "the team of Over is of another World")
	}
	return Members{op: op, World: w, Team: t, Ctx: t.Context(), Me: t.PE(), N: t.NPEs(), whole: t == w.Team()}
}

// MustBelong panics with *pgas.UsageError if this PE is no member, or ctx is missing.
func (m *Members) MustBelong(ctx context.Context, op string) {
	m.MustBeMember(op)
	MustHaveContext(op, ctx)
}

// MustBeMember panics with *pgas.UsageError if the container is nil or zero, or this PE is no member.
func (m *Members) MustBeMember(op string) {
	switch {
	case m == nil || m.World == nil:
		Misuse(op, "the container is nil or zero: make one with a New… function")
	case m.Team == nil:
		Misuse(op, "this PE is no member: %s was called with Over(nil)", m.op)
	}
}

// MustHaveContext panics with *pgas.UsageError if ctx is missing.
func MustHaveContext(op string, ctx context.Context) {
	if ctx == nil {
		Misuse(op, "the context is nil: pass the one that the body of Main gets, or context.Background()")
	}
}

// MustReach panics with *pgas.UsageError unless pe is a member.
func (m *Members) MustReach(op string, pe int) {
	if pe < 0 || pe >= m.N {
		Misuse(op, "PE %d is out of range: the container has %s", pe, plural.Count(m.N, "member"))
	}
}

// Lost returns the *pgas.PeerError of member pe, if it is known to be lost. The memory of a PE of this host outlives
// the PE, so calls that wait for nothing would go on with it.
func (m *Members) Lost(pe int) error {
	if !m.whole {
		pe = m.Team.WorldPE(pe)
	}
	return m.World.Lost(pe)
}

// LostBehind returns the *pgas.PeerError of member pe, if it is known to be lost, to a call that has fetches under way.
// It completes the fetches first, because the call then gives up their memory.
func (m *Members) LostBehind(ctx context.Context, pe int) error {
	err := m.Lost(pe)
	if err != nil {
		_ = m.Ctx.Quiet(ctx) // of the two errors, the loss of pe is the caller's
	}
	return err
}

// MustLive panics with *pgas.PeerError if member pe is known to be lost.
func (m *Members) MustLive(pe int) {
	if err := m.Lost(pe); err != nil {
		panic(err)
	}
}

// WaitFor returns a context whose waits reports show as the call op, which waits for member pe.
func (m *Members) WaitFor(ctx context.Context, op string, pe int) context.Context {
	return pgas.WithCall(ctx, op, m.Team.WorldPE(pe))
}

// Misuse panics with *pgas.UsageError. It names the call that the program has made; op is for a stack without one.
func Misuse(op, format string, args ...any) {
	if call := callsite.Call(); call != "" {
		op = call
	}
	hook.Misuse(op, format, args...)
}

// SizeOf returns the bytes of a T.
func SizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }
