package containers

// Mailbox: small messages from any member to any, many of them in one put. The idea is that of the conveyors of bale
// (J. DeVinney and J. Gilbert, "Bale: a library of parallel buffers", 2020): a program sends items one by one, and the
// library carries full buffers.

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// Mailbox carries items of T from any member to any. Items are gathered for each target, and travel when a batch is
// full or when a member flushes.
//
// Items from one member to another are received in the order in which they were sent. A member receives while it sends,
// polls or flushes, on the goroutine that does so, and at no other time: a member that computes for long keeps others
// waiting as soon as their rings at it are full.
//
// On each member one goroutine at a time is in a call. A second one panics with *UsageError, which names the lines of
// both: always if both flush or poll, and in a program that is checked (PGAS_CHECK=1) if either sends. A Send that took
// its turn in every program would take three times as long. So without that check items that two goroutines send at
// once may be lost; the next Flush compares how many were sent with how many are there, and panics with *UsageError if
// these differ.
//
// Each member has n+1 times Ring bytes of symmetric memory for n members, and half as much Go memory for the batches
// that it has begun.
type Mailbox[T any] struct {
	members *carry.Members
	memory  *carry.Memory // nil if the mailbox is part of another container
	flow    *carry.Flow
	rings   *carry.Rings[T]
	census  *carry.Census
	receive func(from int, items []T) error

	beside    besides     // a mailbox with the same flow, or nil
	counted   carry.Tally // items sent and taken since it was made
	receiving atomic.Bool // receive is running
	turn      exclusive
	within    exclusive // the turn of the calls of Send that receive makes
	checks    bool      // Send takes its turn, too
	backlog   int       // items that it may have staged beyond its batches
	freed     bool
}

// besides is a mailbox beside another, as that one sees it. A member that waits at one receives of both: the member
// that it waits for may be waiting at the other.
type besides interface {
	deliver() (some bool, err error)
	tellAll()
}

const defaultBacklog = 64 << 20 // bytes

// Ring chooses the bytes that a sender may have under way to each target: half of it is one message. The default is
// 32 KiB, and less with more than 256 members. It is an option of NewMailbox and of what is built on mailboxes.
func Ring(bytes int) Option {
	return Option{"Ring", func(s *settings) {
		if bytes <= 0 {
			carry.Misuse("Ring", "%d bytes: a ring has at least one", bytes)
		}
		s.ring = bytes
	}}
}

// Backlog chooses how many items of one member may wait because receive has sent them while the rings were full. The
// default is as many as fit in 64 MiB. It is an option of NewMailbox.
func Backlog(items int) Option {
	return Option{"Backlog", func(s *settings) {
		if items <= 0 {
			carry.Misuse("Backlog", "%d items: a backlog has at least one", items)
		}
		s.backlog = items
	}}
}

// NewMailbox makes a mailbox; its options are Over, Ring and Backlog. receive is called with items that member from has
// sent to this one; items is valid during the call only. receive may send to the same mailbox, and may call nothing
// else of it. An error of receive comes out of the Send, Poll or Flush during which it ran.
//
// NewMailbox is collective over all PEs of the World.
func NewMailbox[T any](ctx context.Context, w *pgas.World, receive func(from int, items []T) error, opts ...Option) (*Mailbox[T], error) {
	s := settingsOf("NewMailbox", opts, "Ring", "Backlog")
	if receive == nil {
		carry.Misuse("NewMailbox", "receive is nil: nobody would see what arrives")
	}
	m := carry.MembersOf(ctx, "NewMailbox", w, !s.over, s.team)
	mem := &carry.Memory{Members: &m}
	b := planMailbox(mem, s, false, receive)
	if err := carry.MustBePlain[T](ctx, w); err != nil {
		return nil, err
	}
	if err := mem.Allocate(ctx, s.over); err != nil {
		return nil, err
	}
	b.memory, b.checks = mem, w.Checks()
	b.bind(mem)
	return b, mem.Ready(ctx)
}

// firstItem is the number of the first item of a ring. Tests set it near the overflow.
var firstItem uint64

// boxSignals is the number of signals that a mailbox of n members takes of a flow.
func boxSignals(n int) int { return carry.RingSignals(n) + carry.CensusSignals }

// planMailbox reserves what a mailbox needs. With oneWave, receive never sends.
func planMailbox[T any](mem *carry.Memory, s settings, oneWave bool, receive func(from int, items []T) error) *Mailbox[T] {
	return planMailboxOn(mem, carry.NewFlow(mem, boxSignals(mem.Members.N)), 0, s, oneWave, receive)
}

// planMailboxOn reserves what a mailbox needs besides the flow f, whose signals from first on are the mailbox's.
func planMailboxOn[T any](mem *carry.Memory, f *carry.Flow, first int, s settings, oneWave bool, receive func(from int, items []T) error) *Mailbox[T] {
	b := &Mailbox[T]{members: mem.Members, receive: receive, backlog: s.backlog}
	if b.backlog == 0 {
		b.backlog = max(1, defaultBacklog/max(1, carry.SizeOf[T]()))
	}
	b.flow = f
	b.census = carry.NewCensus(mem, f, first+carry.RingSignals(b.members.N), oneWave)
	b.rings = carry.NewRings[T](mem, f, first, s.ring, firstItem)
	return b
}

// bind has the mailbox use its places in the memory.
func (b *Mailbox[T]) bind(mem *carry.Memory) {
	if b.members.Team == nil {
		return
	}
	b.flow.Bind(mem)
	b.rings.Bind(mem)
	b.census.Bind(mem)
}

// Send sends v to member pe. It is local until a batch is full; then the batch is put to pe, and Send blocks while
// there is no room for it, receiving meanwhile. Called by receive, it never blocks, and fails if the backlog is full.
//
// v is received when a Flush of all members returns, or before.
func (b *Mailbox[T]) Send(ctx context.Context, pe int, v T) error {
	if b == nil || b.members == nil || uint(pe) >= uint(b.members.N) || ctx == nil || b.freed {
		b.refuse(ctx, "Send", pe)
	}
	if b.checks {
		turn := &b.turn
		if b.receiving.Load() { // then a call has the turn
			turn = &b.within
		}
		turn.enter(b.members.World)
		defer turn.leave()
	}
	return b.send(ctx, pe, v)
}

// send is Send after its checks.
func (b *Mailbox[T]) send(ctx context.Context, pe int, v T) error {
	b.counted.Sent++
	if !b.rings.Stage(pe, v) {
		return nil
	}
	return b.full(ctx, pe)
}

// refuse panics with *pgas.UsageError: a call of op to member pe is wrong.
func (b *Mailbox[T]) refuse(ctx context.Context, op string, pe int) {
	b.mustBeOpen(ctx, op)
	b.members.MustReach(op, pe)
}

// mustBeOpen panics with *pgas.UsageError if a call of op is wrong.
func (b *Mailbox[T]) mustBeOpen(ctx context.Context, op string) {
	if b == nil || b.members == nil {
		(*carry.Members)(nil).MustBelong(ctx, op)
	}
	b.members.MustBelong(ctx, op)
	if b.freed {
		carry.Misuse(op, "the mailbox has been freed")
	}
}

// full puts a full batch for pe, and receives until there is room for it.
func (b *Mailbox[T]) full(ctx context.Context, pe int) error {
	if b.receiving.Load() {
		b.rings.Push(pe)
		if excess := b.rings.Excess(pe); excess > b.backlog {
			return fmt.Errorf("Mailbox.Send: receive has sent %d items to PE %d which it has no room for: choose a larger Backlog, or send less from receive", excess, pe)
		}
		return nil
	}
	if b.checks {
		b.turn.note()
	}
	for named := false; ; {
		b.flow.Look()
		b.rings.Push(pe)
		some, err := b.deliverBoth()
		if err != nil || !b.rings.Full(pe) {
			return err
		}
		if some {
			continue
		}
		b.tellBoth()
		if !named {
			ctx, named = b.members.WaitFor(ctx, "Mailbox.Send", pe), true
		}
		if err := b.flow.Wait(ctx); err != nil {
			return err
		}
	}
}

// Poll receives what has arrived, and puts the batches that are not full, too. It waits for nothing. It returns the
// number of items that it has received.
func (b *Mailbox[T]) Poll() (n int, err error) {
	b.mustBeOpen(context.Background(), "Poll")
	b.turn.enterLong(b.members.World)
	defer b.turn.leave()
	before := b.counted.Taken
	b.flow.Look()
	b.rings.PushAll()
	_, err = b.deliver()
	b.tellAll()
	return int(b.counted.Taken - before), err
}

// Flush returns when everything that any member has sent before its Flush, and everything that receive has sent since,
// is received. Meanwhile it receives. Nothing that a member sends after its Flush is received by another before that
// other's Flush has returned.
//
// It is collective. Besides the batches it costs two waves over a tree of the members, each a message for each member
// upward and one downward; more waves if receive sends.
func (b *Mailbox[T]) Flush(ctx context.Context) error {
	b.mustBeOpen(ctx, "Flush")
	b.turn.enterLong(b.members.World)
	defer b.turn.leave()
	if sent, there := b.counted.Sent, b.rings.Staged(); sent != there {
		carry.Misuse("Mailbox.Flush", "Send was called %d times on this PE, and there are %d items: goroutines have sent at the same time, "+
			"which may lose items: let them take turns, by a sync.Mutex or a channel; PGAS_CHECK=1 shows the lines of both", sent, there)
	}
	return b.members.Team.Joint(ctx, "Mailbox.Flush", b.flow.Object, false, b.flush)
}

// flush is Flush inside a collective call.
func (b *Mailbox[T]) flush(ctx context.Context) error {
	for {
		b.flow.Look()
		put, all := b.rings.PushAll()
		some, err := b.deliverBoth()
		if err != nil {
			return err
		}
		if put || some {
			continue
		}
		b.tellBoth()
		if all && b.census.Step(b.counted) {
			b.rings.EndEpoch()
			return nil
		}
		if err := b.flow.Wait(ctx); err != nil {
			return err
		}
	}
}

// InFlight returns the number of items that this member has sent and whose targets have not said that they have taken
// them. Targets say so for half a ring at a time, and when they have nothing else to do. It is local.
func (b *Mailbox[T]) InFlight() int {
	b.mustBeOpen(context.Background(), "InFlight")
	b.turn.enterLong(b.members.World)
	defer b.turn.leave()
	return b.rings.UnderWay()
}

// deliverBoth calls the receive functions of this mailbox and of the one beside it with what has arrived.
func (b *Mailbox[T]) deliverBoth() (some bool, err error) {
	some, err = b.deliver()
	if err == nil && b.beside != nil {
		var more bool
		more, err = b.beside.deliver()
		some = some || more
	}
	return some, err
}

// tellBoth tells the senders of both what has been taken.
func (b *Mailbox[T]) tellBoth() {
	b.tellAll()
	if b.beside != nil {
		b.beside.tellAll()
	}
}

func (b *Mailbox[T]) tellAll() { b.rings.TellAll() }

// deliver calls receive with what has arrived, and reports whether that is anything.
func (b *Mailbox[T]) deliver() (some bool, err error) {
	for from := range b.members.N {
		for {
			items := b.rings.Arrived(from)
			if len(items) == 0 {
				break
			}
			some = true
			if err := b.hand(from, items); err != nil {
				return some, err
			}
		}
	}
	return some, nil
}

// hand calls receive once. The items are taken even if receive fails or panics.
func (b *Mailbox[T]) hand(from int, items []T) error {
	b.receiving.Store(true)
	n := len(items)
	defer func() {
		b.receiving.Store(false)
		b.counted.Taken += uint64(n)
		b.rings.Take(from, n)
	}()
	return b.receive(from, items)
}

// Free frees the memory of the mailbox. What has not been received is lost. It is collective over all PEs of the World.
func (b *Mailbox[T]) Free(ctx context.Context) error {
	if b == nil || b.memory == nil {
		(*carry.Members)(nil).MustBeMember("Free")
	}
	if b.freed {
		carry.Misuse("Free", "the mailbox has been freed")
	}
	carry.MustHaveContext("Free", ctx)
	b.freed = true
	return freeMemory(ctx, "Free", b.memory)
}
