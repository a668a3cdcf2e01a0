//go:build cgo

package stranger

// A process of an old term comes back when the next term of the job runs (pgasrun -survive). It has everything that a
// PE of its term had, the addresses of the new exchange, and in the end those of the new PEs. The term has another name
// and another secret. So nothing may serve the process.

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/capture"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/transport/ucp"
)

// termsEnv says what a process of TestOldTerm is: of the "job", "back" from the old term, or on old "lanes".
const termsEnv = "STRANGER_TEST_TERMS"

const (
	bootAddrEnv = "PGAS_BOOT_ADDR"
	lanes       = 8 // more than a PE of the job has to another one: the number of a lane is used once
)

// TestOldTerm: a process with the keys of the first term takes no part in the second one. The exchange turns it away,
// with the name of its own term and with that of the new one. A PE throws away what it puts.
func TestOldTerm(t *testing.T) {
	var log capture.Output
	logf := func(format string, args ...any) { fmt.Fprintf(&log, format+"\n", args...) }
	j := start(t, 1, launch.Spec{Survive: 1, Env: []string{termsEnv + "=job"}, Logf: logf})
	victim := j.look(1, 1).pid
	for pe := range 2 {
		os.Remove(j.file(pe))
	}
	syscall.Kill(victim, syscall.SIGKILL)
	j.await("the next term starts", func() bool { return exists(j.dir + "/keys2.0") }) // and waits in keepKeys
	var back, onLanes sync.WaitGroup
	t.Cleanup(func() { back.Wait(); onLanes.Wait() }) // when the context of the test has ended
	for i, id := range []string{j.key("1.0", boot.EnvJobID), j.key("2.0", boot.EnvJobID)} {
		back.Go(func() { j.callExchange(1+i, id) })
	}
	turnedAway := func(host int) bool {
		return strings.Contains(log.String(), "turned away "+j.hosts.Addresses[host]+":")
	}
	j.await("the exchange turns both away", func() bool { return turnedAway(1) && turnedAway(2) || exists(j.file(0)) || t.Failed() })
	if exists(j.file(0)) {
		t.Fatal("a process with keys of the old term is PE 0 of the new one")
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "turned away") && !strings.HasSuffix(line, ": the other side does not hold the secret of this job\n") {
			t.Error(line)
		}
	}
	if err := os.WriteFile(j.dir+"/admit", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	j.await("the new PEs compute", func() bool { return exists(j.file(0)) && exists(j.file(1)) })
	onLanes.Go(func() { writeWhole(j.dir+"/outcome", []byte(j.comeBack(1, 1, termsEnv+"=lanes"))) })
	j.await("the puts fail", func() bool { return exists(j.dir + "/outcome") })
	outcome, _ := os.ReadFile(j.dir + "/outcome")
	if strings.Count(string(outcome), "PE 0 on host "+j.hosts.Names[0]+": it has not answered for too long") != lanes {
		t.Fatalf("a process of the old term puts on %d lanes: %s", lanes, outcome)
	}
	back.Wait()
	out, errs := j.finish()
	j.right(out, 2)
	_, second, again := strings.Cut(errs, ": all PEs are started again (1 of 1 time)\n")
	if !again || !strings.HasPrefix(second, "[0] pgas: PE 0: "+report) || strings.Count(second, "\n") != 1 {
		t.Errorf("the job says:\n%s", errs)
	}
}

// callExchange has PE 0 of the first term come back on a host as PE 0 of job id. It knows both exchanges.
func (j *job) callExchange(host int, id string) {
	addrs := j.key("1.0", bootAddrEnv) + "," + j.key("2.0", bootAddrEnv)
	out := j.comeBack(host, 0, termsEnv+"=back", boot.EnvJobID+"="+id, bootAddrEnv+"="+addrs)
	if j.t.Context().Err() != nil {
		return // the test has failed
	}
	if !strings.HasPrefix(out, "exit status 1: pgas: PE 0 on ") || !strings.Contains(out, " answered as the exchange of this job within 5s: ") {
		j.t.Errorf("a process of the old term, as PE 0 of job %s: %s", id, out)
	}
}

// comeBack runs a process with the keys of a PE of the first term on a host, and returns how it ends and its output.
func (j *job) comeBack(host, pe int, env ...string) string {
	own := fmt.Sprint("1.", pe)
	secret, err1 := os.ReadFile(j.dir + "/secret" + own)
	segment, err2 := boot.CreateSegment(2, pe, 1, 1, heapMax)
	fd, err3 := unix.MemfdCreate("pgas-secret", unix.MFD_CLOEXEC)
	file := os.NewFile(uintptr(fd), "secret")
	_, err4 := file.Write(secret)
	self, err5 := os.Executable()
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err.Error()
	}
	defer segment.Close()
	defer file.Close()
	ctx, cancel := hang.Context(j.t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "ip", "netns", "exec", j.hosts.Names[host], self)
	cmd.Env = slices.Concat(j.environ(own), env, []string{boot.EnvSegmentFD + "=3", boot.EnvSecretFD + "=4", boot.EnvImagesFD + "=", boot.EnvTermsFD + "=", "PGAS_PEER_TIMEOUT=5s"})
	cmd.ExtraFiles = []*os.File{segment, file}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return err.Error()
	}
	return fmt.Sprintf("%v: %s", cmd.ProcessState, text)
}

// environ returns the environment that a PE has kept: "1.0" is PE 0 of the first term.
func (j *job) environ(of string) []string {
	text, err := os.ReadFile(j.dir + "/keys" + of)
	if err != nil {
		j.t.Error(err)
	}
	return strings.Split(string(text), "\x00")
}

// key returns a variable of that environment.
func (j *job) key(of, name string) (value string) {
	for _, v := range j.environ(of) {
		if after, ok := strings.CutPrefix(v, name+"="); ok {
			value = after
		}
	}
	return value
}

// keepKeys keeps what this PE was started with. PE 0 of the second term then waits, so that the exchange still listens,
// and keeps what it publishes.
func keepKeys() {
	dir, of := os.Getenv(dirEnv), os.Getenv(boot.EnvTerm)+"."+os.Getenv(boot.EnvPE)
	secret, err := os.ReadFile("/proc/self/fd/" + os.Getenv(boot.EnvSecretFD))
	mustDo(err, writeWhole(dir+"/secret"+of, secret))
	mustDo(writeWhole(dir+"/keys"+of, []byte(strings.Join(os.Environ(), "\x00"))))
	if of != "2.0" {
		return
	}
	for !exists(dir + "/admit") {
		time.Sleep(10 * time.Millisecond) // for the test to attack the exchange
	}
	ctx := context.Background()
	j, err := join.FromEnv(ctx, join.Options{})
	mustDo(err)
	j.Exchange = published{j.Exchange.(pathExchange), dir}
	w, err := pgas.Open(ctx, j)
	mustDo(err)
	mustDo(work(ctx, w))
	mustDo(w.Close())
	os.Exit(0)
}

// pathExchange is the exchange of a job of pgasrun.
type pathExchange interface {
	boot.Exchange
	join.Pathfinder
}

// published keeps what a PE publishes.
type published struct {
	pathExchange
	dir string
}

func (p published) Put(ctx context.Context, key string, value []byte) error {
	return errors.Join(os.WriteFile(valueFile(p.dir, key), value, 0o644), p.pathExchange.Put(ctx, key, value))
}

// valueFile is where what is published under key is kept.
func valueFile(dir, key string) string { return filepath.Join(dir, url.PathEscape(key)) }

// overheard has what PE 0 of the new term has published, for a process that the exchange turns away.
type overheard struct {
	boot.Exchange
	dir string
}

func (overheard) Put(context.Context, string, []byte) error { return nil }

func (overheard) Fence(context.Context) error { return nil }

func (o overheard) Get(_ context.Context, key string) ([]byte, error) {
	return os.ReadFile(valueFile(o.dir, key))
}

// putFromOldTerm puts to the memory of PE 0 that the job computes with, on several lanes at once, and says how that
// ends. Then it waits to be killed, so that PE 0 loses no connection before the job ends.
func putFromOldTerm() {
	ctx, dir := context.Background(), os.Getenv(dirEnv)
	j, err := join.FromEnv(ctx, join.Options{})
	mustDo(err)
	j.Exchange = overheard{dir: dir}
	t, err := ucp.Open(ctx, j, ucp.Settings{})
	mustDo(err)
	var puts sync.WaitGroup
	var outcomes [lanes]error
	ones := slices.Repeat([]byte{0xff}, 512) // few enough not to wait for the lane to open
	for lane := range lanes {
		c, err := t.Channel(false)
		mustDo(err)
		c.Put(0, uint64(boot.ReservedBytes+lane*8*words/4), ones) // the fifth is for the counter
		puts.Go(func() { outcomes[lane] = c.Quiet(ctx, 0) })
	}
	puts.Wait()
	mustDo(writeWhole(dir+"/outcome", fmt.Append(nil, outcomes)))
	unix.Pause()
}

func mustDo(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
