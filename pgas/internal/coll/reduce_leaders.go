package coll

// Reductions between hosts: what the leaders do. Each leader holds what its host has in its dst, or in
// its arrival record if that is small, and the result ends there.

import (
	"context"
	"math/bits"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// doubling combines v of all leaders. Those beyond the last power of two hand theirs to a partner first
// and get the result from it. In each round, two groups that have combined theirs exchange it; both
// combine in the same order, so all get the same bits.
func (r *reduction[T]) doubling(ctx context.Context, v []T) error {
	n, me := len(r.l.hosts), r.l.hostIndex
	k := mailboxesFor(r.bytes())
	power := 1 << (bits.Len(uint(n)) - 1)
	var before, after mailbox
	if n > power {
		before, after = r.g.takeMailboxes(k), r.g.takeMailboxes(k)
	}
	if me >= power {
		r.sendTo(me-power, before, v)
		got, err := r.receive(ctx, me-power, after)
		copy(v, got)
		return err
	}
	if me+power < n {
		got, err := r.receive(ctx, me+power, before)
		if err != nil {
			return err
		}
		r.f.into(v, v, got)
	}
	for d := 1; d < power; d *= 2 {
		x := r.g.takeMailboxes(k)
		r.sendTo(me^d, x, v)
		got, err := r.receive(ctx, me^d, x)
		if err != nil {
			return err
		}
		if me&d == 0 {
			r.f.into(v, v, got)
		} else {
			r.f.into(v, got, v)
		}
	}
	if me+power < n {
		r.sendTo(me+power, after, v)
	}
	return nil
}

func (r *reduction[T]) sendTo(host int, x mailbox, v []T) {
	r.g.send(r.l.hosts[host][0], x, AsBytes(v))
}

func (r *reduction[T]) receive(ctx context.Context, host int, x mailbox) ([]T, error) {
	if err := r.g.awaitMailbox(ctx, x, r.l.hosts[host][0]); err != nil {
		return nil, err
	}
	return viewAs[T](r.g.received(x, r.bytes()), r.dst.N), nil
}

// pieceBytes is how much Linear fetches from each leader at a time: enough to keep the network busy, few
// enough to be combined out of a cache.
const pieceBytes = 256 << 10

// linear has each leader combine one part of the whole: it fetches it from the others, in the order of
// the hosts, and puts the result where they want it.
func (r *reduction[T]) linear(ctx context.Context) error {
	n, me, g := len(r.l.hosts), r.l.hostIndex, r.g
	if err := r.leadersReady(ctx); err != nil {
		return err
	}
	arrived := g.takeMailboxes(n)
	lo, hi := share(r.dst.N, n, me)
	step := max(1, pieceBytes/int(node.SizeOf[T]()))
	mine := r.dstMine()
	for ; lo < hi; lo += step {
		end := min(lo+step, hi)
		theirs, err := r.fetch(ctx, lo, end)
		if err != nil {
			return err
		}
		first := true
		block := scratch(&r.g.calls.result, (end-lo)*int(node.SizeOf[T]()))
		acc := viewAs[T](block, end-lo)
		for h := range n {
			v := theirs[h*(end-lo):][:end-lo]
			if h == me {
				v = mine[lo:end]
			}
			if first {
				copy(acc, v)
			} else {
				r.f.into(acc, acc, v)
			}
			first = false
		}
		copy(mine[lo:end], acc)
	}
	lo, hi = share(r.dst.N, n, me)
	for d := 1; d < n; d++ {
		h := (me + d) % n
		g.putThenSignal(r.l.hosts[h][0], arrived+mailbox(me), r.offset(lo), AsBytes(mine[lo:hi]))
	}
	for d := 1; d < n; d++ {
		h := (me - d + n) % n
		if err := g.awaitMailbox(ctx, arrived+mailbox(h), r.l.hosts[h][0]); err != nil {
			return err
		}
	}
	return nil
}

// leadersReady returns when every leader has got here: what it holds may be fetched.
func (r *reduction[T]) leadersReady(ctx context.Context) error {
	n, me := len(r.l.hosts), r.l.hostIndex
	for step := 1; step < n; step *= 2 {
		x := r.g.takeMailboxes(1)
		r.g.send(r.l.hosts[(me+step)%n][0], x, nil)
		if err := r.g.awaitMailbox(ctx, x, r.l.hosts[(me-step+n)%n][0]); err != nil {
			return err
		}
	}
	return nil
}

// fetch gets elements lo to hi of what every other leader holds: those of host h at h*(hi-lo).
func (r *reduction[T]) fetch(ctx context.Context, lo, hi int) ([]T, error) {
	n, me := len(r.l.hosts), r.l.hostIndex
	size := (hi - lo) * int(node.SizeOf[T]())
	all := scratch(&r.g.calls.scratch, n*size)
	for d := 1; d < n; d++ {
		h := (me + d) % n
		pe := r.g.PEs[r.l.hosts[h][0]]
		r.g.n.Channel(pe).GetNB(pe, all[h*size:][:size], r.offset(lo))
	}
	if err := r.g.flush(); err != nil {
		return nil, err
	}
	return viewAs[T](all, n*(hi-lo)), nil
}

// offset is where element i of dst is in every heap.
func (r *reduction[T]) offset(i int) uint64 { return uint64(r.dst.Off + uintptr(i)*node.SizeOf[T]()) }

// ring hands each part of the whole around all leaders twice: first every leader adds what it has, then
// every leader keeps the result. A leader fetches from its left neighbour what that has finished.
func (r *reduction[T]) ring(ctx context.Context) error {
	n, me, g := len(r.l.hosts), r.l.hostIndex, r.g
	left, right := r.l.hosts[(me-1+n)%n][0], r.l.hosts[(me+1)%n][0]
	mine := r.dstMine()
	g.send(right, g.calls.nextMailbox, nil)
	for s := range 2*n - 2 {
		x := g.takeMailboxes(1)
		if err := g.awaitMailbox(ctx, x, left); err != nil {
			return err
		}
		lo, hi := share(r.dst.N, n, (me-1-s+2*n)%n)
		got := viewAs[T](scratch(&g.calls.scratch, (hi-lo)*int(node.SizeOf[T]())), hi-lo)
		if s >= n-1 {
			got = mine[lo:hi]
		}
		if err := r.get(ctx, left, lo, got); err != nil {
			return err
		}
		if s < n-1 {
			r.f.into(mine[lo:hi], got, mine[lo:hi])
		}
		if s < 2*n-3 {
			g.send(right, g.calls.nextMailbox, nil)
		}
	}
	x := g.takeMailboxes(1)
	g.send(left, x, nil)
	return g.awaitMailbox(ctx, x, right) // which has fetched all it wants from here
}

// get fetches elements from lo of what member pe of the team holds.
func (r *reduction[T]) get(ctx context.Context, pe, lo int, into []T) error {
	if len(into) == 0 {
		return nil
	}
	to := r.g.PEs[pe]
	return r.g.n.Channel(to).Get(r.g.n.Ctx, to, AsBytes(into), r.offset(lo))
}
