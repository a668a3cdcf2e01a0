package coll

// Broadcasts. On every host one member, the local root, has the data first: the root on its own host, the leader on
// the others. A host's members copy from their local root. Between hosts, the local roots form a tree below the
// root, or all get the data from the root.
//
//	small  the local root exposes the data in its arrival record or in a mailbox. The root waits for no member,
//	       the others only for their local root, and that for its parent.
//	large  a local root tells its parent that its dst is ready. The parent then puts the data straight into
//	       that dst, in pieces, so that a child forwards one while the next arrives. The local root exposes
//	       the data in place to the members of its host.

import (
	"context"
	"fmt"
	"math/bits"
	"reflect"
	"slices"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// A broadcast is one under way.
type Broadcast struct {
	g         *Group
	l         *layout
	call      Call
	dst, src  uintptr
	n         int    // number of bytes
	memory    []byte // Go memory of a value, which replaces src and dst (broadcast_value.go)
	way       Algorithm
	keep      bool // this PE is the root, and its dst is not to be written
	localRoot int  // the member of this host that has the data first, by its index in l.localMembers
	rank      int  // this host's number, counted from the root's
}

// Prepare checks the arguments and fills in b.
func (b *Broadcast) Prepare(g *Group, elem reflect.Type, dst, src Range, root int, o Options) {
	g.checkFits(kindBroadcast, src.N, dst.N)
	if dst.Off != src.Off {
		g.checkApart(kindBroadcast, dst, src.bytes(), src, src.bytes())
	}
	b.g, b.l, b.dst, b.src, b.n = g, g.layoutFor(o), dst.Off, src.Off, src.bytes()
	b.call = Call{Kind: kindBroadcast, op: o.bits(), root: root, Size: src.Size, count: uint64(src.N), elem: elem, bufferHash: buffersOf(dst.Off, src.Off)}
	b.place(root, o)
}

// place fills in what b knows of the hosts.
func (b *Broadcast) place(root int, o Options) {
	g, n := b.g, len(b.l.hosts)
	b.way, b.keep = g.broadcastAlgorithm(o, n), o.ExceptRoot && root == g.Me
	if n == 1 {
		b.localRoot = root
		return
	}
	for h, members := range b.l.hosts {
		if i := slices.Index(members, root); i >= 0 {
			b.rank = (b.l.hostIndex - h + n) % n
			if b.rank == 0 {
				b.localRoot = i
			}
		}
	}
}

// broadcastAlgorithm returns the algorithm between so many hosts.
func (g *Group) broadcastAlgorithm(o Options, hosts int) Algorithm {
	switch o.Algorithm {
	case Auto:
		if hosts <= fewHosts {
			return Linear
		}
		return Tree
	case Linear, Tree:
		return o.Algorithm
	}
	g.misuse("Broadcast", "there is no %s broadcast: use Linear or Tree", o.Algorithm)
	return Auto
}

// Run takes part in the broadcast. When it returns nil, this member has the root's elements.
func (b *Broadcast) Run(ctx context.Context) error {
	var err error
	if b.memory == nil && b.call.root == b.g.Me {
		b.g.see(ctx, racecheck.Read, b.src, b.n)
	}
	switch {
	case b.n == 0:
		err = b.g.enter(ctx, &b.call)
	case len(b.l.hosts) == 1:
		err = b.intraHost(ctx)
	case b.n <= maxMessage:
		err = b.small(ctx, exposure{kind: bcopy, n: b.n})
	default:
		err = b.large(ctx)
	}
	if err != nil {
		return fmt.Errorf("broadcast on team %s%s: %w", b.g.Name, callsite.At(), err)
	}
	if b.n > 0 {
		b.g.noteRoot(b.call.root)
	}
	if b.memory == nil && b.call.root == b.g.Me {
		b.g.see(ctx, racecheck.Read, b.src, b.n)
	}
	if b.memory == nil && !b.keep && (b.call.root != b.g.Me || b.src != b.dst) {
		b.g.see(ctx, racecheck.Write, b.dst, b.n)
	}
	return nil
}

// isLocalRoot reports whether this PE is the local root of its host.
func (b *Broadcast) isLocalRoot() bool { return b.l.localRank == b.localRoot }

// intraHost is the broadcast on one host.
func (b *Broadcast) intraHost(ctx context.Context) error {
	g := b.g
	s := chooseExposure(b.n, b.src, 0)
	e, err := g.begin(ctx, &b.call, 0)
	if err != nil {
		return err
	}
	defer g.end()
	if !b.isLocalRoot() {
		if err := g.markArrived(e); err != nil { // no member waits for it
			return err
		}
		return b.fromLocalRoot(ctx, &s)
	}
	from := g.ownBytes(b.src, b.n)
	if s.kind != zcopy {
		copy(g.exposeBuf(&s, e), from)
	}
	read := g.readCount()
	if err := g.arrive(e); err != nil {
		return err
	}
	b.store(from)
	if s.kind == zcopy {
		return g.awaitReads(ctx, read, len(b.l.localMembers)-1)
	}
	return nil
}

// fromLocalRoot copies what the local root of this host exposes: the root when it enters the call, another when it
// is ready.
func (b *Broadcast) fromLocalRoot(ctx context.Context, s *exposure) error {
	var err error
	if b.rank == 0 {
		_, err = b.g.awaitArrival(ctx, b.l, b.localRoot)
	} else {
		err = b.g.awaitReady(ctx, b.l, b.localRoot)
	}
	if err != nil {
		return err
	}
	b.store(b.g.peerBuf(b.l, s, b.localRoot))
	if s.kind == zcopy {
		b.g.ackRead(b.l, b.localRoot)
	}
	return nil
}

// store copies data to dst, unless data is dst itself or dst is not to be written.
func (b *Broadcast) store(data []byte) {
	if b.keep {
		return
	}
	if b.memory != nil {
		if b.call.root != b.g.Me {
			copy(b.memory, data)
		}
		return
	}
	if dst := b.g.ownBytes(b.dst, b.n); &dst[0] != &data[0] {
		node.CopyLarge(dst, data)
	}
}

// source is what the root broadcasts.
func (b *Broadcast) source() []byte {
	if b.memory != nil {
		return b.memory
	}
	return b.g.ownBytes(b.src, b.n)
}

// small is the broadcast of what fits a message, which local roots expose as s; that is in mailboxes, if there are
// several hosts.
func (b *Broadcast) small(ctx context.Context, s exposure) error {
	g := b.g
	e, err := g.begin(ctx, &b.call, s.mailboxes())
	if err != nil {
		return err
	}
	defer g.end()
	s.x = g.takeMailboxes(s.mailboxes())
	if !b.isLocalRoot() {
		if err := g.markArrived(e); err != nil {
			return err
		}
		return b.fromLocalRoot(ctx, &s)
	}
	data := g.exposeBuf(&s, e)
	if b.rank == 0 {
		copy(data, b.source())
		if err := g.arrive(e); err != nil {
			return err
		}
	} else {
		if err := g.markArrived(e); err != nil {
			return err
		}
		if err := g.awaitMailbox(ctx, s.x, b.parent()); err != nil {
			return err
		}
		g.ready()
	}
	for child := range b.children {
		g.send(b.localRootAt(child), s.x, data)
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
func (b *Broadcast) large(ctx context.Context) error {
	g := b.g
	pieces, asks := min(mostPieces, (b.n+broadcastPiece-1)/broadcastPiece), b.ctsMailboxes()
	e, err := g.begin(ctx, &b.call, asks+pieces)
	if err != nil {
		return err
	}
	defer g.end()
	ask, x := g.takeMailboxes(asks), g.takeMailboxes(pieces)
	read := g.readCount()
	s := exposure{kind: zcopy, n: b.n, off: b.dst}
	if b.rank == 0 {
		s.off = b.src
	}
	if err := b.begin(ctx, e, ask); err != nil {
		return err
	}
	if !b.isLocalRoot() {
		return b.fromLocalRoot(ctx, &s)
	}
	for i := range pieces {
		lo, hi := share(b.n, pieces, i)
		if b.rank > 0 {
			if err := g.awaitMailbox(ctx, x+mailbox(i), b.parent()); err != nil {
				return err
			}
		}
		data := g.ownBytes(s.off, b.n)[lo:hi]
		for child := range b.children {
			if i == 0 && asks > 0 {
				if err := g.awaitMailbox(ctx, ask+b.ctsMailbox(child), b.localRootAt(child)); err != nil {
					return err
				}
			}
			g.putThenSignal(b.localRootAt(child), x+mailbox(i), uint64(b.dst)+uint64(lo), data)
		}
		if b.rank == 0 && b.src != b.dst && !b.keep {
			node.CopyLarge(g.ownBytes(b.dst, b.n)[lo:hi], data) // which is in the cache now
		}
	}
	if b.rank > 0 {
		g.ready()
	}
	return g.awaitReads(ctx, read, len(b.l.localMembers)-1)
}

// begin shows that this PE is there, to its parent if it leads another host than the root's. It returns when
// dst of this PE may be written.
func (b *Broadcast) begin(ctx context.Context, e *arrival, ask mailbox) error {
	g := b.g
	switch {
	case b.ctsMailboxes() == 0:
		return g.barrierIn(ctx, e)
	case b.isLocalRoot() && b.rank == 0:
		return g.arrive(e)
	}
	if err := g.markArrived(e); err != nil {
		return err
	}
	if b.isLocalRoot() {
		g.send(b.parent(), ask+b.ctsMailbox(b.rank), nil)
	}
	return nil
}

// ctsMailboxes returns how many mailboxes local roots need to tell their parents that they are ready (clear to
// send); 0 if that is too many, and a barrier takes their place.
func (b *Broadcast) ctsMailboxes() int {
	n := len(b.l.hosts)
	if b.way == Tree {
		n = bits.Len(uint(n - 1))
	}
	if n > maxMailboxes-mostPieces {
		return 0
	}
	return n
}

// ctsMailbox returns the index, among these, of the mailbox of the local root with the given number: another one for
// each child of a parent.
func (b *Broadcast) ctsMailbox(rank int) mailbox {
	if b.way == Tree {
		return mailbox(bits.TrailingZeros(uint(rank)))
	}
	return mailbox(rank)
}

// The hosts are numbered from that of the root for what follows: rank is this host's number.

// localRootAt returns the local root of the host with the given number.
func (b *Broadcast) localRootAt(rank int) int {
	if rank == 0 {
		return b.call.root
	}
	n := len(b.l.hosts)
	return b.l.hosts[(b.l.hostIndex-b.rank+rank+n)%n][0]
}

// parent returns the local root that this host's gets the data from. In the tree its number is this host's without
// the lowest bit.
func (b *Broadcast) parent() int {
	if b.way == Linear {
		return b.call.root
	}
	return b.localRootAt(b.rank & (b.rank - 1))
}

// children yields the numbers of the local roots that get the data from this host's; those with the largest
// subtrees come first.
func (b *Broadcast) children(yield func(rank int) bool) {
	n := len(b.l.hosts)
	if b.way == Linear {
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
