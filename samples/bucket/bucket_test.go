package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/internal/cuts/storetest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

func inMemory(t *testing.T) store {
	b := memblob.OpenBucket(nil)
	t.Cleanup(func() { b.Close() })
	return store{b, "mem://"}
}

// TestStore: buckets in memory and of files are Stores.
func TestStore(t *testing.T) {
	t.Run("mem", func(t *testing.T) { storetest.Run(t, inMemory(t)) })
	t.Run("file", func(t *testing.T) {
		url := "file://" + t.TempDir() + "?metadata=skip"
		b, err := blob.OpenBucket(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		storetest.Run(t, store{b, url})
	})
}

// TestContextEnds: when the context of an object ends before Close, the bucket never has the object.
func TestContextEnds(t *testing.T) {
	s := inMemory(t)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := s.Create(ctx, "name")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write([]byte("text"))
	cancel()
	if err := errors.Join(err, w.Close()); !errors.Is(err, context.Canceled) {
		t.Errorf("Close: %v", err)
	}
	if names, err := s.List(t.Context(), ""); len(names) > 0 || err != nil {
		t.Errorf("%q, %v", names, err)
	}
}

// drawn runs the program on n goroutine PEs.
func drawn(t *testing.T, n, steps int, in ckpt.Store) error {
	o := options{cells: 1000, steps: steps, save: 3, verify: true}
	return pgastest.Goroutines(t.Context(), n, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		_, err := o.draw(ctx, w, in)
		return err
	})
}

// TestRestart: a job goes on from a bucket on other numbers of PEs. Two cuts are kept.
func TestRestart(t *testing.T) {
	s, steps := inMemory(t), 0
	for _, n := range []int{1, 4, 3} {
		steps += 7
		if err := drawn(t, n, steps, s); err != nil {
			t.Fatalf("%d PEs: %v", n, err)
		}
	}
	names, err := s.List(t.Context(), "")
	if err != nil || len(names) != 2+3+3+1 { // manifests, images and the owner
		t.Errorf("%q, %v", names, err)
	}
}

// failing is a Store that fails at one of its calls.
type failing struct {
	ckpt.Store
	calls, at *atomic.Int32
}

var errFails = errors.New("the bucket is away")

func (f failing) fails() error {
	if f.calls.Add(1) == f.at.Load() {
		return errFails
	}
	return nil
}

func (f failing) Create(ctx context.Context, name string) (ckpt.Writer, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	w, err := f.Store.Create(ctx, name)
	return failingWriter{w, f}, err
}

type failingWriter struct {
	ckpt.Writer
	f failing
}

func (w failingWriter) Write(b []byte) (int, error) {
	if err := w.f.fails(); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}

func (w failingWriter) Close() error {
	if err := w.f.fails(); err != nil {
		w.Writer.Abort()
		return err
	}
	return w.Writer.Close()
}

func (f failing) Open(ctx context.Context, name string) (ckpt.Reader, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.Store.Open(ctx, name)
}

func (f failing) List(ctx context.Context, prefix string) ([]string, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.Store.List(ctx, prefix)
}

func (f failing) Remove(ctx context.Context, name string) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Store.Remove(ctx, name)
}

// TestBucketFails: a job whose bucket fails at a call, whichever, ends with that error or well, and the next one goes
// on to the right end.
func TestBucketFails(t *testing.T) {
	for at, ended := int32(1), false; !ended; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			f := failing{inMemory(t), new(atomic.Int32), new(atomic.Int32)}
			if err := drawn(t, 2, 3, f.Store); err != nil {
				t.Fatal(err)
			}
			f.at.Store(at)
			err := drawn(t, 2, 9, f)
			ended = f.calls.Load() < at
			if err != nil && !strings.Contains(err.Error(), errFails.Error()) || ended && err != nil {
				t.Errorf("the job ends with %v", err)
			}
			if err := drawn(t, 3, 9, f.Store); err != nil {
				t.Errorf("after %v the next one ends with %v", errFails, err)
			}
		})
		if at > 300 {
			t.Fatalf("%d calls", at)
		}
	}
}
