package join

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

// peVars returns a description of a PE that is valid but for its descriptors.
func peVars() boot.PEVars {
	return boot.PEVars{ID: "00", PE: 1, Hosts: []boot.Host{{Name: "a", PEs: 2}, {Name: "b", First: 2, PEs: 1}}, HostIndex: 0, SegmentFD: 99, BootAddrs: []string{"x:1"}, SecretFD: 98}
}

func TestFromEnv(t *testing.T) {
	tests := map[string]struct {
		change map[string]string
		err    string
	}{
		"no descriptor": {nil, "PGAS_SEGMENT_FD=99 is not the file that pgasrun handed down"},
		"no number":     {map[string]string{"PGAS_PE": "one"}, `PGAS_PE="one" is not a number, though PGAS_JOB_ID is set`},
		"negative":      {map[string]string{"PGAS_SEGMENT_FD": "-1"}, `PGAS_SEGMENT_FD="-1" is not a number`},
		"wrong size":    {map[string]string{"PGAS_NPES": "4"}, "PGAS_NPES=4, but the hosts in PGAS_HOSTS have 3 PEs"},
		"wrong host":    {map[string]string{"PGAS_HOST_INDEX": "2"}, "PGAS_HOST_INDEX=2, but PGAS_HOSTS names 2 hosts"},
		"elsewhere":     {map[string]string{"PGAS_PE": "2"}, "PGAS_PE=2 is not one of the PEs of host a"},
		"bad list":      {map[string]string{"PGAS_HOSTS": "a2,b:1"}, `PGAS_HOSTS="a2,b:1" is not a list of host:PEs`},
		"bad count":     {map[string]string{"PGAS_HOSTS": "a:0"}, `PGAS_HOSTS="a:0": "0" is not a number of PEs`},
		"overflow":      {map[string]string{"PGAS_HOSTS": "a:1048576,b:1"}, `"1" is not a number of PEs`},
		"misspelt":      {map[string]string{"PGAS_SPEED": "9"}, "there is no variable PGAS_SPEED"},
		"bad setting":   {map[string]string{"PGAS_AMO": "gpu"}, "PGAS_AMO=gpu: must be one of cpu, nic"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, kv := range peVars().Environ() {
				k, v, _ := strings.Cut(kv, "=")
				t.Setenv(k, v)
			}
			for k, v := range tt.change {
				t.Setenv(k, v)
			}
			if job, err := FromEnv(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%+v, %v; want %q", job, err, tt.err)
			}
		})
	}
}

func TestSingleton(t *testing.T) {
	t.Setenv("PGAS_HEAP_MAX", "3m")
	job, err := FromEnv(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer job.Segment.Close()
	if job.Launched || job.PE != 0 || job.NPEs != 1 || job.Exchange != nil || job.HostOf(0) != 0 {
		t.Errorf("%+v", job)
	}
	heap := job.Segment.Heap(0)
	if len(heap) != 4<<20+boot.ReservedBytes {
		t.Errorf("the heap has %d bytes, want 3 MiB rounded up to 4, and the reserve", len(heap))
	}
	heap[len(heap)-1] = 1
	if name, _ := os.Hostname(); job.Host().Name != name {
		t.Errorf("host %q, want %q", job.Host().Name, name)
	}
}

// inheritJob makes the descriptors that a launcher passes, and sets the environment of PE 1 of 2.
func inheritJob(t *testing.T) *os.File {
	f, err := boot.CreateSegment(2, 0, 2, 1, boot.RoundHeap(1))
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	v := boot.PEVars{ID: "00", PE: 1, Hosts: []boot.Host{{Name: "a", PEs: 2}}, SegmentFD: inherited}
	for _, kv := range v.Environ() {
		k, val, _ := strings.Cut(kv, "=")
		t.Setenv(k, val)
	}
	return f
}

func TestLaunched(t *testing.T) {
	f := inheritJob(t)
	defer f.Close()
	control, err := boot.MapControl(f, 2)
	if err != nil {
		t.Fatal(err)
	}
	job, err := FromEnv(t.Context(), Options{}) // which closes the descriptor
	if err != nil {
		t.Fatal(err)
	}
	if !job.Launched || job.PE != 1 || job.NPEs != 2 || job.Exchange != nil {
		t.Errorf("%+v", job)
	}
	if got := control.States[1].Process.Load(); got != int64(os.Getpid()) {
		t.Errorf("the launcher sees process %d", got)
	}
	for _, step := range []struct {
		do   func()
		want boot.Membership
	}{{func() {}, boot.NotJoined}, {job.Join, boot.Joined}, {job.Leave, boot.Left}} {
		step.do()
		if got := boot.Membership(control.States[1].Membership.Load()); got != step.want {
			t.Errorf("the launcher sees life %d, want %d", got, step.want)
		}
	}
	if err := claim(job); err == nil || !strings.Contains(err.Error(), "PE 1 is taken by process") {
		t.Errorf("a second process in its place: %v", err)
	}
}

// TestManyHosts: the list of more hosts than the environment of a process can name reaches a PE.
func TestManyHosts(t *testing.T) {
	const hosts, longest = 20_000, 128 << 10
	v := boot.PEVars{ID: "00", PE: 19_999, HostIndex: 19_999, SegmentFD: 99, BootAddrs: []string{"x:1"}}
	for i := range hosts {
		v.Hosts = append(v.Hosts, boot.Host{Name: fmt.Sprintf("node%05d.cluster", i), First: i, PEs: 1})
	}
	fd, err := unix.MemfdCreate("secret", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "secret")
	defer f.Close()
	secret := bytes.Repeat([]byte{7}, boot.SecretBytes)
	if _, err := f.WriteAt(boot.HandedDown(secret, v.Hosts), 0); err != nil {
		t.Fatal(err)
	}
	v.SecretFD = fd
	for _, kv := range v.Environ() {
		if len(kv) >= longest {
			t.Fatalf("a variable has %d bytes", len(kv))
		}
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	if got, err := boot.ParsePEVars(NewEnvironment(v.Environ())); err != nil || !slices.Equal(got.Hosts, v.Hosts) {
		t.Errorf("%d hosts, %v", len(got.Hosts), err)
	}
	// All that is missing is the memory of the host: the hosts have been read, and agree with the rest.
	if _, err := FromEnv(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "PGAS_SEGMENT_FD=99 is not the file") {
		t.Error(err)
	}
	f.Truncate(boot.SecretBytes)
	if _, err := FromEnv(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "is not the file that pgasrun handed down with the hosts") {
		t.Error(err)
	}
}

// TestProfileFD: what is not the launcher's pipe is named.
func TestProfileFD(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, fd := range []int{int(null.Fd()), 1 << 20} {
		if _, err := inheritProfilePipe(fd); err == nil || !strings.Contains(err.Error(), boot.EnvProfileFD+"=") {
			t.Errorf("descriptor %d: %v", fd, err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pipe, err := inheritProfilePipe(int(w.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(pipe.Writer(boot.CPUProfile), "x"); err != nil {
		t.Error(err)
	}
}
