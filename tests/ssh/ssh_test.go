package ssh

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// TestMain makes this program a PE that never ends by itself, if its argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "pe" {
		pgas.Main(func(ctx context.Context, w *pgas.World) error {
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			fmt.Printf("PE %d is process %d\n", w.PE(), os.Getpid())
			if w.PE() == 0 {
				<-ctx.Done()
				return ctx.Err()
			}
			return w.Barrier(ctx) //pgasvet:ok PE 0 never comes, and ends the job
		})
		return
	}
	os.Exit(m.Run())
}

// TestCluster has one cluster for all that it tests.
func TestCluster(t *testing.T) {
	c := newCluster(t)
	for name, test := range map[string]func(c *cluster){
		"hello": testHello, "wordcount": testWordcount, "locks": testLocks, "statuses": testStatuses, "kill a PE": testKillPE, "kill sshd": testKillSshd, "refused": testRefused, "opt": testOpt, "stage": testStage,
	} {
		t.Run(name, func(t *testing.T) {
			c := *c
			c.t = t
			test(&c)
			c.nothingLeft()
		})
	}
}

const twoEach = "alpha:2,beta:2"

// testHello runs PEs of two users, one of which logs in through a jump host at a port of its own.
func testHello(c *cluster) {
	if c.reachable(c.hosts.Addresses[2]+":22") || !c.reachable(c.hosts.Addresses[2]+":2222") {
		c.t.Fatal("beta's sshd must listen at port 2222 only")
	}
	r := c.pgasrun(c.path("bin/pgasrun"), "-hosts", twoEach, "-launch", c.template(""), c.path("bin/hello"))
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	slices.Sort(lines)
	want := []string{
		"PE 0 of 4 on alpha: 23 degrees, put here by PE 3; PE 0 has counted 4",
		"PE 1 of 4 on alpha: 20 degrees, put here by PE 0; PE 0 has counted 4",
		"PE 2 of 4 on beta: 21 degrees, put here by PE 1; PE 0 has counted 4",
		"PE 3 of 4 on beta: 22 degrees, put here by PE 2; PE 0 has counted 4",
	}
	if r.status != 0 || r.errs != "" || !slices.Equal(lines, want) {
		c.t.Errorf("%+v", r)
	}
	log, err := os.ReadFile(c.path("log.beta"))
	must(c.t, err)
	if !strings.Contains(string(log), "Accepted publickey for guest from "+c.hosts.Addresses[1]) {
		c.t.Errorf("beta's user has not come through alpha:\n%s", log)
	}
}

func testWordcount(c *cluster) {
	tree := c.path("tree")
	must(c.t, os.Mkdir(tree, 0o755))
	for _, name := range []string{"cluster_test.go", "ssh_test.go"} {
		text, err := os.ReadFile(name)
		must(c.t, err)
		must(c.t, os.WriteFile(filepath.Join(tree, name), text, 0o644))
	}
	r := c.pgasrun(c.path("bin/pgasrun"), "-hosts", "alpha:1,beta:1", "-launch", c.template(""), c.path("bin/wordcount"), "-verify", "-input", tree)
	if r.status != 0 || !strings.Contains(r.out, "agree with a sequential count") {
		c.t.Errorf("%+v", r)
	}
}

// testLocks runs the body that Slurm, mpirun and a hand start, too.
func testLocks(c *cluster) {
	r := c.pgasrun(c.path("bin/pgasrun"), "-hosts", twoEach, "-launch", c.template(""), c.path("bin/body"), "locks")
	if r.status != 0 || r.out != "the lock holds\n" {
		c.t.Errorf("%+v", r)
	}
}

// testStatuses: the launcher exits with the status of a PE that fails, and with that of GlobalExit.
func testStatuses(c *cluster) {
	for body, want := range map[string]run{"fails": {status: 1, errs: "an error of the program"}, "exits": {status: 7}} {
		r := c.pgasrun(c.path("bin/pgasrun"), "-hosts", twoEach, "-launch", c.template(""), c.path("bin/body"), body)
		if r.status != want.status || !strings.Contains(r.errs, want.errs) {
			c.t.Errorf("%s: %+v", body, r)
		}
	}
}

// testKillPE kills a PE: the report names it, over ssh as anywhere.
func testKillPE(c *cluster) {
	r := c.disturbed(func(pids map[int]int) { syscall.Kill(pids[3], syscall.SIGKILL) })
	if r.status != 128+9 || !regexp.MustCompile(`(?m)^pgasrun: PE 3 on host beta \(process \d+\) was killed by signal 9`).MatchString(r.errs) {
		c.t.Errorf("%+v", r)
	}
}

// testKillSshd kills the sshd process that serves beta's agent.
func testKillSshd(c *cluster) {
	r := c.disturbed(func(pids map[int]int) {
		at := pids[2]
		for nameOf(at) != "sshd" && at > 1 {
			at = parentOf(c.t, at)
		}
		if at <= 1 {
			c.t.Errorf("PE 2 does not descend from an sshd")
		}
		syscall.Kill(at, syscall.SIGKILL)
	})
	if r.status == 0 || !regexp.MustCompile(`(?m)^pgasrun: host beta: the agent ended .*; its PEs are lost$`).MatchString(r.errs) {
		c.t.Errorf("%+v", r)
	}
}

// disturbed runs a job that would go on for ever, calls disturb with the process of each PE, and returns how it ends.
func (c *cluster) disturbed(disturb func(pids map[int]int)) run {
	c.t.Helper()
	ctx, cancel := hang.Context(c.t.Context())
	defer cancel()
	cmd := c.command(ctx, c.path("bin/pgasrun"), "-hosts", twoEach, "-launch", c.template(""), c.path("bin/pe"), "pe")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	must(c.t, err)
	must(c.t, cmd.Start())
	pids, text := map[int]int{}, ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var pe, pid int
		text += lines.Text() + "\n"
		if n, _ := fmt.Sscanf(lines.Text(), "PE %d is process %d", &pe, &pid); n == 2 {
			pids[pe] = pid
		}
		if len(pids) == 4 {
			disturb(pids)
			pids[-1] = 0 // once
		}
	}
	cmd.Wait()
	if ctx.Err() != nil || len(pids) < 4 {
		c.t.Fatalf("%v: %v\n%s%s", pids, context.Cause(ctx), text, &errs)
	}
	return run{cmd.ProcessState.ExitCode(), text, errs.String()}
}

func nameOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(text))
}

func parentOf(t testing.TB, pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(t, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	parent, err := strconv.Atoi(fields[1])
	must(t, err)
	return parent
}

// testRefused starts jobs on hosts that ssh does not reach: one line each, with the remedy.
func testRefused(c *cluster) {
	for host, want := range map[string]string{
		"nosuch.invalid": "Could not resolve hostname .*: no host has that name: correct -hosts, or set HostName for nosuch.invalid in the ssh configuration",
		"unknown":        "Host key verification failed: ssh does not know the host's key: run `ssh unknown` once by hand.*",
		"changed":        "REMOTE HOST IDENTIFICATION HAS CHANGED.*: the host has another key than before.*`ssh-keygen -R changed`.*",
		"refused":        "Permission denied \\(publickey\\): the host does not accept the key of this user: run `ssh-copy-id refused`.*",
		"closed":         "Connection refused: no program listens on that port: start sshd.*",
	} {
		r := c.pgasrun(c.path("bin/pgasrun"), "-hosts", "alpha:1,"+host+":1", "-launch", c.template(""), c.path("bin/hello"))
		c.oneLine(r, "pgasrun: host "+host+": .*"+want)
	}
	r := c.pgasrun(c.path("bin/pgasrun"), "-hosts", "alpha:1,beta:1", "-launch", c.template("-n "), c.path("bin/hello"))
	c.oneLine(r, "pgasrun: host (alpha|beta): .*standard input was closed .*ssh without -n.*")
}

// testOpt starts programs of the directory that each host has for itself.
func testOpt(c *cluster) {
	hello, err := os.ReadFile(c.path("bin/hello"))
	must(c.t, err)
	wordcount, err := os.ReadFile(c.path("bin/wordcount"))
	must(c.t, err)
	c.write("opt.alpha/one", string(hello), 0o755)
	c.write("opt.alpha/two", string(hello), 0o755)
	c.write("opt.beta/two", string(wordcount), 0o755)
	c.write("opt.alpha/data", "no program", 0o644)
	c.write("opt.beta/data", "no program", 0o644)
	for program, want := range map[string]string{
		"one":  "host beta: there is no program .*/opt/one: build or copy it there.*",
		"two":  "two different binaries in one job: .*/opt/two differs between host alpha and host beta: copy the same file to both.*",
		"data": "host (alpha|beta): .*/opt/data is not executable: chmod .x it, or name another program",
	} {
		r := c.pgasrun(c.path("bin/pgasrun"), "-hosts", twoEach, "-launch", c.template(""), c.path("opt/"+program))
		c.oneLine(r, "pgasrun: "+want)
	}
	launcher, err := os.ReadFile(c.path("bin/pgasrun"))
	must(c.t, err)
	c.write("opt/pgasrun", string(launcher), 0o755) // login's alone
	r := c.pgasrun(c.path("opt/pgasrun"), "-hosts", "alpha:1", "-launch", c.template(""), c.path("bin/hello"))
	c.oneLine(r, "pgasrun: host alpha: .*/opt/pgasrun: No such file or directory: pgasrun must be at that path on every host.*")
}

// progress matches what is said of a copy on a slow machine.
var progress = regexp.MustCompile(`(?m)^pgasrun: copying the program: \d+ of at most \d+ MB sent to \d hosts\n`)

// testStage starts a program from a directory that the hosts do not have, and caches that cannot take it.
func testStage(c *cluster) {
	for _, name := range []string{"pgasrun", "hello"} {
		text, err := os.ReadFile(c.path("bin/" + name))
		must(c.t, err)
		c.write("opt/staged-"+name, string(text), 0o755)
	}
	stage := func(hosts, template string) run {
		r := c.pgasrun(c.path("opt/staged-pgasrun"), "-stage", "-hosts", hosts, "-launch", template, c.path("opt/staged-hello"))
		r.errs = progress.ReplaceAllString(r.errs, "")
		return r
	}
	if r := stage(twoEach, c.template("")); r.status != 0 || r.errs != "" || strings.Count(r.out, "PE 0 has counted 4") != 4 {
		c.t.Errorf("%+v", r)
	}
	copies, err := filepath.Glob(c.path("home/cache.*/pgasrun/stage/*"))
	if must(c.t, err); len(copies) != 4 {
		c.t.Errorf("two hosts have %d copies of two files", len(copies))
	}
	for options, want := range map[string]string{
		"size=1m": "No space left on device: -stage found no room in the cache directory of alpha.*",
		"ro":      "Read-only file system: -stage cannot write to the cache directory of alpha.*",
		"noexec":  "Permission denied: the cache directory of alpha is on a file system that runs no programs \\(noexec\\).*",
	} {
		small := c.path("small")
		r := stage("alpha:1", fmt.Sprintf(`sh -c "mount -t tmpfs -o %s none %s && XDG_CACHE_HOME=%s exec /bin/sh" {host}`, options, small, small))
		c.oneLine(r, "pgasrun: host alpha: .*"+want)
	}
}

// oneLine fails unless the launcher has failed with one line, which matches.
func (c *cluster) oneLine(r run, pattern string) {
	c.t.Helper()
	text := strings.TrimSuffix(r.errs, "\n")
	if r.status <= 0 || r.out != "" || strings.Contains(text, "\n") || !regexp.MustCompile("^"+pattern+"$").MatchString(text) {
		c.t.Errorf("want %s: %+v", pattern, r)
	}
}
