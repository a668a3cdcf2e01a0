package join

// Jobs that assemble without a launcher's agent: the processes are goroutines here, each with a segment of its own
// mapping.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

func TestPlan(t *testing.T) {
	all := func(hosts ...string) (list []newcomer) {
		for rank, h := range hosts {
			list = append(list, newcomer{Rank: rank, Size: len(hosts), Host: h, Machine: h, Memory: 1 << 30, CPUs: []int{rank % 2}})
		}
		return list
	}
	places, err := plan(all("a", "b", "a", "b", "b"))
	if err != nil {
		t.Fatal(err)
	}
	var pes []int
	for _, p := range places {
		pes = append(pes, p.PE)
	}
	if fmt.Sprint(pes) != "[0 2 1 3 4]" || fmt.Sprint(places[1].Hosts) != "[{a 0 2} {b 2 3}]" || places[4].HostIndex != 1 || places[4].Cores != 2 || places[0].Cores != 1 {
		t.Errorf("ranks dealt to the hosts in turn get %+v", places)
	}
	for want, change := range map[string]func(*newcomer){
		"has version v9 of gopgas":          func(n *newcomer) { n.Version = "v9" },
		"runs another build of the program": func(n *newcomer) { n.Build = "x" },
		"was told of 9 processes":           func(n *newcomer) { n.Size = 9 },
		"was told other hosts":              func(n *newcomer) { n.Told = digest([]string{"a", "a", "b"}) },
		"set the same for every process":    func(n *newcomer) { n.HeapMax = 1 << 20 },
		"PGAS_CHECK=race, but rank 0":       func(n *newcomer) { n.Race = true },
	} {
		list := all("a", "a", "b")
		change(&list[2])
		if _, err := plan(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	list := all("a", "b")
	for i := range list {
		list[i].Told, list[i].Place = digest([]string{"a", "a"}), "a"
	}
	if _, err := plan(list); err == nil || !strings.Contains(err.Error(), "correct the list") {
		t.Errorf("%v for PEs of one host by the list that share no memory", err)
	}
}

// joinAll assembles a job of static processes, which have as long as a test may take.
func joinAll(t *testing.T, hosts string) ([]*boot.Job, []error) {
	t.Helper()
	set := boot.Settings{BootTimeout: hang.Limit, HeapMax: 1 << 20}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, newNonce(), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(pe int) Environment {
		return Environment{boot.EnvPE: fmt.Sprint(pe), boot.EnvHosts: hosts, boot.EnvRendezvous: freeAddr(t), boot.EnvSecretFile: secret}
	}
	addr := freeAddr(t)
	list, err := staticHosts(hosts)
	if err != nil {
		t.Fatal(err)
	}
	n := list[len(list)-1].First + list[len(list)-1].PEs
	jobs, errs := make([]*boot.Job, n), make([]error, n)
	var running sync.WaitGroup
	for pe := range n {
		e := env(pe)
		e[boot.EnvRendezvous] = addr
		running.Go(func() {
			m, err := staticMeeting(e)
			if err != nil {
				errs[pe] = err
				return
			}
			jobs[pe], errs[pe] = assembleHere(t.Context(), m, set)
		})
	}
	running.Wait()
	return jobs, errs
}

// memberOf returns the member that a PE of joinAll is.
func memberOf(j *boot.Job) *member { return j.Member.(*member) }

func freeAddr(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// assembleHere is assemble for goroutines: they cannot each own a page of the segment by their process, nor end it.
func assembleHere(ctx context.Context, m *meeting, set boot.Settings) (*boot.Job, error) {
	j, _, err := assembleMember(ctx, m, set)
	if err != nil {
		return nil, err
	}
	j.State().Process.Store(int64(1 + j.PE))
	return j, nil
}

// TestAssemble: the PEs of a host share memory, and the death of one is told to all.
func TestAssemble(t *testing.T) {
	jobs, errs := joinAll(t, "a:2,b:2")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for pe, j := range jobs {
		if j.PE != pe || j.NPEs != 4 || j.HostIndex != pe/2 || j.Segment.Header.Local != 2 || j.Exchange == nil {
			t.Errorf("PE %d is %+v", pe, j)
		}
		j.Segment.Heap(pe % 2)[boot.ReservedBytes] = byte(10 + pe)
	}
	for pe, j := range jobs {
		if got := j.Segment.Heap(1 - pe%2)[boot.ReservedBytes]; got != byte(10+pe^1) {
			t.Errorf("PE %d reads %d of its neighbour", pe, got)
		}
	}
	close(memberOf(jobs[2]).left)              // a dead process sees nothing
	memberOf(jobs[2]).client.link.conn.Close() // as the kernel does for it
	for _, pe := range []int{0, 1, 3} {
		head := jobs[pe].Segment.Header
		awaitTrue(t, "a PE does not learn of the death of another", func() bool { return head.Failed.Load() != 0 })
		if head.Failed.Load() != 3 || head.FailedHow.Load() != boot.GoneHow {
			t.Errorf("PE %d knows of failure %d, %#x", pe, head.Failed.Load(), head.FailedHow.Load())
		}
		jobs[pe].Leave() // or this process would be ended
	}
}

// asFirstFailure marks the process that TestFirstFailure starts.
const asFirstFailure = "BOOT_TEST_FIRST_FAILURE"

// TestFirstFailure: PEs end because of the first failure alone, also if the end of the arbiter's process follows.
func TestFirstFailure(t *testing.T) {
	if os.Getenv(asFirstFailure) != "" {
		failTwice(t)
		return
	}
	job := exec.CommandContext(bounded(t), os.Args[0], "-test.run=^TestFirstFailure$")
	job.Env = append(os.Environ(), asFirstFailure+"=1")
	out, _ := job.CombinedOutput() // the runtime ends the process with status 1
	for pe, host := range []string{"a", "b", "c"} {
		ends := fmt.Sprintf("PE %d on %s: ends, because", pe, host)
		if pe != 2 && (strings.Count(string(out), ends) != 1 || !strings.Contains(string(out), ends+" PE 2 on c")) {
			t.Errorf("PE %d is to end because of PE 2:\n%s", pe, out)
		}
	}
}

// failTwice is the process with every PE of a job. PE 2 has failed, and then the process of the arbiter, which is PE 0,
// ends.
func failTwice(t *testing.T) {
	signal.Ignore(syscall.SIGTERM) // as PEs do that take long to end
	jobs, errs := joinAll(t, "a:1,b:1,c:1")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	server := memberOf(jobs[0]).server
	server.mu.Lock()
	link := server.links[1]
	server.mu.Unlock()
	close(memberOf(jobs[2]).left)   // it says nothing
	jobs[0].EndsBy(boot.EndLost, 2) // PE 0 has lost it, and ends: the members are told before EndsBy returns
	link.conn.Close()               // as the kernel does when the process of PE 0 has ended
	time.Sleep(hang.Limit)
	t.Error("the runtime has not ended this process")
}

// TestLeaveIsNoFailure: PEs that leave, PE 0 first, are not reported. One that ends without leaving is.
func TestLeaveIsNoFailure(t *testing.T) {
	inBubble(t, boot.Settings{HeapMax: 1 << 20}, "a:4", func(b *bubble) {
		for _, j := range b.jobs[:2] {
			j.Leave()
			memberOf(j).client.link.conn.Close()
		}
		synctest.Wait()
		if failed, _ := b.failed(3); failed >= 0 || b.jobs[3].Exchange != nil {
			t.Errorf("PE %d has failed after PEs have left", failed)
		}
		b.stop(2)
		memberOf(b.jobs[2]).client.link.conn.Close() // as the kernel does for a process that ends
		synctest.Wait()
		if failed, _ := b.failed(3); failed != 2 {
			t.Errorf("PE %d has failed after PE 2 has ended", failed)
		}
		b.jobs[3].Leave()
	})
}

// TestNotAllCome: the error names the process that is missing, everywhere.
func TestNotAllCome(t *testing.T) {
	inBubble(t, boot.Settings{BootTimeout: time.Second}, "a:2,b:2", func(b *bubble) {
		for pe, err := range b.errs[:3] {
			if err == nil || !strings.Contains(err.Error(), "3 of 4 processes have come within 1s; missing: rank 3 (on b)") {
				t.Errorf("PE %d: %v", pe, err)
			}
		}
	}, 3)
}

// TestStartedAgain: a process that comes in the place of one that has come is refused with a reason. The job goes on
// while that one lives, and has lost its PE when it has ended.
func TestStartedAgain(t *testing.T) {
	jobs, errs := joinAll(t, "a:2,b:2")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	again := func() error {
		old := memberOf(jobs[3]).client
		m := newMember(&ticket{ID: old.id, Secret: old.secret, Addrs: old.addrs}, 3, nil, hang.Limit)
		defer m.abandon()
		_, err := m.join(t.Context(), newcomer{Rank: 3, Size: 4})
		return err
	}
	for range 3 {
		if err := again(); err == nil || !strings.Contains(err.Error(), "rank 3 of this job is running already") {
			t.Errorf("beside the first: %v", err)
		}
	}
	if failed := jobs[1].Segment.Header.Failed.Load(); failed != 0 {
		t.Errorf("PE %d has failed", failed-1)
	}
	close(memberOf(jobs[3]).left)
	memberOf(jobs[3]).client.link.conn.Close()
	head := jobs[1].Segment.Header
	awaitTrue(t, "the death of PE 3 is not noticed", func() bool { return head.Failed.Load() != 0 })
	if head.Failed.Load() != 4 {
		t.Errorf("PE %d has failed", head.Failed.Load()-1)
	}
	if err := again(); err == nil || !strings.Contains(err.Error(), "rank 3 of this job has run already, and its process has ended: one that is started again cannot take its place; start the whole job anew") {
		t.Errorf("after the first: %v", err)
	}
	for _, j := range jobs[:3] {
		j.Leave() // or this process would be ended
	}
}

// TestUnanswered: the error of a search for the server says what has failed at each address.
func TestUnanswered(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := ln.Addr().String()
	ln.Close()
	m := newMember(&ticket{ID: newJobID(), Secret: newNonce(), Addrs: []string{"no-such-host.invalid:7070", closed}}, 1, nil, time.Second)
	defer m.abandon()
	_, err = m.join(t.Context(), newcomer{Rank: 1, Size: 2})
	for _, want := range []string{"lookup no-such-host.invalid", closed + " (dial tcp " + closed + ": connect: connection refused)", "within 1s", "a name must resolve on every host", "PGAS_RENDEZVOUS chooses it"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %s", err, want)
		}
	}
}

// TestStaticPlace: a launcher of all PEs of a host learns which host it is.
func TestStaticPlace(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, make([]byte, 32), 0o600); err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"0": "0", "1": "1", "b.x": "1",
		"2": "PGAS_HOST=2 is none of the 2 hosts of PGAS_HOSTS=a:2,b.x:3", "-1": "PGAS_HOST=-1 is none", "c": "PGAS_HOST=c is none",
		"": "PGAS_HOST is not set: a static start needs PGAS_HOST, PGAS_HOSTS,",
	} {
		hosts, index, err := StaticPlace(Environment{boot.EnvHost: host, boot.EnvHosts: "a:2,b.x:3", boot.EnvRendezvous: "a:1", boot.EnvSecretFile: secret})
		got := strconv.Itoa(index)
		if err != nil {
			got = err.Error()
		} else if hosts[1].First != 2 {
			t.Errorf("%v", hosts)
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", host, got)
		}
	}
	if got := EnvironOf([]string{"A=1", "PGAS_HOST=1", "PGAS_PE=9"}, 3); !slices.Equal(got, []string{"A=1", "PGAS_PE=3"}) {
		t.Errorf("%q", got)
	}
}

func TestStaticMistakes(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, bytes int, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, make([]byte, bytes), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, fifo, huge := file("good", 32, 0o600), filepath.Join(dir, "fifo"), file("huge", 1, 0o600)
	if err := errors.Join(syscall.Mkfifo(fifo, 0o600), os.Truncate(huge, MaxHostFile+1)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pe, hosts, at, secret, want string }{
		{"0", "a:2", "a:1", "", "PGAS_SECRET_FILE is not set: a static start needs"},
		{"2", "a:2", "a:1", good, "PGAS_PE=2 is not one of the 2 PEs"},
		{"0", "a:2", "a", good, "PGAS_RENDEZVOUS=a is not an address with a port"},
		{"0", "a:2", "fd00::1:7070", good, "PGAS_RENDEZVOUS=fd00::1:7070 is not an address with a port, such as node1:7070 or [fd00::1]:7070"},
		{"0", "a:x", "a:1", good, `PGAS_HOSTS=a:x: "x" is not a number of PEs for host a: write a:2`},
		{"0", "a,b,a", "a:1", good, "host a is listed again with others between, and PEs of a host have consecutive numbers: put its entries together"},
		{"0", "a:1048576,b", "a:1", good, "a job has at most 1048576 PEs"},
		{"0", "@/nonexistent", "a:1", good, "PGAS_HOSTS=@/nonexistent: open"},
		{"0", "a:2", "a:1", file("open", 32, 0o644), "has mode 0644, so that other users may know the secret: make a new one with mode 0600"},
		{"0", "a:2", "a:1", file("short", 31, 0o600), "has 31 bytes"},
		{"0", "a:2", "a:1", dir, "is a directory: name a regular file"},
		{"0", "a:2", "a:1", fifo, "is a pipe: name a regular file"},
		{"0", "a:2", "a:1", "/dev/zero", "is a device: name a regular file"},
		{"0", "@" + fifo, "a:1", good, "is a pipe: name a regular file"},
		{"0", "@/dev/zero", "a:1", good, "is a device: name a regular file"},
		{"0", "@" + huge, "a:1", good, "/huge has more than 67108864 bytes: name the right file"},
	} {
		_, err := staticMeeting(Environment{boot.EnvPE: c.pe, boot.EnvHosts: c.hosts, boot.EnvRendezvous: c.at, boot.EnvSecretFile: c.secret})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
	list := filepath.Join(dir, "hosts")
	if err := os.WriteFile(list, []byte("# two\na:2\nb:1 # slow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := staticMeeting(Environment{boot.EnvPE: "2", boot.EnvHosts: "@" + list, boot.EnvRendezvous: "a:1", boot.EnvSecretFile: good})
	if err != nil || m.size != 3 || m.host != "b" {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestSecretOfAGroup: a file of root that a group may read is accepted from a process that is not root's.
func TestSecretOfAGroup(t *testing.T) {
	for _, c := range []struct {
		owner uint32
		mode  os.FileMode
		user  int
		want  bool
	}{{0, 0o440, 65532, true}, {0, 0o640, 65532, true}, {0, 0o444, 65532, false}, {0, 0o460, 65532, false}, {65532, 0o440, 65532, false}, {0, 0o440, 0, false}} {
		if got := groupMayRead(c.owner, c.mode, c.user); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
