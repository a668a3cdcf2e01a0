// Package protocols chooses how dsm.Open keeps copies coherent, for comparisons with other systems. Programs have no
// use for it: package dsm has one protocol, Floating, and the others run in mode Soft only.
package protocols

import (
	"context"
	"fmt"
	"strings"
)

// Protocol is how the copies of PEs are kept coherent.
type Protocol int

const (
	Floating   Protocol = iota // MENPS: the home of a block is its last writer; write notices and leases
	FixedHome                  // home-based lazy release consistency: PE b mod n is the home of block b
	Directory                  // the home knows the sharers of a block, and a releaser tells each of them
	Classified                 // ArgoDSM's: a PE drops at each acquire what other PEs may have written
	Uncached                   // no copy outlives the call that fetched it
)

// names are the names of the protocols.
var names = [...]string{"floating", "fixed-home", "directory", "classified", "uncached"}

// All returns the protocols, Floating first.
func All() []Protocol { return []Protocol{Floating, FixedHome, Directory, Classified, Uncached} }

func (p Protocol) String() string {
	if p < 0 || int(p) >= len(names) {
		return fmt.Sprintf("%d", int(p))
	}
	return names[p]
}

// Names returns the names of all protocols, in a sentence.
func Names() string { return strings.Join(names[:], ", ") }

// Named returns the protocol of that name.
func Named(name string) (p Protocol, ok bool) {
	for _, p := range All() {
		if p.String() == name {
			return p, true
		}
	}
	return 0, false
}

// Choice is what a region is opened with. The zero Choice is what programs get.
type Choice struct {
	Protocol Protocol
	// AllNotices has a barrier gather up to Options.Notices of each PE, as MENPS does: what a PE passes on has no
	// others' among it. It takes 16 bytes for each notice of each PE. As with MENPS, a home's own copies then end with
	// their leases, too. Otherwise each of a barrier's log2 n messages has up to Options.Notices, and a home renews the
	// leases of its own copies.
	AllNotices bool
	// WholeBlocks has a release of FixedHome put whole blocks, merged by the releaser, as the baseline of MENPS does.
	// Otherwise it puts the runs of bytes that have changed.
	WholeBlocks bool
}

type key struct{}

// With returns a context for dsm.Open, which opens the region with c.
func With(ctx context.Context, c Choice) context.Context { return context.WithValue(ctx, key{}, c) }

// From returns what With put into ctx.
func From(ctx context.Context) Choice {
	c, _ := ctx.Value(key{}).(Choice)
	return c
}
