package vault

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/gopgas/gopgas/internal/cuts/image"
)

// A journal is a sequence of records in memory of a fixed size. Each record has the tag of the journal and a sum. So a
// journal needs no length: it ends before the first bytes that are no record of it. A process that is killed, or a put
// that has come in part, leaves the records before.
//
// The memory of a journal is a slot, or a part of a symmetric heap that begins with a head.

// HeadBytes is the size of the head of a journal that is no slot.
const HeadBytes = 64

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	order      = binary.LittleEndian
)

// Head returns the head of a journal with the mark m.
func Head(m Mark) []byte {
	b := make([]byte, 0, HeadBytes)
	for _, x := range []uint64{markMagic, m.Cut.Term, m.Cut.Version, m.Job, uint64(m.PE), uint64(m.PEs), m.Bytes} {
		b = order.AppendUint64(b, x)
	}
	return order.AppendUint64(b, sumOf(b))
}

// ReadHead returns the mark of the journal that begins with b. ok is false if b is no head.
func ReadHead(b []byte) (m Mark, ok bool) {
	if len(b) < HeadBytes || order.Uint64(b) != markMagic || order.Uint64(b[HeadBytes-8:]) != sumOf(b[:HeadBytes-8]) {
		return Mark{}, false
	}
	at := func(i int) uint64 { return order.Uint64(b[8*i:]) }
	return Mark{Cut: image.Cut{Term: at(1), Version: at(2)}, Job: at(3), PE: uint32(at(4)), PEs: uint32(at(5)), Bytes: at(6)}, true
}

// Tag returns the tag of the records of a journal with the mark m.
func Tag(m Mark) uint64 {
	m.Bytes = 0
	return sumOf(Head(m)[:HeadBytes-8])
}

// recordBytes is the size of what is before the bytes of a record: their number, the sum and the tag.
const recordBytes = 16

// SizeOf returns how many bytes of a journal a record of n bytes takes.
func SizeOf(n int) int { return (recordBytes + n + 7) &^ 7 }

// PutRecord makes the first bytes of b a record with tag.
func PutRecord(b []byte, tag uint64, parts ...[]byte) {
	n := 0
	for _, part := range parts {
		n += copy(b[recordBytes+n:], part)
	}
	order.PutUint32(b, uint32(n))
	order.PutUint64(b[8:], tag)
	order.PutUint32(b[4:], sumOfRecord(b, n))
}

// sumOfRecord returns the sum of the number of bytes, the tag and the bytes of a record.
func sumOfRecord(b []byte, n int) uint32 {
	sum := crc32.Update(0, castagnoli, b[:4])
	return crc32.Update(sum, castagnoli, b[8:recordBytes+n])
}

// Records yields the records with tag with which b begins, and where each ends.
func Records(b []byte, tag uint64) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for at := 0; len(b)-at >= recordBytes; {
			n := uint64(order.Uint32(b[at:]))
			if n > uint64(len(b)-at-recordBytes) || order.Uint64(b[at+8:]) != tag || order.Uint32(b[at+4:]) != sumOfRecord(b[at:], int(n)) {
				return
			}
			end := min(at+SizeOf(int(n)), len(b))
			if !yield(end, b[at+recordBytes:][:n]) {
				return
			}
			at = end
		}
	}
}

// EndOf returns where the records with tag end with which b begins.
func EndOf(b []byte, tag uint64) (end int) {
	for end = range Records(b, tag) {
	}
	return end
}

// KeepJournal copies the journal that from begins with, head and records, to the slot of its cut in a row. It does
// nothing if from has no journal.
func (v *Vault) KeepJournal(place, row int, from *io.SectionReader) error {
	head := make([]byte, HeadBytes)
	if _, err := io.ReadFull(from, head); err != nil {
		return fmt.Errorf("a journal of another host: %w", err)
	}
	m, ok := ReadHead(head)
	if !ok {
		return nil
	}
	b := make([]byte, min(uint64(from.Size()-HeadBytes), m.Bytes))
	if _, err := io.ReadFull(from, b); err != nil {
		return fmt.Errorf("a journal of another host: %w", err)
	}
	b = b[:EndOf(b, Tag(m))]
	s, err := v.Slot(place, row, Journals+int(m.Cut.Version%2))
	if err != nil {
		return err
	}
	defer s.Close()
	s.Clear()
	to, err := s.Grow(uint64(len(b)))
	if err != nil {
		return fmt.Errorf("a journal of another host: %w", err)
	}
	copy(to, b)
	m.Bytes = uint64(len(b))
	s.Set(m)
	return nil
}
