package doctor

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "write the golden file")

// files are the texts of a host's files, by path.
type files map[string]string

// root writes them below a directory and returns that.
func (f files) root(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range f {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// healthyFiles are those of a host on which nothing is wrong.
func healthyFiles() files {
	return files{
		"proc/meminfo":                                                    "MemTotal:       67108864 kB\nMemFree:         1000 kB\nMemAvailable:   33554432 kB",
		"proc/cpuinfo":                                                    "processor\t: 0\nmodel name\t: Example 9000",
		"proc/self/cgroup":                                                "0::/",
		"proc/sys/kernel/osrelease":                                       "6.12.1",
		"proc/sys/kernel/sched_autogroup_enabled":                         "0",
		"proc/sys/kernel/numa_balancing":                                  "0",
		"proc/sys/net/ipv4/ip_local_port_range":                           "32768\t60999",
		"sys/devices/system/cpu/online":                                   "0-3",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "performance",
		"sys/devices/system/node/node0/cpulist":                           "0-3",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
		"sys/kernel/mm/transparent_hugepage/enabled":                      "always [madvise] never",
		"sys/kernel/mm/transparent_hugepage/shmem_enabled":                "always [within_size] advise never deny force",
		"sys/class/net/eth0/speed":                                        "25000",
		"etc/os-release":                                                  "NAME=Example\nPRETTY_NAME=\"Example Linux 1\"",
	}
}

// healthy returns a host on which nothing is wrong, with the files of f.
func healthy(t *testing.T, f files) *System {
	limits := map[int]uint64{unix.RLIMIT_NOFILE: 65536}
	return &System{
		Root: f.root(t), Gopgas: "v1.2.3", Go: "go1.26.0", Memory: 64 << 30,
		LookPath: only("ssh", "go"),
		Limit: func(resource int) (uint64, error) {
			if l, ok := limits[resource]; ok {
				return l, nil
			}
			return unix.RLIM_INFINITY, nil
		},
		Space:      func(string) (uint64, uint64, error) { return 32 << 30, 31 << 30, nil },
		Pager:      func() error { return nil },
		CPUs:       func() []int { return []int{0, 1, 2, 3} },
		ClockState: func() (bool, int64, error) { return true, 1500, nil },
		Interfaces: func() ([]Interface, error) {
			return []Interface{{"lo", true, 65536, []string{"127.0.0.1/8"}}, {"eth0", false, 9000, []string{"192.0.2.1/24"}}}, nil
		},
	}
}

// only is a PATH with some commands alone.
func only(names ...string) func(string) (string, error) {
	return func(name string) (string, error) {
		if slices.Contains(names, name) {
			return "/usr/bin/" + name, nil
		}
		return "", exec.ErrNotFound
	}
}

func limitOf(resource int, l uint64) func(*System) {
	return func(s *System) {
		others := s.Limit
		s.Limit = func(r int) (uint64, error) {
			if r == resource {
				return l, nil
			}
			return others(r)
		}
	}
}

func environ(vars ...string) func(*System) { return func(s *System) { s.Environ = vars } }

// card is an RDMA card with one port.
func card(state string) files {
	return files{
		"sys/class/infiniband/mlx5_0/ports/1/state":      state,
		"sys/class/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand",
		"sys/class/infiniband/mlx5_0/ports/1/rate":       "200 Gb/sec (4X HDR)",
		"dev/infiniband/uverbs0":                         "",
	}
}

func TestHealthy(t *testing.T) {
	for _, c := range Examine(healthy(t, healthyFiles())) {
		if c.State != OK || c.Remedy != "" || c.Value == "" {
			t.Errorf("%+v", c)
		}
	}
}

// TestChecks: one thing is wrong with a healthy host, and one check alone says so, with a remedy.
func TestChecks(t *testing.T) {
	for _, c := range []struct {
		name  string // of the check
		files files  // "-" takes a file away
		alter func(*System)
		state State
		value string // part of it
		cure  string // part of the remedy
	}{
		{"variables", nil, environ("PGAS_HEEP_MAX=1g"), Problem, "did you mean PGAS_HEAP_MAX", "pgasrun -env"},
		{"variables", nil, environ("PGAS_SPIN=0", "HOME=/x", "UCX_TLS=tcp", "PGAS_SECRET_FD=3"), OK, "PGAS_SPIN=0 UCX_TLS=tcp", ""},
		{"memory", nil, func(s *System) { s.Memory = 1 << 30 }, OK, "1 GiB, which control groups leave of 64 GiB, 32 GiB available", ""},
		{"address space", nil, limitOf(unix.RLIMIT_AS, 1<<30), Problem, "1 GiB", "ulimit -v unlimited"},
		{"address space", nil, limitOf(unix.RLIMIT_AS, 16<<30), Note, "16 GiB", "ulimit -v unlimited"},
		{"file size limit", nil, limitOf(unix.RLIMIT_FSIZE, 1<<30), Note, "1 GiB", "ulimit -f unlimited"},
		{"file size limit", nil, limitOf(unix.RLIMIT_FSIZE, 1<<20), Problem, "1 MiB", "ulimit -f unlimited"},
		{"locked memory", nil, limitOf(unix.RLIMIT_MEMLOCK, 64<<10), OK, "64 KiB; only RDMA cards need more", ""},
		{"locked memory", card("4: ACTIVE"), limitOf(unix.RLIMIT_MEMLOCK, 64<<10), Problem, "64 KiB", "memlock unlimited"},
		{"locked memory", card("4: ACTIVE"), limitOf(unix.RLIMIT_MEMLOCK, 8<<30), OK, "8 GiB", ""},
		{"/dev/shm", nil, func(s *System) { s.Space = func(string) (uint64, uint64, error) { return 64 << 20, 1 << 20, nil } }, Note, "64 MiB, 1 MiB free", "remount,size="},
		{"/dev/shm", nil, func(s *System) { s.Space = func(string) (uint64, uint64, error) { return 0, 0, unix.ENOENT } }, Note, "there is none", "tmpfs"},
		{"huge pages", files{"sys/kernel/mm/transparent_hugepage/shmem_enabled": "always within_size advise [never] deny force"}, nil, Note, "heaps): never", "shmem_enabled"},
		{"huge pages", files{"sys/kernel/mm/transparent_hugepage/shmem_enabled": "-", "sys/kernel/mm/transparent_hugepage/enabled": "-"}, nil, Note, "no transparent huge pages", "CONFIG_TRANSPARENT_HUGEPAGE"},
		{"userfaultfd", nil, func(s *System) { s.Pager = func() error { return errors.New("not permitted") } }, Note, "not permitted", "vm.unprivileged_userfaultfd=1"},
		{"cpus", nil, func(s *System) { s.CPUs = func() []int { return []int{2} } }, Note, "the host has 4", "--cpus-per-task"},
		{"cpus", nil, func(s *System) { s.CPUs = func() []int { return nil } }, OK, "not known", ""},
		{"cpu quota", files{"sys/fs/cgroup/cpu.max": "150000 100000"}, nil, Note, "2 of 4 CPUs", "cpu.max"},
		{"cpu quota", files{"sys/fs/cgroup/cpu.max": "400000 100000"}, nil, OK, "4 CPUs at a time", ""},
		{"cpu governor", files{"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave"}, nil, Note, "powersave", "cpupower"},
		{"cpu governor", files{"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "-"}, nil, OK, "none", ""},
		{"numa", files{"sys/devices/system/node/node1/cpulist": "4-7", "proc/sys/kernel/numa_balancing": "1"}, nil, Note, "2 nodes, and the kernel moves", "numa_balancing=0"},
		{"numa", files{"sys/devices/system/node/node1/cpulist": "4-7"}, nil, OK, "2 nodes", ""},
		{"autogroups", files{"proc/sys/kernel/sched_autogroup_enabled": "1"}, nil, Note, "on", "sched_autogroup_enabled=0"},
		{"autogroups", files{"proc/sys/kernel/sched_autogroup_enabled": "1", "proc/sys/kernel/osrelease": "6.18.2-x"}, nil, Problem, "half a minute", "sched_autogroup_enabled=0"},
		{"autogroups", files{"proc/sys/kernel/sched_autogroup_enabled": "1", "proc/sys/kernel/osrelease": "7.0"}, nil, Problem, "half a minute", "sched_autogroup_enabled=0"},
		{"autogroups", files{"proc/sys/kernel/sched_autogroup_enabled": "-"}, nil, OK, "has none", ""},
		{"interfaces", nil, func(s *System) {
			s.Interfaces = func() ([]Interface, error) { return []Interface{{"lo", true, 65536, []string{"127.0.0.1/8"}}}, nil }
		}, Note, "none but loopback", "ip addr"},
		{"interfaces", nil, nil, OK, "eth0 192.0.2.1/24 mtu 9000, 25000 Mbit/s", ""},
		{"rdma cards", card("4: ACTIVE"), nil, OK, "mlx5_0:1 InfiniBand 4: ACTIVE 200 Gb/sec (4X HDR)", ""},
		{"rdma cards", card("1: DOWN"), nil, Problem, "1: DOWN", "opensm"},
		{"rdma cards", files{"sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE"}, nil, Problem, "/dev/infiniband is empty", "modprobe ib_uverbs"},
		{"ephemeral ports", files{"proc/sys/net/ipv4/ip_local_port_range": "40000 40099"}, nil, Problem, "100 (40000 to 40099)", "ip_local_port_range"},
		{"ephemeral ports", files{"proc/sys/net/ipv4/ip_local_port_range": "40000 50000"}, nil, Note, "10001", "ip_local_port_range"},
		{"ephemeral ports", files{"proc/sys/net/ipv4/ip_local_port_range": "many"}, nil, OK, "not known", ""},
		{"open files", nil, limitOf(unix.RLIMIT_NOFILE, 1024), Note, "1024", "ulimit -n"},
		{"open files", nil, limitOf(unix.RLIMIT_NOFILE, 64), Problem, "64", "ulimit -n"},
		{"clock source", files{"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"}, nil, Note, "hpet", "tsc"},
		{"clock", nil, func(s *System) { s.ClockState = func() (bool, int64, error) { return false, 0, nil } }, Note, "nothing keeps it", "chronyd"},
		{"ssh", nil, func(s *System) { s.LookPath = only("go") }, Note, "no ssh", "-launch"},
		{"slurm", nil, environ("SLURM_JOB_ID=12", "SLURM_JOB_NODELIST=n[1-2]"), Problem, "allocation 12", "PATH"},
		{"slurm", nil, func(s *System) {
			s.LookPath = only("ssh", "srun")
			s.Environ = []string{"SLURM_JOB_ID=12", "SLURM_JOB_NODELIST=n[1-2]"}
		}, OK, "allocation 12 with nodes n[1-2]", ""},
		{"pmix", files{"usr/lib/x86_64-linux-gnu/libpmix.so.2": ""}, nil, OK, "/usr/lib/x86_64-linux-gnu/libpmix.so.2", ""},
		{"pmix", nil, environ("PMIX_RANK=0"), Problem, "no libpmix.so.2", "libpmix2"},
		{"kubernetes", nil, environ("KUBERNETES_SERVICE_HOST=192.0.2.9"), OK, "this is a pod", ""},
		{"container", files{"run/.containerenv": ""}, nil, OK, "podman", ""},
	} {
		f := healthyFiles()
		for path, content := range c.files {
			f[path] = content
			if content == "-" {
				delete(f, path)
			}
		}
		s := healthy(t, f)
		if c.alter != nil {
			c.alter(s)
		}
		for _, got := range Examine(s) {
			if got.Name != c.name {
				if got.State != OK && !(c.name == "pmix" || c.name == "slurm") {
					t.Errorf("%s (%s): %+v too", c.name, c.value, got)
				}
				continue
			}
			if got.State != c.state || !strings.Contains(got.Value, c.value) || !strings.Contains(got.Remedy, c.cure) || (got.State == OK) != (got.Remedy == "") {
				t.Errorf("want %s, %q, %q: %+v", c.state, c.value, c.cure, got)
			}
		}
	}
}

// TestNothingThere: a host without /proc and /sys, on which nothing can be asked, is examined all the same.
func TestNothingThere(t *testing.T) {
	nothing := errors.New("no")
	s := &System{
		Root: t.TempDir(), LookPath: only(), Limit: func(int) (uint64, error) { return 0, nothing },
		Space: func(string) (uint64, uint64, error) { return 0, 0, nothing }, Pager: func() error { return nothing },
		CPUs: func() []int { return nil }, ClockState: func() (bool, int64, error) { return false, 0, nothing },
		Interfaces: func() ([]Interface, error) { return nil, nothing },
	}
	for _, c := range Examine(s) {
		if c.State == Problem {
			t.Errorf("%+v", c)
		}
	}
}

// TestHere: the checks work on this host, whatever they find, and a problem has a remedy.
func TestHere(t *testing.T) {
	found := Examine(Here())
	if len(found) != len(checks) {
		t.Errorf("%d checks of %d", len(found), len(checks))
	}
	for _, c := range found {
		if c.Value == "" || (c.State != OK) == (c.Remedy == "") {
			t.Errorf("%+v", c)
		}
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 bytes", 1023: "1023 bytes", 1 << 10: "1 KiB", 1536: "1.5 KiB", 1 << 20: "1 MiB", 64 << 30: "64 GiB", 1 << 62: "4 EiB"} {
		if got := boot.BytesText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestCountCPUs(t *testing.T) {
	for list, want := range map[string]int{"": 0, "0": 1, "0-3": 4, "0-3,8,10-11": 7, "3-0": 0, "x": 0, "0,": 0} {
		if got := countCPUs(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}

func sample() Report {
	pair := Pair{
		From: 0, To: 1, FromHost: "a", ToHost: "b", Transport: "ucx", Lanes: []Lane{{"tcp", "eth0", "am"}, {"tcp", "eth0", "am_bw"}},
		NativeWhy: "no lane does remote memory access", NICWhy: "PGAS_AMO=cpu",
		PutNs: 31240, GetNs: 29870, SignalNs: 14000, PutMBs: 1234.5, OffsetNs: -1500, ErrorNs: 14000,
	}
	back := pair
	back.From, back.To, back.FromHost, back.ToHost = 1, 0, "b", "a"
	back.Lanes, back.Native, back.NativeWhy = []Lane{{"rc_mlx5", "mlx5_0:1", "rma"}}, true, "a lane does remote memory access"
	back.NICAtomics, back.PutNs, back.GetNs, back.SignalNs = true, 990, 1.5e6, 2000
	lost := Pair{From: 0, To: 2, FromHost: "a", ToHost: "c", Problem: "PE 2 does not answer"}
	return Report{
		Version: Version, Gopgas: "v1.2.3",
		Job: Job{Hosts: []string{"a", "b", "c"}, Error: "PE 2 does not answer", Remedy: "look at c"},
		Hosts: []Host{
			{"a", 0, []Check{{"cpus", "4", OK, ""}, {"userfaultfd", "not permitted", Note, "permit it"}, {"open files", "64", Problem, "ulimit -n 65536"}}},
			{"b", -1, []Check{{"cpus", "2", OK, ""}}},
		},
		Pairs: []Pair{pair, back, lost},
	}
}

func TestConclude(t *testing.T) {
	r := sample()
	r.Conclude()
	want := []Found{
		{"the job", "PE 2 does not answer", "look at c"},
		{"a", "open files: 64", "ulimit -n 65536"},
		{"a to c", "PE 2 does not answer", RemedyUnreachable},
	}
	if !slices.Equal(r.Found, want) {
		t.Errorf("%+v", r.Found)
	}
}

// TestPrint: `go test ./cmd/pgasrun/doctor -update` writes the golden file.
func TestPrint(t *testing.T) {
	var got bytes.Buffer
	r := sample()
	r.Conclude()
	if err := r.Print(&got); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/report.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got:\n%s\nwant:\n%s", got.Bytes(), want)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, unix.ENOSPC }

func TestPrintFails(t *testing.T) {
	r := sample()
	if err := r.Print(full{}); !errors.Is(err, unix.ENOSPC) {
		t.Error(err)
	}
}
