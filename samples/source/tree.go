// Package source is what samples that count the identifiers of Go source trees have in common: which files, which
// tokens, the most frequent ones, and a sequential count to compare with.
//
//ci:norace
package source

// Which files are counted: every name ending in .go below a directory, in the order of their paths.
// PE 0 lists them and the others copy its list, so that a number means the same file to all, even where
// hosts have different trees.

import (
	"cmp"
	"context"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gopgas/gopgas/pgas"
)

// Tree returns the directory to count: dir, or the standard library's source on this host.
func Tree(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	root := cmp.Or(os.Getenv("GOROOT"), build.Default.GOROOT)
	if !isDir(filepath.Join(root, "src")) {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return "", fmt.Errorf("finding the Go tree: go env GOROOT: %w; name a directory with -input", err)
		}
		root = strings.TrimSpace(string(out))
	}
	return filepath.Join(root, "src"), nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// List returns the paths of the Go files below root, relative to it and sorted, and what could not be
// read. root itself may be a file.
func List(root string) (files []string, unreadable []error, err error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; name a directory with -input", err)
	}
	if !info.IsDir() {
		return []string{"."}, nil, nil
	}
	tree := os.DirFS(root)
	err = fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			unreadable = append(unreadable, err)
		case strings.HasSuffix(path, ".go") && !isDirEntry(tree, path, d):
			files = append(files, path)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there is no .go file below %s: name another directory with -input", root)
	}
	return files, unreadable, err
}

// isDirEntry follows symbolic links. One that leads nowhere is a file, so that it is reported.
func isDirEntry(tree fs.FS, path string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.IsDir()
	}
	info, err := fs.Stat(tree, path)
	return err == nil && info.IsDir()
}

// Share sends the list of PE 0 to all PEs. It is collective.
func Share(ctx context.Context, w *pgas.World, files []string) ([]string, error) {
	list, err := pgas.BroadcastSlice(ctx, w.Team(), []byte(strings.Join(files, "\x00")), 0)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return strings.Split(string(list), "\x00"), nil
}
