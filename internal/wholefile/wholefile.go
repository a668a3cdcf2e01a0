// Package wholefile makes files that are there whole or not at all. A file is written under another name in the same
// folder and flushed to the disk. Then it gets its name, and the folder is flushed.
package wholefile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Unfinished is how the names of files end that are being written. A process that dies leaves one.
const Unfinished = ".part"

// A File is a file that is being written. Close ends it well, and Abort otherwise.
type File struct {
	*os.File
	path string
}

// Create begins a file that will be at path, in place of an older one. The umask takes from perm, as it does in
// os.OpenFile. A symbolic link at path is replaced, and not followed: another user may have made it. Create returns an
// error if something other than a regular file is there.
func Create(path string, perm fs.FileMode) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: name one, or one that is not there yet", path)
	}
	for {
		other := fmt.Sprintf("%s.%016x%s", path, rand.Uint64(), Unfinished)
		f, err := os.OpenFile(other, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			return &File{f, path}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
}

// Close flushes the file and gives it its name. If that fails there is no file, and an older one stays. If it is the
// folder that cannot be flushed, the file is there.
func (f *File) Close() error {
	err := errors.Join(f.Sync(), f.File.Close())
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return FlushFolder(filepath.Dir(f.path))
}

// Abort removes what has been written. After Close it does nothing.
func (f *File) Abort() {
	if f.File.Close() == nil {
		os.Remove(f.Name())
	}
}

// FlushFolder flushes a folder to the disk, so that the names of its files are safe.
func FlushFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
