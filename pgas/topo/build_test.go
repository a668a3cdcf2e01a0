package topo

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// bound returns the places of PEs on a host, each with CPUs of its own ("0-1 2-3"), and the Slurm address of
// their node.
func bound(sys fstest.MapFS, cpus, addr string) []Place {
	env := []string{"SLURM_TOPOLOGY_ADDR=" + addr, "SLURM_TOPOLOGY_ADDR_PATTERN=" + strings.Repeat("switch.", strings.Count(addr, ".")) + "node"}
	var places []Place
	for list := range strings.FieldsSeq(cpus) {
		c, err := parseCPUs(list)
		if err != nil {
			panic(err)
		}
		places = append(places, DetectIn(sys, c, env))
	}
	return places
}

// eachCPU binds a PE to each of the first n CPUs.
func eachCPU(n int) string {
	return strings.Trim(fmt.Sprint(slices.Collect(upTo(n))), "[]")
}

func upTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func TestBuild(t *testing.T) {
	block := bound(laptop.sys(), "0 1", "x.n1")
	for i := range block {
		block[i].blocks = 1
	}
	mixed := bound(laptop.sys(), "0 1", "top.x.n1")
	for i := range mixed {
		mixed[i].blocks = 2
	}
	shared := without(server.sys(), "/node") // Sub-NUMA clustering: an L3 cache has two NUMA nodes
	for cpu := range server.cpus() {
		put(shared, fmt.Sprintf("devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", cpu), list(server.group(cpu/8, 2)))
	}
	for n := range 4 {
		put(shared, fmt.Sprintf("devices/system/node/node%d/cpulist", n), list(server.group(n, 4)))
	}
	virtual := online(without(hardware{sockets: 2, nodes: 1, caches: 1, cores: 1, threads: 1}.sys(), "/node"), "0-1")
	for cpu := range 2 {
		put(virtual, fmt.Sprintf("devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", cpu), "0-1")
	}
	tests := []struct {
		name   string
		spec   string
		hosts  []int
		places []Place
		want   string
	}{
		{"a laptop, a PE for each thread", "", []int{8}, bound(laptop.sys(), eachCPU(8), ""), `
machine         1  0-7
host            1  0-7
socket          1  0-7
numa            1  0-7
cache           1  0-7
core            4  0,4 | 1,5 | 2,6 | 3,7`},
		{"a laptop, PEs that run anywhere", "", []int{3}, bound(laptop.sys(), "0-7 0-7 0-7", ""), `
machine         1  0-2
host            1  0-2
socket          1  0-2
numa            1  0-2
cache           1  0-2
core            3  0 | 1 | 2`},
		{"two sockets with two nodes each", "", []int{8}, bound(server.sys(), "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15", ""), `
machine         1  0-7
host            1  0-7
socket          2  0-3 | 4-7
numa            4  0-1 | 2-3 | 4-5 | 6-7
cache           4  0-1 | 2-3 | 4-5 | 6-7
core            8  0 | 1 | 2 | 3 | 4 | 5 | 6 | 7`},
		{"the same, dealt round and half of them not bound to one node", "", []int{6}, bound(server.sys(), "0 8 4 0-7 12 0-15", ""), `
machine         1  0-5
host            1  0-5
socket          3  0,2-3 | 1,4 | 5
numa            6  0 | 1 | 2 | 3 | 4 | 5
cache           6  0 | 1 | 2 | 3 | 4 | 5
core            6  0 | 1 | 2 | 3 | 4 | 5`},
		{"several caches for each node", "", []int{8}, bound(epyc.sys(), "0 1 2 3 8 9 10 11", ""), `
machine         1  0-7
host            1  0-7
socket          2  0-3 | 4-7
numa            2  0-3 | 4-7
cache           4  0-1 | 2-3 | 4-5 | 6-7
core            8  0 | 1 | 2 | 3 | 4 | 5 | 6 | 7`},
		{"several nodes for each cache", "", []int{5}, bound(shared, "0 1 4 5 0-7", ""), `
machine         1  0-4
host            1  0-4
socket          1  0-4
cache           1  0-4
numa            3  0-1 | 2-3 | 4
core            5  0 | 1 | 2 | 3 | 4`},
		{"PEs that may use one such cache", "", []int{2}, bound(shared, "0-7 0-7", ""), `
machine         1  0-1
host            1  0-1
socket          1  0-1
cache           1  0-1
numa            2  0 | 1
core            2  0 | 1`},
		{"hosts that nest in different ways: cut at the borders", "", []int{5, 3}, slices.Concat(bound(shared, "0 1 4 0-7 0-7", ""), bound(epyc.sys(), "0 2 3", "")), `
machine         1  0-7
host            2  0-4 | 5-7
socket          2  0-4 | 5-7
numa            5  0-1 | 2 | 3 | 4 | 5-7
cache           6  0-1 | 2 | 3 | 4 | 5 | 6-7
core            8  0 | 1 | 2 | 3 | 4 | 5 | 6 | 7`},
		{"different machines that nest in one way", "", []int{2, 2}, slices.Concat(bound(shared, "0 4", ""), bound(server.sys(), "4 5", "")), `
machine         1  0-3
host            2  0-1 | 2-3
socket          2  0-1 | 2-3
cache           2  0-1 | 2-3
numa            3  0 | 1 | 2-3
core            4  0 | 1 | 2 | 3`},
		{"a virtual machine with a socket for each CPU and one cache", "", []int{2}, bound(virtual, "0 1", ""), `
machine         1  0-1
host            1  0-1
numa            1  0-1
cache           1  0-1
socket          2  0 | 1
core            2  0 | 1`},
		{"several sockets for each node", "", []int{4}, bound(online(without(server.sys(), "/node"), "0-15"), "0 1 8 9", ""), `
machine         1  0-3
host            1  0-3
numa            1  0-3
socket          2  0-1 | 2-3
cache           2  0-1 | 2-3
core            4  0 | 1 | 2 | 3`},
		{"no /sys", "", []int{2, 1}, make([]Place, 3), `
machine         1  0-2
host            2  0-1 | 2
socket          3  0 | 1 | 2
numa            3  0 | 1 | 2
cache           3  0 | 1 | 2
core            3  0 | 1 | 2`},
		{"the same CPUs on two hosts", "", []int{2, 2}, bound(laptop.sys(), "0 4 0 4", ""), `
machine         1  0-3
host            2  0-1 | 2-3
socket          2  0-1 | 2-3
numa            2  0-1 | 2-3
cache           2  0-1 | 2-3
core            2  0-1 | 2-3`},
		{"Slurm", "core,host", []int{1, 1, 1}, slices.Concat(
			bound(laptop.sys(), "0", "top.left.a"), bound(laptop.sys(), "0", "top.right.b"), bound(laptop.sys(), "0", "top.left.c")), `
machine         1  0-2
switch2         1  0-2
switch          2  0,2 | 1
host            3  0 | 1 | 2
core            3  0 | 1 | 2`},
		{"leaves of one name below different switches", "core,host", []int{1, 1}, slices.Concat(
			bound(laptop.sys(), "0", "left.s0.a"), bound(laptop.sys(), "0", "right.s0.b")), `
machine         1  0-1
switch2         2  0 | 1
switch          2  0 | 1
host            2  0 | 1
core            2  0 | 1`},
		{"paths of different lengths, and a host that Slurm does not know", "core,host", []int{1, 1, 1, 1}, slices.Concat(
			bound(laptop.sys(), "0", "top.a"), bound(laptop.sys(), "0", "top.s1.b"), bound(laptop.sys(), "0", ""), bound(laptop.sys(), "0", "top.s1.d")), `
machine         1  0-3
switch2         2  0-1,3 | 2
switch          3  0 | 1,3 | 2
host            4  0 | 1 | 2 | 3
core            4  0 | 1 | 2 | 3`},
		{"PEs of a host that disagree about it", "core,host", []int{2, 1}, slices.Concat(
			bound(laptop.sys(), "0", "x.a"), bound(laptop.sys(), "1", "y.a"), bound(laptop.sys(), "0", "y.b")), `
machine         1  0-2
switch          2  0-1 | 2
host            2  0-1 | 2
core            3  0 | 1 | 2`},
		{"Slurm's blocks", "core,host", []int{1, 1}, block, `
machine         1  0-1
block           1  0-1
host            2  0 | 1
core            2  0 | 1`},
		{"blocks below a switch", "core,host", []int{1, 1}, mixed, `
machine         1  0-1
switch          1  0-1
block           1  0-1
host            2  0 | 1
core            2  0 | 1`},
		{"racks of two hosts, the inside as found", "host,rack:2", []int{2, 1, 1}, bound(laptop.sys(), "0 4 0 0", "top.n"), `
machine         1  0-3
rack            2  0-2 | 3
host            3  0-1 | 2 | 3
socket          3  0-1 | 2 | 3
numa            3  0-1 | 2 | 3
cache           3  0-1 | 2 | 3
core            3  0-1 | 2 | 3`},
		{"racks of Slurm's switches", "core,host,switch,rack:2", []int{1, 1, 1}, slices.Concat(
			bound(laptop.sys(), "0", "top.s1.a"), bound(laptop.sys(), "0", "top.s2.b"), bound(laptop.sys(), "0", "top.s3.c")), `
machine         1  0-2
rack            2  0-1 | 2
switch          3  0 | 1 | 2
host            3  0 | 1 | 2
core            3  0 | 1 | 2`},
		{"the inside by count, the outside as found", "numa:2", []int{5, 3}, bound(laptop.sys(), eachCPU(8), "top.n"), `
machine         1  0-7
switch          1  0-7
host            2  0-4 | 5-7
numa            5  0-1 | 2-3 | 4 | 5-6 | 7`},
		{"nothing outside", "numa:4,machine", []int{5, 3}, bound(laptop.sys(), eachCPU(8), "top.n"), `
machine         1  0-7
host            2  0-4 | 5-7
numa            3  0-3 | 4 | 5-7`},
		{"some of what is found", "numa,host", []int{4}, bound(server.sys(), "0 1 4 8", ""), `
machine         1  0-3
host            1  0-3
numa            3  0-1 | 2 | 3`},
		{"counting what is found", "core,tile:2,host", []int{8}, bound(laptop.sys(), eachCPU(8), ""), `
machine         1  0-7
host            1  0-7
tile            2  0-1,4-5 | 2-3,6-7
core            4  0,4 | 1,5 | 2,6 | 3,7`},
		{"hosts that do not exist", "numa:2,host:2,rack:2", []int{10}, nil, `
machine         1  0-9
rack            2  0-7 | 8-9
host            3  0-3 | 4-7 | 8-9
numa            5  0-1 | 2-3 | 4-5 | 6-7 | 8-9`},
		{"a part of a host as a host", "host:2", []int{3, 2}, bound(laptop.sys(), eachCPU(5), ""), `
machine         1  0-4
host            3  0-1 | 2 | 3-4`},
		{"nothing known and nothing said", "", []int{2, 2}, nil, `
machine         1  0-3
host            2  0-1 | 2-3`},
	}
	for _, tt := range tests {
		spec, err := Parse(tt.spec)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		tree, err := Build(spec, tt.hosts, tt.places)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		_, got, _ := strings.Cut(tree.String(), "\n")
		if want := tt.want[1:] + "\n"; got != want {
			t.Errorf("%s:\n%swant\n%s", tt.name, got, want)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	tests := []struct {
		spec   string
		hosts  []int
		places []Place
		want   string
	}{
		{"tile:2,numa,host", []int{4}, bound(server.sys(), "0 4 1 5", ""),
			"topology tile:2,numa,host: levels must nest, but PEs 0 and 1 share one tile and not one numa: write the levels from the PEs outwards, with counts that divide what is found"},
		{"socket,cache,host", []int{2}, bound(epyc.sys(), "0 2", ""),
			"topology socket,cache,host: levels must nest, but PEs 0 and 1 share one socket and not one cache: write the levels from the PEs outwards, with counts that divide what is found"},
		{"host,rack:2,switch", []int{1, 1}, slices.Concat(bound(laptop.sys(), "0", "a.n0"), bound(laptop.sys(), "0", "b.n1")),
			"topology host,rack:2,switch: levels must nest, but PEs 0 and 1 share one rack and not one switch: write the levels from the PEs outwards, with counts that divide what is found"},
		{"numa,host", []int{4}, nil, "topology numa,host: nothing is known of the level numa: say how many of the level before one holds, as in numa:2"},
		{"host,switch2", []int{1}, bound(laptop.sys(), "0", "top.n0"), "topology host,switch2: nothing is known of the level switch2: say how many of the level before one holds, as in switch2:2"},
		{"", []int{2, 0}, nil, "host 1 has 0 PEs"},
		{"", []int{2, 1}, make([]Place, 2), "a topology of 3 PEs on 2 hosts, with the places of 2"},
		{"", nil, nil, "a topology of 0 PEs on 0 hosts, with the places of 0"},
	}
	for _, tt := range tests {
		spec, err := Parse(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		if tree, err := Build(spec, tt.hosts, tt.places); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v\n%vwant %s", tt.spec, err, tree, tt.want)
		}
	}
}

var seed = flag.Uint64("seed", 0, "of the random tests; 0: a new one")

func random(t *testing.T) *rand.Rand {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with: go test ./pgas/topo -run '^%s$' -seed %d", t.Name(), s)
		}
	})
	return rand.New(rand.NewPCG(s, 0))
}

// On random machines with random sets of CPUs, two PEs share an element if and only if the CPUs of both
// are in one.
func TestBuildByDefinition(t *testing.T) {
	r := random(t)
	for range 300 {
		h := hardware{sockets: 1 + r.IntN(3), nodes: 1 + r.IntN(2), caches: 1 + r.IntN(3), cores: 1 + r.IntN(3), threads: 1 + r.IntN(2), far: r.IntN(2) == 0}
		hosts := make([]int, 1+r.IntN(3))
		var masks [][]int
		var places []Place
		var hostOf []int
		sys := h.sys()
		for i := range hosts {
			hosts[i] = 1 + r.IntN(6)
			for range hosts[i] {
				mask := randomMask(r, h)
				masks, places, hostOf = append(masks, mask), append(places, DetectIn(sys, mask, nil)), append(hostOf, i)
			}
		}
		tree, err := Build(Spec{}, hosts, places)
		if err != nil {
			t.Fatal(err)
		}
		checkTree(t, tree)
		sockets := h.sockets
		groups := map[string]int{Host: 1, Socket: sockets, NUMA: sockets * h.nodes, Cache: sockets * h.nodes * h.caches, Core: h.cpus() / h.threads}
		for name, n := range groups {
			level, err := tree.Level(name)
			if err != nil {
				t.Fatal(err)
			}
			for a := range masks {
				for b := range masks {
					want := a == b || hostOf[a] == hostOf[b] && slices.ContainsFunc(slices.Collect(upTo(n)), func(g int) bool {
						element := h.group(g, n)
						return subset(masks[a], element) && subset(masks[b], element)
					})
					if level.Share(a, b) != want {
						t.Fatalf("%+v: PEs %d and %d of %v, on CPUs %v and %v, share a %s: %t\n%v", h, a, b, hosts, masks[a], masks[b], name, !want, tree)
					}
				}
			}
		}
	}
}

// randomMask returns what binding usually gives: some CPUs from one core, cache, node or socket.
func randomMask(r *rand.Rand, h hardware) []int {
	n := []int{h.cpus() / h.threads, h.sockets * h.nodes * h.caches, h.sockets * h.nodes, h.sockets, 1}[r.IntN(5)]
	element := h.group(r.IntN(n), n)
	mask := slices.DeleteFunc(slices.Clone(element), func(int) bool { return r.IntN(2) == 0 })
	if len(mask) == 0 {
		return element
	}
	return mask
}

// Counted levels by definition: a PE is in the element whose number is its own in the host, or that of
// its host, divided by all that an element holds.
func TestCountsByDefinition(t *testing.T) {
	r := random(t)
	for range 500 {
		inside, outside := make([]int, r.IntN(4)), make([]int, r.IntN(4))
		var list []string
		for i := range inside {
			inside[i] = 1 + r.IntN(3)
			list = append(list, fmt.Sprintf("in%d:%d", i, inside[i]))
		}
		perHost := r.IntN(4)
		list = append(list, fmt.Sprintf("host:%d", perHost))
		if perHost == 0 {
			list[len(list)-1] = "host"
		}
		for i := range outside {
			outside[i] = 1 + r.IntN(3)
			list = append(list, fmt.Sprintf("out%d:%d", i, outside[i]))
		}
		var hosts []int
		for range 1 + r.IntN(4) {
			hosts = append(hosts, 1+r.IntN(12))
		}
		spec, err := Parse(strings.Join(list, ","))
		if err != nil {
			t.Fatal(err)
		}
		tree, err := Build(spec, hosts, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := naiveCounts(hosts, inside, perHost, outside)
		for pe := range tree.NPEs() {
			var got []int
			for i := tree.Depth() - 1; i > 0; i-- {
				got = append(got, tree.LevelAt(i).Element(pe))
			}
			if !slices.Equal(got, want[pe]) {
				t.Fatalf("%s on hosts of %v: PE %d is in %v, want %v\n%v", spec, hosts, pe, got, want[pe], tree)
			}
		}
	}
}

// naiveCounts returns for each PE the elements that it is in, outwards.
func naiveCounts(hosts, inside []int, perHost int, outside []int) (of [][]int) {
	base := make([]int, len(inside)+1) // elements of the hosts before, by level
	for _, pes := range hosts {
		in := slices.Clone(inside)
		if perHost > 0 {
			in = append(in, perHost)
		} else {
			in = append(in, 1<<20)
		}
		for pe := range pes {
			holds := 1
			var e []int
			for i, n := range in {
				holds *= n
				e = append(e, base[i]+pe/holds)
			}
			host := e[len(e)-1]
			for _, n := range outside {
				host /= n
				e = append(e, host)
			}
			of = append(of, e)
		}
		for i := range base {
			base[i] = of[len(of)-1][i] + 1
		}
	}
	return of
}
