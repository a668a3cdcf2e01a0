package transporttest

// Accesses of one channel to the same bytes of one PE, without a fence between them: the later one wins, and
// a get or a fetching atomic of the channel finds what the channel has written before. The twin is a plain
// byte slice changed in the order of issue.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas/transport"
)

// contested is the number of bytes that testSameBytes accesses: few, so that most accesses overlap, and more
// than any note could carry.
const contested = 64

// A contest issues accesses to the contested bytes of PE 1 and keeps the twin.
type contest struct {
	t      *testing.T
	r      *Rig
	ch     transport.Channel
	rng    *rand.Rand
	twin   []byte
	due    []transport.Note // notes that must arrive, in order
	unread [][]byte         // sources that must stay as they are until a quiet
	after  []func()         // checks of what the next quiet has completed
	steps  []string         // steps since the last quiet, for the report
	words  bool             // the last step was an atomic
	replay string
}

// testSameBytes checks that the later of two accesses to the same bytes wins, whatever their kinds.
func testSameBytes(t *testing.T, r *Rig) {
	seed := Seed()
	c := &contest{
		t: t, r: r, ch: channel(t, r, 0, false), rng: rand.New(rand.NewPCG(seed, 3)), twin: make([]byte, contested),
		replay: fmt.Sprintf("replay with: TEST_SEED=%d go test -run '%s'", seed, t.Name()),
	}
	clear(r.Heaps[1][base : base+contested])
	for range 1500 {
		for range 2 + c.rng.IntN(5) {
			c.step()
		}
		if c.rng.IntN(2) == 0 { // take the notes first: that must not undo later accesses
			c.takeNotes()
		}
		check := c.getLate()
		c.settle()
		check()
		c.takeNotes()
		c.compare("after the notes were taken")
	}
	noNote(t, r, 1)
}

// getLate starts a non-blocking get of all bytes, and returns a check to run after the quiet. No write is
// issued between the two, which the get might have seen.
func (c *contest) getLate() (check func()) {
	if c.rng.IntN(3) > 0 || c.r.SplitAtomics && c.words {
		return func() {}
	}
	got := make([]byte, contested)
	c.issued("non-blocking get", 0, contested)
	c.ch.GetNB(1, got, base)
	return func() {
		if !bytes.Equal(got, c.twin) {
			c.fail("a non-blocking get does not see from byte %d on what its channel has put before: %v, want %v", firstDifference(got, c.twin), got, c.twin)
		}
	}
}

// settle quiets, and runs the checks of what that has completed.
func (c *contest) settle() {
	c.t.Helper()
	quiet(c.t, c.ch)
	c.compare("after a quiet")
	for _, check := range c.after {
		check()
	}
	c.after, c.unread, c.steps = nil, nil, nil
}

func (c *contest) compare(when string) {
	c.t.Helper()
	if got := c.r.Heaps[1][base : base+contested]; !bytes.Equal(got, c.twin) {
		c.fail("%s byte %d on are not the last ones written: %v, want %v", when, firstDifference(got, c.twin), got, c.twin)
	}
}

func (c *contest) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s; issued since the last quiet: %s; %s", fmt.Sprintf(format, args...), c.steps, c.replay)
}

func (c *contest) takeNotes() {
	c.t.Helper()
	for _, want := range c.due {
		if got := awaitNote(c.t, c.r, 1); got != want {
			c.fail("the note is %+v, want %+v", got, want)
		}
	}
	c.due = nil
}

// step issues one access of any kind.
func (c *contest) step() {
	c.t.Helper()
	words := c.rng.IntN(2) == 0
	if c.r.SplitAtomics && words != c.words {
		c.ch.Fence(1)
	}
	c.words = words
	if !words {
		c.moveBytes()
		return
	}
	for range 1 + c.rng.IntN(2)*c.rng.IntN(8) { // sometimes several in a row, which a NIC may delay
		c.updateWord()
	}
}

// issued records a step for the report.
func (c *contest) issued(what string, off, n int) {
	c.steps = append(c.steps, fmt.Sprintf("%s [%d,%d)", what, off, off+n))
}

// noted returns the stamp for a notified access to n bytes at off, and records that its note is due.
func (c *contest) noted(off uint64, n int) transport.Stamp {
	s := transport.StampOf(0, c.rng.Uint32()>>1)
	c.due = append(c.due, transport.Note{Stamp: s, Bytes: uint64(n), Off: off})
	return s
}

// moveBytes issues a put or a get of some of the bytes.
func (c *contest) moveBytes() {
	c.t.Helper()
	n := 1 + c.rng.IntN(contested)
	if c.rng.IntN(2) == 0 {
		n = 8
	}
	at := c.rng.IntN(contested - n + 1)
	off, src := uint64(base+at), make([]byte, n)
	for i := range src {
		src[i] = byte(c.rng.Uint32())
	}
	ok := true
	switch kind := c.rng.IntN(8); kind {
	case 0, 1:
		c.issued("put", at, n)
		c.ch.Put(1, off, slices.Clone(src))
	case 2, 3:
		c.issued("notified put", at, n)
		ok = c.ch.PutNotify(1, off, slices.Clone(src), c.noted(off, n))
	case 4:
		c.issued("notified put without a copy", at, n)
		c.unread = append(c.unread, src)
		_, ok = putNotifyZcopy(c.ch, 1, off, src, c.noted(off, n))
	case 5:
		putter, zeroCopy := c.ch.(transport.ZeroCopyPutter)
		if !zeroCopy {
			return
		}
		c.issued("put without a copy", at, n)
		c.unread = append(c.unread, src)
		putter.PutZcopy(1, off, src)
	default:
		c.getBytes(kind == 6, at, n)
		return
	}
	if !ok {
		c.fail("there is no room for a note")
	}
	copy(c.twin[at:], src)
}

func (c *contest) getBytes(waits bool, at, n int) {
	c.t.Helper()
	got, want := make([]byte, n), slices.Clone(c.twin[at:at+n])
	check := func() {
		if !bytes.Equal(got, want) {
			c.fail("a get of %d bytes at %d does not see what its channel has put before: %v, want %v", n, at, got, want)
		}
	}
	if !waits {
		c.issued("notified get", at, n)
		off := uint64(base + at)
		if ok, err := c.ch.GetNotify(bounded(c.t), 1, got, off, c.noted(off, n)); !ok || err != nil {
			c.fail("notified get: %v, %v", ok, err)
		}
	} else {
		c.issued("get", at, n)
		if err := c.ch.Get(bounded(c.t), 1, got, uint64(base+at)); err != nil {
			c.fail("get: %v", err)
		}
	}
	check()
}

// updateWord issues an atomic on one of the words, or a put whose signal is that word.
func (c *contest) updateWord() {
	c.t.Helper()
	at := 8 * c.rng.IntN(contested/8)
	w := transport.Word{Off: uint64(base + at), Bytes: 8}
	op, v := []transport.Op{transport.Set, transport.Add}[c.rng.IntN(2)], c.rng.Uint64()
	old := binary.NativeEndian.Uint64(c.twin[at:])
	ok := true
	var got uint64
	var err error
	returns := false
	switch c.rng.IntN(6) {
	case 0:
		c.issued("post", at, 8)
		c.ch.Post(1, op, w, v)
	case 1:
		c.issued("notified post", at, 8)
		ok = c.ch.PostNotify(1, op, w, v, c.noted(w.Off, 8))
	case 2:
		c.issued("atomic", at, 8)
		got, err = c.ch.Atomic(bounded(c.t), 1, op, w, v, 0)
		returns = true
	case 3:
		c.issued("notified atomic", at, 8)
		got, ok, err = c.ch.AtomicNotify(bounded(c.t), 1, op, w, v, 0, c.noted(w.Off, 8))
		returns = true
	case 4:
		c.issued("non-blocking atomic", at, 8)
		late := make([]byte, 8)
		c.ch.AtomicNB(1, op, w, v, 0, late)
		c.after = append(c.after, func() {
			if got := binary.NativeEndian.Uint64(late); got != old {
				c.fail("a non-blocking atomic at %d brought %#x, want %#x", at, got, old)
			}
		})
	case 5:
		c.issued("signal", at, 8)
		c.ch.PutSignal(1, 0, nil, w.Off, op, v)
	}
	if !ok || err != nil {
		c.fail("an atomic at %d: %v, %v", at, ok, err)
	}
	if returns && got != old {
		c.fail("an atomic at %d returned %#x, want %#x", at, got, old)
	}
	binary.NativeEndian.PutUint64(c.twin[at:], Twin(op, old, v, 0, 8))
}
