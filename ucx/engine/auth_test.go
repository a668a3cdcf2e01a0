//go:build cgo

package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSipHash compares with the results that the specification's authors have published for the messages
// 00, 00 01, 00 01 02 … under the key 00 01 … 0f.
func TestSipHash(t *testing.T) {
	published := []string{
		"a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45", "8177228da4a45dc7fca38bdef60affe4",
		"9c70b60c5267a94e5f33b6b02985ed51", "f88164c12d9c8faf7d0f6e7c7bcd5579", "1368875980776f8854527a07690e9627",
		"14eeca338b208613485ea0308fd7a15e", "a1f1ebbed8dbc153c0b84aa61ff08239", "3b62a9ba6258f5610f83e264f31497b4",
		"264499060ad9baabc47f8b02bb6d71ed", "00110dc378146956c95447d3f3d0fbba", "0151c568386b6677a2b4dc6f81e5dc18",
		"d626b266905ef35882634df68532c125", "9869e247e9c08b10d029934fc4b952f7", "31fcefac66d7de9c7ec7485fe4494902",
		"5493e99933b0a8117e08ec0f97cfc3d9",
	}
	var key [KeyBytes]byte
	for i := range key {
		key[i] = byte(i)
	}
	var message []byte
	for i, want := range published {
		hash := sipHash(key, message)
		var got []byte
		for _, word := range hash {
			got = binary.LittleEndian.AppendUint64(got, word)
		}
		if fmt.Sprintf("%x", got) != want {
			t.Errorf("the hash of %x is %x, not %s", message, got, want)
		}
		message = append(message, byte(i))
	}
}

const (
	flagBye  = 2
	flagOpen = 4
)

func tagged(m []byte, tag uint64) []byte {
	binary.NativeEndian.PutUint64(m[16:], tag)
	return m
}

// TestWithoutProof: a message whose sender has not proved to be of the job is counted, and not applied, kept
// or answered, whichever part of the proof is wrong.
func TestWithoutProof(t *testing.T) {
	n, other := newNode(t, 1, true, 0), newNode(t, 1, true, 0)
	opening, tags := n.opening(n.Address(), 0, 1, 1)
	put := func(pe, lane uint32, tag uint64) []byte { return tagged(message(1, pe, lane, 64, 7), tag) }
	refused := uint64(0)
	refuse := func(what string, m []byte) {
		t.Helper()
		n.Engine.deliver(m)
		refused++
		if n.Refused() != refused {
			t.Fatalf("%s: %d refused, want %d", what, n.Refused(), refused)
		}
		if n.Served() != 0 || word(n.heap, 64) != 0 {
			t.Fatalf("%s: applied", what)
		}
	}
	refuse("no opening", put(0, 1, 0))
	refuse("no opening, the right tag", put(0, 1, tags[0]))
	for bit := range 8 * len(opening) {
		m := bytes.Clone(opening)
		m[bit/8] ^= 1 << (bit % 8)
		if bit/8 < 8 || bit/8 >= 16 && bit/8 < 24 {
			continue // a number, a flag or a tag, which an opening has no use for
		}
		refuse(fmt.Sprintf("an opening whose bit %d is another", bit), m)
	}
	for i := range opening {
		refuse(fmt.Sprintf("an opening cut to %d bytes", i), opening[:i])
	}
	refuse("a longer opening", append(bytes.Clone(opening), 0))
	foreign, _ := n.opening(other.Address(), 0, 1, 1)
	refuse("an opening to an earlier process of the same PE", foreign)
	turned, _ := n.opening(n.Address(), 0, 0, 1)
	refuse("an opening to another PE", turned)
	zero, _ := n.opening(n.Address(), 0, 1, 0)
	refuse("lane 0", zero)
	far, _ := n.opening(n.Address(), 7, 1, 1)
	refuse("a PE that the job does not have", far)

	n.Engine.deliver(opening)
	if n.Refused() != refused {
		t.Fatal("the right opening was refused")
	}
	refuse("no tag", put(0, 1, 0))
	refuse("the tag of the answers", put(0, 1, tags[1]))
	refuse("the tag of another PE's lane", put(1, 1, tags[0]))
	refuse("the tag of another lane", put(0, 2, tags[0]))
	another, _ := n.opening(n.Address(), 0, 1, 1)
	refuse("another opening of the same lane", another)
	n.Engine.deliver(opening) // once more changes nothing
	n.Engine.deliver(put(0, 1, tags[0]))
	if n.Refused() != refused || n.Served() != 1 || word(n.heap, 64) != 7 {
		t.Fatalf("the right message: %d refused, %d served", n.Refused()-refused, n.Served())
	}
}

// TestClosedLanesStayClosed: the opening of a lane that has said good-bye opens nothing, and neither do its
// messages.
func TestClosedLanesStayClosed(t *testing.T) {
	n := newNode(t, 1, true, 0)
	opening, tags := n.opening(n.Address(), 0, 1, 1)
	bye := tagged(message(1, 0, 1, 64, 1), tags[0])
	binary.NativeEndian.PutUint16(bye[6:], flagBye)
	n.Engine.deliver(opening)
	n.Engine.deliver(bye)
	n.Engine.deliver(opening)
	n.Engine.deliver(tagged(message(1, 0, 1, 64, 2), tags[0]))
	n.Engine.deliver(tagged(message(2, 0, 1, 64, 2), tags[0]))
	if n.Served() != 1 || word(n.heap, 64) != 1 || n.Refused() != 1 {
		t.Fatalf("served %d, refused %d", n.Served(), n.Refused())
	}
}

// TestLanesOpenOnce: in whatever order lanes open, each opens once.
func TestLanesOpenOnce(t *testing.T) {
	const lanes = 200
	for seed := range uint64(5) {
		n := newNode(t, 1, true, 0)
		r := rand.New(rand.NewPCG(seed, 3))
		for i, number := range r.Perm(lanes) {
			lane := uint32(number) + 1
			opening, tags := n.opening(n.Address(), 0, 1, lane)
			bye := tagged(message(1, 0, lane, 64, 1), tags[0])
			binary.NativeEndian.PutUint16(bye[6:], flagBye)
			n.Engine.deliver(opening)
			n.Engine.deliver(bye)
			n.Engine.deliver(opening)
			n.Engine.deliver(bye)
			if n.Served() != uint64(i)+1 || n.Refused() != uint64(i)+1 {
				t.Fatalf("seed %d, lane %d: served %d, refused %d of %d", seed, lane, n.Served(), n.Refused(), i+1)
			}
		}
		n.Close()
	}
}

// TestHeldMessagesAreBounded: the target bounds the memory of messages that have come out of order,
// even for a lane of the job.
func TestHeldMessagesAreBounded(t *testing.T) {
	const bound = 32 << 20
	n := newNode(t, 1, true, 0)
	opening, tags := n.opening(n.Address(), 0, 1, 1)
	n.Engine.deliver(opening)
	large := append(tagged(message(2, 0, 1, 64, 1), tags[0]), make([]byte, 1<<20)...)
	for seq := range uint32(2 * bound / len(large)) {
		binary.NativeEndian.PutUint32(large, firstNumber+seq+2)
		n.Engine.deliver(large)
	}
	if n.Refused() < uint64(bound/len(large)) {
		t.Fatalf("refused %d messages of %d bytes of which %d may be held", n.Refused(), len(large), bound/len(large))
	}
}

// answer returns an answer message with a value for slot.
func answer(pe uint32, tag uint64, slot uint32, value uint64) []byte {
	m := binary.NativeEndian.AppendUint32(nil, firstNumber+1000) // everything is applied
	m = binary.NativeEndian.AppendUint16(m, 1)
	m = binary.NativeEndian.AppendUint16(m, 0)
	m = binary.NativeEndian.AppendUint32(m, pe)
	m = binary.NativeEndian.AppendUint32(m, 0)
	m = binary.NativeEndian.AppendUint64(m, tag)
	m = append(m, 7, 0, 0, 0) // REC_VALUE
	m = binary.NativeEndian.AppendUint32(m, slot)
	return binary.NativeEndian.AppendUint64(m, value)
}

// TestForgedAnswers: an answer without its lane's tag completes nothing and opens nothing.
func TestForgedAnswers(t *testing.T) {
	a, b, c := pair(t, true, 0) // b is mute: every answer is forged
	old := make([]byte, 8)
	c.FetchNB(1, wordSet, 64, 8, 1, 0, old)
	c.Put(1, 4096, []byte("data"))
	opening, tags := b.opening(b.Address(), 0, 1, 1) // of another nonce than the channel's
	refused := uint64(0)
	for slot := range uint32(2048) {
		for _, m := range [][]byte{answer(1, 0, slot, 9), answer(1, tags[1], slot, 9), answer(0, 0, slot, 9), answer(7, 0, slot, 9)} {
			if n := c.deliver(m); n != 0 {
				t.Fatalf("a forged answer for slot %d completed %d", slot, n)
			}
			refused++
		}
	}
	welcome := tagged(slices.Clone(opening[:headBytes]), tags[1])
	binary.NativeEndian.PutUint16(welcome[6:], flagOpen)
	for _, m := range [][]byte{nil, opening[:headBytes-1], welcome} {
		c.deliver(m)
		refused++
	}
	if a.Refused() != refused {
		t.Fatalf("%d refused, want %d", a.Refused(), refused)
	}
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
	if err := c.Quiet(t.Context(), 1); err != nil || string(b.heap[4096:4100]) != "data" || binary.NativeEndian.Uint64(old) != 0 {
		t.Fatalf("what was issued: %v, %q, %v", err, b.heap[4096:4100], old)
	}
}

// TestAnotherKey: an engine with another key is served nothing.
func TestAnotherKey(t *testing.T) {
	_, b, _ := pair(t, false, 0)
	stranger := &node{heap: make([]byte, 1<<20), words: new(words)}
	e, err := prepare(Config{PE: 0, NPEs: 2, Key: [KeyBytes]byte{9}, Heap: stranger.heap, Waiting: &stranger.waiting, Doorbell: &stranger.door, Failed: &stranger.failed, PeerTimeout: 300e6})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c, err := e.Channel(false, func(int) []byte { return b.Address() })
	if err != nil {
		t.Fatal(err)
	}
	c.Put(1, 4096, []byte("data"))
	if err := c.Quiet(t.Context(), 1); err == nil || b.Served() != 0 || b.Refused() == 0 || b.heap[4096] != 0 {
		t.Fatalf("%v, %d served, %d refused", err, b.Served(), b.Refused())
	}
}
