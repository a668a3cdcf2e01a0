package containers

// Snapshots: the elements of each member in a file of its own, which any number of members can read again.
//
// A file is, in words of 8 bytes, the least significant first: a magic number, the version of the format, the layout of
// K and V, the number of files and of this one, the number of elements, the words of each key and its value, and a CRC
// of all before.

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"iter"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

const (
	mapMagic   = 0x70616d7361677067 // "gpgasmap"
	mapVersion = 1
)

// mapHead is the start of a snapshot file.
type mapHead struct{ Magic, Version, Layout, Files, File, Elements uint64 }

var mapTable = crc64.MakeTable(crc64.ECMA)

// mapLayoutOf identifies how keys and values are laid out in memory.
func mapLayoutOf[K, V any]() uint64 {
	return ckpt.LayoutOf[struct {
		Key   K
		Value V
	}]()
}

// mapFile returns the name of file i of a snapshot.
func mapFile(prefix string, i int) string { return fmt.Sprintf("%s.%d", prefix, i) }

// Save writes the elements of each member to the file prefix.i, with its number i among the members. A file replaces an
// older one of that name when it is complete. What members write meanwhile may or may not be in it. Save is collective:
// when it returns nil all files are there. If one fails, its member returns why and the others that it has failed.
func (m *Map[K, V]) Save(ctx context.Context, prefix string) error {
	if ctx == nil {
		carry.MustHaveContext("Save", ctx)
	}
	m.mustLoop("Save")
	if err := m.joint(ctx, "Save", true, func(context.Context) error { return nil }); err != nil {
		return fmt.Errorf("%s: %w", m.call("Save"), err)
	}
	return m.together(ctx, "Save", m.saveFile(prefix))
}

// together returns the error of this member, or else that another has one. It is collective.
func (m *Map[K, V]) together(ctx context.Context, op string, mine error) error {
	failed := 0
	if mine != nil {
		failed = m.members.Me + 1
	}
	failed, err := pgas.MaxValue(ctx, m.members.Team, failed)
	switch {
	case mine != nil:
		return fmt.Errorf("%s: %w", m.call(op), mine)
	case err != nil:
		return fmt.Errorf("%s: %w", m.call(op), err)
	case failed > 0:
		return fmt.Errorf("%s: PE %d has failed, and says why", m.call(op), failed-1)
	}
	return nil
}

// saveFile writes this member's file under another name and renames it.
func (m *Map[K, V]) saveFile(prefix string) (err error) {
	name := mapFile(prefix, m.members.Me)
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = errors.Join(m.writeTo(f), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writeTo writes this member's elements. It collects them first, so that their number is known.
func (m *Map[K, V]) writeTo(f io.Writer) error {
	var words []uint64
	head := mapHead{mapMagic, mapVersion, mapLayoutOf[K, V](), uint64(m.members.N), uint64(m.members.Me), 0}
	m.each(segmentAt{m.members.Me, 0}, 0, func(slot []uint64) bool {
		words = append(words, slot[1:]...)
		head.Elements++
		return true
	})
	crc := crc64.New(mapTable)
	out := bufio.NewWriter(f)
	both := io.MultiWriter(out, crc)
	if err := binary.Write(both, binary.LittleEndian, head); err != nil {
		return err
	}
	var b [8]byte
	for _, w := range words {
		binary.LittleEndian.PutUint64(b[:], w)
		if _, err := both.Write(b[:]); err != nil {
			return err
		}
	}
	binary.LittleEndian.PutUint64(b[:], crc.Sum64())
	if _, err := out.Write(b[:]); err != nil {
		return err
	}
	return out.Flush()
}

// Load does SetAll for the elements of the files that a Save with prefix wrote, on any number of members. Every member
// must be able to read every file. Load is collective. Unless all files are whole and of a map of the same K and V, it
// changes nothing; then the member that has read a bad file returns what is wrong with it, and the others that it has
// failed.
func (m *Map[K, V]) Load(ctx context.Context, prefix string) error {
	m.mustLoad(ctx)
	words, err := m.loadFiles(prefix)
	if err := m.together(ctx, "Load", err); err != nil {
		return err
	}
	return m.SetAll(ctx, m.elementsOf(words))
}

// mustLoad panics with *pgas.UsageError if the map cannot be loaded.
func (m *Map[K, V]) mustLoad(ctx context.Context) {
	m.enterLong(ctx, "Load")
	defer m.turn.leave()
	m.mustBeFree("Load")
}

// elementsOf iterates over the elements whose keys' and values' words are in words.
func (m *Map[K, V]) elementsOf(words []uint64) iter.Seq2[K, V] {
	key, size := m.shards.keyWords, m.shards.slotWords()-1
	return func(yield func(K, V) bool) {
		for ; len(words) > 0; words = words[size:] {
			if !yield(mapDecode[K](words[:key]), mapDecode[V](words[key:size])) {
				return
			}
		}
	}
}

// loadFiles returns the words of this member's share of the files: every n-th.
func (m *Map[K, V]) loadFiles(prefix string) (words []uint64, err error) {
	first, err := loadMapHead(mapFile(prefix, 0))
	if err != nil {
		return nil, err
	}
	files := int(first.Files)
	for i := m.members.Me; i < files; i += m.members.N {
		head, more, err := m.loadFile(mapFile(prefix, i))
		if err != nil {
			return nil, err
		}
		if int(head.Files) != files || int(head.File) != i {
			return nil, fmt.Errorf("%s: file %d of %d, in the place of file %d of %d: the files are not of one snapshot", mapFile(prefix, i), head.File, head.Files, i, files)
		}
		words = append(words, more...)
	}
	return words, nil
}

// openMapFile opens a file of a snapshot. It does not wait for one who writes to it, if it is a pipe.
func openMapFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: no snapshot of a map: it is not a regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// loadMapHead reads the start of a file.
func loadMapHead(name string) (head mapHead, err error) {
	f, err := openMapFile(name)
	if err != nil {
		return head, err
	}
	defer f.Close()
	if err := head.read(f); err != nil {
		return head, fmt.Errorf("%s: %w", name, err)
	}
	return head, nil
}

// read reads a head and says if it is none.
func (h *mapHead) read(in io.Reader) error {
	if err := binary.Read(in, binary.LittleEndian, h); err != nil {
		return errors.New("no snapshot of a map: it is too short")
	}
	switch {
	case h.Magic != mapMagic:
		return errors.New("no snapshot of a map")
	case h.Version != mapVersion:
		return fmt.Errorf("a snapshot of version %d: this program reads version %d", h.Version, mapVersion)
	case h.Files == 0 || h.Files > 1<<31 || h.File >= h.Files:
		return fmt.Errorf("a damaged snapshot: file %d of %d", h.File, h.Files)
	}
	return nil
}

// loadFile returns the words of a file.
func (m *Map[K, V]) loadFile(name string) (head mapHead, words []uint64, err error) {
	f, err := openMapFile(name)
	if err != nil {
		return head, nil, err
	}
	defer f.Close()
	head, words, err = readMapFile(bufio.NewReader(f), mapLayoutOf[K, V](), m.shards.slotWords()-1)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return head, words, err
}

// readMapFile reads a file of elements of so many words. It takes no more memory than the file has bytes.
func readMapFile(in io.Reader, layout uint64, size int) (head mapHead, words []uint64, err error) {
	crc := crc64.New(mapTable)
	both := io.TeeReader(in, crc)
	if err := head.read(both); err != nil {
		return head, nil, err
	}
	if head.Layout != layout {
		return head, nil, errors.New("a snapshot of a map with other keys or values")
	}
	var b [8]byte
	for range head.Elements {
		for range size {
			if _, err := io.ReadFull(both, b[:]); err != nil {
				return head, nil, fmt.Errorf("a snapshot that ends before its %s", plural.Count(head.Elements, "element"))
			}
			words = append(words, binary.LittleEndian.Uint64(b[:]))
		}
	}
	return head, words, checkMapEnd(in, crc)
}

// checkMapEnd reads the rest of a file, which must be the checksum.
func checkMapEnd(in io.Reader, crc hash.Hash64) error {
	var b [9]byte
	n, err := io.ReadFull(in, b[:])
	if n != 8 || !errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("a damaged snapshot: it does not end with its checksum")
	}
	if binary.LittleEndian.Uint64(b[:]) != crc.Sum64() {
		return errors.New("a damaged snapshot: the checksum is wrong")
	}
	return nil
}

// Save is Map.Save, with the files prefix.keys.i and prefix.text.i.
func (m *StringMap[V]) Save(ctx context.Context, prefix string) error {
	if err := m.keys.Save(ctx, prefix+".keys"); err != nil {
		return err
	}
	return m.text.Save(ctx, prefix+".text")
}

// Load is Map.Load of what Save wrote. The bytes of long keys come first.
func (m *StringMap[V]) Load(ctx context.Context, prefix string) error {
	if err := m.text.Load(ctx, prefix+".text"); err != nil {
		return err
	}
	return m.keys.Load(ctx, prefix+".keys")
}
