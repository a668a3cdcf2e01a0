package coll

// Linear through the leaders' staging areas: each leader combines one part of the whole, which the others put into its
// area, and puts the result where they want it. Nothing is asked for, so a part takes one message there and one back,
// and no trip in which leaders tell each other that they are ready.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// stagedLinear reduces the leaders' dst in place as linear does.
func (r *reduction[T]) stagedLinear(ctx context.Context) error {
	g, l := r.g, r.l
	if err := r.openStaging(ctx); err != nil {
		return err
	}
	if l.staging.offs == nil {
		return r.linear(ctx)
	}
	l.staging.calls++
	n, me := len(l.hosts), l.hostIndex
	parts, results := g.takeMailboxes(n), g.takeMailboxes(n)
	mine := r.dstMine()
	for d := 1; d < n; d++ {
		h := (me + d) % n
		lo, hi := share(r.dst.N, n, h)
		g.putThenSignal(l.hosts[h][0], parts+mailbox(me), r.linearPartOff(h, me), AsBytes(mine[lo:hi]))
	}
	if err := r.combineParts(ctx, parts); err != nil {
		return err
	}
	lo, hi := share(r.dst.N, n, me)
	for d := 1; d < n; d++ {
		h := (me + d) % n
		g.putThenSignal(l.hosts[h][0], results+mailbox(me), r.offset(lo), AsBytes(mine[lo:hi]))
	}
	for d := 1; d < n; d++ {
		h := (me - d + n) % n
		if err := g.awaitMailbox(ctx, results+mailbox(h), l.hosts[h][0]); err != nil {
			return err
		}
	}
	return nil
}

// combineParts combines this leader's part of the whole, of all leaders in the order of their hosts, into dst.
func (r *reduction[T]) combineParts(ctx context.Context, parts mailbox) error {
	g, l, me := r.g, r.l, r.l.hostIndex
	lo, hi := share(r.dst.N, len(l.hosts), me)
	mine := r.dstMine()[lo:hi]
	acc := viewAs[T](scratch(&g.calls.result, (hi-lo)*int(node.SizeOf[T]())), hi-lo)
	for h := range l.hosts {
		v := mine
		if h != me {
			if err := g.awaitMailbox(ctx, parts+mailbox(h), l.hosts[h][0]); err != nil {
				return err
			}
			v = stagedData[T](g.n, r.linearPartOff(me, h), hi-lo)
		}
		if h == 0 {
			copy(acc, v)
		} else {
			r.f.into(acc, acc, v)
		}
	}
	copy(mine, acc)
	return nil
}

// linearPartOff is where the part that comes from host from is in the area of host's leader, in the call under way. All
// such parts are of that leader's share.
func (r *reduction[T]) linearPartOff(host, from int) uint64 {
	n := len(r.l.hosts)
	lo, hi := share(r.dst.N, n, host)
	place := (from-host+n)%n - 1
	half := stagingBytes / 2 * (r.l.staging.calls % 2)
	return r.l.staging.offs[host] + half + uint64(place*(hi-lo))*uint64(node.SizeOf[T]())
}
