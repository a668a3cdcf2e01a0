//go:build cgo

package stranger

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/capture"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

const (
	peEnv  = "STRANGER_TEST_IS_PE"
	dirEnv = "STRANGER_TEST_DIR"

	heapMax = 64 << 20
)

func TestMain(m *testing.M) {
	launch.MaybeAgent()
	if os.Getenv(peEnv) != "" {
		bePE()
		return
	}
	os.Exit(m.Run())
}

// job is a job under attack.
type job struct {
	t      *testing.T
	hosts  *netns.Hosts // two of the job's, and the stranger's
	dir    string       // readable by every user
	out    capture.Output
	errs   capture.Output
	ended  chan struct{} // closed with what follows set
	result launch.Result
	err    error
}

// pe is what a PE has written about itself.
type pe struct {
	pid    int
	global uint64 // address of a word outside its heap
	ports  []int
	memory int64 // bytes in use at first
}

// start runs a job on two hosts out of three: PEs of the given number on each. It fills in the rest of spec.
func start(t *testing.T, each int, spec launch.Spec) *job {
	t.Helper()
	if testing.Short() {
		t.Skip("runs jobs on several hosts")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("the stranger is written in C: ", err)
	}
	hosts := pgastest.NewHosts(t, 3)
	dir, err := os.MkdirTemp("", "stranger")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	j := &job{t: t, hosts: hosts, dir: dir, ended: make(chan struct{})}
	j.compile()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	for _, name := range hosts.Names[:2] {
		spec.Hosts = append(spec.Hosts, boot.Host{Name: name, PEs: each})
	}
	spec.Program, spec.Template, spec.Tag, spec.Stdout, spec.Stderr = self, netns.Template, true, &j.out, &j.errs
	spec.Env = append(spec.Env, peEnv+"=1", dirEnv+"="+dir, fmt.Sprint("PGAS_HEAP_MAX=", heapMax))
	spec.Agent = []string{"env", boot.EnvAgent + "=1", self}
	go func() {
		defer close(j.ended)
		j.result, j.err = launch.Run(ctx, spec)
	}()
	t.Cleanup(func() { cancel(); <-j.ended })
	for n := range 2 * each {
		j.await(fmt.Sprintf("PE %d starts", n), func() bool { return exists(j.file(n)) })
	}
	return j
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (j *job) compile() {
	j.t.Helper()
	source, err := filepath.Abs("testdata/stranger.c")
	if err != nil {
		j.t.Fatal(err)
	}
	engine, err := filepath.Abs("../../ucx/engine")
	if err != nil {
		j.t.Fatal(err)
	}
	out, err := exec.Command("gcc", "-D_GNU_SOURCE", "-std=gnu11", "-O1", "-Wall", "-I", engine, "-o", j.dir+"/stranger", source, "-lucp", "-lucs").CombinedOutput()
	if err != nil {
		j.t.Skipf("the stranger does not compile, for want of UCX's headers? %v\n%s", err, out)
	}
}

func (j *job) file(pe int) string { return filepath.Join(j.dir, "pe"+strconv.Itoa(pe)) }

// await waits until done, and fails if the job ends first.
func (j *job) await(what string, done func() bool) {
	j.t.Helper()
	for !done() {
		select {
		case <-j.ended:
			if !done() {
				j.t.Fatalf("%s: the job has ended: status %d, %v\n%s%s", what, j.result.Status, j.err, j.out.String(), j.errs.String())
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// host returns the namespace of a PE.
func (j *job) host(n, each int) string { return j.hosts.Names[n/each] }

// look reads what PE n has written, and lists its ports, as any user of its host can.
func (j *job) look(n, each int) pe {
	j.t.Helper()
	text, err := os.ReadFile(j.file(n))
	if err != nil {
		j.t.Fatal(err)
	}
	var p pe
	if _, err := fmt.Sscan(string(text), &p.pid, &p.global); err != nil {
		j.t.Fatalf("%q: %v", text, err)
	}
	p.memory = resident(j.t, p.pid)
	for _, at := range j.listeners(n, each) {
		port, err := strconv.Atoi(at[strings.LastIndexByte(at, ':')+1:])
		if err != nil {
			j.t.Fatal(err)
		}
		p.ports = append(p.ports, port)
	}
	return p
}

// listeners returns the addresses that PE n listens on.
func (j *job) listeners(n, each int) []string {
	j.t.Helper()
	text, err := os.ReadFile(j.file(n))
	if err != nil {
		j.t.Fatal(err)
	}
	pid, _, _ := strings.Cut(string(text), " ")
	out, err := exec.Command("ip", "netns", "exec", j.host(n, each), "ss", "-ltnpH").Output()
	if err != nil {
		j.t.Fatalf("listing the listening sockets with ss, of iproute2: %v", err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); strings.Contains(line, "pid="+pid+",") {
			found = append(found, fields[3])
		}
	}
	return found
}

func resident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	fmt.Sscan(string(text), &size, &pages)
	return pages * int64(os.Getpagesize())
}

// attack runs the stranger on a host, and returns its output.
func (j *job) attack(host int, user uint32, what string, at int, port int, args ...string) string {
	j.t.Helper()
	ctx, cancel := hang.Context(j.t.Context())
	defer cancel()
	argv := append([]string{"netns", "exec", j.hosts.Names[host], "setpriv", "--reuid", fmt.Sprint(user), "--clear-groups", j.dir + "/stranger", what, j.hosts.Addresses[at], strconv.Itoa(port)}, args...)
	cmd := exec.CommandContext(ctx, "ip", argv...)
	cmd.Env = append(os.Environ(), "STRANGER_IP="+j.hosts.Addresses[host], "UCX_LOG_LEVEL=fatal", "UCX_WARN_UNUSED_ENV_VARS=n")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if what == "break" {
		return string(out) // which ends the job at any moment
	}
	select {
	case <-j.ended:
		j.t.Fatalf("%s ended the job: status %d, %v\n%s%s\nthe stranger: %s", argv, j.result.Status, j.err, j.out.String(), j.errs.String(), out)
	default:
	}
	if err != nil {
		j.t.Errorf("the stranger: %v\n%s", err, out)
	}
	return string(out)
}

// finish lets the job end and returns its output.
func (j *job) finish() (out, errs string) {
	j.t.Helper()
	if err := os.WriteFile(filepath.Join(j.dir, "stop"), nil, 0o644); err != nil {
		j.t.Fatal(err)
	}
	<-j.ended
	if j.err != nil || j.result.Status != 0 {
		j.t.Fatalf("the job: status %d, %v\n%s%s", j.result.Status, j.err, j.out.String(), j.errs.String())
	}
	return j.out.String(), j.errs.String()
}

// right fails unless every PE has found its memory right in every round.
func (j *job) right(out string, pes int) {
	j.t.Helper()
	if n := strings.Count(out, "all rounds were right"); n != pes {
		j.t.Fatalf("%d of %d PEs say that all was right:\n%s", n, pes, out)
	}
}

// endsOrGoesOn accepts both outcomes: a UCX without assertions ignores the 17 bytes, and the job goes on; with
// assertions the PE dies, and the job ends with a report that names it. The PE has read the bytes when it has computed
// many more rounds.
func (j *job) endsOrGoesOn() {
	j.t.Helper()
	const more = 200
	enough := j.rounds() + more
	for j.rounds() < enough && !j.hasEnded() {
		time.Sleep(10 * time.Millisecond)
	}
	if err := os.WriteFile(filepath.Join(j.dir, "stop"), nil, 0o644); err != nil {
		j.t.Fatal(err)
	}
	<-j.ended
	if j.err == nil && j.result.Status == 0 {
		j.right(j.out.String(), 2)
		j.t.Log("this UCX bears the 17 bytes")
		return
	}
	if j.err != nil || j.result.First == nil {
		j.t.Fatalf("the job ended with status %d, %v, and no report\n%s", j.result.Status, j.err, j.errs.String())
	}
	if j.result.First.PE != 0 {
		j.t.Errorf("PE 0 was attacked, and the job blames PE %d", j.result.First.PE)
	}
}

// rounds returns how many rounds PE 0 has computed.
func (j *job) rounds() (n int) {
	text, _ := os.ReadFile(filepath.Join(j.dir, roundsFile))
	fmt.Sscan(string(text), &n)
	return n
}

func (j *job) hasEnded() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}
