package agent

// Staged files on the host that has got them.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// stageBound is the most that the files of a host's cache take. The least recently used ones are removed first.
const stageBound = 1 << 30

// partTime is how old an incomplete file must be to be removed: a killed shell has left it.
const partTime = time.Hour

// useStaged makes the staged program the program of c. The home directory stands in for a working directory that the
// host does not have.
func useStaged(c *frame.Config, logf func(string, ...any)) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the staged files: %w", err)
	}
	dir := filepath.Dir(self)
	c.Program = filepath.Join(dir, c.Staged)
	if hash, err := spawn.HashFile(c.Program); err != nil || hash != c.Staged {
		os.Remove(c.Program)
		return errors.Join(err, fmt.Errorf("the staged copy of the program in %s was damaged and has been removed: run the job again", dir))
	}
	if _, err := os.Stat(c.Dir); errors.Is(err, fs.ErrNotExist) {
		if c.Dir, err = os.UserHomeDir(); err != nil {
			return fmt.Errorf("the host has not the job's working directory, and no home directory instead: %w", err)
		}
		logf("the job's working directory does not exist here: PEs run in %s", c.Dir)
	}
	pruneStaged(dir, []string{filepath.Base(self), c.Staged}, stageBound, time.Now())
	return nil
}

// stagedName matches the names of staged files, and of incomplete ones.
var stagedName = regexp.MustCompile(`^[0-9a-f]{64}(\.[^/]*part[^/]*)?$`)

// pruneStaged removes files that were staged before, the least recently used ones first, until those that remain take
// no more than bound, and what killed shells have left. It spares what keep names, and files that are not staged ones.
func pruneStaged(dir string, keep []string, bound int64, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular() || slices.Contains(keep, e.Name()) || !stagedName.MatchString(e.Name()):
		case strings.Contains(e.Name(), "part"):
			if now.Sub(info.ModTime()) > partTime {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		default:
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var total int64
	for _, f := range files {
		if total += f.Size(); total > bound {
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// ownFiles finds the staged files in the directory from which this agent runs.
func ownFiles() spawn.Files {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(self))
	if err != nil {
		return nil
	}
	files := spawn.Files{}
	for _, e := range entries {
		files[e.Name()] = filepath.Join(filepath.Dir(self), e.Name())
	}
	return files
}
