package coll

// Calls and their tags: what a member asks for, how that stands in its arrival record, and where a member is in the
// calls of its group.

import (
	"reflect"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// A Kind says which collective a call is.
type Kind uint8

const (
	kindNone Kind = iota
	KindSync
	kindSplit
	KindAgree // allocation and the like
	kindBroadcast
	kindBroadcastValue
	KindCollect
	kindFCollect
	kindAllToAll
	kindAllToAllS
	kindAllToAllV
	kindGather
	kindAllGather
	kindReduce
	kindReduceValue
	KindInscan
	KindExscan
	KindClose
	kindLibrary // what a library above package pgas does
	numKinds
)

// The ops of a sync: the calls of a program that are barriers.
const (
	Plain = iota
	syncOfWords
	OfBarrier
	OfDestroy
)

// ofSlice is the op of a broadcast of a Go slice.
const ofSlice = 1

var kindNames = [numKinds]string{"nothing yet", "sync", "split", "allocation", "broadcast", "broadcast of a value", "collect", "fcollect",
	"alltoall", "alltoalls", "alltoallv", "gather", "allgather", "reduction", "reduction of a value", "inclusive scan", "exclusive scan", "close", "call of a library"}

func (k Kind) String() string { return kindNames[k] }

// A Call is what a member asks for. Its fields must be the same on every member. Calls are passed by reference: copies
// of one would take a noticeable part of a small collective's time.
type Call struct {
	Kind       Kind
	op         uint8        // the operator of a reduction, the way of a split, the algorithm forced by the caller
	root       int          // a member, or another number that the kind says
	Size       int          // size of an element in bytes
	count      uint64       // number of elements, or 0 where members may differ
	bufferHash uint64       // digest of the symmetric ranges of the call: see buffersOf
	extra      uint64       // digest of arguments that reports do not show in numbers
	elem       reflect.Type // type of an element, or nil
	detail     detailText   // text of elem, list of a split, or name of a library's call
}

// A detailText is an argument that is longer than a few words. Reports show its text.
type detailText struct {
	// the number of a basic type of Go, or a digest of the text from longDetail on, or 0 for a library's call
	digest uint32
	text   string // the type in words; empty for a basic type
}

const (
	detailBits = 24
	longDetail = 1 << (detailBits - 1)
)

// newDetail returns the detail with this text. digest is a digest of all of it.
func newDetail(text string, digest uint64) detailText {
	return detailText{uint32(digest>>32)%longDetail | longDetail, text}
}

// detailOf returns the detail of a type. Types that are made from a basic type count as that type: their values are the
// same. It keeps that of the last other type: to digest the name of a type takes a noticeable part of a small
// collective's time.
func (u *callState) detailOf(t reflect.Type) detailText {
	if k := t.Kind(); k <= reflect.Complex128 {
		return detailText{digest: uint32(k)}
	}
	if u.elem != t {
		name := t.String()
		u.elem, u.elemDetail = t, newDetail(name, hashText(hashText(uint64(t.Size()), t.PkgPath()), name))
	}
	return u.elemDetail
}

// hashText adds s to digest h.
func hashText(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return mix(h)
}

// mix spreads each bit of h over all bits.
func mix(h uint64) uint64 {
	h = (h ^ h>>32) * 0xbf58476d1ce4e5b9
	return h ^ h>>29
}

// title returns what reports call c.
func (c *Call) title() string {
	if c.Kind == kindLibrary && c.detail.text != "" {
		return c.detail.text
	}
	return c.Kind.String()
}

// buffersOf returns the digest of the ranges that start at offsets dst and src.
func buffersOf(dst, src uintptr) uint64 { return uint64(dst)<<32 ^ uint64(dst)>>32 ^ uint64(src) }

// word packs most of c as it stands in an arrival record.
func (c *Call) word() uint64 {
	return uint64(c.Kind) | uint64(c.op)<<8 | uint64(c.root)&0xffffff<<16 | uint64(c.detail.digest)<<40
}

// countWord packs the rest of c, but for what only digests need. Sizes from mostSize on look alike there.
func (c *Call) countWord() uint64 { return c.count&(1<<40-1) | uint64(min(c.Size, mostSize))<<40 }

const mostSize = 1<<24 - 1

func unpackCall(w, count, where uint64) Call {
	k := Kind(w & 0xff)
	if k >= numKinds {
		k = kindNone
	}
	return Call{
		Kind: k, op: uint8(w >> 8), root: int(w >> 16 & 0xffffff), Size: int(count >> 40), count: count & (1<<40 - 1),
		bufferHash: where, detail: detailText{digest: uint32(w >> 40)},
	}
}

const (
	tagBits = 16
	// in place of a digest: the record's owner has found a mismatch, or has given up the call
	poisoned  = 1<<tagBits - 1
	cancelled = poisoned - 1 // in place of a digest: another member has given up the call
)

// digest returns a digest of all that must be the same on every member.
func (c *Call) digest() uint64 {
	h := (c.count + c.bufferHash*0xff51afd7ed558ccd + c.extra + uint64(c.Size)*0xc2b2ae3d27d4eb4f) * 0x9e3779b97f4a7c15
	return (c.word() ^ uint64(c.root)>>24 ^ h ^ h>>32) * 0xbf58476d1ce4e5b9
}

// tagOf returns the tag of call n, the last of those that history is a digest of. So members whose calls have differed
// notice that in the next one in which they wait for each other, even if no member has waited in the one that differed.
func tagOf(n, history uint64) uint64 { return n<<tagBits | (history>>40)%cancelled }

// callState is how far a member has got in the calls of its team. One goroutine at a time uses it: the one that
// has the turn (takeTurn).
type callState struct {
	last    atomic.Pointer[Request] // the last non-blocking call that was made; nil if none ever was
	running atomic.Pointer[Request] // the non-blocking call that has the turn; nil: none has
	busy    atomic.Bool             // a call is under way: for a message, not for exclusion

	base           uint64 // the number before the first call
	n              uint64 // number of the last call
	syncedCall     uint64 // all members have entered this call, so all are through with those before it
	usedMailboxes  uint64 // number of mailboxes that calls have reserved, the call under way included
	freedMailboxes uint64 // number of mailboxes that were reserved before syncedCall, and are free again
	failed         error  // the members are not in step any more
	history        uint64 // digest of all calls
	detail         uint32 // digest of the last text that stands in the slot
	elem           reflect.Type
	elemDetail     detailText // the detail of elem

	lastRootCall [slotArrivals]uint64 // the last call that each member is known to have entered, if members are few
	starts       [slotArrivals]uint64 // usedMailboxes when the last calls began

	// Of the call under way:
	tag             uint64
	mailboxesBefore uint64    // usedMailboxes when the call began
	nextMailbox     mailbox   // the call's next mailbox to be taken
	digests         *digestOr // digests of a barrier that compares the members' records: see allequal.go
	words           digestOr  // words of a barrier that combines words: see sync.go
	syncMailboxes   mailbox   // the first mailbox for the call's barrier
	recorded        node.Mark
	seen            seenCall

	watchedTag              uint64 // the call in which this PE waits for long
	watchedSince, nextCheck time.Time
	nextMember              int // the first member that the next check looks at

	scratch, result []uint64 // buffers, kept from call to call
}

// maxMailboxes is how many mailboxes one call may reserve besides those of its barrier: less than half of them,
// since a reservation does not wrap around and may skip as many.
const maxMailboxes = numMailboxes/2 - 16

// used returns how many mailboxes would be in use with k more.
func (u *callState) used(k int) int {
	return int(u.usedMailboxes + u.skip(k) + uint64(k) - u.freedMailboxes)
}

// skip returns how many mailboxes are left unused so that the next k do not wrap around.
func (u *callState) skip(k int) uint64 {
	if at := u.usedMailboxes % numMailboxes; at+uint64(k) > numMailboxes {
		return numMailboxes - at
	}
	return 0
}

// isAbortedTag reports whether tag is that of a member which will never complete call n.
func isAbortedTag(tag, n uint64) bool {
	return tag>>tagBits == n && (tag&poisoned == poisoned || tag&poisoned == cancelled)
}

// seenCall is the call under way as the detector knows it.
type seenCall struct {
	key         racecheck.CallKey
	first, last int                // the members that have entered when this one leaves
	entered     bool               // it is under way
	request     *racecheck.Request // the one that it runs for; nil: the program waits for it
}
