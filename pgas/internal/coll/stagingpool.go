package coll

// The staging areas of a PE.

import (
	"sync"

	"github.com/gopgas/gopgas/pgas/boot"
)

const (
	stagingBytes = 1 << 20
	stagingAreas = boot.StagingBytes / stagingBytes
	// stagingHosts is up to how many hosts areas are used: more would divide a half into too small parts.
	stagingHosts = 16
	// stagingPiece is how much of a message travels at a time: the receiver combines one piece while the
	// next arrives.
	stagingPiece = 64 << 10
)

// A stagingPool holds the areas of a PE.
type stagingPool struct {
	mu    sync.Mutex
	taken [stagingAreas]bool
}

// take returns the offset of a free area, 0 if there is none.
func (p *stagingPool) take() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.taken {
		if !p.taken[i] {
			p.taken[i] = true
			return boot.StagingOff + uint64(i)*stagingBytes
		}
	}
	return 0
}

func (p *stagingPool) free(off uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken[(off-boot.StagingOff)/stagingBytes] = false
}

// staging is what a layout knows of its leaders' areas.
type staging struct {
	exchanged bool     // the leaders have told each other; of no meaning on members that do not lead
	offs      []uint64 // offsets of the areas, by host; nil if a host has none
	calls     uint64   // number of calls that have used the offsets
}
