package cuts

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gopgas/gopgas/internal/cuts/image"
)

// Images are the images of a cut, which are opened when they are needed.
type Images struct {
	store Store
	cut   Cut
	job   uint64
	pes   int
	sizes []File

	mu     sync.Mutex
	opened map[int]*openImage
}

type openImage struct {
	file  Reader
	image *image.Image
}

// Open opens the image of a PE.
func (s *Images) Open(ctx context.Context, pe int) (*image.Image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.opened[pe]; o != nil {
		return o.image, nil
	}
	f, err := s.store.Open(ctx, ImageName(s.cut, pe))
	if err != nil {
		return nil, s.Named(pe, err)
	}
	m, err := image.Open(f, f.Size())
	if want := (image.Head{Cut: s.cut, Job: s.job, PE: pe, PEs: s.pes}); err == nil && (m.Head != want || f.Size() != int64(s.sizes[pe].Bytes)) {
		err = fmt.Errorf("%w: it is another one", image.ErrDamaged)
	}
	if err != nil {
		return nil, errors.Join(s.Named(pe, err), f.Close())
	}
	if s.opened == nil {
		s.opened = map[int]*openImage{}
	}
	s.opened[pe] = &openImage{f, m}
	return m, nil
}

// Named returns an error that names the image of a PE.
func (s *Images) Named(pe int, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", ImageName(s.cut, pe), err)
	}
	return err
}

// Close closes the images.
func (s *Images) Close() {
	for _, o := range s.opened {
		o.file.Close()
	}
}

// PEs returns how many PEs have saved.
func (s *Images) PEs() int { return s.pes }

// Open returns what opens the images of the cut of m.
func (m *Manifest) Open(s Store) *Images {
	return &Images{store: s, cut: m.Cut, job: m.Job, pes: m.PEs, sizes: m.Images}
}

// IsDamage reports whether an error is of a cut that is not whole, so that an older one may do.
func IsDamage(err error) bool { return errors.Is(err, image.ErrDamaged) || Missing(err) }
