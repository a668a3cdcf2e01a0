package containers

// The PEs that share a container.

import (
	"context"
	"reflect"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// members is the PEs that share a container, as one of the PEs of the job sees them.
type members struct {
	op    string // the call that made the container, for messages
	world *pgas.World
	team  *pgas.Team    // nil on a PE that is no member
	ctx   *pgas.Context // the team's: PE numbers of its operations are the team's
	me, n int           // this PE and the number of members; -1 and 0 on a PE that is no member
	whole bool          // the team is the World's: its PE numbers are those of the job
}

// membersOf returns the members that a call of op names: the PEs of t, or with whole those of w. t is nil on a PE that
// is no member. It panics with *pgas.UsageError if w or ctx is missing, or t is of another World.
func membersOf(ctx context.Context, op string, w *pgas.World, whole bool, t *pgas.Team) members {
	mustHaveContext(op, ctx)
	if whole {
		t = w.Team() // panics if w is nil or zero
	}
	if t == nil {
		return members{op: op, world: w, me: -1}
	}
	if t.World() != w {
		misuse(op, "the team of Over is of another World")
	}
	return members{op: op, world: w, team: t, ctx: t.Context(), me: t.PE(), n: t.NPEs(), whole: t == w.Team()}
}

// mustBelong panics with *pgas.UsageError if this PE is no member, or ctx is missing.
func (m *members) mustBelong(ctx context.Context, op string) {
	m.mustBeMember(op)
	mustHaveContext(op, ctx)
}

// mustBeMember panics with *pgas.UsageError if the container is nil or zero, or this PE is no member.
func (m *members) mustBeMember(op string) {
	switch {
	case m == nil || m.world == nil:
		misuse(op, "the container is nil or zero: make one with a New… function")
	case m.team == nil:
		misuse(op, "this PE is no member: %s was called with Over(nil)", m.op)
	}
}

// mustHaveContext panics with *pgas.UsageError if ctx is missing.
func mustHaveContext(op string, ctx context.Context) {
	if ctx == nil {
		misuse(op, "the context is nil: pass the one that the body of Main gets, or context.Background()")
	}
}

// mustReach panics with *pgas.UsageError unless pe is a member.
func (m *members) mustReach(op string, pe int) {
	if pe < 0 || pe >= m.n {
		misuse(op, "PE %d is out of range: the container has %s", pe, plural.Count(m.n, "member"))
	}
}

// lost returns the *pgas.PeerError of member pe, if it is known to be lost. The memory of a PE of this host outlives
// the PE, so calls that wait for nothing would go on with it.
func (m *members) lost(pe int) error {
	if !m.whole {
		pe = m.team.WorldPE(pe)
	}
	return m.world.Lost(pe)
}

// lostBehind is lost for a call that has fetches under way. If pe is lost, it completes them first, because the call
// then gives up the memory of the fetches.
func (m *members) lostBehind(ctx context.Context, pe int) error {
	err := m.lost(pe)
	if err != nil {
		_ = m.ctx.Quiet(ctx) // of the two errors, the loss of pe is the caller's
	}
	return err
}

// mustLive panics with *pgas.PeerError if member pe is known to be lost.
func (m *members) mustLive(pe int) {
	if err := m.lost(pe); err != nil {
		panic(err)
	}
}

// waitFor returns a context whose waits reports show as the call op, which waits for member pe.
func (m *members) waitFor(ctx context.Context, op string, pe int) context.Context {
	return pgas.WithCall(ctx, op, m.team.WorldPE(pe))
}

// misuse panics with *pgas.UsageError. It names the call that the program has made; op is for a stack without one.
func misuse(op, format string, args ...any) {
	if call := callsite.Call(); call != "" {
		op = call
	}
	hook.Misuse(op, format, args...)
}

// sizeOf returns the bytes of a T.
func sizeOf[T any]() int {
	return int(reflect.TypeFor[T]().Size())
}
