// Package vault keeps the images of the PEs of a host in memory that outlives the PEs: a file without a name, which the
// agent of the host holds open. A host that is lost takes its vault with it.
//
// The vault of a host has places, one for each PE of the host. A place has rows: row 0 is for its own PE, and each of
// the others for a PE of another host. A row has two slots for images, so that one image is whole while the other is
// being made, and two for journals, of what was done since a cut of each of the images. A slot begins with a mark,
// which says what the slot has. The mark is taken away first and written last, so a process that is killed in between
// leaves a slot that has nothing.
package vault

//	vault_unsafe.go   places, rows, slots, marks
//	journal.go        records in a slot for a journal, or in other memory that is copied to one

import (
	"errors"
	"fmt"
	"hash/crc64"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/cuts/image"
	"github.com/gopgas/gopgas/internal/plural"
)

const (
	// Rows is how many rows a place has.
	Rows = 1 << 8
	// Slots is how many slots a row has: two for images, and from Journals on two for journals.
	Slots    = 4
	Journals = 2
	// mostPlaces and slotBytes bound what a file of memory can hold.
	mostPlaces = 1 << 13
	slotBytes  = 1 << 39

	markMagic = 0x316b6d7373616770 // "pgassmk1"
)

// MarkBytes is the size of what is before the image in a slot.
const MarkBytes = 4096

var ecma = crc64.MakeTable(crc64.ECMA)

// A Vault is the memory of a host.
type Vault struct{ file *os.File }

// Open returns the vault in a file of memory, for so many PEs.
func Open(f *os.File, places int) (*Vault, error) {
	if places > mostPlaces {
		return nil, fmt.Errorf("a host has %s, and images of %d have room in its memory", plural.Count(places, "PE"), mostPlaces)
	}
	if err := f.Truncate(int64(places) * Rows * Slots * slotBytes); err != nil {
		return nil, fmt.Errorf("the memory for images: %w (with -survive `ulimit -f` must be unlimited)", err)
	}
	return &Vault{f}, nil
}

// A Mark says what a slot has: an image of a PE at a cut, or its journal since a cut.
type Mark struct {
	Cut   image.Cut
	Job   uint64
	PE    uint32
	PEs   uint32
	Bytes uint64 // of the image, or how many the journal may have
}

// words is a mark in memory.
type words struct {
	magic uint64
	mark  Mark
	sum   atomic.Uint64 // of the mark; 0: the slot has nothing

	starts atomic.Uint64 // how many terms have begun from the image
	safe   atomic.Uint64 // not 0: all PEs had their images of this cut
	known  atomic.Uint64 // not 0: the host knows what earlier terms have saved, of which this was the first
}

// A Slot has an image, a journal or nothing. One goroutine of all processes writes to a slot at a time, and nobody
// reads it meanwhile.
type Slot struct {
	vault *Vault
	at    int64
	page  []byte
	b     []byte // the image, as far as it is mapped
}

// Slot returns one of the slots of a row.
func (v *Vault) Slot(place, row, which int) (*Slot, error) {
	s := &Slot{vault: v, at: ((int64(place)*Rows+int64(row))*Slots + int64(which)) * slotBytes}
	var err error
	s.page, err = v.mapped(s.at, MarkBytes)
	return s, err
}

// Used returns the row and the number of each slot of a place that may have something.
func (v *Vault) Used(place int) (used [][2]int, err error) {
	first := int64(place) * Rows * Slots
	for i := first; i < first+Rows*Slots; i++ {
		at, err := unix.Seek(int(v.file.Fd()), i*slotBytes, unix.SEEK_DATA)
		switch {
		case errors.Is(err, syscall.ENXIO):
			return used, nil
		case err != nil:
			return nil, fmt.Errorf("the memory for images: %w", err)
		}
		if i = at / slotBytes; i < first+Rows*Slots {
			used = append(used, [2]int{int(i-first) / Slots, int(i-first) % Slots})
		}
	}
	return used, nil
}

func (v *Vault) mapped(at int64, bytes int) ([]byte, error) {
	b, err := unix.Mmap(int(v.file.Fd()), at, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("the memory for images: %w", err)
	}
	return b, nil
}

func (s *Slot) words() *words { return (*words)(unsafe.Pointer(unsafe.SliceData(s.page))) }

// sumOf returns the sum of the mark.
func (w *words) sumOf() uint64 {
	return sumOf(unsafe.Slice((*byte)(unsafe.Pointer(w)), unsafe.Offsetof(w.sum)))
}

// sumOf returns a number of bytes that is not 0.
func sumOf(b []byte) uint64 { return crc64.Checksum(b, ecma) | 1 }

// Clear makes s have nothing.
func (s *Slot) Clear() {
	s.words().sum.Store(0)
	s.words().starts.Store(0)
	s.words().safe.Store(0)
}

// Set makes s have what m says, when the image is there.
func (s *Slot) Set(m Mark) {
	w := s.words()
	w.magic, w.mark = markMagic, m
	w.sum.Store(w.sumOf())
}

// Mark returns what s has. ok is false if that is nothing.
func (s *Slot) Mark() (m Mark, ok bool) {
	w := s.words()
	if sum := w.sum.Load(); sum == 0 || w.magic != markMagic || w.sumOf() != sum || w.mark.Bytes > slotBytes-MarkBytes {
		return Mark{}, false
	}
	return w.mark, true
}

// Starts returns the count of terms that have begun from the image.
func (s *Slot) Starts() *atomic.Uint64 { return &s.words().starts }

// Safe says whether all PEs had their images of the cut: if it is not 0.
func (s *Slot) Safe() *atomic.Uint64 { return &s.words().safe }

// Known is the first of the terms of which the host knows what they have saved, or 0. Clear leaves it.
func (s *Slot) Known() *atomic.Uint64 { return &s.words().known }

// Grow returns memory for an image, which begins with the bytes of the image before. It returns an error that names the
// remedy if the host has not so much memory.
func (s *Slot) Grow(bytes uint64) ([]byte, error) {
	if bytes > slotBytes-MarkBytes {
		return nil, fmt.Errorf("an image or a journal of %d bytes: %d have room in memory", bytes, uint64(slotBytes-MarkBytes))
	}
	if bytes <= uint64(len(s.b)) {
		return s.b, nil
	}
	for {
		err := unix.Fallocate(int(s.vault.file.Fd()), 0, s.at+MarkBytes, int64(bytes))
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return nil, fmt.Errorf("no memory for an image or a journal of %d bytes (%w): with -survive these take two to four times their size: save less, or take more hosts", bytes, err)
		}
		break
	}
	return s.see(bytes)
}

// Bytes returns the bytes of the image that s has.
func (s *Slot) Bytes() ([]byte, error) {
	m, ok := s.Mark()
	if !ok {
		return nil, fmt.Errorf("%w: the memory of the host has no image there", image.ErrDamaged)
	}
	b, err := s.see(m.Bytes)
	return b[:min(m.Bytes, uint64(len(b)))], err
}

// see maps that many bytes of the image.
func (s *Slot) see(bytes uint64) ([]byte, error) {
	if bytes <= uint64(len(s.b)) {
		return s.b, nil
	}
	b, err := s.vault.mapped(s.at+MarkBytes, int(bytes+MarkBytes-1)&^(MarkBytes-1))
	if err != nil {
		return nil, err
	}
	if s.b != nil {
		unix.Munmap(s.b)
	}
	s.b = b
	return b, nil
}

// Free makes s have nothing, gives its memory back, and closes it.
func (s *Slot) Free() error {
	s.Clear()
	s.Close()
	const how = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	return unix.Fallocate(int(s.vault.file.Fd()), how, s.at, slotBytes)
}

// Close gives back what is mapped. The image stays.
func (s *Slot) Close() {
	if s.b != nil {
		unix.Munmap(s.b)
	}
	unix.Munmap(s.page)
	s.b, s.page = nil, nil
}
