package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"testing"
)

// draw returns the parts of a random image: its head, up to five sections, and the data of each.
func draw(r *rand.Rand) (h Head, sections []Section, data [][]byte) {
	h = Head{Cut{r.Uint64N(9), r.Uint64()}, r.Uint64(), 0, 1 + r.IntN(100)}
	h.PE = r.IntN(h.PEs)
	for i := range r.IntN(6) {
		s := Section{Name: fmt.Sprint("item ", i), Kind: "Array", Layout: r.Uint64(), Width: 1 + r.Uint64N(40), Count: r.Uint64N(4000)}
		if r.IntN(2) == 0 {
			s.Shape = fmt.Append(nil, "shape ", i)
		}
		if r.IntN(4) == 0 {
			s.Count *= 20 // several chunks
		}
		b := make([]byte, s.Bytes())
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		sections, data = append(sections, s), append(data, b)
	}
	return h, sections, data
}

// cut returns b in pieces.
func cut(r *rand.Rand, b []byte) (pieces [][]byte) {
	for len(b) > 0 {
		n := 1 + r.IntN(len(b))
		pieces, b = append(pieces, b[:n]), b[n:]
	}
	return pieces
}

func written(t testing.TB, r *rand.Rand, h Head, sections []Section, data [][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	n, err := Write(&out, h, sections, func(i int) [][]byte { return cut(r, data[i]) })
	if err != nil || n != uint64(out.Len()) {
		t.Fatalf("%d bytes, of %d: %v", out.Len(), n, err)
	}
	return out.Bytes()
}

func never() error { return nil }

func open(b []byte) (*Image, error) { return Open(bytes.NewReader(b), int64(len(b))) }

// TestImages: what was written is read again, whole and in parts.
func TestImages(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		h, sections, data := draw(r)
		m, err := open(written(t, r, h, sections, data))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if m.Head != h || len(m.Sections) != len(sections) || len(sections) > 0 && !reflect.DeepEqual(m.Sections, sections) {
			t.Fatalf("seed %d: %+v, %+v, want %+v, %+v", seed, m.Head, m.Sections, h, sections)
		}
		for i, want := range data {
			for range 5 {
				lo := r.IntN(len(want) + 1)
				hi := lo + r.IntN(len(want)-lo+1)
				got := make([]byte, hi-lo)
				if err := m.ReadAt(i, uint64(lo), got); err != nil || !bytes.Equal(got, want[lo:hi]) {
					t.Fatalf("seed %d: section %d from %d to %d: %v", seed, i, lo, hi, err)
				}
			}
			if m.ReadAt(i, uint64(len(want)), make([]byte, 1)) == nil || m.ReadAt(i, 1<<63, make([]byte, 1)) == nil {
				t.Fatalf("seed %d: bytes behind section %d are read", seed, i)
			}
		}
		if err := m.Verify(never); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestDamagedImages: one byte that is changed is found, wherever it is, and so is an image that was cut off or has more
// bytes. Padding between sections counts.
func TestDamagedImages(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		h, sections, data := draw(r)
		whole := written(t, r, h, sections, data)
		for range 40 {
			b := bytes.Clone(whole)
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			m, err := open(b)
			if err == nil {
				err = m.Verify(never)
			}
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		for _, b := range [][]byte{whole[:r.IntN(len(whole))], append(bytes.Clone(whole), 0), append(make([]byte, 64), whole...)} {
			if _, err := open(b); !errors.Is(err, ErrDamaged) {
				t.Fatalf("seed %d: %d bytes of %d: %v", seed, len(b), len(whole), err)
			}
		}
	}
}

// TestWrongWrites: an image that no reader would take is not written.
func TestWrongWrites(t *testing.T) {
	long := make([]byte, mostText+1)
	for name, c := range map[string]struct {
		h Head
		s Section
	}{
		"no PEs":        {Head{}, Section{}},
		"PE":            {Head{PE: 3, PEs: 3}, Section{}},
		"name":          {Head{PEs: 1}, Section{Name: string(long)}},
		"shape":         {Head{PEs: 1}, Section{Shape: long}},
		"too few bytes": {Head{PEs: 1}, Section{Width: 8, Count: 2}},
		"too many":      {Head{PEs: 1}, Section{Width: 1, Count: 3}},
		"overflow":      {Head{PEs: 1}, Section{Width: 1 << 40, Count: 1 << 40}},
	} {
		var out bytes.Buffer
		if _, err := Write(&out, c.h, []Section{c.s}, func(int) [][]byte { return [][]byte{make([]byte, 7)} }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzOpen: whatever the bytes are, with a right foot and right checksums of the tables, Open and Verify return, and
// take no more memory than there are bytes.
func FuzzOpen(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 4 {
		h, sections, data := draw(r)
		f.Add(written(f, r, h, sections, data))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := open(b); err == nil {
			_ = m.Verify(never)
		}
		if len(b) < headBytes+footBytes {
			return
		}
		m, err := open(mended(b))
		if err != nil {
			return
		}
		_ = m.Verify(never)
		for i := range m.Sections {
			_ = m.ReadAt(i, 0, make([]byte, min(1000, m.Sections[i].Bytes())))
		}
	})
}

// mended returns b with a foot that fits as far as it can be made to.
func mended(b []byte) []byte {
	b = bytes.Clone(b)
	size := uint64(len(b))
	end := size - footBytes
	tables := min(roundUp(headBytes+min(binary.LittleEndian.Uint64(b[40:]), size)), end)
	crcs := b[end-min(end, 4*((end-tables)/(chunkBytes+4)+1)):][:0]
	if m := int(end) - cap(crcs); m >= 0 {
		crcs = crcs[:min(cap(crcs), 4)]
	}
	foot := appendFoot(nil, size, crc32.Checksum(b[:tables], castagnoli), crc32.Checksum(b[end-uint64(len(crcs)):end], castagnoli))
	return append(b[:end], foot...)
}
