package topo

// The place of one PE, small and of fixed size, so that the PEs of a job can exchange it.
//
// An element of a host is named by its lowest CPU: that is unique on the host, and every PE of the host sees
// the same, whatever numbers the kernel has for cores and sockets. An element outside of a host (a
// switch) is named by a hash of its path from the top.

import (
	"encoding/binary"
	"fmt"
)

// PlaceBytes is the size of an encoded Place.
const PlaceBytes = 64

// Place is what one PE knows about the elements that it is in. The zero Place knows nothing.
type Place struct {
	inside [insideLevels]uint16 // 1 + the lowest CPU of the element, in the order of insideNames; 0: in none
	depth  uint8                // levels outside of the host
	blocks uint8                // bit i: level i outside of the host is a block, not a switch
	paths  [maxOutside]uint64   // from the top down
}

// insideNames are the levels of a host, from the outside in.
var insideNames = [insideLevels]string{Socket, NUMA, Cache, Core}

const (
	insideLevels = 4
	maxOutside   = 6       // of a deeper network, the levels next to the hosts are kept
	maxCPU       = 1 << 15 // far beyond what Linux can have
)

// placeVersion tells the encodings of different versions apart.
const placeVersion = 1

// Encode returns p as bytes.
func (p Place) Encode() (b [PlaceBytes]byte) {
	b[0], b[1], b[2] = placeVersion, p.depth, p.blocks
	for i, v := range p.inside {
		binary.LittleEndian.PutUint16(b[8+2*i:], v)
	}
	for i, v := range p.paths {
		binary.LittleEndian.PutUint64(b[16+8*i:], v)
	}
	return b
}

// DecodePlace is the inverse of Encode. The error says that b is nothing that Encode returns.
func DecodePlace(b []byte) (Place, error) {
	var p Place
	if len(b) != PlaceBytes || b[0] != placeVersion {
		return Place{}, fmt.Errorf("%d bytes are not the place of a PE: all PEs must run the same program", len(b))
	}
	p.depth, p.blocks = b[1], b[2]
	for i := range p.inside {
		p.inside[i] = binary.LittleEndian.Uint16(b[8+2*i:])
	}
	for i := range p.paths {
		p.paths[i] = binary.LittleEndian.Uint64(b[16+8*i:])
	}
	if p.depth > maxOutside || p.blocks>>p.depth != 0 || p.Encode() != [PlaceBytes]byte(b) {
		return Place{}, fmt.Errorf("these bytes are not the place of a PE: all PEs must run the same program")
	}
	for _, path := range p.paths[p.depth:] {
		if path != 0 {
			return Place{}, fmt.Errorf("this place of a PE has more levels than it says: all PEs must run the same program")
		}
	}
	return p, nil
}
