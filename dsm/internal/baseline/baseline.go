// Package baseline has the protocols that dsm is compared with, and the parts of MENPS that dsm does otherwise. They
// run in mode Soft only.
//
//	baseline.go    Open
//	homes.go       fixed homes: master copies, and releases that put into them
//	fixed.go       FixedHome: home-based lazy release consistency
//	numbers.go     version numbers by block, which fetches and fences set
//	bitmaps.go     bitmaps of PEs and of blocks
//	directory.go   Directory: the releaser tells every sharer
//	classified.go  Classified: each PE drops what others may have written
//	uncached.go    Uncached: nothing is kept
//	gathering.go   the barrier and the acquire of MENPS
package baseline

import (
	"context"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/internal/protocols"
)

// Open gives s the protocol of c, with the memory that it needs. It is collective.
func Open(ctx context.Context, s *protocol.State, c protocols.Choice) (err error) {
	if c.AllNotices {
		s.Exchanger, err = openGathering(ctx, s)
	} else {
		s.Exchanger, err = protocol.OpenDissemination(ctx, s)
	}
	if err != nil {
		return err
	}
	if c.Protocol == protocols.Floating {
		s.Protocol = menps{&protocol.Floating{State: s}}
		return nil
	}
	master, err := s.AllocBlocks(ctx)
	if err != nil {
		return err
	}
	s.Source = master.All().On(s.Context)
	s.Traits = traitsOf(c.Protocol)
	switch h := (homes{s}); c.Protocol {
	case protocols.FixedHome:
		s.Protocol = &fixedHome{h, make(versionNumbers, s.Blocks), c.WholeBlocks}
	case protocols.Directory:
		s.Protocol, err = openDirectory(ctx, h)
	case protocols.Classified:
		s.Protocol, err = openClassified(ctx, h)
	default:
		s.Protocol = uncached{h}
	}
	return err
}

// traitsOf returns the traits of p. Directory and Classified know each PE that has a copy, so no copy comes without a
// message.
func traitsOf(p protocols.Protocol) protocol.Traits {
	return protocol.Traits{FixedHomes: true, AsksFirst: p != protocols.FixedHome, Transient: p == protocols.Uncached}
}
