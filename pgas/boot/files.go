package boot

// Files that a variable or a flag names, and others may have made.

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// OpenRegular opens a regular file to be read. It waits for nothing: opening a FIFO would last until somebody writes to
// it.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is %s: name a regular file", path, kindOfFile(info.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadRegular returns what is in a regular file of at most a number of bytes.
func ReadRegular(path string, most int64) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAtMost(f, path, most)
}

// ReadAtMost returns what is in a file of at most a number of bytes.
func ReadAtMost(f io.Reader, path string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes: name the right file", path, most)
	}
	return text, err
}

// kindOfFile returns what a file is that is not a regular one.
func kindOfFile(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&os.ModeNamedPipe != 0:
		return "a pipe"
	case m&os.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// CreateAnew creates a file of a name that is known beforehand. It removes what has the name, so that nothing is
// written through a symbolic link, or to a file of which somebody else has made a pipe.
func CreateAnew(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}
