package containers

// Snapshots: the elements of each member in a file of its own, which any number of members can read again. A file is an
// image as package ckpt writes them, with one section: the words of each key and its value.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/internal/cuts"
	"github.com/gopgas/gopgas/internal/cuts/image"
	"github.com/gopgas/gopgas/pgas"
)

// mapKind is the kind of the section of a snapshot.
const mapKind = "Map"

// mapFile returns the Store with file i of a snapshot, and its name there.
func mapFile(prefix string, i int) (s cuts.Store, name string) {
	return cuts.Dir(filepath.Dir(prefix)), fmt.Sprintf("%s.%d", filepath.Base(prefix), i)
}

// Save writes the elements of each member to the file prefix.i, with its number i among the members. A file replaces an
// older one of that name when it is complete and on the disk. What members write meanwhile may or may not be in it.
// Save is collective: when it returns nil all files are there. If one fails, its member returns why and the others that
// it has failed. (A ckpt.Set saves a map together with other state.)
func (m *Map[K, V]) Save(ctx context.Context, prefix string) error {
	if ctx == nil {
		carry.MustHaveContext("Save", ctx)
	}
	m.mustLoop("Save")
	if err := m.joint(ctx, "Save", true, func(context.Context) error { return nil }); err != nil {
		return fmt.Errorf("%s: %w", m.call("Save"), err)
	}
	snapshot, err := pgas.BroadcastValue(ctx, m.members.Team, m.members.World.Random(), 0)
	if err != nil {
		return fmt.Errorf("%s: %w", m.call("Save"), err)
	}
	return m.together(ctx, "Save", m.saveFile(ctx, prefix, snapshot))
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

// saveFile writes this member's file of a snapshot, which has a random number.
func (m *Map[K, V]) saveFile(ctx context.Context, prefix string, snapshot uint64) error {
	words, err := m.elementsToSave("")
	if err != nil {
		return err
	}
	s, name := mapFile(prefix, m.members.Me)
	f, err := s.Create(ctx, name)
	if err != nil {
		return err
	}
	h := image.Head{Job: snapshot, PE: m.members.Me, PEs: m.members.N}
	sections := []image.Section{{Kind: mapKind, Layout: words.Layout, Width: uint64(words.Width), Count: uint64(words.Count)}}
	if _, err := image.Write(f, h, sections, func(int) [][]byte { return words.Data }); err != nil {
		f.Abort()
		return err
	}
	return f.Close()
}

// Load does SetAll for the elements of the files that a Save with prefix wrote, on any number of members. Every member
// must be able to read every file. Load is collective. Unless all files are whole and of a map of the same K and V, it
// changes nothing; then the member that has read a bad file returns what is wrong with it, and the others that it has
// failed.
func (m *Map[K, V]) Load(ctx context.Context, prefix string) error {
	m.mustLoad(ctx)
	words, err := m.loadFiles(ctx, prefix)
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

// loadFiles returns the words of this member's share of the files: every n-th.
func (m *Map[K, V]) loadFiles(ctx context.Context, prefix string) (words []uint64, err error) {
	want, _, err := m.loadFile(ctx, prefix, 0, false)
	if err != nil {
		return nil, err
	}
	for want.PE = m.members.Me; want.PE < want.PEs; want.PE += m.members.N {
		head, more, err := m.loadFile(ctx, prefix, want.PE, true)
		if err != nil {
			return nil, err
		}
		if head != want {
			return nil, fmt.Errorf("%s.%d: the files are not of one snapshot", prefix, want.PE)
		}
		words = append(words, more...)
	}
	return words, nil
}

// loadFile returns the head of a file, and its words if they are wanted.
func (m *Map[K, V]) loadFile(ctx context.Context, prefix string, i int, whole bool) (head image.Head, words []uint64, err error) {
	s, name := mapFile(prefix, i)
	f, err := s.Open(ctx, name)
	if err != nil {
		return head, nil, err
	}
	defer f.Close()
	head, words, err = readMapFile(f, f.Size(), mapLayoutOf[K, V](), m.shards.slotWords()-1, whole)
	if err != nil {
		err = fmt.Errorf("%s.%d: %w", prefix, i, err)
	}
	return head, words, err
}

// readMapFile reads a file of elements of so many words. It takes no more memory than the file has bytes.
func readMapFile(in io.ReaderAt, bytes int64, layout uint64, size int, whole bool) (head image.Head, words []uint64, err error) {
	x, err := image.Open(in, bytes)
	if err != nil {
		return head, nil, fmt.Errorf("no whole snapshot of a map: %w", err)
	}
	if len(x.Sections) != 1 || x.Sections[0].Kind != mapKind {
		return head, nil, errors.New("no snapshot of a map")
	}
	s := &x.Sections[0]
	if s.Layout != layout || s.Width != 8 || s.Count%uint64(size) != 0 {
		return head, nil, errors.New("a snapshot of a map with other keys or values")
	}
	if whole {
		words = make([]uint64, s.Count)
		err = x.ReadAt(0, 0, bytesOf(words))
	}
	return x.Head, words, err
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
