package cuts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Info is what is known of a cut without its data.
type Info struct {
	Cut     Cut
	Program string // the path of the main package of the program that has saved
	PEs     int    // how many PEs have saved
	Bytes   uint64 // of all images
	Items   []string
	// Starts is how many jobs have begun from the cut and saved nothing.
	Starts int
	// Err is why the cut cannot be used, if its manifest cannot be read. The fields but Cut are then zero.
	Err error
}

// List returns the cuts of a Store, the newest first. No job need run. Its error is that of the Store.
func List(ctx context.Context, s Store) ([]Info, error) {
	all, err := All(ctx, s)
	if err != nil {
		return nil, err
	}
	list := make([]Info, len(all))
	for i, c := range all {
		list[i].Cut = c
		m, err := ReadManifest(ctx, s, c)
		if err != nil {
			list[i].Err = err
			continue
		}
		list[i].Program, list[i].PEs, list[i].Starts = m.Program, m.PEs, m.Starts
		for _, x := range m.Items {
			list[i].Items = append(list[i].Items, x.Name)
		}
		for _, f := range m.Images {
			list[i].Bytes += f.Bytes
		}
	}
	return list, nil
}

// Verify reads a cut, and returns an error if it is not whole. The error names the image.
func Verify(ctx context.Context, s Store, c Cut) error {
	m, err := ReadManifest(ctx, s, c)
	if err != nil {
		return err
	}
	for pe := range m.PEs {
		if err := verifyImage(ctx, s, m, pe); err != nil {
			return err
		}
	}
	return nil
}

func verifyImage(ctx context.Context, s Store, m *Manifest, pe int) error {
	from := m.Open(s)
	defer from.Close()
	x, err := from.Open(ctx, pe)
	if err != nil {
		return err
	}
	return from.Named(pe, x.Verify(func() error { return context.Cause(ctx) }))
}

// Remove removes a cut. If the Store has no such cut the error is fs.ErrNotExist.
func Remove(ctx context.Context, s Store, c Cut) error {
	names, err := s.List(ctx, c.String())
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("cut %v: %w", c, fs.ErrNotExist)
	}
	if err := s.Remove(ctx, c.String()+manifestEnd); err != nil { // first, so that the cut is gone at once
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, c.String()+"/") {
			err = errors.Join(err, s.Remove(ctx, name))
		}
	}
	return err
}

// Parse returns the Cut that is written as text, as by Cut.String.
func Parse(text string) (Cut, error) {
	c, ok := cutOf(text + manifestEnd)
	if !ok {
		return c, fmt.Errorf("%q is no cut: write it as in %v", text, Cut{Term: 1, Version: 12})
	}
	return c, nil
}
