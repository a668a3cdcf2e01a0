package pgas

// Broadcasts. On every host one member, the head, is where the others get the data: the root on its own
// host, the leader on the others. A host's members copy from their head; between hosts, the heads form a
// tree below the root, or all get it from the root.
//
//	small  the head shows the data in its entry or in a box. The root waits for nobody, the others
//	       only for their head and that for its parent.
//	large  a head tells its parent that its dst is ready. The parent then puts the data straight into
//	       that, in pieces, so that a child passes on one while the next is coming; and the head lends
//	       the data to the members of its host.

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
)

// A broadcast is one under way.
type broadcast struct {
	g        *Group
	l        *layout
	call     call
	dst, src uintptr
	n        int // bytes
	way      algorithm
	keep     bool // this PE is the root, and its dst is not to be written
	head     int  // the member of this host that has the data first, by its place in l.here
	rank     int  // this host's number, counted from the root's
}

// prepare checks the arguments and fills in b.
func (b *broadcast) prepare(g *Group, dst, src operand, root int, o options) {
	g.checkFits(kindBroadcast, src.n, dst.n)
	if dst.off != src.off {
		g.checkApart(kindBroadcast, dst, src.bytes(), src, src.bytes())
	}
	b.g, b.l, b.dst, b.src, b.n = g, g.layoutFor(o), dst.off, src.off, src.bytes()
	b.call = call{kind: kindBroadcast, op: o.bits(), root: root, size: src.size, count: uint64(src.n)}.at(dst.off, src.off)
	n := len(b.l.hosts)
	b.way, b.keep = g.broadcastAlgorithm(o, n), o.exceptRoot && root == g.me
	if n == 1 {
		b.head = root
		return
	}
	for h, members := range b.l.hosts {
		if i := slices.Index(members, root); i >= 0 {
			b.rank = (b.l.host - h + n) % n
			if b.rank == 0 {
				b.head = i
			}
		}
	}
}

// broadcastAlgorithm returns the algorithm between so many hosts.
func (g *Group) broadcastAlgorithm(o options, hosts int) algorithm {
	switch o.algorithm {
	case auto:
		if hosts <= fewHosts {
			return linear
		}
		return tree
	case linear, tree:
		return o.algorithm
	}
	g.misuse("Broadcast", "there is no %s broadcast: use Linear or Tree", o.algorithm)
	return auto
}

func (b *broadcast) run(ctx context.Context) error {
	if b.n == 0 {
		return nil
	}
	var err error
	switch {
	case len(b.l.hosts) == 1:
		err = b.here(ctx)
	case b.n <= maxMessage:
		err = b.small(ctx)
	default:
		err = b.large(ctx)
	}
	if err != nil {
		return fmt.Errorf("broadcast on team %s%s: %w", b.g.name, atSite(), err)
	}
	b.g.leads(b.call.root)
	return nil
}

// leads reports whether this PE is the head of its host.
func (b *broadcast) leads() bool { return b.l.rank == b.head }

// here is the broadcast on one host.
func (b *broadcast) here(ctx context.Context) error {
	g := b.g
	s := showing(b.n, b.src, 0)
	e, err := g.enter(ctx, b.call, 0)
	if err != nil {
		return err
	}
	defer g.leave()
	if !b.leads() {
		if err := g.stamp(e); err != nil { // no member waits for it
			return err
		}
		return b.fromHead(ctx, &s)
	}
	from := g.mine(b.src, b.n)
	if s.way != lent {
		copy(g.place(&s, e), from)
	}
	read := g.readBy()
	if err := g.publish(e); err != nil {
		return err
	}
	b.store(from)
	if s.way == lent {
		return g.awaitReaders(ctx, read, len(b.l.here)-1)
	}
	return nil
}

// fromHead copies what the head of this host shows: the root when it enters the call, others when they
// are ready.
func (b *broadcast) fromHead(ctx context.Context, s *show) error {
	var err error
	if b.rank == 0 {
		_, err = b.g.awaitEntry(ctx, b.l, b.head)
	} else {
		err = b.g.awaitReady(ctx, b.l, b.head)
	}
	if err != nil {
		return err
	}
	b.store(b.g.shown(b.l, s, b.head))
	if s.way == lent {
		b.g.haveRead(b.l, b.head)
	}
	return nil
}

// store copies data to dst, unless data is dst itself or dst is not to be written.
func (b *broadcast) store(data []byte) {
	if b.keep {
		return
	}
	if dst := b.g.mine(b.dst, b.n); &dst[0] != &data[0] {
		move(dst, data)
	}
}

// small is the broadcast between hosts of what fits a message.
func (b *broadcast) small(ctx context.Context) error {
	g := b.g
	s := show{way: staged, n: b.n}
	e, err := g.enter(ctx, b.call, s.boxes())
	if err != nil {
		return err
	}
	defer g.leave()
	s.x = g.box(s.boxes())
	if !b.leads() {
		if err := g.stamp(e); err != nil {
			return err
		}
		return b.fromHead(ctx, &s)
	}
	data := g.place(&s, e)
	if b.rank == 0 {
		copy(data, g.mine(b.src, b.n))
		if err := g.publish(e); err != nil {
			return err
		}
	} else {
		if err := g.stamp(e); err != nil {
			return err
		}
		if err := g.awaitBox(ctx, s.x, b.parent()); err != nil {
			return err
		}
		g.ready()
	}
	for child := range b.children {
		g.sendBox(b.headAt(child), s.x, data)
	}
	b.store(data)
	return nil
}

// A large broadcast goes between hosts in pieces of about this size, at most so many.
const (
	broadcastPiece = 256 << 10
	mostPieces     = 32
)

// large is the broadcast between hosts of what does not fit a message.
func (b *broadcast) large(ctx context.Context) error {
	g := b.g
	pieces, asks := min(mostPieces, (b.n+broadcastPiece-1)/broadcastPiece), b.asks()
	e, err := g.enter(ctx, b.call, asks+pieces)
	if err != nil {
		return err
	}
	defer g.leave()
	ask, x := g.box(asks), g.box(pieces)
	read := g.readBy()
	s := show{way: lent, n: b.n, off: b.dst}
	if b.rank == 0 {
		s.off = b.src
	}
	if err := b.begin(ctx, e, ask); err != nil {
		return err
	}
	if !b.leads() {
		return b.fromHead(ctx, &s)
	}
	for i := range pieces {
		lo, hi := part(b.n, pieces, i)
		if b.rank > 0 {
			if err := g.awaitBox(ctx, x+box(i), b.parent()); err != nil {
				return err
			}
		}
		data := g.mine(s.off, b.n)[lo:hi]
		for child := range b.children {
			if i == 0 && asks > 0 {
				if err := g.awaitBox(ctx, ask+b.askOf(child), b.headAt(child)); err != nil {
					return err
				}
			}
			g.sendTo(b.headAt(child), x+box(i), uint64(b.dst)+uint64(lo), data)
		}
		if b.rank == 0 && b.src != b.dst && !b.keep {
			move(g.mine(b.dst, b.n)[lo:hi], data) // which is in the cache now
		}
	}
	if b.rank > 0 {
		g.ready()
	}
	return g.awaitReaders(ctx, read, len(b.l.here)-1)
}

// begin shows that this PE is there, to its parent if it leads another host than the root's. It returns when
// dst of this PE may be written.
func (b *broadcast) begin(ctx context.Context, e *entry, ask box) error {
	g := b.g
	switch {
	case b.asks() == 0:
		return g.meetIn(ctx, e)
	case b.leads() && b.rank == 0:
		return g.publish(e)
	}
	if err := g.stamp(e); err != nil {
		return err
	}
	if b.leads() {
		g.sendBox(b.parent(), ask+b.askOf(b.rank), nil)
	}
	return nil
}

// asks is how many boxes heads need to tell their parents that they are ready; 0 if it is too many, and
// all have to meet.
func (b *broadcast) asks() int {
	n := len(b.l.hosts)
	if b.way == tree {
		n = bits.Len(uint(n - 1))
	}
	if n > mostBoxes-mostPieces {
		return 0
	}
	return n
}

// askOf is the box, among these, of the head with the given number: another one for each child of a parent.
func (b *broadcast) askOf(rank int) box {
	if b.way == tree {
		return box(bits.TrailingZeros(uint(rank)))
	}
	return box(rank)
}

// The hosts are numbered from that of the root for what follows: rank is this host's number.

// headAt is the head of the host with the given number.
func (b *broadcast) headAt(rank int) int {
	if rank == 0 {
		return b.call.root
	}
	n := len(b.l.hosts)
	return b.l.hosts[(b.l.host-b.rank+rank+n)%n][0]
}

// parent is the head that this host's gets the data from. In the tree it is the one whose number lacks
// this one's lowest bit.
func (b *broadcast) parent() int {
	if b.way == linear {
		return b.call.root
	}
	return b.headAt(b.rank & (b.rank - 1))
}

// children are the numbers of the heads that get the data from this host's; those with most below them come
// first.
func (b *broadcast) children(yield func(rank int) bool) {
	n := len(b.l.hosts)
	if b.way == linear {
		for rank := 1; b.rank == 0 && rank < n; rank++ {
			if !yield(rank) {
				return
			}
		}
		return
	}
	below := uint(bits.TrailingZeros(uint(b.rank))) // how many bits children may set
	if b.rank == 0 {
		below = uint(bits.Len(uint(n - 1)))
	}
	for bit := below; bit > 0; bit-- {
		if rank := b.rank | 1<<(bit-1); rank < n && !yield(rank) {
			return
		}
	}
}
