package coll

// What a member learns of others, and tells them, when a call cannot complete.

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// peekArrival reads the arrival record of member i for call n, on this host or another.
func (g *Group) peekArrival(i int, n uint64) (tag uint64, c Call, ok bool) {
	off := uint64(slotOff(g.Slot) + arrivalOff(n))
	var words [4]uint64
	for k, at := range [...]uintptr{0, callOff, callOff + 8, callOff + 16} {
		v, err := g.n.PeekWord(g.PEs[i], off+uint64(at))
		if err != nil {
			return 0, Call{}, false
		}
		if words[k] = v; k == 0 && (v>>tagBits != n || v&poisoned == cancelled) {
			break // the rest may be about to change
		}
	}
	c = unpackCall(words[1], words[2], words[3])
	if c.Kind == kindLibrary && words[0]>>tagBits == n {
		c.detail.text = g.peekName(i, n)
	}
	return words[0], c, true
}

// nameBytes is the room for the name of a library's call in an arrival record: behind what its barrier has there.
const nameBytes = 48

// peekName reads the name of a library's call in the arrival record of member i for call n.
func (g *Group) peekName(i int, n uint64) string {
	var name []byte
	for at := uintptr(0); at < nameBytes; at += 8 {
		v, err := g.n.PeekWord(g.PEs[i], uint64(slotOff(g.Slot)+arrivalOff(n)+dataOff+at))
		if err != nil {
			break
		}
		name = binary.LittleEndian.AppendUint64(name, v)
	}
	text, _, _ := strings.Cut(string(name), "\x00")
	return text
}

// recordedCall returns call n of member i, with the text of its detail if that is still there.
func (g *Group) recordedCall(i int, n uint64) Call {
	_, c, _ := g.peekArrival(i, n)
	off := uint64(slotOff(g.Slot) + detailOff)
	if v, err := g.n.PeekWord(g.PEs[i], off); err != nil || c.detail.digest < longDetail || v != uint64(c.detail.digest) {
		return c
	}
	var text []byte
	for k := range len(detail{}.text) {
		v, err := g.n.PeekWord(g.PEs[i], off+uint64((k+1)*wordBytes))
		if err != nil {
			return c
		}
		text = binary.LittleEndian.AppendUint64(text, v)
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	c.detail.text = string(text)
	return c
}

// notifyRemote tells the members on other hosts that the call under way has been given up, so that they look for the
// reason at once, not only at their next interval.
func (g *Group) notifyRemote() {
	if len(g.hosts) == 1 {
		return
	}
	off := uint64(slotOff(g.Slot) + syncOff + abortToldOff)
	for _, pe := range g.PEs {
		if g.n.Shm.Heap(pe) == nil {
			g.n.Channel(pe).Post(pe, transport.Set, node.Word8(off), g.calls.n)
		}
	}
	ctx, stop := g.n.WithTimeout(g.n.Ctx, node.PeekTime)
	defer stop()
	_ = g.n.Flush(ctx) // a member that cannot be reached finds out by itself
}

// LingerUntilTold waits until the members that have entered the call know that the team cannot be used any more, or
// have had the time to. If this PE ended before, they would report its end in place of the reason.
func (g *Group) LingerUntilTold() {
	ctx, stop := g.n.WithTimeout(g.n.Ctx, 2*node.PeekTime)
	defer stop()
	for i, pe := range g.PEs {
		rest := node.MaxSleep
		if g.n.Shm.Heap(pe) != nil {
			rest = node.MinSleep
		}
		for pe != g.n.Job.PE && g.isUntold(i) && g.n.Sleep(ctx, rest) == nil {
		}
	}
}

// isUntold reports whether member i is in the call under way, or in a later one, and does not know yet that the team
// cannot be used any more. One that has not entered waits for no member.
func (g *Group) isUntold(i int) bool {
	tag, _, ok := g.peekArrival(i, g.calls.n)
	if !ok || tag>>tagBits < g.calls.n || isAbortedTag(tag, g.calls.n) {
		return false
	}
	ended, err := g.n.PeekWord(g.PEs[i], uint64(slotOff(g.Slot)+syncOff+abortedOff))
	return err == nil && (ended == 0 || ended < g.calls.syncedCall)
}
