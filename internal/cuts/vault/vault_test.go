package vault

import (
	"bytes"
	"io"
	"os"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/cuts/image"
)

func memory(t *testing.T) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("images", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "images")
	t.Cleanup(func() { f.Close() })
	return f
}

func slot(t *testing.T, f *os.File, places, place, row, which int) *Slot {
	t.Helper()
	v, err := Open(f, places)
	if err != nil {
		t.Fatal(err)
	}
	s, err := v.Slot(place, row, which)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestSlots: each slot keeps its own image, and a second process that opens the vault finds it.
func TestSlots(t *testing.T) {
	f := memory(t)
	at := [][3]int{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, Rows - 1, 1}, {1, 0, 0}, {mostPlaces - 1, Rows - 1, 1}}
	content := func(i, n int) []byte { return bytes.Repeat([]byte{byte(i + 1)}, n) }
	for i, x := range at {
		s := slot(t, f, mostPlaces, x[0], x[1], x[2])
		if _, ok := s.Mark(); ok {
			t.Fatal("a new slot has an image")
		}
		for _, n := range []int{100, 70_000, 10} { // grows, and keeps what it had
			before := bytes.Clone(s.b)
			b, err := s.Grow(uint64(n))
			if err != nil || !bytes.HasPrefix(b, before) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			copy(b, content(i, n))
		}
		s.Set(Mark{image.Cut{Term: 1, Version: uint64(i)}, 5, uint32(i), 9, 70_000})
		s.Starts().Add(uint64(i))
	}
	for i, x := range at {
		s := slot(t, f, mostPlaces, x[0], x[1], x[2])
		b, err := s.Bytes()
		m, ok := s.Mark()
		if want := (Mark{image.Cut{Term: 1, Version: uint64(i)}, 5, uint32(i), 9, 70_000}); err != nil || !ok || m != want ||
			!bytes.Equal(b, content(i, 70_000)) || s.Starts().Load() != uint64(i) {
			t.Errorf("slot %v: %+v, %v", x, m, err)
		}
		s.Clear()
		if _, err := s.Bytes(); err == nil || s.Starts().Load() != 0 {
			t.Errorf("slot %v: a cleared slot has an image", x)
		}
	}
}

// TestUsed: Used returns the slots that have had an image, of one place alone, and not those that were freed, of which
// the memory is given back.
func TestUsed(t *testing.T) {
	f := memory(t)
	v, err := Open(f, 3)
	if err != nil {
		t.Fatal(err)
	}
	at := [][3]int{{0, 3, 1}, {1, 0, 0}, {1, 0, 1}, {1, 7, 0}, {1, Rows - 1, 1}, {2, 0, 0}}
	var all []*Slot
	for _, x := range at {
		s := slot(t, f, 3, x[0], x[1], x[2])
		if _, err := s.Grow(1 << 20); err != nil {
			t.Fatal(err)
		}
		s.Set(Mark{image.Cut{Term: 1, Version: 1}, 5, 0, 9, 1 << 20})
		all = append(all, s)
	}
	used := func(place int, want ...[2]int) {
		t.Helper()
		if got, err := v.Used(place); err != nil || !slices.Equal(got, want) {
			t.Errorf("place %d: %v, %v, want %v", place, got, err, want)
		}
	}
	used(0, [2]int{3, 1})
	used(1, [2]int{0, 0}, [2]int{0, 1}, [2]int{7, 0}, [2]int{Rows - 1, 1})
	used(2, [2]int{0, 0})
	before := blocksOf(t, f)
	if err := all[3].Free(); err != nil {
		t.Fatal(err)
	}
	used(1, [2]int{0, 0}, [2]int{0, 1}, [2]int{Rows - 1, 1})
	if now := blocksOf(t, f); now > before-(1<<20)/512 {
		t.Errorf("%d blocks of 512 bytes are in use, and %d were before the image of 1 MiB was freed", now, before)
	}
}

// blocksOf returns how many blocks of 512 bytes a file has.
func blocksOf(t *testing.T, f *os.File) int64 {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks
}

// TestJournal: a journal ends before the first bytes that are no record of it: what an older journal has left, a record
// of which a part has come, and one with a bit changed.
func TestJournal(t *testing.T) {
	m := Mark{image.Cut{Term: 1, Version: 2}, 5, 3, 9, 4096}
	tag := Tag(m)
	b := make([]byte, HeadBytes+4096)
	copy(b, Head(m))
	var want [][]byte
	end := 0
	for i := 0; ; i++ {
		x := bytes.Repeat([]byte{byte(i)}, i*7)
		if end+SizeOf(len(x)) > 4096 {
			break
		}
		PutRecord(b[HeadBytes+end:], tag, x[:i], x[i:])
		want, end = append(want, x), end+SizeOf(len(x))
	}
	read := func(b []byte, tag uint64) (got [][]byte) {
		for _, x := range Records(b, tag) {
			got = append(got, x)
		}
		return got
	}
	if got := read(b[HeadBytes:], tag); !slices.EqualFunc(got, want, bytes.Equal) || EndOf(b[HeadBytes:], tag) != end {
		t.Errorf("%d records of %d, to byte %d of %d", len(got), len(want), EndOf(b[HeadBytes:], tag), end)
	}
	next := m
	next.Cut.Version++
	if got := read(b[HeadBytes:], Tag(next)); len(got) != 0 {
		t.Errorf("%d records of another journal", len(got))
	}
	last := end - SizeOf(len(want[len(want)-1]))
	for bit := last * 8; bit < (last+recordBytes+len(want[len(want)-1]))*8; bit++ {
		b[HeadBytes+bit/8] ^= 1 << (bit % 8)
		if n := len(read(b[HeadBytes:], tag)); n != len(want)-1 {
			t.Fatalf("bit %d changed: %d records of %d", bit, n, len(want))
		}
		b[HeadBytes+bit/8] ^= 1 << (bit % 8)
	}
	f := memory(t)
	v, err := Open(f, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.KeepJournal(1, 4, io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b)))); err != nil {
		t.Fatal(err)
	}
	s := slot(t, f, 2, 1, 4, Journals)
	kept, err := s.Bytes()
	if got, ok := s.Mark(); err != nil || !ok || got.PE != 3 || got.Bytes != uint64(end) || !slices.EqualFunc(read(kept, tag), want, bytes.Equal) {
		t.Errorf("kept: %+v, %v", got, err)
	}
	for bit := range HeadBytes * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		if m, ok := ReadHead(b); ok {
			t.Fatalf("bit %d changed: the head is %+v", bit, m)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
	for n := range HeadBytes {
		if _, ok := ReadHead(b[:n]); ok {
			t.Errorf("%d bytes are a head", n)
		}
	}
}

// FuzzRecords: no bytes make reading fail, and what is read lies in them.
func FuzzRecords(f *testing.F) {
	m := Mark{image.Cut{Term: 1, Version: 2}, 5, 3, 9, 100}
	b := make([]byte, 100)
	PutRecord(b, Tag(m), []byte("abc"))
	f.Add(b, Tag(m))
	f.Fuzz(func(t *testing.T, b []byte, tag uint64) {
		last := 0
		for end, x := range Records(b, tag) {
			if end <= last || end > len(b) || len(x) > end-last {
				t.Fatalf("a record of %d bytes from %d to %d of %d", len(x), last, end, len(b))
			}
			last = end
		}
		ReadHead(b)
	})
}

// TestDamagedMark: a mark with one bit changed is none.
func TestDamagedMark(t *testing.T) {
	s := slot(t, memory(t), 1, 0, 0, 0)
	s.Set(Mark{image.Cut{Term: 1, Version: 2}, 5, 0, 9, 70})
	for i := range 56 * 8 {
		s.page[i/8] ^= 1 << (i % 8)
		if m, ok := s.Mark(); ok {
			t.Fatalf("bit %d: %+v", i, m)
		}
		s.page[i/8] ^= 1 << (i % 8)
	}
	if _, ok := s.Mark(); !ok {
		t.Error("the mark is lost")
	}
}

// TestTooLarge: an image, a host and a slot that have no room are refused.
func TestTooLarge(t *testing.T) {
	f := memory(t)
	if _, err := Open(f, mostPlaces+1); err == nil {
		t.Error("too many places are taken")
	}
	if _, err := slot(t, f, 1, 0, 0, 0).Grow(slotBytes); err == nil {
		t.Error("too large an image is taken")
	}
}
