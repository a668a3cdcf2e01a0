package main

// A file that appears when it is whole: until then it has another name beside its own, and what was there before stays.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

type newFile struct {
	path string
	temp *os.File
}

// createFile prepares a file. The error says why it cannot be written. If path is a symbolic link, what it leads to is replaced.
func createFile(path string) (*newFile, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file that can be replaced: name another one", path)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written: %w", path, withoutPath(err))
	}
	return &newFile{path, temp}, nil
}

// replace puts the file in its place, unless it was not written whole: then it returns that error, and what was there stays.
func (f *newFile) replace(written error) error {
	if written != nil {
		return withoutPath(written)
	}
	err := errors.Join(f.temp.Chmod(0o644), f.temp.Close())
	if err == nil {
		err = os.Rename(f.temp.Name(), f.path)
	}
	return withoutPath(err)
}

func (f *newFile) discard() {
	f.temp.Close()
	os.Remove(f.temp.Name())
}

// withoutPath returns what is wrong with a file, without its name.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
