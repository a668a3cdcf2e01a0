package image

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"sync"
)

// An Image reads an image. Its methods may be called by any number of goroutines at a time.
type Image struct {
	Head     Head
	Sections []Section

	r      io.ReaderAt
	layout layout
	crcs   []byte

	mu    sync.Mutex
	last  []byte // the chunk that was read last of those of which a part was asked for
	which uint64 // its number and 1
}

// Open reads the tables of an image of size bytes. Its errors wrap ErrDamaged, or are those of r.
func Open(r io.ReaderAt, size int64) (*Image, error) {
	if size < headBytes+footBytes {
		return nil, damaged("it has %d bytes", size)
	}
	foot, head := make([]byte, footBytes), make([]byte, headBytes)
	if err := readFull(r, foot, uint64(size)-footBytes); err != nil {
		return nil, err
	}
	last := footBytes - 16
	switch {
	case binary.LittleEndian.Uint64(foot[last+8:]) != footMagic:
		return nil, damaged("its end is missing, or it is no image")
	case binary.LittleEndian.Uint64(foot[last:]) != uint64(crc32.Checksum(foot[:last], castagnoli)):
		return nil, damaged("its last bytes are wrong")
	case binary.LittleEndian.Uint64(foot) != uint64(size):
		return nil, damaged("it has %d bytes, and was written with %d", size, binary.LittleEndian.Uint64(foot))
	}
	if err := readFull(r, head, 0); err != nil {
		return nil, err
	}
	m := &Image{r: r}
	return m, m.readTables(head, foot, uint64(size))
}

// readTables reads what is before and behind the data.
func (m *Image) readTables(head, foot []byte, size uint64) error {
	if binary.LittleEndian.Uint64(head) != headMagic {
		return damaged("it does not begin as one")
	}
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(head[at:]) }
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(head[at:])) }
	m.Head = Head{Cut{u64(8), u64(16)}, u64(48), u32(24), u32(28)}
	sections, table := u64(32), u64(40)
	if table > size-headBytes-footBytes || sections > mostSections {
		return damaged("its table has %d bytes and %d sections", table, sections)
	}
	tables := make([]byte, min(roundUp(headBytes+table), size-footBytes))
	if err := readFull(m.r, tables, 0); err != nil {
		return err
	}
	if crc32.Checksum(tables, castagnoli) != binary.LittleEndian.Uint32(foot[8:]) {
		return damaged("its table is wrong")
	}
	in := parser{b: tables[headBytes:][:table]}
	for range sections {
		m.Sections = append(m.Sections, in.section())
	}
	l, ok := layoutOf(m.Sections, table, size)
	if in.torn || len(in.b) != 0 || !ok || l.size() != size || check(m.Head, m.Sections) != nil {
		return damaged("its table does not fit")
	}
	m.layout, m.crcs = l, make([]byte, 4*l.chunks())
	if err := readFull(m.r, m.crcs, l.end); err != nil {
		return err
	}
	if crc32.Checksum(m.crcs, castagnoli) != binary.LittleEndian.Uint32(foot[12:]) {
		return damaged("the table of its checksums is wrong")
	}
	return nil
}

// readFull reads all of b at an offset.
func readFull(r io.ReaderAt, b []byte, at uint64) error {
	if at > math.MaxInt64 {
		return damaged("offset %d", at)
	}
	n, err := r.ReadAt(b, int64(at))
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return damaged("it ends within itself")
	}
	return err
}

// parser takes values from bytes. After an error it returns zeros.
type parser struct {
	b    []byte
	torn bool
}

func (p *parser) bytes(n uint64) []byte {
	if n > uint64(len(p.b)) {
		p.b, p.torn = nil, true
		return nil
	}
	v := p.b[:n]
	p.b = p.b[n:]
	return v
}

func (p *parser) number() uint64 {
	if b := p.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (p *parser) text() []byte {
	if b := p.bytes(4); b != nil {
		return p.bytes(uint64(binary.LittleEndian.Uint32(b)))
	}
	return nil
}

func (p *parser) section() (s Section) {
	s.Name, s.Kind, s.Shape = string(p.text()), string(p.text()), append([]byte(nil), p.text()...)
	s.Layout, s.Width, s.Count = p.number(), p.number(), p.number()
	return s
}

// ReadAt fills buf with the data of the section with an index from an offset on. It returns an error that wraps
// ErrDamaged if a chunk with one of these bytes is not as it was written, or an error of the reader.
func (m *Image) ReadAt(section int, offset uint64, buf []byte) error {
	if s := &m.Sections[section]; offset > s.Bytes() || uint64(len(buf)) > s.Bytes()-offset {
		return damaged("section %q has %d bytes, and bytes %d to %d are asked for", s.Name, s.Bytes(), offset, offset+uint64(len(buf)))
	}
	for at := m.layout.offsets[section] + offset - m.layout.begin(); len(buf) > 0; {
		chunk, skip := at/chunkBytes, at%chunkBytes
		all := min(chunkBytes, m.layout.end-m.layout.begin()-chunk*chunkBytes)
		n := min(uint64(len(buf)), all-skip)
		var err error
		if n == all {
			err = m.readChunk(chunk, buf[:n])
		} else {
			err = m.readPart(chunk, all, skip, buf[:n])
		}
		if err != nil {
			return err
		}
		buf, at = buf[n:], at+n
	}
	return nil
}

// readPart reads a part of a chunk that has so many bytes. It keeps the chunk: the next part is often one of it.
func (m *Image) readPart(chunk, bytes, skip uint64, into []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.which != chunk+1 {
		if m.last == nil {
			m.last = make([]byte, min(chunkBytes, m.layout.end-m.layout.begin()))
		}
		m.which = 0
		if err := m.readChunk(chunk, m.last[:bytes]); err != nil {
			return err
		}
		m.which = chunk + 1
	}
	copy(into, m.last[skip:])
	return nil
}

// readChunk reads a whole chunk and checks it.
func (m *Image) readChunk(chunk uint64, into []byte) error {
	if err := readFull(m.r, into, m.layout.begin()+chunk*chunkBytes); err != nil {
		return err
	}
	if crc32.Checksum(into, castagnoli) != binary.LittleEndian.Uint32(m.crcs[4*chunk:]) {
		return damaged("bytes %d to %d of its data are not as they were written", chunk*chunkBytes, chunk*chunkBytes+uint64(len(into)))
	}
	return nil
}

// Verify reads all data and checks it. It ends with the error of stop, which it calls between chunks, if that is not
// nil.
func (m *Image) Verify(stop func() error) error {
	b := make([]byte, chunkBytes)
	for chunk := range m.layout.chunks() {
		if err := stop(); err != nil {
			return err
		}
		if err := m.readChunk(chunk, b[:min(chunkBytes, m.layout.end-m.layout.begin()-chunk*chunkBytes)]); err != nil {
			return err
		}
	}
	return nil
}
