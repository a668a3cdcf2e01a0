package topo

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// hardware describes a host whose /sys a test writes.
type hardware struct {
	sockets int
	nodes   int  // NUMA nodes of a socket
	caches  int  // L3 caches of a node
	cores   int  // of an L3 cache
	threads int  // of a core
	far     bool // the second threads of all cores come after the first ones, as Linux numbers most machines
}

func (h hardware) cpus() int { return h.sockets * h.nodes * h.caches * h.cores * h.threads }

// group lists the CPUs of group number i of n equal ones.
func (h hardware) group(i, n int) []int {
	cores := h.cpus() / h.threads
	var cpus []int
	for thread := range h.threads {
		for core := i * cores / n; core < (i+1)*cores/n; core++ {
			if h.far {
				cpus = append(cpus, thread*cores+core)
			} else {
				cpus = append(cpus, core*h.threads+thread)
			}
		}
	}
	slices.Sort(cpus)
	return cpus
}

// sys writes what the kernel would.
func (h hardware) sys() fstest.MapFS {
	sys := fstest.MapFS{}
	cores := h.cpus() / h.threads
	for core := range cores {
		for _, cpu := range h.group(core, cores) {
			at := func(n int) string { return list(h.group(core*n/cores, n)) }
			dir := fmt.Sprintf("devices/system/cpu/cpu%d/", cpu)
			put(sys, dir+"topology/package_cpus_list", at(h.sockets))
			put(sys, dir+"topology/core_cpus_list", at(cores))
			for index, cache := range []struct{ level, shared string }{
				{"1", at(cores)}, {"1", at(cores)}, {"2", at(cores)}, {"3", at(h.sockets * h.nodes * h.caches)},
			} {
				dir := fmt.Sprintf("%scache/index%d/", dir, index)
				put(sys, dir+"level", cache.level)
				put(sys, dir+"shared_cpu_list", cache.shared)
			}
			put(sys, dir+"cache/uevent", "")
		}
	}
	for node := range h.sockets * h.nodes {
		put(sys, fmt.Sprintf("devices/system/node/node%d/cpulist", node), list(h.group(node, h.sockets*h.nodes)))
	}
	put(sys, "devices/system/node/has_cpu", "0")
	put(sys, fmt.Sprintf("devices/system/node/node%d/cpulist", h.sockets*h.nodes), "") // memory without CPUs
	return sys
}

func put(sys fstest.MapFS, file, text string) { sys[file] = &fstest.MapFile{Data: []byte(text + "\n")} }

// list writes CPUs as the kernel does.
func list(cpus []int) string { return ranges(cpus) }

var (
	laptop = hardware{sockets: 1, nodes: 1, caches: 1, cores: 4, threads: 2, far: true}
	server = hardware{sockets: 2, nodes: 2, caches: 1, cores: 4, threads: 1}
	epyc   = hardware{sockets: 2, nodes: 1, caches: 4, cores: 2, threads: 1}
)

func without(sys fstest.MapFS, part string) fstest.MapFS {
	for name := range sys {
		if strings.Contains(name, part) {
			delete(sys, name)
		}
	}
	return sys
}

func renamed(sys fstest.MapFS, old, now string) fstest.MapFS {
	for name, file := range sys {
		if strings.Contains(name, old) {
			delete(sys, name)
			sys[strings.ReplaceAll(name, old, now)] = file
		}
	}
	return sys
}

// What a PE that may use some CPUs knows of the inside of its host: the lowest CPU of its socket, NUMA
// node, cache and core, or - for none.
func TestDetectIn(t *testing.T) {
	garbled := laptop.sys()
	put(garbled, "devices/system/cpu/cpu1/topology/core_cpus_list", "5-1")
	put(garbled, "devices/system/cpu/cpu2/cache/index3/shared_cpu_list", "all of them")
	put(garbled, "devices/system/cpu/cpu3/cache/index3/level", "three")
	put(garbled, "devices/system/cpu/cpu4/cache/index9/level", "2")
	put(garbled, "devices/system/cpu/cpu4/cache/index9/shared_cpu_list", "4")
	tests := []struct {
		name string
		sys  fs.FS
		cpus string
		want string
	}{
		{"a core of a laptop, by one thread", laptop.sys(), "6", "0 0 0 2"},
		{"a core of a laptop, by both", laptop.sys(), "2,6", "0 0 0 2"},
		{"two cores of a laptop", laptop.sys(), "2-3", "0 0 0 -"},
		{"any CPU of a laptop", laptop.sys(), "0-7", "0 0 0 -"},
		{"a core of a server", server.sys(), "13", "8 12 12 13"},
		{"a node of a server", server.sys(), "4-7", "0 4 4 -"},
		{"two nodes of a socket", server.sys(), "3-4", "0 - - -"},
		{"both sockets", server.sys(), "7-8", "- - - -"},
		{"a cache of an EPYC", epyc.sys(), "10-11", "8 8 10 -"},
		{"two caches of an EPYC", epyc.sys(), "9-10", "8 8 - -"},
		{"no CPUs known", laptop.sys(), "", "- - - -"},
		{"a CPU beyond all", laptop.sys(), "8", "- - - -"},
		{"a CPU here and one beyond", laptop.sys(), "0,8", "- - - -"},
		{"a container without /sys", fstest.MapFS{}, "0-3", "- - - -"},
		{"a container with some of it", without(laptop.sys(), "/topology/"), "1", "- - - -"},
		{"a virtual machine without caches", without(server.sys(), "/cache/"), "5", "0 4 5 5"},
		{"a kernel without NUMA", online(without(laptop.sys(), "/node/"), "0-7"), "2", "0 0 0 2"},
		{"an old kernel", renamed(renamed(server.sys(), "package_cpus", "core_siblings"), "core_cpus", "thread_siblings"), "13", "8 12 12 13"},
		{"garbled core", garbled, "1", "- - - -"},
		{"garbled cache, the next inner one counts", garbled, "2", "0 0 2 2"},
		{"garbled level of a cache", garbled, "3", "0 0 3 3"},
		{"an inner cache after the outer ones", garbled, "4", "0 0 0 0"},
		{"the neighbour of all these", garbled, "0", "0 0 0 0"},
	}
	for _, tt := range tests {
		cpus, err := parseCPUs(tt.cpus)
		if err != nil {
			t.Fatal(err)
		}
		p := DetectIn(tt.sys, cpus, nil)
		var got []string
		for _, v := range p.inside {
			if v == 0 {
				got = append(got, "-")
			} else {
				got = append(got, fmt.Sprint(v-1))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s, CPUs %q: in %v, want %s", tt.name, tt.cpus, got, tt.want)
		}
	}
}

func online(sys fstest.MapFS, cpus string) fstest.MapFS {
	put(sys, "devices/system/cpu/online", cpus)
	return sys
}

// On this machine, a PE of one CPU is in an element of every level that Linux tells of.
func TestDetect(t *testing.T) {
	cpus := allowedCPUs()
	if len(cpus) == 0 {
		t.Fatal("the kernel does not say which CPUs this process may use")
	}
	sys := os.DirFS("/sys")
	if readText(sys, fmt.Sprintf("devices/system/cpu/cpu%d/topology/core_cpus_list", cpus[0])) == "" {
		t.Skip("no topology in /sys")
	}
	one := DetectIn(sys, cpus[:1], nil)
	for i, v := range one.inside {
		if v == 0 || int(v)-1 > cpus[0] {
			t.Errorf("CPU %d is in %s %d", cpus[0], insideNames[i], int(v)-1)
		}
	}
	for i, v := range Detect().inside {
		if v != 0 && v != one.inside[i] {
			t.Errorf("CPU %d is in %s %d, and all that this process may use are in %d", cpus[0], insideNames[i], int(one.inside[i])-1, int(v)-1)
		}
	}
}

func TestFromSlurm(t *testing.T) {
	tests := []struct {
		addr, pattern string
		depth, blocks uint8
	}{
		{"root.leaf3.n12", "switch.switch.node", 2, 0},
		{"core[1-4].leaf8.n177", "switch.switch.node", 2, 0},
		{"b7.n12", "block.node", 1, 1},
		{"root.b7.n12", "switch.block.node", 2, 2},
		{"n12", "node", 0, 0},
		{"", "", 0, 0},
		{"root.leaf3.n12", "", 0, 0},
		{"", "switch.switch.node", 0, 0},
		{"root.leaf3.n12.example.org", "switch.switch.node", 0, 0}, // which dot ends the switch?
		{"root..n12", "switch.switch.node", 0, 0},
		{"root.leaf3", "switch.switch", 0, 0},
		{"x1.y2.n12", "torus.torus.node", 0, 0},
		{"a.b.c.d.e.f.g.h.n", "switch.switch.switch.switch.switch.switch.switch.switch.node", maxOutside, 0},
	}
	for _, tt := range tests {
		var p Place
		p.fromSlurm([]string{"A=b", "SLURM_TOPOLOGY_ADDR=x", "SLURM_TOPOLOGY_ADDR=" + tt.addr, "SLURM_TOPOLOGY_ADDR_PATTERN=" + tt.pattern})
		if p.depth != tt.depth || p.blocks != tt.blocks {
			t.Errorf("%s, %s: depth %d, blocks %b, want %d, %b", tt.addr, tt.pattern, p.depth, p.blocks, tt.depth, tt.blocks)
		}
	}
}

// naiveCPUs reads a list number by number.
func naiveCPUs(text string) string {
	var cpus []int
	for _, part := range strings.Split(text, ",") {
		var a, b int
		if n, _ := fmt.Sscanf(part, "%d-%d", &a, &b); n == 1 {
			b = a
		}
		for ; a <= b; a++ {
			cpus = append(cpus, a)
		}
	}
	return fmt.Sprint(cpus)
}

func FuzzParseCPUs(f *testing.F) {
	for _, s := range []string{"", "0", "0-3", "0-3,8-11\n", "1,3,5", "5-1", "3,2", "0-99999999999", "-1", "0-", "32767", "32768", "+1", "01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cpus, err := parseCPUs(text)
		if err != nil || len(cpus) == 0 {
			return
		}
		for i := 1; i < len(cpus); i++ {
			if cpus[i] <= cpus[i-1] {
				t.Fatalf("%q gives %v, which does not ascend", text, cpus)
			}
		}
		if want := naiveCPUs(strings.TrimSpace(text)); fmt.Sprint(cpus) != want {
			t.Errorf("%q gives %v, want %s", text, cpus, want)
		}
	})
}

func TestDecodePlaceRefuses(t *testing.T) {
	good := Place{depth: 2, blocks: 2, paths: [maxOutside]uint64{7, 8}}.Encode()
	for name, change := range map[string]func(b []byte) []byte{
		"short":                      func(b []byte) []byte { return b[:PlaceBytes-1] },
		"long":                       func(b []byte) []byte { return append(b, 0) },
		"another version":            func(b []byte) []byte { b[0]++; return b },
		"nothing":                    func(b []byte) []byte { clear(b); return b },
		"too deep":                   func(b []byte) []byte { b[1] = maxOutside + 1; return b },
		"a block that is no level":   func(b []byte) []byte { b[2] = 4; return b },
		"something between":          func(b []byte) []byte { b[5] = 1; return b },
		"more levels than it says":   func(b []byte) []byte { b[1], b[2] = 1, 1; return b },
		"a path beyond those it has": func(b []byte) []byte { b[PlaceBytes-1] = 1; return b },
	} {
		if p, err := DecodePlace(change(slices.Clone(good[:]))); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func FuzzDecodePlace(f *testing.F) {
	known := DetectIn(server.sys(), []int{5}, []string{"SLURM_TOPOLOGY_ADDR=root.leaf.n1", "SLURM_TOPOLOGY_ADDR_PATTERN=switch.block.node"})
	for _, p := range []Place{{}, known} {
		b := p.Encode()
		if got, err := DecodePlace(b[:]); err != nil || got != p {
			f.Fatalf("%+v comes back as %+v, %v", p, got, err)
		}
		f.Add(b[:])
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodePlace(b)
		if err != nil {
			return
		}
		if again := p.Encode(); string(again[:]) != string(b) {
			t.Errorf("%x comes back as %x", b, again)
		}
		if _, err := Build(Spec{}, []int{1, 2}, []Place{p, {}, known}); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
	})
}
