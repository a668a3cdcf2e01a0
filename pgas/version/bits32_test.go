package version_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPlatformOf32Bits: a build for one fails with a line that says why, and with no other error.
func TestPlatformOf32Bits(t *testing.T) {
	for _, arch := range []string{"386", "arm"} {
		build := exec.Command("go", "build", "github.com/gopgas/gopgas/pgas")
		build.Env = append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		var lines []string
		for line := range strings.Lines(string(out)) {
			if !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		if err == nil || len(lines) != 1 || !strings.Contains(lines[0], "undefined: gopgas_needs_a_64_bit_platform") {
			t.Errorf("%s: %v, and the compiler says:\n%s", arch, err, out)
		}
	}
}
