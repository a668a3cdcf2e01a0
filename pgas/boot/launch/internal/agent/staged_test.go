package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPruneStaged: the least recently used files go first, and what another copy still writes stays. So does what is
// not staged, if the cache's name led to a directory of the user's.
func TestPruneStaged(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	hash := func(digit string) string { return strings.Repeat(digit, 64) }
	const kept, old, middle, recent, other = "1", "2", "3", "4", "a file of the user"
	for name, age := range map[string]time.Duration{
		hash(kept): 9 * time.Hour, hash(old): 3 * time.Hour, hash(middle): 2 * time.Hour, hash(recent): time.Minute,
		hash("5") + ".1.part": 2 * time.Hour, hash("6") + ".part.Xy3": 2 * time.Hour, hash("7") + ".part.Xy4": time.Minute,
		other: 99 * time.Hour, "my.part": 99 * time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 100), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	pruneStaged(dir, []string{hash(kept)}, 200, now)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{hash(kept), hash(middle), hash(recent), hash("7") + ".part.Xy4", other, "my.part"}
	if !slices.Equal(left, want) {
		t.Errorf("left: %q, want %q", left, want)
	}
}
