package image

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// Write writes an image. data returns the pieces of the data of the section with an index, in order; together they have
// the section's bytes. Write returns how many bytes the image has.
func Write(w io.Writer, h Head, sections []Section, data func(i int) [][]byte) (bytes uint64, err error) {
	if err := check(h, sections); err != nil {
		return 0, err
	}
	table := appendTable(nil, sections)
	l, ok := layoutOf(sections, uint64(len(table)), math.MaxInt64)
	if !ok {
		return 0, fmt.Errorf("the sections have more than %d bytes", math.MaxInt64)
	}
	tables := append(appendHead(nil, h, len(sections), &l), table...)
	tables = append(tables, make([]byte, l.begin()-uint64(len(tables)))...)
	out := &writer{w: bufio.NewWriterSize(w, chunkBytes), at: l.begin()}
	out.write(tables)
	for i := range sections {
		out.data(make([]byte, l.offsets[i]-out.at))
		for _, piece := range data(i) {
			out.data(piece)
		}
		if end := l.offsets[i] + sections[i].Bytes(); out.at != end {
			return 0, fmt.Errorf("section %q has %d bytes, not %d", sections[i].Name, out.at-l.offsets[i], sections[i].Bytes())
		}
	}
	out.endChunk()
	out.write(out.crcs)
	out.write(appendFoot(nil, l.size(), crc32.Checksum(tables, castagnoli), crc32.Checksum(out.crcs, castagnoli)))
	if out.err == nil {
		out.err = out.w.Flush()
	}
	return l.size(), out.err
}

// check returns an error if a reader would refuse the tables of an image.
func check(h Head, sections []Section) error {
	switch {
	case h.PEs < 1 || h.PEs > mostPEs || h.PE < 0 || h.PE >= h.PEs:
		return fmt.Errorf("PE %d of %d", h.PE, h.PEs)
	case len(sections) > mostSections:
		return fmt.Errorf("%d sections, and an image has room for %d", len(sections), mostSections)
	}
	for i := range sections {
		s := &sections[i]
		if max(len(s.Name), len(s.Kind), len(s.Shape)) > mostText {
			return fmt.Errorf("section %q: a name, a kind or a shape has more than %d bytes", s.Name, mostText)
		}
	}
	return nil
}

// writer writes the bytes of an image, and counts those of the data. After an error it writes nothing.
type writer struct {
	w   *bufio.Writer
	err error

	at    uint64 // offset of the next byte of data
	chunk uint64 // bytes of the chunk so far
	crc   uint32 // of the chunk so far
	crcs  []byte // of the chunks before
}

func (w *writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
}

// data writes bytes of the data.
func (w *writer) data(b []byte) {
	w.write(b)
	w.at += uint64(len(b))
	for len(b) > 0 {
		n := min(uint64(len(b)), chunkBytes-w.chunk)
		w.crc = crc32.Update(w.crc, castagnoli, b[:n])
		if w.chunk += n; w.chunk == chunkBytes {
			w.endChunk()
		}
		b = b[n:]
	}
}

func (w *writer) endChunk() {
	if w.chunk > 0 {
		w.crcs = binary.LittleEndian.AppendUint32(w.crcs, w.crc)
		w.chunk, w.crc = 0, 0
	}
}
