package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// A Frame is an image in memory that is made anew at each Save. It writes and sums the chunks alone that have changed
// since the image before. The zero Frame has no image.
type Frame struct {
	b        []byte // the image
	sections []Section
	table    []byte
	layout   layout
	chunks   []frameChunk
}

// frameChunk is what a Frame knows of a chunk.
type frameChunk struct {
	summed uint64 // how many bytes of the chunk crc is the sum of; 0: crc is not known
	crc    uint32
	sent   bool // the chunk has not changed since Sent was called
}

// Lay begins an image of sections, of which grow returns the memory: so many bytes, which begin with those of the image
// before.
func (f *Frame) Lay(h Head, sections []Section, grow func(bytes uint64) ([]byte, error)) error {
	if err := check(h, sections); err != nil {
		return err
	}
	table := appendTable(nil, sections)
	l, ok := layoutOf(sections, uint64(len(table)), math.MaxInt64)
	if !ok {
		return fmt.Errorf("the sections have more than %d bytes", math.MaxInt64)
	}
	b, err := grow(l.size())
	if err != nil {
		return err
	}
	if f.b == nil || f.layout.begin() != l.begin() {
		f.chunks = nil
	}
	f.b, f.sections, f.table, f.layout = b[:l.size()], sections, table, l
	n := int(l.chunks())
	f.chunks = append(f.chunks[:min(n, len(f.chunks))], make([]frameChunk, max(0, n-len(f.chunks)))...)
	for i := range f.chunks {
		if c := &f.chunks[i]; c.summed != f.chunkBytes(i) {
			*c = frameChunk{}
		}
	}
	return nil
}

// chunkBytes returns how many bytes a chunk has.
func (f *Frame) chunkBytes(i int) uint64 {
	return min(chunkBytes, f.layout.end-f.layout.begin()-uint64(i)*chunkBytes)
}

// Update makes pieces the data of the section with an index.
func (f *Frame) Update(i int, pieces [][]byte) error {
	at := f.layout.offsets[i]
	end := at + f.sections[i].Bytes()
	for _, b := range pieces {
		if uint64(len(b)) > end-at {
			return fmt.Errorf("section %q has more than %d bytes", f.sections[i].Name, f.sections[i].Bytes())
		}
		f.update(at, b)
		at += uint64(len(b))
	}
	if at != end {
		return fmt.Errorf("section %q has %d bytes, not %d", f.sections[i].Name, at-f.layout.offsets[i], f.sections[i].Bytes())
	}
	if i+1 < len(f.sections) {
		f.update(end, make([]byte, f.layout.offsets[i+1]-end))
	}
	return nil
}

// update makes the bytes from an offset on those of b.
func (f *Frame) update(at uint64, b []byte) {
	for len(b) > 0 {
		n := f.glance(at, b)
		if n == 0 {
			n = f.toChunkEnd(at, b)
			if bytes.Equal(f.b[at:at+n], b[:n]) {
				at, b = at+n, b[n:]
				continue
			}
		}
		copy(f.b[at:at+n], b[:n])
		clear(f.chunks[f.chunkAt(at) : f.chunkAt(at+n-1)+1])
		at, b = at+n, b[n:]
	}
}

// glance returns how many bytes of b, from an offset on, belong to chunks of which the first few bytes show that they
// have changed. A program that changes all its memory changes these, too. Its chunks are copied in one go then, and
// from 1 MiB on Go's copy does not read what it overwrites.
func (f *Frame) glance(at uint64, b []byte) (n uint64) {
	const few = 256
	for n < uint64(len(b)) {
		m := f.toChunkEnd(at+n, b[n:])
		if k := n + min(m, few); bytes.Equal(f.b[at+n:at+k], b[n:k]) {
			break
		}
		n += m
	}
	return n
}

// chunkAt returns the index of the chunk that has the byte at an offset.
func (f *Frame) chunkAt(at uint64) uint64 { return (at - f.layout.begin()) / chunkBytes }

// toChunkEnd returns how many bytes of b, from an offset on, are in the first chunk.
func (f *Frame) toChunkEnd(at uint64, b []byte) uint64 {
	return min(uint64(len(b)), chunkBytes-(at-f.layout.begin())%chunkBytes)
}

// Seal completes the image, when all sections are there: its head, its sums and its foot.
func (f *Frame) Seal(h Head) {
	l := &f.layout
	tables := append(appendHead(f.b[:0], h, len(f.sections), l), f.table...)
	tables = tables[:l.begin()]
	clear(tables[headBytes+len(f.table):])
	sums := f.b[l.end:l.end]
	for i := range f.chunks {
		c := &f.chunks[i]
		if n := f.chunkBytes(i); c.summed != n {
			c.crc, c.summed = crc32.Checksum(f.b[l.begin()+uint64(i)*chunkBytes:][:n], castagnoli), n
		}
		sums = binary.LittleEndian.AppendUint32(sums, c.crc)
	}
	appendFoot(f.b[:len(f.b)-footBytes], l.size(), crc32.Checksum(tables, castagnoli), crc32.Checksum(sums, castagnoli))
}

// Bytes returns the image. It is whole after Seal.
func (f *Frame) Bytes() []byte { return f.b }

// A Range is bytes of an image.
type Range struct{ From, To uint64 }

// Unsent returns what has to be copied so that a copy of the image that was made when Sent was called is a copy of it
// again. Without a call of Sent it is the whole image.
func (f *Frame) Unsent() (all []Range) {
	add := func(from, to uint64) {
		if n := len(all); n > 0 && all[n-1].To == from {
			all[n-1].To = to
		} else {
			all = append(all, Range{from, to})
		}
	}
	add(0, f.layout.begin())
	for i := range f.chunks {
		if from := f.layout.begin() + uint64(i)*chunkBytes; !f.chunks[i].sent {
			add(from, from+f.chunkBytes(i))
		}
	}
	add(f.layout.end, uint64(len(f.b)))
	return all
}

// Sent notes that there is a copy of the image.
func (f *Frame) Sent() {
	for i := range f.chunks {
		f.chunks[i].sent = true
	}
}
