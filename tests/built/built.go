// Package built gives end-to-end tests the commands of this module, built from what is in the checkout.
package built

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/pgas/version"
)

// Root returns the top folder of the repository.
func Root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", version.Module).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Commands builds pgasrun and pgasgen into dir. It reads the state of every source file of the module, so that
// go test, which does not see the sources of commands, does not reuse an old result.
func Commands(root, dir string) error {
	if err := touch(root); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./cmd/pgasrun", "./cmd/pgasgen")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the commands: %w\n%s", err, out)
	}
	return nil
}

// Raced builds a program of the module, with the race detector, into the file out. It reads all sources, as Commands
// does.
func Raced(root, pkg, out string) error { return Program(root, pkg, out, "-race") }

// Program builds a program of the module into the file out, with further flags of go build. It reads all sources, as
// Commands does.
func Program(root, pkg, out string, flags ...string) error {
	if err := touch(root); err != nil {
		return err
	}
	build := exec.Command("go", slices.Concat([]string{"build", "-o", out}, flags, []string{pkg})...)
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", strings.Join(append(flags, pkg), " "), err, text)
	}
	return nil
}

func touch(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "bin"):
			return fs.SkipDir
		}
		switch filepath.Ext(path) {
		case ".go", ".c", ".h", ".mod", ".sum", ".work":
			_, err = os.Stat(path)
		}
		return err
	})
}

// Environ returns what the go command needs to work offline and with another HOME, as NAME=value.
func Environ() ([]string, error) {
	env := []string{"GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-buildvcs=false"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "CGO_ENABLED"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return nil, fmt.Errorf("go env %s: %w", name, err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	return env, nil
}
