package main

// A ckpt.Store over a bucket of an object store. It is all that a program needs to keep its cuts there.

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/gopgas/gopgas/ckpt"
)

// A store keeps files as the objects of a bucket.
type store struct {
	bucket *blob.Bucket
	url    string
}

func (s store) String() string { return s.url }

// Create begins an object. The bucket has it from Close on, whole. If ctx ends before, the bucket never has it.
func (s store) Create(ctx context.Context, name string) (ckpt.Writer, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := s.bucket.NewWriter(ctx, name, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		cancel()
		return nil, err
	}
	return &writer{w, cancel, false}, nil
}

type writer struct {
	*blob.Writer
	cancel context.CancelFunc
	ended  bool
}

func (w *writer) Close() error {
	defer w.cancel()
	w.ended = true
	return w.Writer.Close()
}

func (w *writer) Abort() {
	if w.cancel(); !w.ended {
		_ = w.Close() // which drops what was written, since the context has ended
	}
}

func (s store) Open(ctx context.Context, name string) (ckpt.Reader, error) {
	a, err := s.bucket.Attributes(ctx, name)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, err
	}
	return &reader{ctx, s.bucket, name, a.Size}, nil
}

type reader struct {
	ctx    context.Context // of Open
	bucket *blob.Bucket
	name   string
	size   int64
}

func (r *reader) Size() int64  { return r.size }
func (r *reader) Close() error { return nil }

// ReadAt makes a request for each call.
func (r *reader) ReadAt(b []byte, at int64) (n int, err error) {
	want := max(0, min(int64(len(b)), r.size-at))
	if want > 0 {
		part, err := r.bucket.NewRangeReader(r.ctx, r.name, at, want, nil)
		if err != nil {
			return 0, err
		}
		defer part.Close()
		if n, err = io.ReadFull(part, b[:want]); err != nil {
			return n, err
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (s store) List(ctx context.Context, prefix string) (names []string, err error) {
	for all := s.bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
		o, err := all.Next(ctx)
		if err == io.EOF {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, o.Key)
	}
}

func (s store) Remove(ctx context.Context, name string) error {
	if err := s.bucket.Delete(ctx, name); gcerrors.Code(err) != gcerrors.NotFound {
		return err
	}
	return nil
}
