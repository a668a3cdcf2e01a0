package pgas

// Landing places: where large messages between hosts arrive when the memory that they are for is still in
// use. A PE has a few in the reserved start of its heap, beside the slots of its teams. A team whose leaders
// first exchange something that large takes one on each leader, and they tell each other where. When one
// of them has none left, the team does without.
//
// A place has two halves, for even and odd calls. A leader that is in a call has the results of the call
// before from all others, so all others are through with the call before that: its half is free.

import (
	"context"
	"sync"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
)

const (
	landingBytes  = 1 << 20
	landingPlaces = boot.StagingBytes / landingBytes
	// landingHosts is up to how many hosts places are used: more would divide a half into too small parts.
	landingHosts = 16
	// landingPiece is how much of a message travels at a time: the receiver combines one piece while the
	// next arrives.
	landingPiece = 64 << 10
)

// landings is the places of a PE.
type landings struct {
	mu    sync.Mutex
	taken [landingPlaces]bool
}

// take returns the offset of a free place, 0 if there is none.
func (p *landings) take() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.taken {
		if !p.taken[i] {
			p.taken[i] = true
			return boot.StagingOff + uint64(i)*landingBytes
		}
	}
	return 0
}

func (p *landings) giveBack(off uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken[(off-boot.StagingOff)/landingBytes] = false
}

// landing is what a layout knows of its leaders' places.
type landing struct {
	asked bool     // they have told each other; of no meaning on members that do not lead
	at    []uint64 // by host; nil if one has none
	calls uint64   // that have used them
}

// release gives back this PE's place of l.
func (g *Group) release(l *layout) {
	if l.landing.at != nil {
		g.set.landings.giveBack(l.landing.at[l.host])
	}
}

// tellLandings is how the leaders tell each other where their places are, in n boxes.
func (g *Group) tellLandings(ctx context.Context, l *layout) error {
	n := len(l.hosts)
	x, mine := g.box(n), [1]uint64{g.set.landings.take()}
	at := make([]uint64, n)
	for d := 1; d < n; d++ {
		g.sendBox(l.hosts[(l.host+d)%n][0], x+box(l.host), asBytes(mine[:]))
	}
	all := mine[0] != 0
	for h := range n {
		at[h] = mine[0]
		if h != l.host {
			if err := g.awaitBox(ctx, x+box(h), l.hosts[h][0]); err != nil {
				return err
			}
			at[h] = elements[uint64](g.boxData(x+box(h), 8), 1)[0]
		}
		all = all && at[h] != 0
	}
	if all {
		l.landing.at = at
	} else if mine[0] != 0 {
		g.set.landings.giveBack(mine[0])
	}
	return nil
}

// landed is what has arrived at off of this PE's heap.
func landed[T any](n *Node, off uint64, count int) []T {
	return unsafe.Slice((*T)(n.own(uintptr(off))), count)
}
