package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gopgas/gopgas/internal/cuts/image"
	"github.com/gopgas/gopgas/internal/cuts/vault"
)

// CopyWards makes this PE have the images of its wards of a cut. All PEs have called Keep for it, and serve. The copies
// get what has changed alone.
func (m *Memory) CopyWards(ctx context.Context, c image.Cut, job uint64) error {
	told := make([]byte, answerBytes)
	for _, pe := range m.wards {
		if err := m.ask(ctx, pe, question{Cut: c, Unsent: 1}, told); err != nil {
			return err
		}
		size, changed := ranges(told)
		_, row := m.buddyOf(pe)
		mark := vault.Mark{Cut: c, Job: job, PE: uint32(pe), PEs: uint32(m.w.NPEs()), Bytes: size}
		if err := m.copy(ctx, place{pe, 0, which(c)}, place{m.w.PE(), row, which(c)}, mark, changed); err != nil {
			return err
		}
	}
	return nil
}

// copy copies ranges of an image into a slot of this PE, which has a copy of the rest.
func (m *Memory) copy(ctx context.Context, from, to place, mark vault.Mark, changed []image.Range) error {
	s, err := m.slot(to)
	if err != nil {
		return err
	}
	s.Clear()
	b, err := s.Grow(mark.Bytes)
	if err != nil {
		return err
	}
	for _, x := range changed {
		if x.From > x.To || x.To > mark.Bytes {
			return fmt.Errorf("%w: bytes %d to %d of an image of %d", image.ErrDamaged, x.From, x.To, mark.Bytes)
		}
		if err := m.read(ctx, from, mark.Cut, x.From, b[x.From:x.To]); err != nil {
			return err
		}
	}
	s.Set(mark)
	return nil
}

// Mend makes each PE have its own image of k, from its buddy. All PEs serve, and call MendWards afterwards.
func (m *Memory) Mend(ctx context.Context, k *Kept) error {
	return m.mend(ctx, k, m.w.PE(), m.ownPlace(k.Cut))
}

// MendWards makes this PE have the images of its wards of k. All PEs have their own.
func (m *Memory) MendWards(ctx context.Context, k *Kept) error {
	for _, pe := range m.wards {
		_, row := m.buddyOf(pe)
		if err := m.mend(ctx, k, pe, place{m.w.PE(), row, which(k.Cut)}); err != nil {
			return err
		}
	}
	k.mended = true
	return nil
}

// mend makes this PE have the image of a PE in a place.
func (m *Memory) mend(ctx context.Context, k *Kept, pe int, to place) error {
	from, size := k.at[pe], k.sizes[pe]
	if from == to {
		return nil
	}
	s, err := m.slot(to)
	if err != nil {
		return err
	}
	mark := vault.Mark{Cut: k.Cut, Job: k.Job, PE: uint32(pe), PEs: uint32(m.w.NPEs()), Bytes: size}
	if now, ok := s.Mark(); ok && now == mark {
		return nil
	}
	return m.copy(ctx, from, to, mark, []image.Range{{From: 0, To: size}})
}

// Images are the images of a cut in memory. They are those that package cuts reads from files, for an item.
type Images struct {
	m    *Memory
	kept *Kept

	mu     sync.Mutex
	opened map[int]*image.Image
}

// Open returns what reads the images of k, where they are.
func (m *Memory) Open(k *Kept) *Images { return &Images{m: m, kept: k, opened: map[int]*image.Image{}} }

// Open opens the image of a PE. The image is read while ctx lives.
func (x *Images) Open(ctx context.Context, pe int) (*image.Image, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := x.opened[pe]; i != nil {
		return i, nil
	}
	p := place{pe, 0, which(x.kept.Cut)}
	switch {
	case !x.kept.mended:
		p = x.kept.at[pe]
	case !x.m.isLocal(pe) && slices.Contains(x.m.wards, pe):
		buddy, row := x.m.buddyOf(pe)
		p = place{buddy, row, which(x.kept.Cut)}
	}
	size := x.kept.sizes[pe]
	i, err := image.Open(reader(func(b []byte, at int64) (int, error) {
		if err := x.m.read(ctx, p, x.kept.Cut, uint64(at), b); err != nil {
			return 0, err
		}
		return len(b), nil
	}), int64(size))
	if want := (image.Head{Cut: x.kept.Cut, Job: x.kept.Job, PE: pe, PEs: x.PEs()}); err == nil && i.Head != want {
		err = fmt.Errorf("%w: it is another one", image.ErrDamaged)
	}
	if err != nil {
		return nil, x.Named(pe, err)
	}
	x.opened[pe] = i
	return i, nil
}

type reader func(b []byte, at int64) (int, error)

func (r reader) ReadAt(b []byte, at int64) (int, error) { return r(b, at) }

// Named returns an error that names the image of a PE.
func (x *Images) Named(pe int, err error) error {
	if err != nil {
		err = fmt.Errorf("the image of PE %d in memory: %w", pe, err)
	}
	return err
}

// PEs returns how many PEs have saved.
func (x *Images) PEs() int { return x.kept.PEs }

// Close does nothing.
func (x *Images) Close() {}
