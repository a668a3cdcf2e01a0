package cuts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gopgas/gopgas/internal/wholefile"
)

// Dir returns a Store that keeps files in a directory, which all hosts must have in common. The directory is made if it
// is missing, and nobody but its owner may read the files.
//
// A file is written under another name, flushed to the disk and renamed, and then its folder is flushed.
func Dir(path string) Store { return dir(path) }

type dir string

func (d dir) String() string { return string(d) }

// file returns the path of a file.
func (d dir) file(name string) (string, error) {
	if !filepath.IsLocal(name) || strings.HasSuffix(name, wholefile.Unfinished) {
		return "", fmt.Errorf("%q is no name of a file in a Store", name)
	}
	return filepath.Join(string(d), filepath.FromSlash(name)), nil
}

func (d dir) Create(_ context.Context, name string) (Writer, error) {
	path, err := d.file(name)
	if err != nil {
		return nil, err
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return nil, withRemedy(err)
	}
	f, err := wholefile.Create(path, 0o600)
	if err != nil {
		return nil, withRemedy(err)
	}
	return dirWriter{f}, nil
}

type dirWriter struct{ *wholefile.File }

func (w dirWriter) Write(b []byte) (int, error) {
	n, err := w.File.Write(b)
	return n, withRemedy(err)
}

func (w dirWriter) Close() error { return withRemedy(w.File.Close()) }

// withRemedy adds to an error of the operating system what the user can do.
func withRemedy(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: make room there for one cut more than are kept, or use another directory", err)
	case errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: use a directory that all PEs can write to", err)
	}
	return err
}

// makeFolder makes a folder and those above it, and flushes each in which it makes one.
func makeFolder(path string) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := filepath.Dir(path)
	if err := makeFolder(above); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) { // another PE makes it, too
		return err
	}
	return wholefile.FlushFolder(above)
}

func (d dir) Open(_ context.Context, name string) (Reader, error) {
	path, err := d.file(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe has no writer to wait for
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return dirReader{f, info.Size()}, nil
}

type dirReader struct {
	*os.File
	size int64
}

func (r dirReader) Size() int64 { return r.size }

func (d dir) List(ctx context.Context, prefix string) (names []string, err error) {
	err = filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(string(d), path)
		if name = filepath.ToSlash(name); err == nil && strings.HasPrefix(name, prefix) && !strings.HasSuffix(name, wholefile.Unfinished) {
			names = append(names, name)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // or a file that was removed meanwhile
	}
	slices.Sort(names)
	return names, err
}

// sweep is that of a sweeper.
func (d dir) sweep(old func(name string) bool) error {
	return filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, wholefile.Unfinished) {
			return err
		}
		name, err := filepath.Rel(string(d), path)
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		first, _, _ = strings.Cut(first, manifestEnd+".") // what wholefile has added
		if !old(first) {
			return nil
		}
		return d.removeFile(path)
	})
}

// removeFile removes a file, and its folder, if it is empty, but for d itself.
func (d dir) removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if above := filepath.Dir(path); above != filepath.Clean(string(d)) {
		_ = os.Remove(above)
	}
	return nil
}

// Remove removes the folder of the file too, if it is empty.
func (d dir) Remove(_ context.Context, name string) error {
	path, err := d.file(name)
	if err != nil {
		return err
	}
	return d.removeFile(path)
}
