package survive

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// TestDirectory: jobs on a disk without room, on one with room for two cuts and not for a third, and on one that cannot
// be written end with one line of each PE that says what to do. What was saved before stays, and with enough room the
// job goes on from it. The disk is one in memory, in a user namespace, so that no root is needed.
func TestDirectory(t *testing.T) {
	const mounts = "mount -t tmpfs -o size=%s disk d"
	if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "disk", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("no disk in memory can be mounted in a user namespace of its own, which Linux may not allow in a container: %v\n%s", err, out)
	}
	job := fmt.Sprintf("%[1]s/pgasrun -n 2 -checkpoint d %[1]s/heat -version saved -rows 10 -save 10 -verify -steps", bin)
	script := strings.Join([]string{
		"mkdir d", fmt.Sprintf(mounts, "200k"), job + " 60", "echo ended: $?", "ls d",
		"mount -o remount,size=900k d", job + " 60", "echo ended: $?",
		"mount -o remount,size=4m d", job + " 60", "echo ended: $?",
		"mount -o remount,ro d", job + " 80", "echo ended: $?",
	}, "\n")
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-rm", "sh", "-c", script)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	parts := strings.Split(string(out), "ended: ")
	if err != nil || len(parts) != 5 {
		t.Fatalf("%v\n%s", err, out)
	}
	const full = "no space left on device: make room there"
	for i, want := range []struct {
		status string
		says   []string
	}{
		{"1", []string{"cut c000001-t0001 was not saved", full}},
		{"1", []string{"cut c000003-t0002 was not saved", full}},
		{"0", []string{"goes on from cut c000002-t0002"}},
		{"1", []string{"read-only file system: use a directory that all PEs can write to"}},
	} {
		for _, text := range want.says {
			if !strings.Contains(parts[i], text) {
				t.Errorf("job %d does not say %q", i, text)
			}
		}
		if status, _, _ := strings.Cut(parts[i+1], "\n"); status != want.status {
			t.Errorf("job %d ends with status %s, not %s", i, status, want.status)
		}
	}
	if !strings.HasPrefix(parts[1], "1\njob.json\n") {
		t.Error("the first job leaves a part of its cut")
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
