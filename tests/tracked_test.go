package tests

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoBinaryIsTracked: what a build leaves behind is not committed.
func TestNoBinaryIsTracked(t *testing.T) {
	out, err := exec.Command("git", "-c", "safe.directory=*", "-C", "..", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("no git checkout: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join("..", name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(data, 0) >= 0 {
			t.Errorf("%s is no text: git rm --cached %[1]s", name)
		}
	}
}
