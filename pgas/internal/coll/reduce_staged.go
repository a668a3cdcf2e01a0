package coll

// Doubling for what does not fit mailboxes: the same exchange, in pieces, through the leaders' staging areas.

import (
	"context"
	"math/bits"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// stagedDoubling reduces the leaders' dst in place as doubling does.
func (r *reduction[T]) stagedDoubling(ctx context.Context) (err error) {
	l := r.l
	if err := r.openStaging(ctx); err != nil {
		return err
	}
	if l.staging.offs == nil {
		return r.linear(ctx)
	}
	l.staging.calls++
	n, me := len(l.hosts), l.hostIndex
	k, part := pieces(r.bytes()), 0
	power := 1 << (bits.Len(uint(n)) - 1)
	if n > power {
		before, after := r.g.takeMailboxes(k), r.g.takeMailboxes(k)
		part = 1
		if me >= power {
			return r.foldSend(ctx, me-power, before, after)
		}
		if me+power < n {
			if err := r.foldReceive(ctx, me+power, before); err != nil {
				return err
			}
			defer func() {
				if err == nil {
					r.unfold(me+power, after)
				}
			}()
		}
	}
	for d := 1; d < power; d, part = 2*d, part+1 {
		if err := r.exchangePieces(ctx, me^d, r.g.takeMailboxes(k), part); err != nil {
			return err
		}
	}
	return nil
}

// openStaging makes the staging areas of the leaders known to each other, if they are not.
func (r *reduction[T]) openStaging(ctx context.Context) error {
	if r.l.staging.exchanged {
		return nil
	}
	err := r.g.exchangeStaging(ctx, r.l)
	r.l.staging.exchanged = err == nil
	return err
}

// piecesInFlight is how many pieces are on their way before the first is waited for. With all of them, each side
// would fill the other's buffers and neither would empty its own.
const piecesInFlight = 2

// exchangePieces is one round with another leader: each sends the other what it has, and combines.
func (r *reduction[T]) exchangePieces(ctx context.Context, host int, x mailbox, part int) error {
	k, sent := pieces(r.bytes()), 0
	for ; sent < min(piecesInFlight, k); sent++ {
		r.stagePiece(host, x, part, sent)
	}
	got, v := stagedData[T](r.g.n, r.partOff(r.l.hostIndex, part), r.dst.N), r.dstMine()
	for i := range k {
		if err := r.g.awaitMailbox(ctx, x+mailbox(i), r.l.hosts[host][0]); err != nil {
			return err
		}
		if sent < k {
			r.stagePiece(host, x, part, sent)
			sent++
		}
		if lo, hi := r.piece(i); r.l.hostIndex < host {
			r.f.into(v[lo:hi], v[lo:hi], got[lo:hi])
		} else {
			r.f.into(v[lo:hi], got[lo:hi], v[lo:hi])
		}
	}
	return nil
}

// partOff is where a part of the place of a host's leader is in its heap, in the call under way.
func (r *reduction[T]) partOff(host, part int) uint64 {
	half := stagingBytes / 2 * (r.l.staging.calls % 2)
	size := stagingBytes / 2 / stagingParts(len(r.l.hosts)) &^ 63
	return r.l.staging.offs[host] + half + uint64(part*size)
}

// piece is the elements of piece i.
func (r *reduction[T]) piece(i int) (lo, hi int) { return share(r.dst.N, pieces(r.bytes()), i) }

// sendPiece sends piece i of dst to where off is the start of all of them in another leader's heap.
func (r *reduction[T]) sendPiece(host int, x mailbox, off uint64, i int) {
	lo, hi := r.piece(i)
	r.g.putThenSignal(r.l.hosts[host][0], x+mailbox(i), off+uint64(lo)*uint64(node.SizeOf[T]()), AsBytes(r.dstMine()[lo:hi]))
}

// stagePiece sends piece i to a part of another leader's place.
func (r *reduction[T]) stagePiece(host int, x mailbox, part, i int) {
	r.sendPiece(host, x, r.partOff(host, part), i)
}

// foldSend sends dst to a part of another leader's place, and waits for the result in dst.
func (r *reduction[T]) foldSend(ctx context.Context, host int, before, after mailbox) error {
	for i := range pieces(r.bytes()) {
		r.stagePiece(host, before, 0, i)
	}
	for i := range pieces(r.bytes()) {
		if err := r.g.awaitMailbox(ctx, after+mailbox(i), r.l.hosts[host][0]); err != nil {
			return err
		}
	}
	return nil
}

// foldReceive combines what such a leader has sent.
func (r *reduction[T]) foldReceive(ctx context.Context, host int, before mailbox) error {
	got, v := stagedData[T](r.g.n, r.partOff(r.l.hostIndex, 0), r.dst.N), r.dstMine()
	for i := range pieces(r.bytes()) {
		if err := r.g.awaitMailbox(ctx, before+mailbox(i), r.l.hosts[host][0]); err != nil {
			return err
		}
		lo, hi := r.piece(i)
		r.f.into(v[lo:hi], v[lo:hi], got[lo:hi])
	}
	return nil
}

// unfold sends it the result.
func (r *reduction[T]) unfold(host int, after mailbox) {
	for i := range pieces(r.bytes()) {
		r.sendPiece(host, after, r.offset(0), i)
	}
}
