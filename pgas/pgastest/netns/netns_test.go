package netns

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ownerEnv makes the test binary a process that owns two hosts until its standard input ends.
const ownerEnv = "NETNS_TEST_OWNER"

func TestMain(m *testing.M) {
	if os.Getenv(ownerEnv) == "" {
		os.Exit(m.Run())
	}
	h, err := New(2)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(append(h.Names, h.Bridge), " "))
	io.Copy(io.Discard, os.Stdin)
	if err := h.Close(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// owner is such a process and the names of its namespaces.
type owner struct {
	cmd   *exec.Cmd
	stdin io.Closer
	names []string
}

func startOwner(t *testing.T) *owner {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerEnv+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the owner says %q: %v", line, err)
	}
	return &owner{cmd, stdin, strings.Fields(line)}
}

// left returns those of names that exist.
func left(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !exists(n) })
}

func needHosts(t *testing.T) {
	t.Helper()
	if err := Usable(); err != nil {
		t.Skip(err)
	}
}

// TestHosts: hosts reach each other by their addresses, and are gone after Close.
func TestHosts(t *testing.T) {
	needHosts(t)
	h, err := New(2)
	if err != nil {
		t.Fatal(err)
	}
	names := append(slices.Clone(h.Names), h.Bridge)
	if out, err := exec.Command("ip", "netns", "exec", h.Names[0], "ip", "route", "get", h.Addresses[1]).CombinedOutput(); err != nil || !strings.Contains(string(out), "dev eth0") {
		t.Errorf("host 0 reaches host 1 by %q, %v", out, err)
	}
	links, err := exec.Command("ip", "-n", h.Bridge, "-o", "link", "show", "master", "br0").Output()
	if err != nil || strings.Count(string(links), "\n") != 2 {
		t.Errorf("on the bridge are %q, %v", links, err)
	}
	if here, err := net.InterfaceByName("br0"); err == nil && here != nil {
		t.Log("this machine has a bridge br0 of its own") // and it is not ours
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if l := left(names); len(l) > 0 {
		t.Errorf("left: %q", l)
	}
}

// TestTwoInOneProcess: hosts of one process do not collide.
func TestTwoInOneProcess(t *testing.T) {
	needHosts(t)
	var all []string
	for range 2 {
		h, err := New(1)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		all = append(all, h.Names[0], h.Bridge)
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 4 {
		t.Errorf("%d names for four namespaces", n)
	}
	if sweep(); len(left(all)) != 4 {
		t.Errorf("of %q a sweep has left %q", all, left(all))
	}
}

// TestKilledOwner: a sweep leaves the hosts of a process that lives, and removes those of one that was killed.
func TestKilledOwner(t *testing.T) {
	needHosts(t)
	o := startOwner(t)
	if sweep(); len(left(o.names)) != 3 {
		t.Fatalf("of %q a sweep has left %q, though their owner lives", o.names, left(o.names))
	}
	if err := o.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	o.cmd.Wait()
	if len(left(o.names)) != 3 {
		t.Logf("another process has swept already: %q are left", left(o.names))
	}
	h, err := New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if l := left(o.names); len(l) > 0 {
		t.Errorf("New has left %q of a killed owner", l)
	}
}

// TestHostsWithoutBridge: what a sweep left behind that was killed itself goes with the next one.
func TestHostsWithoutBridge(t *testing.T) {
	needHosts(t)
	name := groupName(os.Getpid(), mostGroups) + "-7"
	if err := ip("netns", "add", name); err != nil {
		t.Fatal(err)
	}
	if sweep(); exists(name) {
		t.Errorf("%s is left", name)
		ip("netns", "del", name)
	}
}

// TestOtherNames: a sweep touches no namespace whose name New does not make.
func TestOtherNames(t *testing.T) {
	for name, want := range map[string]bool{
		"pgas-12-net": true, "pgas-12-0": true, "pgas-12.3-net": true, "pgas-12.3-17": true,
		"pgas-net": false, "pgas-a-net": false, "pgas-12-nets": false, "pgas12h0": false, "pgas-12-a": false, "my-pgas-12-0": false, "pgas-12-": false,
	} {
		if ours.MatchString(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestSweptBeforeLocked: the owner of a bridge that was swept before the owner had the lock notices it.
func TestSweptBeforeLocked(t *testing.T) {
	needHosts(t)
	name := groupName(os.Getpid(), mostGroups+1) + bridgeSuffix
	var sweeper *os.File
	for sweeper == nil { // another process may sweep it first
		if err := ip("netns", "add", name); err != nil {
			t.Fatal(err)
		}
		sweeper, _ = lockNamespace(name, unix.LOCK_NB)
	}
	if _, err := lockNamespace(name, unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("a second lock: %v", err)
	}
	got := make(chan *os.File)
	go func() {
		lock, _ := lockNamespace(name, 0) // waits for the sweeper, or finds the name gone
		got <- lock
	}()
	time.Sleep(10 * time.Millisecond) // the goroutine is likely to wait by then; the outcome is the same if not
	if err := ip("netns", "del", name); err != nil {
		t.Fatal(err)
	}
	sweeper.Close()
	if lock := <-got; lock != nil {
		t.Error("the owner has a lock on a namespace without a name")
	}
}

// TestSweptBeforeMounted: a name that has no namespace yet is left alone.
func TestSweptBeforeMounted(t *testing.T) {
	needHosts(t)
	path := filepath.Join(directory, groupName(os.Getpid(), mostGroups+2)+bridgeSuffix)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	sweep()
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// fakeIP puts an ip command on PATH that fails at words or a line of a batch like fail, after the lines before it.
func fakeIP(t *testing.T, fail string) {
	t.Helper()
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	script := `#!/bin/sh
case "$*" in FAIL) echo refused by the test >&2; exit 2 ;; *-batch*) ;; *) exec IP "$@" ;; esac
lines= n=0
while read -r line || [ "$line" ]; do
	n=$((n+1))
	case "$line" in FAIL) printf "$lines" | IP "$@"; printf "refused by the test\nCommand failed -:$n\n" >&2; exit 1 ;; esac
	lines="$lines$line\n"
done
printf "$lines" | IP "$@"
`
	script = strings.NewReplacer("FAIL", fail, "IP", ip).Replace(script)
	if err := os.WriteFile(filepath.Join(dir, "ip"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// TestFailingStep: whatever step fails, New says which, as the command that it alone would be, and nothing is left.
func TestFailingStep(t *testing.T) {
	needHosts(t)
	before := namesHere(t)
	const host = `pgas-[0-9.]+-`
	for step, command := range map[string]string{
		`*"type bridge"`:         "ip -n " + host + "net link add br0 up type bridge",
		`"netns add "*-0`:        "ip netns add " + host + "0",
		`*"type veth"*-1`:        "ip -n " + host + "net link add port1 up master br0 type veth peer name eth0 netns " + host + "1",
		`*"addr add 10.77.1.2"*`: "ip -n " + host + "1 addr add 10.77.1.2/24 dev eth0",
		`*"set lo up"`:           "ip -n " + host + "0 link set lo up",
	} {
		t.Run(step, func(t *testing.T) {
			fakeIP(t, step)
			want := regexp.MustCompile("^`" + command + "` failed \\(exit status 1\\): refused by the test$")
			if _, err := New(2); err == nil || !want.MatchString(err.Error()) {
				t.Errorf("the error is %v, want %v", err, want)
			}
			if after := namesHere(t); !slices.Equal(after, before) {
				t.Errorf("left: %q, before: %q", after, before)
			}
		})
	}
}

// namesHere returns the namespaces that this process has made.
func namesHere(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(directory, groupName(os.Getpid(), 0)+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestContext: a context that has ended makes nothing, and its cause is the error.
func TestContext(t *testing.T) {
	needHosts(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stopped by the test")
	cancel(cause)
	if _, err := NewContext(ctx, 2); !errors.Is(err, cause) {
		t.Errorf("the error is %v", err)
	}
	if l := namesHere(t); len(l) > 0 {
		t.Errorf("left: %q", l)
	}
}

// TestWithout: without root, or without ip, there is one line with the remedy.
func TestWithout(t *testing.T) {
	for _, n := range []int{0, MaxHosts + 1} {
		if _, err := New(n); err == nil || !strings.Contains(err.Error(), "from 1 to 200") {
			t.Errorf("%d hosts: %v", n, err)
		}
	}
	want := "install iproute2"
	if os.Geteuid() != 0 {
		want = "sudo"
	}
	t.Setenv("PATH", t.TempDir())
	if err := Usable(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v, want one line with %q", err, want)
	}
}
