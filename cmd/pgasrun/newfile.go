package main

// A file that appears when it is whole. Until then it has no name where the file system can make such a file, so that
// nothing is left of it if this process is killed, and another name beside its own elsewhere. What was there before stays.

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

type newFile struct {
	path  string
	named bool   // temp has the name other
	other string // beside path
	temp  *os.File
}

// createFile prepares a file. The error says why it cannot be written. If path is a symbolic link, what it leads to is
// replaced, or made. The file has the mode that the user's umask leaves of 0666.
func createFile(path string) (*newFile, error) {
	if path == "-" {
		return nil, errors.New("- is no file: standard output is the PEs'; name one")
	}
	path, err := linked(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file that can be replaced: name another one", path)
	}
	f := &newFile{path: path, other: filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:10])}
	var fd int
	fd, err = unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o666)
	if err == nil {
		f.temp = os.NewFile(uintptr(fd), path)
		return f, nil
	}
	f.named = true
	if f.temp, err = os.OpenFile(f.other, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return nil, fmt.Errorf("%s cannot be written: %w", path, withoutPath(err))
	}
	return f, nil
}

// linked returns where symbolic links lead from path, although there may be nothing yet. Of a circle it returns a link. The
// error is about a link that another user may have put there.
func linked(path string) (string, error) {
	for range 40 {
		dir, err := directory(filepath.Dir(path))
		if errors.Is(err, fs.ErrPermission) {
			return "", fmt.Errorf("%s cannot be written: %w", path, withoutPath(err))
		}
		if err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if planted(path) {
			return "", fmt.Errorf("%s is a symbolic link of another user, in a directory where every user may make one: name another file", path)
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(path) + "/" + to // not cleaned: .. counts from where a link leads
		}
		path = to
	}
	return path, nil
}

// directory returns the path of a directory without symbolic links. The kernel follows them first: it refuses those that it
// takes for planted.
func directory(path string) (string, error) {
	d, err := os.OpenFile(path, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", err
	}
	d.Close()
	return filepath.EvalSymlinks(path)
}

// planted reports whether a symbolic link is of another user and in a directory where every user may make one. The rule is
// the kernel's, fs.protected_symlinks.
func planted(link string) bool {
	info, err := os.Lstat(link)
	parent, parentErr := os.Stat(filepath.Dir(link))
	if err != nil || parentErr != nil {
		return true
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	parents, parentOK := parent.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !parentOK:
		return true
	case parent.Mode()&fs.ModeSticky == 0 || parent.Mode()&0o002 == 0:
		return false
	}
	return int(owner.Uid) != os.Geteuid() && owner.Uid != parents.Uid
}

// replace puts the file in its place, unless it was not written whole: then it returns that error, and what was there
// stays.
func (f *newFile) replace(written error) error {
	if written != nil {
		return withoutPath(written)
	}
	if !f.named {
		from := fmt.Sprintf("/proc/self/fd/%d", f.temp.Fd())
		if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, f.other, unix.AT_SYMLINK_FOLLOW); err != nil {
			return err
		}
		f.named = true
	}
	err := f.temp.Close()
	if err == nil {
		err = os.Rename(f.other, f.path)
	}
	return withoutPath(err)
}

func (f *newFile) discard() {
	f.temp.Close()
	if f.named {
		os.Remove(f.other)
	}
}

// withoutPath returns what is wrong with a file, without its name.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
