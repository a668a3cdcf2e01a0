package pgas

// Where teams live. The reserved start of every heap has a slot for each team that can be alive at once,
// at the same offset on every PE, so that the members of a team reach each other's slots without any
// allocation. A slot holds
//
//	entries   what its owner has called: one for each of the last generations of calls
//	control   the words of meetings
//	signals   a word for each box, set by put-with-signal when the box is full
//	boxes     what members on other hosts send: see box_unsafe.go
//
// Sequence numbers of calls only ever grow on a PE, over all teams that used a slot, so a slot needs no
// cleaning between teams: what an old team left is smaller than anything the new one waits for.

import (
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
)

const (
	// MaxTeams is how many teams one PE can be a member of at once.
	MaxTeams = boot.TeamSlots

	generations = 32  // entries of a slot; a power of two
	entryBytes  = 960 // an odd number of cache lines: entries do not compete for the same places of a cache
	dataOff     = unsafe.Offsetof(entry{}.data)
	inlineBytes = len(entry{}.data)
	controlOff  = generations * entryBytes
	signalsOff  = 36 << 10
	numBoxes    = 128 // a power of two
	boxBytes    = 512
	boxesOff    = signalsOff + numBoxes*wordStride
	slotBytes   = boxesOff + numBoxes*boxBytes

	wordStride = 64 // words that different PEs write have a cache line each
)

// An entry says what its owner has called. tag is written last. What only a report wants is far from it:
// each store to the line that others look at may cost a trip of that line.
type entry struct {
	tag   atomic.Uint64 // number of the call and a digest of it; poisoned if it was the wrong one
	data  [928]byte
	call  uint64 // kind, root and size of an element
	count uint64
	where uint64 // digest of the offsets that it concerns
}

const callOff = unsafe.Offsetof(entry{}.call)

// control is the words of meetings.
type control struct {
	arrived  atomic.Uint64 // on the first member of a host: how many are there; 0 between meetings
	_        [wordStride - 8]byte
	released atomic.Uint64 // the tag of the last meeting that is over
	_        [wordStride - 8]byte
	done     atomic.Uint64 // the tag of the last call whose use of others' memory is over
	_        [wordStride - 8]byte
	ready    atomic.Uint64 // the tag of the last call whose first half is over
	_        [wordStride - 8]byte
	ended    atomic.Uint64 // the call in which the owner broke off
	_        [wordStride - 8]byte
	readers  atomic.Uint64 // how often others have read what the owner lent
	_        [wordStride - 8]byte
	told     atomic.Uint64 // the call that a member on another host has announced as given up
	_        [wordStride - 8]byte
}

const (
	releasedOff = unsafe.Offsetof(control{}.released)
	endedOff    = unsafe.Offsetof(control{}.ended)
	toldOff     = unsafe.Offsetof(control{}.told)
)

var (
	_ [entryBytes - unsafe.Sizeof(entry{})]byte
	_ [unsafe.Sizeof(entry{}) - entryBytes]byte
	_ [signalsOff - controlOff - unsafe.Sizeof(control{})]byte
	_ [0]byte = [slotBytes - boot.TeamSlotBytes]byte{}
)

func slotOff(slot int) uintptr { return boot.TeamSlotsOff + uintptr(slot)*slotBytes }

func entryOff(n uint64) uintptr { return uintptr(n%generations) * entryBytes }

// A board is the slot of one member on this host.
type board struct{ p unsafe.Pointer }

func (n *Node) boardOf(pe, slot int) board {
	return board{unsafe.Add(basePointer(n.shm.Heap(pe)), slotOff(slot))}
}

// entry is that of call n.
func (b board) entry(n uint64) *entry { return (*entry)(unsafe.Add(b.p, entryOff(n))) }

func (b board) control() *control { return (*control)(unsafe.Add(b.p, controlOff)) }
