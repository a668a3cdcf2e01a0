package main

// What to run: a file, a name on PATH, or a Go package to be built.
//
// A package is built into the user's cache directory, one file for each package directory. So a
// second run finds it up to date, hosts sharing a home directory see it, and a killed launcher
// leaves only files that the next one reuses. A lock keeps two builds of one package apart. A process that
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
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// program is what a PE executes.
type program struct {
	path string // the absolute path
	pkg  string // the package to build it from, or empty
}

// resolve finds the program that a command line names. elsewhere says that hosts of the command line run it.
func resolve(name string, elsewhere bool) (program, error) {
	info, err := os.Stat(name)
	missing := errors.Is(err, os.ErrNotExist)
	switch {
	case strings.HasSuffix(name, ".go"):
		return program{}, fmt.Errorf("%s is Go source: name the directory of its package, such as %s", name, packageOf(name))
	case err == nil && info.IsDir(), missing && importPath(name):
		return packageProgram(name)
	case !strings.Contains(name, "/"):
		return onPath(name, err == nil)
	case missing && !elsewhere:
		return program{}, fmt.Errorf("there is no program or package %s: give the path of one, or a name on PATH", name)
	}
	// The hosts that are to run the file check it.
	path, err := filepath.Abs(name)
	return program{path: path}, err
}

// onPath finds a program on PATH. inDir says that the working directory has a file of that name.
func onPath(name string, inDir bool) (program, error) {
	path, err := exec.LookPath(name)
	switch {
	case err != nil && inDir:
		return program{}, fmt.Errorf("%s is not on PATH: write ./%s for the file in this directory", name, name)
	case err != nil:
		return program{}, fmt.Errorf("%s is not on PATH: give its path, or that of a Go package such as ./samples/hello", name)
	}
	path, err = filepath.Abs(path)
	return program{path: path}, err
}

// packageOf returns the directory of a source file, as the command line needs it.
func packageOf(file string) string {
	dir := filepath.Dir(file)
	if !filepath.IsAbs(dir) && !strings.HasPrefix(dir, ".") {
		dir = "./" + dir
	}
	return dir
}

// importPath reports whether p is an import path: its first element has a dot and others follow, as in
// github.com/gopgas/gopgas/samples/hello.
func importPath(p string) bool {
	first, rest, _ := strings.Cut(p, "/")
	return rest != "" && strings.Contains(strings.Trim(first, "."), ".")
}

// packageProgram returns the program of a package, with the path that it is built to.
func packageProgram(name string) (program, error) {
	p := program{pkg: name}
	if !importPath(p.pkg) {
		var err error
		if p.pkg, err = filepath.Abs(p.pkg); err != nil {
			return p, fmt.Errorf("building %s: %w", name, err)
		}
	}
	base, err := os.UserCacheDir()
	if err != nil {
		base = filepath.Join(os.TempDir(), fmt.Sprintf("pgasrun-%d", os.Getuid()))
	}
	key := sha256.Sum256([]byte(p.pkg))
	p.path = filepath.Join(base, "pgasrun", hex.EncodeToString(key[:8]), filepath.Base(p.pkg))
	return p, nil
}

// buildCommand returns the command that builds the program of a package.
func (p program) buildCommand() []string {
	argv := []string{"go", "build"}
	if positionIndependent(os.Getenv("GOFLAGS")) {
		argv = append(argv, "-buildmode=pie")
	}
	return append(argv, "-o", p.path, p.pkg)
}

// positionIndependent reports whether programs are built position-independent, so that an address in one process
// tells an attacker nothing about another: if Go supports that without a C compiler, and the user's flags do not ask
// for something else.
func positionIndependent(flags string) bool {
	return runtime.GOOS == "linux" && slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH) &&
		!strings.Contains(flags, "-buildmode") && !strings.Contains(flags, "-race")
}

// build brings the program up to date. A signal stops it.
func (p program) build(signals <-chan os.Signal) error {
	if p.pkg == "" {
		return nil
	}
	ctx, settle := untilSignal(signals)
	defer settle()
	unlock, err := p.lock(ctx)
	if err != nil {
		return fmt.Errorf("building %s: %w", p.pkg, err)
	}
	defer unlock()
	argv := p.buildCommand()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it removes its own files
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	stopped := settle()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is a Go package and there is no go command on PATH to build it: install Go, or name a binary", p.pkg)
	case stopped != nil:
		return fmt.Errorf("building %s: %w", p.pkg, stopped)
	case err != nil:
		return fmt.Errorf("building %s failed (%w): `go build` must work there", p.pkg, err)
	}
	if info, err := os.Stat(p.path); err != nil || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is not a command: name a package main", p.pkg)
	}
	return nil
}

// lock keeps other launchers from building the same package.
func (p program) lock(ctx context.Context) (unlock func(), err error) {
	dir := filepath.Dir(p.path)
	if err := makePrivate(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return func() { f.Close() }, nil
		case !errors.Is(err, unix.EWOULDBLOCK):
			f.Close()
			return nil, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		}
	}
}

// untilSignal returns a context that a signal ends, with "stopped by …" as its cause. After settle no signal is taken
// from the channel any more; it returns that cause if one was.
func untilSignal(signals <-chan os.Signal) (ctx context.Context, settle func() error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	done, taken := make(chan struct{}), make(chan error, 1)
	go func() {
		select {
		case sig := <-signals:
			err := fmt.Errorf("stopped by %v", sig)
			cancel(err)
			taken <- err
		case <-done:
			taken <- nil
		}
	}()
	return ctx, sync.OnceValue(func() error {
		close(done)
		err := <-taken
		cancel(nil)
		return err
	})
}
