package compare

// The kernels: programs that stand in samples/, and in C in tests/peers. Both take the same flags, do the
// same work, and check what they have computed.

import (
	"fmt"
	"slices"
	"strconv"
)

type kernel struct {
	name    string // of its rows, and in its line of JSON
	program string
	flags   []string
	bytes   int // that its line of JSON says
	// Between hosts the peer takes a thousand times as long for an atomic.
	flagsOnHosts []string
	onHosts      float64 // how many times faster ours has to be between hosts
}

var kernels = []kernel{
	squareKernel("transpose"),
	squareKernel("stencil"),
	{"gups", "gups", []string{"-log", "22"}, 8, []string{"-log", "18", "-updates", "200000"}, 1},
	baleKernel("histogram", 8, "-ops", "20000"),
	baleKernel("gather", 8, "-ops", "20000"),
	baleKernel("permutation", 4, "-log", "14"),
	baleKernel("sparse", 8, "-log", "12"),
	baleKernel("triangles", 40, "-log", "12"),
}

const kernelOrder = 2048

func squareKernel(name string) kernel {
	flags := []string{"-order", strconv.Itoa(kernelOrder), "-iterations", "20"}
	return kernel{name, name, flags, 2 * 8 * kernelOrder * kernelOrder, flags, 1}
}

// baleKernel is a kernel of bale: small accesses anywhere, which ours gathers into large messages between hosts.
func baleKernel(name string, bytes int, flagsOnHosts ...string) kernel {
	flags := []string{"-kernel", name}
	return kernel{name, "bale", flags, bytes, slices.Concat(flags, flagsOnHosts), 5}
}

// binary returns the name of the program that the kernel in C is built to.
func (k kernel) binary() string { return "osh-" + k.program }

func (k kernel) suiteOf(side string, npes int) string {
	return fmt.Sprintf("%s-%s-%d", side, k.name, npes)
}

func (k kernel) suiteOfHosts(side string, hosts int) string { return k.suiteOf(side, hosts) + "-hosts" }

var kernelPEs = []int{2, 4, 16}

func suitesOfKernels() (all []suite) {
	ours, theirs := needs{samples: true}, needs{kernels: true}
	add := func(name, says string, n needs, argv func(t *tools) []string) {
		all = append(all, suite{name: name, says: says, needs: n, argv: argv, plain: true})
	}
	for _, k := range kernels {
		for _, n := range kernelPEs {
			add(k.suiteOf("ours", n), fmt.Sprintf("%s by pgas, %d PEs", k.name, n), ours, pgasrun(n, append([]string{k.program, "-json"}, k.flags...)...))
			add(k.suiteOf("osh", n), fmt.Sprintf("%s by OSHMEM, %d PEs", k.name, n), theirs, oshmem(n, chosen, append([]string{k.binary()}, k.flags...)...))
		}
		ours, theirs := ours, theirs
		ours.hosts, theirs.hosts = 2, 2
		add(k.suiteOfHosts("ours", 2), k.name+" by pgas on 2 hosts", ours, oursOnHosts(2, append([]string{k.program, "-json"}, k.flagsOnHosts...)...))
		add(k.suiteOfHosts("osh", 2), k.name+" by OSHMEM on 2 hosts", theirs, oshmemOnHosts(2, append([]string{k.binary()}, k.flagsOnHosts...)...))
	}
	return all
}

// rowsOfKernels returns the rows of the kernels. Their goal is to be no slower; that of bale's is more between hosts.
func rowsOfKernels() (all []row) {
	for _, k := range kernels {
		add := func(name, ours, theirs string, least float64) {
			all = append(all, row{programs, k.name + ", " + name, point{ours, k.name, k.bytes}, one(theirs, k.name, k.bytes), least, goalOf(least), perOperation})
		}
		for _, n := range kernelPEs {
			add(fmt.Sprintf("%d PEs", n), k.suiteOf("ours", n), k.suiteOf("osh", n), 1)
		}
		add("two hosts", k.suiteOfHosts("ours", 2), k.suiteOfHosts("osh", 2), k.onHosts)
	}
	return all
}

// kernelPrograms returns the programs of the kernels, each once.
func kernelPrograms() (names []string) {
	for _, k := range kernels {
		if !slices.Contains(names, k.program) {
			names = append(names, k.program)
		}
	}
	return names
}
