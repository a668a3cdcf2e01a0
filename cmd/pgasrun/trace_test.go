package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/trace"
	"github.com/gopgas/gopgas/ucx"
)

const traced = "./testdata/traced"

// shifted is how far the clock of the second host is ahead, where it has one of its own.
const shifted = 1000 * time.Second

// clockOf makes a launch command that gives host b a clock of its own; false if that is not allowed here.
func clockOf(t *testing.T, b, template string) (string, bool) {
	own := fmt.Sprintf("unshare --time --monotonic %d --fork --kill-child", int(shifted.Seconds()))
	if out, err := exec.Command("sh", "-c", own+" true").CombinedOutput(); err != nil {
		t.Logf("no time namespaces here: %v %s", err, out)
		return "", false
	}
	script := filepath.Join(t.TempDir(), "launch")
	text := fmt.Sprintf("#!/bin/sh\nhost=$1\nshift\nif [ \"$host\" = %s ]; then exec %s \"$@\"; fi\nexec \"$@\"\n", b, own)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(script + " {host} " + template), true
}

// TestTrace: in every kind of job, of hosts with one clock and with two, the trace says that PE 1 is late, for its
// signal, its lock, its notification and the barrier, what it computed meanwhile, and how well the clocks are known.
func TestTrace(t *testing.T) {
	all := places(t)
	clocks := ""
	for name, place := range all {
		if len(place) < 4 {
			continue
		}
		b, _, _ := strings.Cut(strings.Split(place[1], ",")[1], ":")
		if template, ok := clockOf(t, b, place[3]); ok && (clocks == "" || name == "namespaces") {
			clocks = name
			all["two clocks"] = []string{"-hosts", place[1], "-launch", template}
		}
	}
	for name, place := range all {
		t.Run(name, func(t *testing.T) {
			if name != "local" && !ucx.Available {
				t.Skip("PEs on two hosts, which need cgo")
			}
			file := filepath.Join(t.TempDir(), "t.json.gz")
			// On a loaded machine a PE may come so late that it need not wait: then PE 1 computes for longer.
			var wrong []string
			for _, computes := range []string{"100ms", "500ms", "2s", "8s"} {
				r := launchJob(t, nil, slices.Concat(place, []string{"-trace", file, traced, computes})...)
				if status, _ := r.end(); status != 0 || !strings.Contains(r.stderr.String(), "pgasrun trace summary "+file) {
					t.Fatalf("status %d: %s", status, &r.stderr)
				}
				tr, err := readTrace(file)
				if err != nil {
					t.Fatal(err)
				}
				checkClocks(t, tr, name == "two clocks")
				if wrong = wrongIn(tr, name != "local"); len(wrong) == 0 {
					return
				}
			}
			t.Error(strings.Join(wrong, "\n"))
		})
	}
}

// wrongIn returns what the trace should say of the program and does not.
func wrongIn(tr *trace.Trace, hosts bool) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	s := tr.Summarize()
	if tr.Program != "traced" || s.PEs != 3 || s.Dropped != 0 {
		bad("a trace of %s with %d PEs, %d events dropped", tr.Program, s.PEs, s.Dropped)
	}
	for _, cause := range []string{"wait", "lock", "notified access", "barrier"} {
		for _, pe := range []int{0, 2} {
			late := func(l trace.Late) bool { return l.In == cause && l.For == pe && (l.PE == 1 || cause == "lock") }
			if !slices.ContainsFunc(s.LateSenders, late) {
				bad("no PE is late for PE %d in a %s: %+v", pe, cause, s.LateSenders)
			}
		}
	}
	if len(s.Regions) != 1 || s.Regions[0].In != "compute" || s.Regions[0].Count != 4 || s.Regions[0].Worst != 1 {
		bad("regions %+v", s.Regions)
	}
	if c := s.Critical; len(c.ByPE) == 0 || c.ByPE[0].PE != 1 || len(c.ByRegion) != 1 || c.ByRegion[0].Time < s.Regions[0].Time/2 {
		bad("the critical path is %+v", c)
	}
	if len(s.Locks) != 1 || !strings.Contains(s.Locks[0].Lock, "Lock") || s.Locks[0].Held != 3 || s.Locks[0].Waits != 2 {
		bad("locks %+v", s.Locks)
	}
	if len(s.Operations) != 3 || s.Operations[1][0] < 2 || s.Operations[1][2] < 2 {
		bad("operations %v", s.Operations)
	}
	served := func(s trace.Slice) bool { return s.Kind == record.Serve && s.Value > 0 }
	if hosts && !slices.ContainsFunc(tr.PE(1).Slices, served) {
		bad("the service thread of PE 1, which computes, has served nothing")
	}
	return wrong
}

// checkClocks checks what the trace says of the hosts' clocks. Barriers tell whether that is right: no PE leaves one
// before another has entered it.
func checkClocks(t *testing.T, tr *trace.Trace, two bool) {
	t.Helper()
	most, bounded := tr.Error()
	if !bounded || two != (most > 0) {
		t.Errorf("times are known to %v (%v), of hosts %+v", most, bounded, tr.Hosts)
	}
	calls := map[uint64][]trace.Slice{}
	for _, p := range tr.PEs {
		for _, s := range p.Slices {
			if s.Name == "sync" && s.Value == tr.PEs[0].Slices[slices.IndexFunc(tr.PEs[0].Slices, func(s trace.Slice) bool { return s.Name == "sync" })].Value {
				calls[s.Seq] = append(calls[s.Seq], s)
			}
		}
	}
	barriers := 0
	for n, of := range calls {
		if len(of) != 3 {
			continue
		}
		barriers++
		last := slices.MaxFunc(of, func(a, b trace.Slice) int { return int(a.Start - b.Start) })
		for _, s := range of {
			if s.End()+int64(most) < last.Start {
				t.Errorf("a PE has left barrier %d %v before another entered it: %v and %v", n, time.Duration(last.Start-s.End()), s, last)
			}
		}
	}
	if barriers < 2 {
		t.Errorf("%d barriers of all PEs in %v", barriers, calls)
	}
}

// TestTraceOfKilledPE: what a PE has recorded is there, whatever ended it; what it was in has not ended.
func TestTraceOfKilledPE(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	r := launchJob(t, nil, "-n", "3", "-trace", file, traced, "1ms", "die")
	if status, _ := r.end(); status != 137 {
		t.Errorf("status %d, want that of the killed PE: %s", status, &r.stderr)
	}
	tr, err := readTrace(file)
	if err != nil {
		t.Fatal(err)
	}
	killed := tr.PE(2)
	if killed == nil || !slices.ContainsFunc(killed.Slices, func(s trace.Slice) bool { return s.Name == "lock" && !s.Open }) {
		t.Errorf("of the killed PE there is %+v", killed)
	}
}

// TestTraceIsBounded: events without room are counted, and the user is told.
func TestTraceIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	r := launchJob(t, nil, "-n", "3", "-trace", file+",5", traced, "1ms")
	if status, _ := r.end(); status != 0 || !strings.Contains(r.stderr.String(), "-trace "+file+",N") {
		t.Errorf("status %d: %s", status, &r.stderr)
	}
	out, err := exec.Command("pgasrun", "trace", "summary", "-json", file).Output()
	var s trace.Summary
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil || s.Dropped == 0 || s.PEs != 3 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestFullDisk: where a trace or a page has no room, the job ends as it would, one line says so, and no part of a file
// stays.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4k", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("no small file system can be mounted here: %v %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	for flag, want := range map[string]string{"-trace=": "no space left on device: there is no trace", "-ui=save:": "no space left on device: the page is not saved"} {
		r := launchJob(t, nil, "-n", "3", flag+filepath.Join(dir, "t"), traced, "1ms")
		status, _ := r.end()
		if lines := strings.Split(strings.TrimSpace(r.stderr.String()), "\n"); status != 0 || len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("%s: status %d: %s", flag, status, &r.stderr)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", flag, left, err)
		}
	}
}

// TestNewFile: a file has the mode that the umask leaves, a link that leads nowhere yet stays, and until the file is
// whole nothing has a name that a killed process would leave.
func TestNewFile(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir, other := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Symlink("b", filepath.Join(dir, "a")), os.Symlink(other+"/c", filepath.Join(dir, "b")), os.Symlink("circle", filepath.Join(dir, "circle"))); err != nil {
		t.Fatal(err)
	}
	f, err := createFile(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	f.temp.WriteString("new")
	if left, err := os.ReadDir(other); err != nil || len(left) > 0 && !f.named {
		t.Errorf("before the file is whole there is %v (%v)", left, err)
	}
	if f.named {
		t.Logf("%s makes no files without a name", other)
	}
	if err := f.replace(nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "a"))
	if to, _ := os.Readlink(filepath.Join(dir, "a")); err != nil || string(text) != "new" || to != "b" {
		t.Errorf("the link leads to %q, where there is %q, %v", to, text, err)
	}
	if info, err := os.Lstat(filepath.Join(other, "c")); err != nil || info.Mode() != 0o600 {
		t.Errorf("under umask 077: %v, %v", info, err)
	}
	if left, err := os.ReadDir(other); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := createFile(filepath.Join(dir, "circle")); err == nil || !strings.Contains(err.Error(), "is no file that can be replaced") {
		t.Errorf("a link to itself: %v", err)
	}
}

// TestPlantedLink: in a directory where every user may make a link, a link of another user leads no file to where it
// points.
func TestPlantedLink(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("makes a link of another user: needs root")
	}
	const nobody = 65534
	tests := map[string]struct {
		mode        os.FileMode
		owner       int // of the link
		parentOwner int
		refused     bool
	}{
		"another user's":           {os.ModeSticky | 0o777, nobody, 0, true},
		"own":                      {os.ModeSticky | 0o777, 0, nobody, false},
		"the directory's owner's":  {os.ModeSticky | 0o777, nobody, nobody, false},
		"closed to others":         {0o755, nobody, 0, false},
		"sticky, closed to others": {os.ModeSticky | 0o755, nobody, 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			shared, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
			link := filepath.Join(shared, "t.json")
			err := errors.Join(os.WriteFile(victim, []byte("keep"), 0o600), os.Symlink(victim, link),
				os.Lchown(link, test.owner, test.owner), os.Chown(shared, test.parentOwner, test.parentOwner), os.Chmod(shared, test.mode))
			if err != nil {
				t.Fatal(err)
			}
			f, err := createFile(link)
			if err == nil {
				f.discard()
			}
			if refused := err != nil && strings.Contains(err.Error(), "is a symbolic link of another user"); refused != test.refused || (err != nil) != refused {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestBareFile: where a file system makes no file without a name, there is none either until the file is whole, and
// what a process leaves that is killed while it gives the name is removed by the next; of one that lives it stays.
func TestBareFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.json")
	names := func() (all []string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			all = append(all, e.Name())
		}
		return all
	}
	f, err := createBare(path)
	if err != nil {
		t.Fatal(err)
	}
	f.temp.WriteString("whole")
	if left := names(); len(left) > 0 {
		t.Errorf("before the file is whole there is %v", left)
	}
	if err := f.name(); err != nil {
		t.Fatal(err)
	}
	for _, lives := range []bool{true, false} { // a killed process holds no lock
		if !lives {
			f.temp.Close()
		}
		next, err := createFile(path)
		if err != nil {
			t.Fatal(err)
		}
		next.discard()
		if left := len(names()); left != 1 && lives || left != 0 && !lives {
			t.Errorf("process lives: %v: there is %v", lives, names())
		}
	}
	if f, err = createBare(path); err != nil {
		t.Fatal(err)
	}
	f.temp.WriteString("whole")
	if err := f.replace(nil); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "whole" || len(names()) != 1 {
		t.Errorf("the file is %q, %v, beside %v", text, err, names())
	}
}

// TestFileBehindALink: a file that a symbolic link leads to is replaced, and the link stays.
func TestFileBehindALink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	file, link := filepath.Join(other, "t.json"), filepath.Join(dir, "t.json")
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	f, err := createFile(link)
	if err != nil {
		t.Fatal(err)
	}
	f.temp.WriteString("new")
	if err := f.replace(nil); err != nil {
		t.Fatal(err)
	}
	half, err := createFile(link)
	if err != nil {
		t.Fatal(err)
	}
	half.temp.WriteString("ne")
	if err := half.replace(io.ErrShortWrite); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("half a file: %v", err)
	}
	half.discard()
	text, err := os.ReadFile(file)
	if to, _ := os.Readlink(link); err != nil || string(text) != "new" || to != file {
		t.Errorf("the link leads to %q, where there is %q, %v", to, text, err)
	}
}
