package boot

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenRegular: what is not a regular file is named at once. A FIFO without a writer would keep os.Open for ever.
func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	fifo, file := filepath.Join(dir, "fifo"), filepath.Join(dir, "file")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		fifo: "fifo is a pipe: name a regular file", dir: " is a directory: name", "/dev/zero": "/dev/zero is a device: name", filepath.Join(dir, "none"): "no such file",
	} {
		if f, err := OpenRegular(path); f != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if text, err := ReadRegular(file, 4); string(text) != "text" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := ReadRegular(file, 3); err == nil || !strings.Contains(err.Error(), "file has more than 3 bytes") {
		t.Errorf("%v", err)
	}
}

// TestCreateAnew: nothing is written through a name that was there.
func TestCreateAnew(t *testing.T) {
	for name, plant := range map[string]func(path, mine string) error{
		"link":     func(path, mine string) error { return os.Symlink(mine, path) },
		"link 2":   func(path, mine string) error { return os.Link(mine, path) },
		"dangling": func(path, mine string) error { return os.Symlink(mine+" new", path) },
		"fifo":     func(path, _ string) error { return syscall.Mkfifo(path, 0o666) },
		"nothing":  func(_, _ string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, mine := filepath.Join(dir, "pe0.cpu.pprof"), filepath.Join(dir, "mine")
			if err := os.WriteFile(mine, []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := plant(path, mine); err != nil {
				t.Fatal(err)
			}
			f, err := CreateAnew(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString("profile"); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(mine); string(text) != "precious" || err != nil {
				t.Errorf("the user's file has %q (%v)", text, err)
			}
			if text, err := os.ReadFile(path); string(text) != "profile" || err != nil {
				t.Errorf("the new file has %q (%v)", text, err)
			}
			if _, err := os.Stat(mine + " new"); err == nil {
				t.Error("a file was created through a link")
			}
		})
	}
}
