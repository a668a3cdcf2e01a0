package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasrun/doctor"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// doctorProgram builds pgasdoctor and returns its directory.
func doctorProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, doctorPackage).CombinedOutput(); err != nil {
		t.Fatalf("building pgasdoctor: %v %s", err, out)
	}
	return dir
}

// decodeReport decodes what -json prints, and nothing else.
func decodeReport(t *testing.T, lines []string) doctor.Report {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(strings.Join(lines, "\n")))
	d.DisallowUnknownFields()
	var r doctor.Report
	if err := d.Decode(&r); err != nil || d.More() {
		t.Fatalf("%v in %q", err, lines)
	}
	return r
}

// hasUCX reports whether programs that go builds here have UCX.
func hasUCX(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command("go", "env", "CGO_ENABLED").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)) == "1"
}

// TestDoctorNetwork: two hosts with a network between them are examined, and measured in both directions.
func TestDoctorNetwork(t *testing.T) {
	if !hasUCX(t) {
		t.Skip("programs have no UCX without cgo")
	}
	a, b, ok := namespaces(t)
	if !ok {
		t.Skip("network namespaces are not allowed here")
	}
	program := filepath.Join(doctorProgram(t), "pgasdoctor")
	run := launchJob(t, nil, "doctor", "-json", "-hosts", a+","+b, "-launch", netns.Template, "-program", program)
	status, out := run.end()
	r := decodeReport(t, out)
	if status != min(len(r.Found), 1) || r.Version != doctor.Version || !r.Job.Ran || r.Job.Error != "" || !slices.Equal(r.Job.Hosts, []string{a, b}) {
		t.Errorf("status %d, %+v: %s", status, r.Job, &run.stderr)
	}
	if len(r.Hosts) != 3 || r.Hosts[0].PE != -1 || r.Hosts[1].Name != a || r.Hosts[2].Name != b || r.Hosts[2].PE != 1 {
		t.Errorf("hosts %+v", r.Hosts)
	}
	if len(r.Pairs) != 2 {
		t.Fatalf("pairs %+v", r.Pairs)
	}
	for i, p := range r.Pairs {
		if p.From != i || p.To != 1-i || p.Transport != "ucp" || len(p.Lanes) == 0 || p.Problem != "" || p.PutNs <= 0 || p.PutMBs <= 0 {
			t.Errorf("pair %+v", p)
		}
	}
	run.nothingLeft()
}

// TestDoctorNetns: hosts that the doctor makes are examined and measured under their names, and removed.
func TestDoctorNetns(t *testing.T) {
	if !hasUCX(t) {
		t.Skip("programs have no UCX without cgo")
	}
	needNetns(t)
	program := filepath.Join(doctorProgram(t), "pgasdoctor")
	run := launchJob(t, nil, "doctor", "-json", "-netns", "2x3", "-program", program)
	status, out := run.end()
	r := decodeReport(t, out)
	if status != min(len(r.Found), 1) || !r.Job.Ran || len(r.Job.Hosts) != 2 {
		t.Fatalf("status %d, %+v: %s", status, r.Job, &run.stderr)
	}
	for i, name := range r.Job.Hosts {
		if want := fmt.Sprintf("pgas-%d-%d", run.cmd.Process.Pid, i); name != want {
			t.Errorf("host %s, want %s", name, want)
		}
		p := r.Pairs[i]
		if p.FromHost != name || p.Transport != "ucp" || len(p.Lanes) == 0 || p.PutNs <= 0 {
			t.Errorf("pair %+v", p)
		}
	}
	run.nothingLeft()
}

// TestDoctorUnreachable: hosts without a network between them end in a report that says so.
func TestDoctorUnreachable(t *testing.T) {
	if !hasUCX(t) {
		t.Skip("programs have no UCX without cgo")
	}
	a, b, ok := namespaces(t)
	if !ok {
		t.Skip("network namespaces are not allowed here")
	}
	if out, err := exec.Command("ip", "-n", b, "link", "set", "cable", "down").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	program := filepath.Join(doctorProgram(t), "pgasdoctor")
	run := launchJob(t, nil, "doctor", "-json", "-timeout", "3s", "-hosts", a+","+b, "-launch", netns.Template, "-program", program)
	status, out := run.end()
	r := decodeReport(t, out)
	if status != 1 || r.Job.Ran || r.Job.Error == "" || len(r.Found) == 0 || r.Found[0].Where != "the job" || r.Found[0].Remedy == "" || r.Hosts[0].PE != -1 {
		t.Errorf("status %d, %+v, problems %+v: %s", status, r.Job, r.Found, &run.stderr)
	}
	run.nothingLeft()
}

func TestFindDoctor(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pgasdoctor")
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for given, want := range map[string]string{"": file, "/opt/x": "/opt/x"} {
		if got, err := findDoctor(given, nil); err != nil || got != want {
			t.Errorf("%q: %q, %v", given, got, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", dir)
	_, err := findDoctor("", nil)
	if err == nil || !strings.Contains(err.Error(), "there is no go command on PATH") || !strings.Contains(remedyOf(err.Error()), "go install") {
		t.Errorf("without go: %v", err)
	}
}

func TestRemedies(t *testing.T) {
	for text, want := range map[string]string{
		"pgas: this binary was built without cgo: rebuild":                           "CGO_ENABLED=1",
		"pgasdoctor: error while loading shared libraries: libucp.so.0: cannot open": "install UCX",
		errTimeout{1}.Error(): "longer -timeout",
		"PE 1 on host b (process 7) was killed by signal 9 (SIGKILL)":                   "dmesg",
		"host a: `ssh a` ended (exit status 255): it must run there without a question": "docs/use/ssh.md",
	} {
		if got := remedyOf(text); !strings.Contains(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
