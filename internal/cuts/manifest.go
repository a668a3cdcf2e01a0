package cuts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/internal/cuts/image"
)

// A Cut is a moment between two barriers, at which all PEs have saved. The zero Cut is none.
type Cut = image.Cut

const manifestEnd = ".json"

// ImageName returns the name of what a PE has saved at a cut.
func ImageName(c Cut, pe int) string { return fmt.Sprintf("%v/pe%05d.img", c, pe) }

// cutOf returns the cut of a manifest with a name.
func cutOf(name string) (c Cut, ok bool) {
	n, err := fmt.Sscanf(name, "c%d-t%d", &c.Version, &c.Term)
	return c, err == nil && n == 2 && name == c.String()+manifestEnd
}

// cutOfImage returns the cut of an image with a name.
func cutOfImage(name string) (c Cut, ok bool) {
	folder, _, found := strings.Cut(name, "/")
	c, ok = cutOf(folder + manifestEnd)
	return c, ok && found
}

// A Manifest says what a cut consists of. The cut exists if the manifest does.
type Manifest struct {
	Format  int    `json:"format"`
	Cut     Cut    `json:"cut"`
	Parent  Cut    `json:"parent"` // which the job had restored or saved before
	Job     uint64 `json:"job"`    // a random number of the job that has saved, which its images have, too
	PEs     int    `json:"pes"`
	Program string `json:"program"`
	Items   []Item `json:"items"`
	Images  []File `json:"images"` // by PE
	Starts  int    `json:"starts"` // how many jobs have begun from the cut
}

// An Item is one of those that a program has added to its Set.
type Item struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// A File is an image.
type File struct {
	Bytes uint64 `json:"bytes"`
}

const (
	// Format is the Manifest.Format that this package writes and reads.
	Format = 1
	// mostText bounds the bytes of a manifest: those of a million PEs.
	mostText = 64 << 20
	// MostStarts is how many starts may save nothing before another cut is tried.
	MostStarts = 2
)

// All returns the cuts of a Store, the newest first.
func All(ctx context.Context, s Store) ([]Cut, error) {
	names, err := s.List(ctx, "c")
	var all []Cut
	for _, name := range names {
		if c, ok := cutOf(name); ok {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Cut) int { return b.Compare(a) })
	return all, err
}

// ReadManifest reads the manifest of a cut.
func ReadManifest(ctx context.Context, s Store, c Cut) (*Manifest, error) {
	b, err := ReadFile(ctx, s, c.String()+manifestEnd)
	if err != nil {
		return nil, err
	}
	return parseManifest(c, b)
}

// ReadFile reads a whole file of text.
func ReadFile(ctx context.Context, s Store, name string) ([]byte, error) {
	f, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size() > mostText {
		return nil, fmt.Errorf("%w: %s has %d bytes", image.ErrDamaged, name, f.Size())
	}
	b := make([]byte, f.Size())
	n, err := f.ReadAt(b, 0)
	if n == len(b) || err == io.EOF {
		err = nil
	}
	return b[:n], err
}

// WriteFile writes a whole file.
func WriteFile(ctx context.Context, s Store, name string, b []byte) error {
	f, err := s.Create(ctx, name)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Abort()
		return err
	}
	return f.Close()
}

// parseManifest returns the manifest of a cut that b holds.
func parseManifest(c Cut, b []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%w: the manifest of cut %v: %v", image.ErrDamaged, c, err)
	}
	switch {
	case m.Format != Format:
		return nil, fmt.Errorf("cut %v has format %d, and this program reads format %d: use the release that has written it", c, m.Format, Format)
	case m.Cut != c || m.PEs < 1 || len(m.Images) != m.PEs:
		return nil, fmt.Errorf("%w: the manifest of cut %v does not fit", image.ErrDamaged, c)
	}
	return m, nil
}

// Write writes m.
func (m *Manifest) Write(ctx context.Context, s Store) error {
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	return WriteFile(ctx, s, m.Cut.String()+manifestEnd, append(b, '\n'))
}

// Missing reports whether an error says that a file is not there.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
