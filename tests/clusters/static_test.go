package clusters

// Static start: the tests themselves are the launcher.

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/tests/built"
)

// static is a job that the test starts.
type static struct {
	list, at, secret string
	env              []string
}

func newStatic(t *testing.T) static {
	t.Helper()
	needHosts(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("secret", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	return static{list: "one:2,two:2", at: hosts.Addresses[0] + ":7070", secret: secret}
}

// pe returns the command of a PE, of a program on the host with that index.
func (s static) pe(t *testing.T, pe, host int, argv ...string) *exec.Cmd {
	cmd := onHost(hangContext(t), host, argv...)
	cmd.Env = append(cmd.Env, fmt.Sprint("PGAS_PE=", pe), "PGAS_HOSTS="+s.list, "PGAS_RENDEZVOUS="+s.at, "PGAS_SECRET_FILE="+s.secret)
	cmd.Env = append(cmd.Env, s.env...)
	return cmd
}

// pes returns the commands of the four PEs, two on each host.
func (s static) pes(t *testing.T, argv ...string) []*exec.Cmd {
	return []*exec.Cmd{s.pe(t, 0, 0, argv...), s.pe(t, 1, 0, argv...), s.pe(t, 2, 1, argv...), s.pe(t, 3, 1, argv...)}
}

var byHand = launcher{
	name:   "static",
	need:   func(t testing.TB) { needHosts(t) },
	start:  func(t *testing.T, _ string, argv ...string) []*exec.Cmd { return newStatic(t).pes(t, argv...) },
	cancel: terminate,
}

func TestStaticMistakes(t *testing.T) {
	s := newStatic(t)
	some := func(first, end int) func(timeout string) outcome {
		return func(timeout string) outcome {
			short := s
			short.env = []string{timeout}
			return start(t, short.pes(t, bin+"/body")[first:end]...)
		}
	}
	t.Run("one never comes", func(t *testing.T) {
		expectMissing(t, some(0, 3), 1, "3 of 4 processes have come within %s; missing: rank 3 (on two)")
	})
	t.Run("PE 0 never comes", func(t *testing.T) {
		expectMissing(t, some(1, 4), 1, "answered as the exchange of this job within %s")
	})
	t.Run("wrong hosts", func(t *testing.T) {
		cmds := s.pes(t, bin+"/body")
		cmds[1] = s.pe(t, 1, 1, bin+"/body")
		expect(t, start(t, cmds...), 1, "are on one host (one) by the list of hosts, but cannot share memory: correct the list")
	})
	t.Run("two lists", func(t *testing.T) {
		other := s
		other.list = "one:2,two:3"
		cmds := s.pes(t, bin+"/body")
		cmds[3] = other.pe(t, 3, 1, bin+"/body")
		expect(t, start(t, cmds...), 1, "was told of 5 processes, but rank 0")
	})
	t.Run("two versions", func(t *testing.T) {
		cmds := s.pes(t, bin+"/body")
		cmds[3] = s.pe(t, 3, 1, otherVersion(t))
		expect(t, start(t, cmds...), 1, "has version v0.0.9-devel", "install the same program on every host")
	})
	t.Run("two programs", func(t *testing.T) {
		cmds := s.pes(t, bin+"/body")
		cmds[3] = s.pe(t, 3, 1, bin+"/wordcount")
		expect(t, start(t, cmds...), 1, "runs another build of the program than rank 0", "install the same file on every host")
	})
	t.Run("one looks for races", func(t *testing.T) {
		cmds := s.pes(t, bin+"/body")
		cmds[3].Env = append(cmds[3].Env, "PGAS_CHECK=race")
		expect(t, start(t, cmds...), 1, "has PGAS_CHECK=race, but rank", "does not: set the same for every process")
	})
	t.Run("a secret that others can read", func(t *testing.T) {
		open := s
		open.secret = filepath.Join(t.TempDir(), "open")
		if err := os.WriteFile(open.secret, make([]byte, 32), 0o644); err != nil {
			t.Fatal(err)
		}
		expect(t, start(t, open.pe(t, 0, 0, bin+"/body")), 1, "has mode 0644, so that other users may know the secret")
	})
	nothingLeft(t)
}

// otherVersion builds the body with another version of gopgas.
func otherVersion(t *testing.T) string {
	t.Helper()
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(root, "pgas/version/version.go")
	content, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	changed, overlay, program := filepath.Join(dir, "version.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "other")
	old := regexp.MustCompile(`const Next = ".*"`).ReplaceAll(content, []byte(`const Next = "v0.0.9"`))
	list, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err := errors.Join(err, os.WriteFile(changed, old, 0o600), os.WriteFile(overlay, list, 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./tests/clusters/body")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestStrangerOnPort: a process that has the port of the exchange, and one that connects to it, do no harm.
func TestStrangerOnPort(t *testing.T) {
	s := newStatic(t)
	s.env = []string{"PGAS_BOOT_TIMEOUT=2s"}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte(strings.Repeat("other", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	taken := onHost(hangContext(t), 0, "sh", "-c", `exec "$0" waits`, bin+"/body")
	taken.Env = append(taken.Env, "PGAS_PE=0", "PGAS_HOSTS=one:2", "PGAS_RENDEZVOUS="+s.at, "PGAS_SECRET_FILE="+other, "PGAS_BOOT_TIMEOUT=60s")
	if err := taken.Start(); err != nil {
		t.Fatal(err)
	}
	if err := await(func() bool {
		return exec.Command("nsenter", "--net=/run/netns/"+hosts.Names[0], "sh", "-c", "ss -tln | grep -q :7070").Run() == nil
	}); err != nil {
		t.Fatal(err)
	}
	expect(t, start(t, s.pes(t, bin+"/body")...), 1, "address already in use", "end what uses the port, or choose another in PGAS_RENDEZVOUS")
	greetStranger(t)
	taken.Process.Kill()
	taken.Wait()
	nothingLeft(t)
}

// greetStranger connects to the exchange without the secret: it gets random bytes and a closed connection.
func greetStranger(t *testing.T) {
	t.Helper()
	script := "exec 3<>/dev/tcp/" + strings.Replace(hosts.Addresses[0], ":", "/", 1) + "/7070; head -c 100 /dev/zero >&3; cat <&3 | wc -c"
	out, err := exec.Command("nsenter", "--net=/run/netns/"+hosts.Names[1], "bash", "-c", script).Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != "32" {
		t.Errorf("a stranger gets %q bytes, %v; want 32", got, err)
	}
}
