package spawn

// A program on this host: whether it can be run, and its hash.

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

func CheckProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no program %s: build or copy it there", path)
	case err != nil:
		return fmt.Errorf("the program %s: %w", path, errors.Unwrap(err))
	case info.IsDir():
		return fmt.Errorf("%s is a directory, not a program", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is a pipe or a device, not a program", path)
	case unix.Access(path, unix.X_OK) != nil:
		return fmt.Errorf("%s is not executable: chmod +x it, or name another program", path)
	}
	return nil
}

func HashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the program to compare it between hosts: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading the program to compare it between hosts: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
