package ckpt

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/gopgas/gopgas/internal/cuts/image"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// An Item is a part of the state of a program: what Sym, Shared, Value and Values return, and containers. All PEs make
// the same calls of its Parts together.
type Item interface {
	Checkpoint() Parts
}

// Parts say how an item is saved and restored.
type Parts struct {
	// Kind names the type of the item, for messages. An item is restored from one of the same kind.
	Kind string
	// Save returns what this PE keeps of the item, and does not change it. All PEs have called the Save of the Set
	// then, and what they have done before is complete. It may be collective: all PEs call it, also one that could not
	// save another item. The data are read until the Set's Save is over, and nobody writes them meanwhile.
	Save func(ctx context.Context) ([]Section, error)
	// Restore makes the item what it was, whatever it is. If it returns an error, the item may have any content, and
	// Restore may be called again for an older cut. PEs that wait for others in it agree on their errors first; the Set
	// tells all PEs the first that there is.
	Restore func(ctx context.Context, from *Saved) error
}

// A Section is data of an item: elements of one size.
type Section struct {
	Name   string   // of the section in the item; may be ""
	Layout uint64   // a number of how an element lies in memory: see LayoutOf
	Width  int      // bytes of an element
	Count  int      // elements
	Shape  []byte   // what else Restore needs to know
	Same   bool     // all PEs have the same data: a Save fails if they do not
	Data   [][]byte // the elements, in pieces
}

// Elements returns a Section with the elements of s as its data. T holds no pointers.
func Elements[T any](s []T) Section {
	return Section{Layout: LayoutOf[T](), Width: widthOf[T](), Count: len(s), Data: [][]byte{bytesOf(s)}}
}

// MustBe returns an error unless the elements of s are of type T.
func MustBe[T any](s *Section) error {
	if s.Layout != LayoutOf[T]() || s.Width != widthOf[T]() {
		return fmt.Errorf("its elements are %v, of %d bytes, and were saved as another type, of %d bytes: what has changed is the kind, "+
			"the size or the order of fields", reflect.TypeFor[T](), widthOf[T](), s.Width)
	}
	return nil
}

// Saved is what the PEs of a cut have saved of one item.
type Saved struct {
	item   string
	kind   string
	team   *pgas.Team // of all PEs
	me     int
	images images
}

// images are those of a cut, in a Store or in memory.
type images interface {
	Open(ctx context.Context, pe int) (*image.Image, error)
	Named(pe int, err error) error // an error that names the image of a PE
	PEs() int                      // how many have saved
	Close()
}

// PEs returns the number of PEs that have saved.
func (s *Saved) PEs() int { return s.images.PEs() }

// Sections returns what PE pe has saved, without the data. Its errors are those of the Store, and of images that are
// damaged or of another kind of item.
func (s *Saved) Sections(ctx context.Context, pe int) ([]Section, error) {
	m, err := s.images.Open(ctx, pe)
	if err != nil {
		return nil, err
	}
	var own []Section
	for _, i := range s.indexes(m) {
		x := m.Sections[i]
		if x.Kind != s.kind {
			return nil, fmt.Errorf("item %q is a %s, and was saved as a %s", s.item, s.kind, x.Kind)
		}
		if int(x.Count) < 0 || int(x.Width) < 0 {
			return nil, s.images.Named(pe, fmt.Errorf("%w: a section of %d x %d bytes", image.ErrDamaged, x.Count, x.Width))
		}
		_, name := splitName(x.Name)
		own = append(own, Section{
			Name: name, Layout: x.Layout, Width: int(x.Width), Count: int(x.Count), Shape: x.Shape,
		})
	}
	return own, nil
}

// read fills buf with the data of a section of PE pe, from a byte on. The section is one of those that Sections
// returns, by its index.
func (s *Saved) read(ctx context.Context, pe, section int, from uint64, buf []byte) error {
	m, err := s.images.Open(ctx, pe)
	if err != nil {
		return err
	}
	all := s.indexes(m)
	if section >= len(all) {
		return s.images.Named(pe, fmt.Errorf("%w: item %q has no section %d", image.ErrDamaged, s.item, section))
	}
	return s.images.Named(pe, m.ReadAt(all[section], from, buf))
}

// Read fills into with elements of a section of PE pe, from the one with an index on. The section is one of those that
// Saved.Sections returns, by its index, and has elements of type T. Errors: those of the Store, and of data that are
// not as they were written.
func Read[T any](ctx context.Context, s *Saved, pe, section, index int, into []T) error {
	return s.read(ctx, pe, section, uint64(index)*uint64(widthOf[T]()), bytesOf(into))
}

// indexes returns the sections of an image that belong to the item.
func (s *Saved) indexes(m *image.Image) (of []int) {
	for i := range m.Sections {
		if item, _ := splitName(m.Sections[i].Name); item == s.item {
			of = append(of, i)
		}
	}
	return of
}

// Own returns the number of this PE among those that have saved, for an item that is restored on as many PEs only. If
// there were more or fewer it returns an error that says so.
func (s *Saved) Own() (pe int, err error) {
	if n := s.team.NPEs(); n != s.PEs() {
		return 0, fmt.Errorf("it is restored on as many PEs as have saved it: start the job with %s, and not with %d",
			plural.Count(s.PEs(), "PE"), n)
	}
	return s.me, nil
}

// one returns the one section of the item that a PE has saved.
func (s *Saved) one(ctx context.Context, pe int) (Section, error) {
	all, err := s.Sections(ctx, pe)
	switch {
	case err != nil:
		return Section{}, err
	case len(all) != 1:
		return Section{}, fmt.Errorf("PE %d has saved %s of a %s", pe, plural.Count(len(all), "section"), s.kind)
	}
	return all[0], nil
}

// all returns the bytes of the one section of the item that a PE has saved.
func (s *Saved) all(ctx context.Context, pe int) ([]byte, error) {
	x, err := s.one(ctx, pe)
	if err != nil {
		return nil, err
	}
	b := make([]byte, x.Width*x.Count)
	return b, s.read(ctx, pe, 0, 0, b)
}

// joinName returns the name in an image of a section of an item, and splitName takes it apart.
func joinName(item, section string) string { return item + "\x00" + section }

func splitName(name string) (item, section string) {
	item, section, _ = strings.Cut(name, "\x00")
	return item, section
}
