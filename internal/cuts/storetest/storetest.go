// Package storetest tests that a Store does what package cuts says of one.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/gopgas/gopgas/internal/cuts"
)

// Run tests a Store that is empty, and leaves it empty.
func Run(t *testing.T, s cuts.Store) {
	wantNames(t, s, "")
	t.Run("write", func(t *testing.T) { writes(t, s) })
	t.Run("abort", func(t *testing.T) { aborts(t, s) })
	t.Run("read", func(t *testing.T) { reads(t, s) })
	t.Run("list", func(t *testing.T) { lists(t, s) })
	t.Run("at once", func(t *testing.T) { atOnce(t, s) })
	wantNames(t, s, "")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create begins a file, and writes its text in two pieces.
func create(t *testing.T, s cuts.Store, name, text string) cuts.Writer {
	t.Helper()
	w, err := s.Create(t.Context(), name)
	must(t, err)
	for _, piece := range []string{text[:len(text)/2], text[len(text)/2:]} {
		n, err := io.WriteString(w, piece)
		if must(t, err); n != len(piece) {
			t.Fatalf("%d bytes of %d are written", n, len(piece))
		}
	}
	return w
}

// wantText fails unless a file has a text.
func wantText(t *testing.T, s cuts.Store, name, text string) {
	t.Helper()
	b, err := cuts.ReadFile(t.Context(), s, name)
	if must(t, err); string(b) != text {
		t.Errorf("%s has %d bytes %.20q, want %d bytes %.20q", name, len(b), b, len(text), text)
	}
}

// wantMissing fails if there is a file.
func wantMissing(t *testing.T, s cuts.Store, name string) {
	t.Helper()
	r, err := s.Open(t.Context(), name)
	if err == nil {
		r.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening %s, which is not there: %v", name, err)
	}
}

func wantNames(t *testing.T, s cuts.Store, prefix string, want ...string) {
	t.Helper()
	got, err := s.List(t.Context(), prefix)
	if must(t, err); !slices.Equal(got, want) {
		t.Errorf("the names that begin with %q are %q, want %q", prefix, got, want)
	}
}

// writes: a file is there when it is closed, and takes the place of an older one at once.
func writes(t *testing.T, s cuts.Store) {
	const name = "a/one"
	wantMissing(t, s, name)
	w := create(t, s, name, "first")
	wantMissing(t, s, name)
	must(t, w.Close())
	w.Abort()
	wantText(t, s, name, "first")
	w = create(t, s, name, "the second")
	wantText(t, s, name, "first")
	must(t, w.Close())
	wantText(t, s, name, "the second")
	must(t, create(t, s, name, "").Close())
	wantText(t, s, name, "")
	must(t, s.Remove(t.Context(), name))
	must(t, s.Remove(t.Context(), name))
	wantMissing(t, s, name)
}

// aborts: nothing of a file that is dropped is there, and an older one stays.
func aborts(t *testing.T, s cuts.Store) {
	const name = "a/two"
	create(t, s, name, "first").Abort()
	wantMissing(t, s, name)
	must(t, create(t, s, name, "second").Close())
	create(t, s, name, "third").Abort()
	wantText(t, s, name, "second")
	must(t, s.Remove(t.Context(), name))
}

// reads: any part of a file can be read, and its end is known.
func reads(t *testing.T, s cuts.Store) {
	const name = "file"
	text := bytes.Repeat([]byte("0123456789"), 100_000)
	must(t, create(t, s, name, string(text)).Close())
	r, err := s.Open(t.Context(), name)
	must(t, err)
	if r.Size() != int64(len(text)) {
		t.Errorf("Size is %d, want %d", r.Size(), len(text))
	}
	for _, x := range []struct{ at, n, want int }{
		{0, len(text), len(text)}, {3, 7, 7}, {500_001, 70_000, 70_000}, {len(text) - 4, 4, 4}, {len(text) - 4, 9, 4}, {len(text), 1, 0}, {2 * len(text), 1, 0},
	} {
		b := make([]byte, x.n)
		n, err := r.ReadAt(b, int64(x.at))
		whole := x.want == x.n
		if n != x.want || whole && err != nil && err != io.EOF || !whole && err != io.EOF || n > 0 && !bytes.Equal(b[:n], text[x.at:x.at+n]) {
			t.Errorf("%d bytes at %d: %d, %v", x.n, x.at, n, err)
		}
	}
	must(t, r.Close())
	must(t, s.Remove(t.Context(), name))
}

// lists: the names that begin with a prefix come in order, whatever the order in which they were made.
func lists(t *testing.T, s cuts.Store) {
	all := []string{"c000001-t0001.json", "c000001-t0001/pe00000.img", "c000001-t0001/pe00010.img", "c000002-t0001.json", "job.json"}
	for _, i := range []int{3, 1, 4, 0, 2} {
		must(t, create(t, s, all[i], "text").Close())
	}
	wantNames(t, s, "", all...)
	wantNames(t, s, "c000001-t0001", all[:3]...)
	wantNames(t, s, "c000001-t0001/", all[1:3]...)
	wantNames(t, s, "d")
	for _, name := range all {
		must(t, s.Remove(t.Context(), name))
	}
}

// atOnce: goroutines write and read files at once, and then remove them.
func atOnce(t *testing.T, s cuts.Store) {
	var written, removed sync.WaitGroup
	const files = 8
	name := func(i int) string { return fmt.Sprintf("c/pe%d", i) }
	for i := range files {
		written.Go(func() {
			if err := cuts.WriteFile(t.Context(), s, name(i), []byte(name(i))); err != nil {
				t.Error(err)
			}
			if b, err := cuts.ReadFile(t.Context(), s, name(i)); err != nil || string(b) != name(i) {
				t.Errorf("%s has %q, %v", name(i), b, err)
			}
		})
	}
	written.Wait()
	for i := range files {
		removed.Go(func() {
			if err := s.Remove(t.Context(), name(i)); err != nil {
				t.Error(err)
			}
		})
	}
	removed.Wait()
}
