package clusters

// The same bodies on each launcher. The table has a row for each launcher and a column for each body; a cell runs, or
// it says why it does not. TestTable fails on a cell that does neither, so a launcher or a body that is added cannot
// leave a hole.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// launcher starts a job of four PEs, two on each of two hosts.
type launcher struct {
	name string
	// skips the test where the launcher is not installed
	need   func(t testing.TB)
	start  func(t *testing.T, job string, argv ...string) []*exec.Cmd // the commands that together are the job
	cancel func(t *testing.T, job string, cmds []*exec.Cmd)           // ends it as a user would
	// an ancestor of a PE, by which the launcher has started it
	daemon string

	hastens  bool     // it may end the PEs that are left before they can report that one has died
	report   []string // what it says of PE 1, which was killed
	anyExit  bool     // of GlobalExit it passes on that there was a status, not which
	zeroExit bool     // it may exit with 0 although its daemon was killed
	// makes a launcher end that waits for its dead daemon, when its PEs have ended
	release func(t *testing.T, job string)
	end     func(t *testing.T) // ends what need has started, when the row has run
}

// column is a body, and what is checked of it.
type column struct {
	name string
	run  func(t *testing.T, l *launcher)
}

var columns = [...]column{
	{"hello", runHello},
	{"wordcount", runWordcount},
	{"locks", runLocks},
	{"races", runRaces},
	{"fails", runFails},
	{"exits", runExits},
	{"killed PE", runKilledPE},
	{"listeners", runListeners},
	{"cancelled", runCancelled},
	{"killed daemon", runKilledDaemon}, // last: what prun's daemons do after that is not ours
}

// cell is runs, or why the body does not run with the launcher. A reason that begins with the file of a test and the
// name of its function, as in ssh/ssh_test.go:testHello, says that the body runs there.
type cell string

const (
	runs cell = "runs"

	noDaemon  cell = "nothing but the user has started the PEs: one that is killed is all that can happen, and `pgasrun static` is the row of pods"
	sshHello  cell = "ssh/ssh_test.go:testHello"
	sshWords  cell = "ssh/ssh_test.go:testWordcount"
	sshLocks  cell = "ssh/ssh_test.go:testLocks"
	sshKillPE cell = "ssh/ssh_test.go:testKillPE"
	sshDaemon cell = "ssh/ssh_test.go:testKillSshd"
	sshPorts  cell = "the launcher is pgasrun, as in the row of the allocation, and its agents listen wherever they are started"
	sshRaces  cell = "the launcher is pgasrun, as in the row of the allocation: its agents know of a report by the segment that they have made"
	sshFails  cell = "ssh/ssh_test.go:testStatuses"
	sshCancel cell = "../cmd/pgasrun/jobs_test.go:TestSignals: the launcher is pgasrun as there, and ssh carries the frames by which it tells the agents"
)

var table = []struct {
	launcher *launcher
	cells    [len(columns)]cell
}{
	//                        hello     wordcount locks     races     fails     exits     killed PE  listeners  cancelled  killed daemon
	{slurmStep("none"), row{runs, runs, runs, runs, runs, runs, runs, runs, runs, runs}},
	{slurmStep("pmi2"), row{runs, runs, runs, runs, runs, runs, runs, runs, runs, runs}},
	{slurmStep("pmix"), row{runs, runs, runs, runs, runs, runs, runs, runs, runs, runs}},
	{&inAllocation, row{runs, runs, runs, runs, runs, runs, runs, runs, runs, runs}},
	{&openMPI, row{runs, runs, runs, runs, runs, runs, runs, runs, runs, runs}},
	{&onDaemons, row{runs, runs, runs, runs, runs, runs, runs, runs, runs, runs}},
	{&byHand, row{runs, runs, runs, runs, runs, runs, runs, runs, runs, noDaemon}},
	{&inPods, row{runs, runs, runs, runs, runs, runs, runs, runs, runs, runs}},
	{&launcher{name: "ssh"}, row{sshHello, sshWords, sshLocks, sshRaces, sshFails, sshFails, sshKillPE, sshPorts, sshCancel, sshDaemon}},
}

type row = [len(columns)]cell

// TestLaunchers runs the table: `go test ./tests/clusters -run 'TestLaunchers/mpirun/killed'` a part of it.
//
//ci:ucx=mpirun|prun
func TestLaunchers(t *testing.T) {
	for _, r := range table {
		if !strings.Contains(fmt.Sprint(r.cells), string(runs)) {
			continue // all of it runs elsewhere
		}
		t.Run(r.launcher.name, func(t *testing.T) {
			r.launcher.need(t)
			for i, c := range columns {
				if r.cells[i] == runs {
					t.Run(c.name, func(t *testing.T) { c.run(t, r.launcher) })
				}
			}
			if r.launcher.end != nil {
				r.launcher.end(t)
			}
			nothingLeft(t)
		})
	}
}

// elsewhere finds the test that a reason refers to.
var elsewhere = regexp.MustCompile(`^(\S+_test\.go):(\w+)`)

// TestTable checks that each cell runs or has a reason, and that what a reason refers to exists.
func TestTable(t *testing.T) {
	for _, r := range table {
		for i, c := range r.cells {
			at := r.launcher.name + ", " + columns[i].name
			if c == runs {
				if r.launcher.start == nil || r.launcher.cancel == nil || r.launcher.daemon == "" && columns[i].name == "killed daemon" {
					t.Errorf("%s: the launcher does not say how", at)
				}
				continue
			}
			if len(c) < 20 {
				t.Errorf("%s: it neither runs nor says why not: %q", at, c)
			}
			if ref := elsewhere.FindStringSubmatch(string(c)); ref != nil {
				text, err := os.ReadFile("../" + ref[1])
				if err != nil || !strings.Contains(string(text), "\nfunc "+ref[2]+"(") {
					t.Errorf("%s: %s has no %s: %v", at, ref[1], ref[2], err)
				}
			}
		}
	}
}

func runHello(t *testing.T, l *launcher) {
	expectHello(t, start(t, l.start(t, "hello", bin+"/body")...), 4)
	l.nothingLeft(t)
}

func runWordcount(t *testing.T, l *launcher) {
	o := start(t, l.start(t, "wordcount", bin+"/wordcount", "-verify", "-input", words)...)
	expect(t, o, 0, "verified: ")
	l.nothingLeft(t)
}

func runLocks(t *testing.T, l *launcher) {
	expect(t, start(t, l.start(t, "locks", bin+"/body", "locks")...), 0, "the lock holds\n")
	l.nothingLeft(t)
}

// runRaces looks for races in a right program and in a wrong one. One PE of the wrong one reports the race, and that is
// the status of the job.
func runRaces(t *testing.T, l *launcher) {
	o := start(t, l.start(t, "races", bin+"/body", "races")...)
	status := 66
	if l.anyExit {
		status = failing
	}
	expect(t, o, status, "the lock holds\n", "race on int64 allocated at body/main.go:")
	if n := strings.Count(o.out+o.errs, ": race on "); n != 1 {
		t.Errorf("%d races are reported: %v", n, o)
	}
	l.nothingLeft(t)
}

// startFailing runs a body in which PEs end early. It runs the body once more if UCX has aborted a PE: version 1.13
// does so, with this assertion, if a peer ends while something is still to be sent for making the connection.
func (l *launcher) startFailing(t *testing.T, body string) outcome {
	t.Helper()
	const abort = "ucp_request.c:684  Assertion"
	o := start(t, l.start(t, body, bin+"/body", body)...)
	if strings.Contains(o.errs, abort) {
		t.Logf("again, since UCX aborted a PE:\n%.300s", o.errs[strings.Index(o.errs, abort):])
		o = start(t, l.start(t, body, bin+"/body", body)...)
	}
	return o
}

func runFails(t *testing.T, l *launcher) {
	expect(t, l.startFailing(t, "fails"), 1, "an error of the program")
	l.nothingLeft(t)
}

func runExits(t *testing.T, l *launcher) {
	status := 7
	if l.anyExit {
		status = failing
	}
	expect(t, l.startFailing(t, "exits"), status)
	l.nothingLeft(t)
}

func runKilledPE(t *testing.T, l *launcher) {
	o := l.startFailing(t, "killed")
	expect(t, o, failing, append([]string{"killed at "}, l.report...)...)
	if !l.hastens {
		expectNews(t, o, 4)
	}
	l.nothingLeft(t)
}

// runCancelled ends the contexts of all PEs.
func runCancelled(t *testing.T, l *launcher) {
	ends := sharedFile(t)
	cmds := l.start(t, "cancelled", bin+"/body", "waits", ends)
	o := disturb(t, cmds, 4, func(map[int]int) { l.cancel(t, "cancelled", cmds) })
	expect(t, o, failing)
	l.nothingLeft(t)
	expectEnds(t, ends, o)
}

// sharedFile makes an empty file that PEs of any user can write.
func sharedFile(t *testing.T) string {
	t.Helper()
	f, err := os.CreateTemp(dir, "ends")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Chmod(0o666), f.Close(), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// expectEnds checks that the context of each of four PEs has ended, as they have written to a file.
func expectEnds(t *testing.T, file string, o outcome) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for pe := range 4 {
		if line := fmt.Sprintf("PE %d: terminated signal received\n", pe); strings.Count(string(text), line) != 1 {
			t.Errorf("no %q in %q: %v", line, text, o)
		}
	}
}

// runKilledDaemon kills the daemon that has started PE 3, with SIGKILL. All PEs end by themselves, those of the other
// host, too, which wait for nothing but the end of their contexts. Only then may a launcher that waits for its daemon
// be told to end.
func runKilledDaemon(t *testing.T, l *launcher) {
	o := disturb(t, l.start(t, "orphans", bin+"/body", "waits"), 4, func(pids map[int]int) {
		killAncestor(t, pids[3], l.daemon)
		awaitEnd(t, pids)
		if l.release != nil {
			l.release(t, "orphans")
		}
	})
	if !l.zeroExit {
		expect(t, o, failing)
	}
	l.nothingLeft(t)
}

// nothingLeft waits until nothing of a job is left. Daemons that run jobs one after another stay.
func (l *launcher) nothingLeft(t *testing.T) {
	t.Helper()
	if l.end == nil {
		nothingLeft(t)
		return
	}
	noneLeft(t, "body", "wordcount", "prun")
}
