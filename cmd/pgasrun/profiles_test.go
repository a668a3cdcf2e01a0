package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/ucx"
)

const profiled = "./testdata/profiled"

// TestProfiles: each PE of each kind of job leaves all of its profiles, which package profile reads, and the profile of
// the job has samples of every PE under its number. An older profile does not stay.
func TestProfiles(t *testing.T) {
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			if name != "local" && !ucx.Available {
				t.Skip("PEs on two hosts, which need cgo")
			}
			dir := filepath.Join(t.TempDir(), "new", "[x]*")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			older, others := filepath.Join(dir, boot.CPUProfile.FileName(77)), filepath.Join(dir, "people.pprof")
			for _, file := range []string{older, others} {
				if err := os.WriteFile(file, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r := launchJob(t, nil, slices.Concat(place, []string{"-pprof", dir, profiled})...)
			if status, _ := r.end(); status != 0 || !strings.Contains(r.stderr.String(), "go tool pprof -http=: "+filepath.Join(dir, jobProfile)) {
				t.Fatalf("status %d: %s", status, &r.stderr)
			}
			if _, err := os.Stat(older); !os.IsNotExist(err) {
				t.Errorf("a profile of an older job is still there: %v", err)
			}
			if _, err := os.Stat(others); err != nil {
				t.Error(err)
			}
			const pes = 3
			for pe := range pes {
				checkProfilesOf(t, dir, pe)
			}
			job, err := readProfile(filepath.Join(dir, jobProfile))
			if err != nil {
				t.Fatal(err)
			}
			samples := map[string]int64{}
			for _, s := range job.Sample {
				samples[strings.Join(s.Label["pe"], ",")] += s.Value[0]
			}
			for pe := range pes {
				if samples[fmt.Sprint(pe)] == 0 {
					t.Errorf("no samples of PE %d in the profile of the job: %v", pe, samples)
				}
			}
			if len(samples) != pes {
				t.Errorf("samples of %v", samples)
			}
		})
	}
}

// checkProfilesOf checks that the files of a PE are what they should be.
func checkProfilesOf(t *testing.T, dir string, pe int) {
	t.Helper()
	for k, function := range map[boot.ProfileKind]string{boot.CPUProfile: "main.compute", boot.HeapProfile: "", boot.MutexProfile: "main.main.func1"} {
		p, err := readProfile(filepath.Join(dir, k.FileName(pe)))
		if err != nil {
			t.Error(err)
			continue
		}
		if function != "" && !slices.ContainsFunc(p.Function, func(f *profile.Function) bool { return f.Name == function }) {
			t.Errorf("%s: no %s", k.FileName(pe), function)
		}
	}
	trace, err := os.ReadFile(filepath.Join(dir, boot.ExecutionTrace.FileName(pe)))
	if err != nil || !bytes.HasPrefix(trace, []byte("go 1.")) {
		t.Errorf("the execution trace of PE %d: %v, %.20q", pe, err, trace)
	}
}

// TestProfilesOfKilledPE: a PE that is killed has none, and is named; the others have theirs.
func TestProfilesOfKilledPE(t *testing.T) {
	dir := t.TempDir()
	r := launchJob(t, nil, "-n", "3", "-grace", "5m", "-pprof", dir, profiled, "1")
	if status, _ := r.end(); status == 0 || !strings.Contains(r.stderr.String(), "pgasrun: no complete profile (cpu, heap, mutex, trace) of PE 1: ") {
		t.Fatalf("status %d: %s", status, &r.stderr)
	}
	for _, pe := range []int{0, 2} {
		if _, err := readProfile(filepath.Join(dir, boot.CPUProfile.FileName(pe))); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, boot.CPUProfile.FileName(1))); !os.IsNotExist(err) {
		t.Errorf("the profile of the killed PE: %v", err)
	}
}

// TestProfilesOfOwn: a program that has begun a profile of itself keeps it, and one that begins it in the body gets an
// error.
func TestProfilesOfOwn(t *testing.T) {
	for mode, want := range map[string]string{
		"before": "pgasrun: no complete profile (cpu) of PE 0: ",
		"inside": "cpu profiling already in use",
	} {
		r := launchJob(t, nil, "-n", "1", "-pprof", t.TempDir(), profiled, mode)
		if status, _ := r.end(); (status == 0) != (mode == "before") || !strings.Contains(r.stderr.String(), want) {
			t.Errorf("%s: status %d: %s", mode, status, &r.stderr)
		}
	}
}

// TestProfilesWithoutLauncher: PEs that no pgasrun -pprof collects from write their profiles themselves, and one that
// cannot says so and goes on.
func TestProfilesWithoutLauncher(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(boot.EnvProfiles, dir)
	if status, _ := launchJob(t, nil, "-n", "2", profiled).end(); status != 0 {
		t.Fatal(status)
	}
	for pe := range 2 {
		checkProfilesOf(t, dir, pe)
	}
	t.Setenv(boot.EnvProfiles, "/proc/none")
	r := launchJob(t, nil, "-n", "2", profiled)
	if status, _ := r.end(); status != 0 || strings.Count(r.stderr.String(), "no profiles are made") != 2 {
		t.Fatalf("status %d: %s", status, &r.stderr)
	}
}

// TestProfilesDiskFull: the first failure to write is told in one line, and nothing else is lost.
func TestProfilesDiskFull(t *testing.T) {
	var news bytes.Buffer
	dir := t.TempDir()
	p := &profiles{dir: dir, news: &news}
	if err := p.open(&launch.Spec{Hosts: []boot.Host{{PEs: 2}}}); err != nil {
		t.Fatal(err)
	}
	for _, k := range boot.ProfileKinds {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		p.files[profileName{0, k}] = &profileFile{f: full}
		p.piece(0, k, []byte("something"))
		p.piece(0, k, []byte("more"))
		p.piece(0, k, nil)
	}
	p.piece(1, boot.ExecutionTrace, []byte("go 1.26 trace"))
	p.piece(1, boot.ExecutionTrace, nil)
	if p.conclude() {
		t.Error("all is said to be complete")
	}
	want := "pgasrun: -pprof: write /dev/full: no space left on device: profiles that cannot be written are dropped, and the job goes on\n" +
		"pgasrun: no complete profile (cpu, heap, mutex) of PE 0-1: it has to leave the job, by Main or World.Close; a longer -grace may give it the time\n" +
		"pgasrun: no complete profile (trace) of PE 0: it has to leave the job, by Main or World.Close; a longer -grace may give it the time\n"
	if news.String() != want {
		t.Errorf("got\n%swant\n%s", &news, want)
	}
	if trace, err := os.ReadFile(filepath.Join(dir, "pe1.trace")); err != nil || string(trace) != "go 1.26 trace" {
		t.Errorf("%q, %v", trace, err)
	}
}
