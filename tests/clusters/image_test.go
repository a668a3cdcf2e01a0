package clusters

// The image of a project, without a tool that builds images: what its Containerfile runs is run here, and the program
// in nothing but what it has put together.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/tests/built"
)

// instructions returns those of a Containerfile, with their lines joined.
func instructions(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(string(text), "\\\n", ""), "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// TestContainerfile: an image that starts from nothing has all that a program of two PEs needs, as a user that is not
// root's.
func TestContainerfile(t *testing.T) {
	needHosts(t)
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	image, project := filepath.Join(dir, "image"), filepath.Join(root, "templates/starter")
	stages, user := 0, ""
	for _, line := range instructions(t, filepath.Join(project, "Containerfile")) {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "FROM":
			stages++
		case word == "USER":
			user = rest
		case word == "RUN" && !strings.HasPrefix(rest, "apt-get "): // this machine has UCX
			cmd := exec.CommandContext(hangContext(t), "sh", "-c", strings.ReplaceAll(rest, "/image", image))
			cmd.Dir = project
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", rest, err, out)
			}
		}
	}
	if stages != 2 || user != "65532:65532" {
		t.Fatalf("%d stages, user %q", stages, user)
	}
	// A container has these three.
	script := "mkdir $0/proc $0/sys $0/dev && mount -t proc proc $0/proc && mount -t sysfs sysfs $0/sys && mount --rbind /dev $0/dev && exec chroot --userspec=$1 $0 /bin/pgasrun -n 2 /bin/starter -rows 4 -steps 5"
	cmd := exec.CommandContext(hangContext(t), "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, image, user)
	cmd.Env = []string{"PATH=/bin:/usr/bin:/sbin:/usr/sbin", "PGAS_HEAP_MAX=64m", "PGAS_AMO=nic"} // so that UCX is used
	expect(t, run(t, cmd), 0, "PEs")
}
