package pgas

// Doubling for what does not fit boxes: the same exchange, in pieces, through the leaders' landing places.

import (
	"context"
	"math/bits"
)

// landingParts is into how many parts of equal size a half of a place is divided: one for each message that
// a leader gets in a call, but for the result, which goes where it belongs.
func landingParts(hosts int) int {
	parts := bits.Len(uint(hosts)) - 1
	if hosts&(hosts-1) != 0 {
		parts++
	}
	return parts
}

// landingFits reports whether leaders can exchange that many bytes through their places.
func landingFits(hosts, bytes int) bool {
	return hosts > 1 && hosts <= landingHosts && bytes <= landingBytes/2/landingParts(hosts)&^63 &&
		landingBoxes(hosts, bytes) <= mostBoxes
}

func pieces(bytes int) int { return (bytes + landingPiece - 1) / landingPiece }

// landingBoxes is how many boxes that takes, with those to find out about places, and with those of Linear,
// which is for when there are none.
func landingBoxes(hosts, bytes int) int {
	return hosts + max((landingParts(hosts)+1)*pieces(bytes), reductionBoxes(linear, hosts, bytes))
}

// throughLandings reduces the leaders' dst in place as doubling does.
func (r *reduction[T]) throughLandings(ctx context.Context) (err error) {
	l := r.l
	if !l.landing.asked {
		if err := r.g.tellLandings(ctx, l); err != nil {
			return err
		}
		l.landing.asked = true
	}
	if l.landing.at == nil {
		return r.linear(ctx)
	}
	l.landing.calls++
	n, me := len(l.hosts), l.host
	k, part := pieces(r.bytes()), 0
	power := 1 << (bits.Len(uint(n)) - 1)
	if n > power {
		before, after := r.g.box(k), r.g.box(k)
		part = 1
		if me >= power {
			return r.handOver(ctx, me-power, before, after)
		}
		if me+power < n {
			if err := r.takeOver(ctx, me+power, before); err != nil {
				return err
			}
			defer func() {
				if err == nil {
					r.handBack(me+power, after)
				}
			}()
		}
	}
	for d := 1; d < power; d, part = 2*d, part+1 {
		if err := r.exchangePieces(ctx, me^d, r.g.box(k), part); err != nil {
			return err
		}
	}
	return nil
}

// ahead is how many pieces are on their way before the first is waited for. With all of them, each side
// would fill the other's buffers while nobody empties its own.
const ahead = 2

// exchangePieces is one round with another leader: each sends the other what it has, and combines.
func (r *reduction[T]) exchangePieces(ctx context.Context, host int, x box, part int) error {
	k, sent := pieces(r.bytes()), 0
	for ; sent < min(ahead, k); sent++ {
		r.landPiece(host, x, part, sent)
	}
	got, v := landed[T](r.g.n, r.partOff(r.l.host, part), r.dst.n), r.dstMine()
	for i := range k {
		if err := r.g.awaitBox(ctx, x+box(i), r.l.hosts[host][0]); err != nil {
			return err
		}
		if sent < k {
			r.landPiece(host, x, part, sent)
			sent++
		}
		if lo, hi := r.piece(i); r.l.host < host {
			r.f.into(v[lo:hi], v[lo:hi], got[lo:hi])
		} else {
			r.f.into(v[lo:hi], got[lo:hi], v[lo:hi])
		}
	}
	return nil
}

// partOff is where a part of the place of a host's leader is in its heap, in the call under way.
func (r *reduction[T]) partOff(host, part int) uint64 {
	half := landingBytes / 2 * (r.l.landing.calls % 2)
	size := landingBytes / 2 / landingParts(len(r.l.hosts)) &^ 63
	return r.l.landing.at[host] + half + uint64(part*size)
}

// piece is the elements of piece i.
func (r *reduction[T]) piece(i int) (lo, hi int) { return part(r.dst.n, pieces(r.bytes()), i) }

// sendPiece sends piece i of dst to where off is the start of all of them in another leader's heap.
func (r *reduction[T]) sendPiece(host int, x box, off uint64, i int) {
	lo, hi := r.piece(i)
	r.g.sendTo(r.l.hosts[host][0], x+box(i), off+uint64(lo)*uint64(sizeOf[T]()), asBytes(r.dstMine()[lo:hi]))
}

// landPiece sends piece i to a part of another leader's place.
func (r *reduction[T]) landPiece(host int, x box, part, i int) {
	r.sendPiece(host, x, r.partOff(host, part), i)
}

// handOver sends dst to a part of another leader's place, and waits for the result in dst.
func (r *reduction[T]) handOver(ctx context.Context, host int, before, after box) error {
	for i := range pieces(r.bytes()) {
		r.landPiece(host, before, 0, i)
	}
	for i := range pieces(r.bytes()) {
		if err := r.g.awaitBox(ctx, after+box(i), r.l.hosts[host][0]); err != nil {
			return err
		}
	}
	return nil
}

// takeOver combines what such a leader has sent.
func (r *reduction[T]) takeOver(ctx context.Context, host int, before box) error {
	got, v := landed[T](r.g.n, r.partOff(r.l.host, 0), r.dst.n), r.dstMine()
	for i := range pieces(r.bytes()) {
		if err := r.g.awaitBox(ctx, before+box(i), r.l.hosts[host][0]); err != nil {
			return err
		}
		lo, hi := r.piece(i)
		r.f.into(v[lo:hi], v[lo:hi], got[lo:hi])
	}
	return nil
}

// handBack sends it the result.
func (r *reduction[T]) handBack(host int, after box) {
	for i := range pieces(r.bytes()) {
		r.sendPiece(host, after, r.offset(0), i)
	}
}
