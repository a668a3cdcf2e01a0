package main

// What to run: a file, a name on PATH, or a Go package to be built.
//
// A package is built into the user's cache directory, one file for each package directory, so that a
// second run finds it up to date, that hosts sharing a home directory see it, and that a killed launcher
// leaves nothing that the next one does not reuse. A lock keeps two builds of one package apart; who
// runs the old file keeps it, since go build replaces the file and does not write into it.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// resolve returns the absolute path of the program, built if need be. A signal stops the build.
func (o *options) resolve(signals <-chan os.Signal) (string, error) {
	info, err := os.Stat(o.program)
	switch {
	case err == nil && info.IsDir():
		return o.build(signals)
	case strings.Contains(o.program, "/"):
		if err != nil && importPath(o.program) {
			return o.build(signals)
		}
		if errors.Is(err, os.ErrNotExist) && o.elsewhere() {
			return filepath.Abs(o.program)
		}
		if errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("there is no program or package %s: give the path of one, or a name on PATH", o.program)
		}
		return filepath.Abs(o.program)
	}
	path, err := exec.LookPath(o.program)
	if err != nil {
		if info != nil {
			return "", fmt.Errorf("%s is not on PATH: write ./%s for the file in this directory", o.program, o.program)
		}
		return "", fmt.Errorf("%s is not on PATH: give its path, or that of a Go package such as ./%s", o.program, o.program)
	}
	return filepath.Abs(path)
}

// elsewhere: no PE runs on this host, so the program need not be here.
func (o *options) elsewhere() bool { return o.hosts != "" || o.hostfile != "" }

// importPath: the first element has a dot, as in github.com/gopgas/gopgas/samples/hello.
func importPath(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return strings.Contains(strings.Trim(first, "."), ".")
}

// build builds the package and returns the program's path.
func (o *options) build(signals <-chan os.Signal) (string, error) {
	dir, err := o.cacheDir()
	if err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("building %s: %w", o.program, err)
	}
	defer lock.Close() // and with it the lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("building %s: locking its file: %w", o.program, err)
	}
	program := filepath.Join(dir, programName(o.program))
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case sig := <-signals:
			cancel(fmt.Errorf("%v", sig))
		case <-ctx.Done():
		}
	}()
	pkg := o.program
	if !importPath(pkg) && !filepath.IsAbs(pkg) && !strings.HasPrefix(pkg, ".") {
		pkg = "./" + pkg
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, pkg)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	err = cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is a Go package and there is no go command on PATH to build it: install Go, or name a binary", o.program)
	case ctx.Err() != nil:
		return "", fmt.Errorf("building %s: %w", o.program, context.Cause(ctx))
	case err != nil:
		return "", fmt.Errorf("building %s failed (%w): `go build %s` must work and give a command", o.program, err, pkg)
	}
	return program, nil
}

// programName is what ps and the package's own messages should call it.
func programName(pkg string) string {
	abs, err := filepath.Abs(pkg)
	if err != nil {
		return "program"
	}
	return filepath.Base(abs)
}

// cacheDir makes and returns the directory for the program of this package.
func (o *options) cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = filepath.Join(os.TempDir(), fmt.Sprintf("pgasrun-%d", os.Getuid()))
	}
	pkg := o.program
	if !importPath(pkg) {
		if pkg, err = filepath.Abs(pkg); err != nil {
			return "", fmt.Errorf("building %s: %w", o.program, err)
		}
	}
	key := sha256.Sum256([]byte(pkg))
	dir := filepath.Join(base, "pgasrun", hex.EncodeToString(key[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("building %s: %w", o.program, err)
	}
	return dir, nil
}
