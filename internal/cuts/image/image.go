// Package image is the format of what one PE saves at one cut. The same bytes lie in a file, in memory and at another
// PE. The package knows nothing of PEs but their numbers.
//
// An image is a head, a table of sections, the data of the sections, a CRC of each chunk of the data, and a foot. All
// numbers are little-endian. The data of each section begins at a multiple of 64 bytes. A reader begins with the foot,
// which an image that was cut off does not have. It checks the tables before it uses them, and each chunk when it reads
// the chunk. Of memory it takes no more than the image has bytes.
//
//ci:norace
package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
)

const (
	headMagic = 0x31676d6973616770 // "pgasimg1"
	footMagic = 0x31646e6573616770 // "pgasend1"

	headBytes  = 64
	footBytes  = 64
	align      = 64
	chunkBytes = 64 << 10

	mostSections = 1 << 16
	mostText     = 1 << 12 // bytes of a name, a kind or a shape
	mostPEs      = 1 << 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is wrapped by the errors of an image that is not whole.
var ErrDamaged = errors.New("damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// A Cut is a moment between two barriers, at which all PEs save. The zero Cut is none.
type Cut struct {
	Term    uint64 // which start of the job, of those that have saved in the Store
	Version uint64 // which Save, counted through all starts
}

// String returns a name of c, for files and messages.
func (c Cut) String() string { return fmt.Sprintf("c%06d-t%04d", c.Version, c.Term) }

// Compare returns -1, 0 or 1 if c is older than other, the same, or newer. The cut of a later term is newer.
func (c Cut) Compare(other Cut) int {
	switch {
	case c == other:
		return 0
	case c.Term < other.Term || c.Term == other.Term && c.Version < other.Version:
		return -1
	}
	return 1
}

// Head says what an image is of.
type Head struct {
	Cut Cut
	Job uint64 // a random number of the job that has saved
	PE  int    // which PE has saved
	PEs int    // how many PEs its job has
}

// Section says what a part of the data is.
type Section struct {
	Name   string // of the item, and of the part
	Kind   string // of the item
	Layout uint64 // a hash of how an element lies in memory
	Width  uint64 // bytes of an element
	Count  uint64 // elements
	Shape  []byte // how the item is dealt out among PEs, in a form of its kind
}

// Bytes returns the size of the data of s.
func (s *Section) Bytes() uint64 { return s.Width * s.Count }

// layout is where the parts of an image lie.
type layout struct {
	table   uint64   // bytes of the table
	offsets []uint64 // of the data of each section
	end     uint64   // of the data
}

// begin returns the offset of the data.
func (l *layout) begin() uint64 { return roundUp(headBytes + l.table) }

// chunks returns the number of chunks of the data.
func (l *layout) chunks() uint64 { return (l.end - l.begin() + chunkBytes - 1) / chunkBytes }

// size returns the size of the image.
func (l *layout) size() uint64 { return l.end + 4*l.chunks() + footBytes }

func roundUp(n uint64) uint64 { return (n + align - 1) &^ (align - 1) }

// layoutOf returns the layout of an image of sections with a table of some size. ok is false if there is none with less
// than most bytes.
func layoutOf(sections []Section, table, most uint64) (l layout, ok bool) {
	l = layout{table: table}
	l.end = l.begin()
	for i := range sections {
		over, bytes := bits.Mul64(sections[i].Width, sections[i].Count)
		l.end = roundUp(l.end)
		if over != 0 || l.end > most || bytes > most-l.end {
			return l, false
		}
		l.offsets = append(l.offsets, l.end)
		l.end += bytes
	}
	return l, l.size() <= most
}

// appendHead appends the head of an image to b.
func appendHead(b []byte, h Head, sections int, l *layout) []byte {
	b = binary.LittleEndian.AppendUint64(b, headMagic)
	b = binary.LittleEndian.AppendUint64(b, h.Cut.Term)
	b = binary.LittleEndian.AppendUint64(b, h.Cut.Version)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.PE))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.PEs))
	b = binary.LittleEndian.AppendUint64(b, uint64(sections))
	b = binary.LittleEndian.AppendUint64(b, l.table)
	b = binary.LittleEndian.AppendUint64(b, h.Job)
	return append(b, make([]byte, headBytes-len(b))...)
}

// appendTable appends the table of sections to b.
func appendTable(b []byte, sections []Section) []byte {
	for i := range sections {
		s := &sections[i]
		b = appendText(b, s.Name)
		b = appendText(b, s.Kind)
		b = appendText(b, string(s.Shape))
		b = binary.LittleEndian.AppendUint64(b, s.Layout)
		b = binary.LittleEndian.AppendUint64(b, s.Width)
		b = binary.LittleEndian.AppendUint64(b, s.Count)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
}

// appendFoot appends the foot of an image to b. tables is the CRC of all before the data, and chunks that of the CRCs.
func appendFoot(b []byte, size uint64, tables, chunks uint32) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint64(b, size)
	b = binary.LittleEndian.AppendUint32(b, tables)
	b = binary.LittleEndian.AppendUint32(b, chunks)
	b = append(b, make([]byte, footBytes-16-(len(b)-at))...)
	b = binary.LittleEndian.AppendUint64(b, uint64(crc32.Checksum(b[at:], castagnoli)))
	return binary.LittleEndian.AppendUint64(b, footMagic)
}
