package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// stagingSpec runs hosts that share this machine's files, but have a cache each.
func stagingSpec(t *testing.T, verb string) (spec Spec, caches string, output fmt.Stringer) {
	spec, out := testSpec(t, verb, twoOne...)
	caches = t.TempDir()
	spec.Stage, spec.Template = true, "env XDG_CACHE_HOME="+caches+"/{host}"
	return spec, caches, out
}

func cached(t *testing.T, caches string) []string {
	t.Helper()
	files, err := filepath.Glob(caches + "/*/pgasrun/stage/*")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestStage copies this program, which is agent and PE at once, to two hosts, and a second time to none.
func TestStage(t *testing.T) {
	spec, caches, out := stagingSpec(t, "report")
	for range 2 {
		copied := 0
		res, err := Run(bounded(t), spec)
		if err != nil || res.Status != 0 {
			t.Fatalf("%+v, %v: %s", res, err, out)
		}
		for _, path := range cached(t, caches) {
			if hash, err := hashFile(path); err != nil || filepath.Base(path) != hash {
				t.Errorf("%s has the content %s (%v)", path, hash, err)
			}
			copied++
		}
		if copied != 2 {
			t.Errorf("the caches hold %d files, of one program on two hosts", copied)
		}
	}
	if n := strings.Count(out.String(), "/3 "); n != 6 {
		t.Errorf("%d PEs of two jobs of three have reported: %s", n, out)
	}
}

// TestStageDamaged: the shell believes a copy of the right size, and the agent finds that its content is another.
func TestStageDamaged(t *testing.T) {
	spec, caches, out := stagingSpec(t, "report")
	if _, err := Run(bounded(t), spec); err != nil {
		t.Fatal(err, out)
	}
	damaged := cached(t, caches)[0]
	f, err := os.OpenFile(damaged, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The end of the file: the program runs all the same.
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt([]byte("damaged"), info.Size()-7)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Run(bounded(t), spec); err == nil || !strings.Contains(err.Error(), "was damaged and has been removed") {
		t.Fatalf("with a damaged copy: %v", err)
	}
	if _, err := os.Stat(damaged); !os.IsNotExist(err) {
		t.Errorf("the damaged copy: %v", err)
	}
	if res, err := Run(bounded(t), spec); err != nil || res.Status != 0 {
		t.Errorf("after it was removed: %+v, %v", res, err)
	}
}

// TestStageInterrupted ends the host's input in the middle of a copy.
func TestStageInterrupted(t *testing.T) {
	spec, caches, _ := stagingSpec(t, "report")
	spec.Template = `sh -c "dd bs=1 count=100000 status=none | XDG_CACHE_HOME=` + caches + `/{host} /bin/sh"`
	if _, err := Run(bounded(t), spec); err == nil || !strings.Contains(err.Error(), "ended (exit status 1)") {
		t.Errorf("%v", err)
	}
	if left := cached(t, caches); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestStageRefused: a host that has no home, or a cache that is no directory, is named in one line.
func TestStageRefused(t *testing.T) {
	for template, want := range map[string]string{
		"env -u HOME -u XDG_CACHE_HOME FAKE={host}":        "HOME.*-stage cannot write to the cache directory of a",
		"env XDG_CACHE_HOME=/dev/null FAKE={host}":         "mkdir: .*-stage cannot write to the cache directory of a",
		"env XDG_CACHE_HOME=/proc/sys/kernel/ FAKE={host}": "mkdir: .*-stage cannot write to the cache directory of a",
	} {
		spec, _, _ := stagingSpec(t, "report")
		spec.Template, spec.Hosts = template, twoOne[:1]
		if _, err := Run(bounded(t), spec); err == nil || !regexp.MustCompile("^host a: .*"+want+".*$").MatchString(err.Error()) {
			t.Errorf("%s: %v", template, err)
		}
	}
	spec, _, _ := stagingSpec(t, "report")
	spec.Program = "/nonexistent"
	if _, err := Run(bounded(t), spec); err == nil || !strings.Contains(err.Error(), "there is no program /nonexistent") {
		t.Errorf("%v", err)
	}
}

// TestPruneStaged: the least recently used files go first, and what another copy still writes stays.
func TestPruneStaged(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{"kept": 9 * time.Hour, "old": 3 * time.Hour, "middle": 2 * time.Hour, "new": time.Minute, "x.1.part": 2 * time.Hour, "y.2.part": time.Minute} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 100), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	pruneStaged(dir, []string{"kept"}, 200, now)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != "kept middle new y.2.part" {
		t.Errorf("left: %s", got)
	}
}
