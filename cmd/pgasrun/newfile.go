package main

// A file that appears when it is whole. Until then it has no name, so that nothing is left of it if this process is
// killed. What was there before stays.
//
// It gets its name by another one beside it, which the rename takes away. A process that is killed between the two
// leaves that one. Its file was locked by the process, so the next process that prepares the same file can tell, and
// removes it.

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

type newFile struct {
	path  string
	other string // the name of a second file beside path
	named bool   // there is a file other
	bare  bool   // temp had a name, and cannot get one again
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
	removeLeft(path)
	fd, err := unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return createBare(path)
	}
	return &newFile{path: path, other: beside(path), temp: os.NewFile(uintptr(fd), path)}, nil
}

// createBare prepares a file where the file system makes no file without a name, as some overlays and NFS do not.
func createBare(path string) (*newFile, error) {
	f := &newFile{path: path, other: beside(path), bare: true}
	var err error
	if f.temp, err = createLocked(f.other); err == nil {
		err = os.Remove(f.other)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written: %w", path, withoutPath(err))
	}
	return f, nil
}

// besideChars are at the end of another name beside a file's: random ones.
const besideChars = 10

// beside returns another name in the directory of path.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:besideChars])
}

// createLocked creates a file, and locks it.
func createLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		lock(f)
	}
	return f, err
}

// lock locks f, and reports whether no other process has. Where files cannot be locked, what is left stays.
func lock(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }

// removeLeft removes files of this user beside path that were left by processes which were killed.
func removeLeft(path string) {
	list, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range list {
		random, ok := strings.CutPrefix(e.Name(), "."+filepath.Base(path)+".")
		if !ok || len(random) != besideChars || strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
			continue
		}
		name := filepath.Join(filepath.Dir(path), e.Name())
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
			continue
		}
		if f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0); err == nil {
			if lock(f) {
				os.Remove(name)
			}
			f.Close()
		}
	}
}

// linked returns where symbolic links lead from path, although there may be nothing yet. Of a circle it returns a link.
// The error is about a link that another user may have put there.
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

// directory returns the path of a directory without symbolic links. The kernel follows them first: it refuses those
// that it takes for planted.
func directory(path string) (string, error) {
	d, err := os.OpenFile(path, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", err
	}
	d.Close()
	return filepath.EvalSymlinks(path)
}

// planted reports whether a symbolic link is of another user and in a directory where every user may make one. The rule
// is the kernel's, fs.protected_symlinks.
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
	err := f.name()
	if err == nil {
		err = os.Rename(f.other, f.path)
	}
	if closed := f.temp.Close(); err == nil {
		err = closed
	}
	return withoutPath(err)
}

// name gives the file the name other.
func (f *newFile) name() error {
	if !f.bare {
		lock(f.temp)
		from := fmt.Sprintf("/proc/self/fd/%d", f.temp.Fd())
		err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, f.other, unix.AT_SYMLINK_FOLLOW)
		f.named = err == nil
		return err
	}
	to, err := createLocked(f.other)
	if err != nil {
		return err
	}
	f.named = true
	if _, err = f.temp.Seek(0, io.SeekStart); err == nil {
		_, err = io.Copy(to, f.temp)
	}
	f.temp.Close()
	f.temp = to // it stays locked until it has its place
	return err
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
