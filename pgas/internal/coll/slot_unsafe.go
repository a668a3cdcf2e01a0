package coll

// Slots of teams. The reserved start of every heap has a slot for each team that can be alive at once,
// at the same offset on every PE, so that the members of a team reach each other's slots without any
// allocation. A slot holds
//
//	arrivals    what its owner has called: a record for each of the last calls
//	sync words  the words of barriers
//	signals     a word for each mailbox, set by put-with-signal when the mailbox is full
//	mailboxes   what members on other hosts send: see mailbox_unsafe.go
//
// Sequence numbers of calls only ever grow on a PE, over all teams that used a slot, so a slot needs no
// cleaning between teams: what an old team left is smaller than anything the new one waits for.

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

const (
	// MaxTeams is how many teams one PE can be a member of at once.
	MaxTeams = boot.TeamSlots

	slotArrivals = 32  // arrival records of a slot; a power of two
	arrivalBytes = 960 // an odd number of cache lines: records do not compete for the same sets of a cache
	dataOff      = unsafe.Offsetof(arrival{}.data)
	inlineBytes  = len(arrival{}.data)
	syncOff      = slotArrivals * arrivalBytes
	signalsOff   = 36 << 10
	numMailboxes = 128 // a power of two
	mailboxBytes = 512
	mailboxesOff = signalsOff + numMailboxes*wordStride
	slotBytes    = mailboxesOff + numMailboxes*mailboxBytes

	wordStride = 64 // words that different PEs write have a cache line each
	wordBytes  = 8
)

// An arrival says what its owner has called. tag is written last. What only a report needs is far from the tag:
// each store to the line that other members poll may cost a trip of that line.
type arrival struct {
	tag        atomic.Uint64 // number of the call and a digest of it, or poisoned or cancelled in place of the digest
	data       [928]byte
	call       uint64 // kind, root and digest of the detail
	count      uint64 // number of elements, and size of one in bytes
	bufferHash uint64 // digest of the offsets of the call's buffers
}

const callOff = unsafe.Offsetof(arrival{}.call)

// syncWords holds the words of barriers and of the other synchronization between members.
type syncWords struct {
	arrived   atomic.Uint64 // on the first member of a host: how many members have arrived; 0 between barriers
	_         [wordStride - 8]byte
	released  atomic.Uint64 // the tag of the last barrier that is over
	_         [wordStride - 8]byte
	done      atomic.Uint64 // the tag of the last call whose use of others' memory is over
	_         [wordStride - 8]byte
	ready     atomic.Uint64 // the tag of the last call whose first half is over
	_         [wordStride - 8]byte
	aborted   atomic.Uint64 // the call in which the owner broke off
	_         [wordStride - 8]byte
	readers   atomic.Uint64 // how often other members have read what the owner exposed in place (zcopy)
	_         [wordStride - 8]byte
	abortTold atomic.Uint64 // the call that a member on another host has announced as given up
	_         [wordStride - 8]byte

	// Of joint copies, on the first member of a host: how many tasks of a call members have taken from either end; the
	// number of the call, and how many they have finished.
	tasksTaken    atomic.Uint64
	_             [wordStride - 8]byte
	tasksFinished atomic.Uint64
	_             [wordStride - 8]byte
}

// detail has the text of the last call of the owner that has one.
type detail struct {
	digest atomic.Uint64
	text   [14]atomic.Uint64 // the text, up to a zero byte
}

const detailOff = syncOff + 1024 - unsafe.Sizeof(detail{})

func (b slotView) detail() *detail { return (*detail)(unsafe.Add(b.p, detailOff)) }

// store stores s, or its start.
func (d *detail) store(digest uint32, s string) {
	var text [len(d.text) * wordBytes]byte
	copy(text[:], s)
	for i := range d.text {
		d.text[i].Store(binary.LittleEndian.Uint64(text[wordBytes*i:]))
	}
	d.digest.Store(uint64(digest))
}

const (
	releasedOff  = unsafe.Offsetof(syncWords{}.released)
	abortedOff   = unsafe.Offsetof(syncWords{}.aborted)
	abortToldOff = unsafe.Offsetof(syncWords{}.abortTold)
)

var (
	_ [arrivalBytes - unsafe.Sizeof(arrival{})]byte
	_ [unsafe.Sizeof(arrival{}) - arrivalBytes]byte
	_ [signalsOff - syncOff - unsafe.Sizeof(syncWords{})]byte
	_ [0]byte = [slotBytes - boot.TeamSlotBytes]byte{}
)

func slotOff(slot int) uintptr { return boot.TeamSlotsOff + uintptr(slot)*slotBytes }

func arrivalOff(n uint64) uintptr { return uintptr(n%slotArrivals) * arrivalBytes }

// A slotView is the slot of one member on this host.
type slotView struct{ p unsafe.Pointer }

// viewOf returns the slot of PE pe of the job, which is on this host.
func viewOf(n *node.Node, pe, slot int) slotView {
	return slotView{unsafe.Add(node.BasePointer(n.Shm.Heap(pe)), slotOff(slot))}
}

// arrival returns the record of call n.
func (b slotView) arrival(n uint64) *arrival { return (*arrival)(unsafe.Add(b.p, arrivalOff(n))) }

// claimNext prepares the owner's entry to the call after n. Members have polled the line of that record when it was
// last used, so the store of the tag would wait for a trip of the line.
func (b slotView) claimNext(n uint64) { prefetchToWrite(unsafe.Pointer(b.arrival(n + 1))) }

func (b slotView) syncWords() *syncWords { return (*syncWords)(unsafe.Add(b.p, syncOff)) }

// A mailbox is the number of a mailbox since the team began; modulo numMailboxes it is the index in the slot.
type mailbox uint64

func (x mailbox) index() uintptr { return uintptr(x % numMailboxes) }
