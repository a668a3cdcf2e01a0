package compare

// The kernels: programs that stand in samples/, and in C in tests/peers. Both take the same flags, do the
// same work, and check what they have computed.

import (
	"fmt"
	"strconv"
)

type kernel struct {
	name  string
	flags []string
	bytes int // that its line of JSON says
	// Between hosts the peer takes a thousand times as long for an atomic.
	flagsOnHosts []string
}

var kernels = []kernel{
	squareKernel("transpose"),
	squareKernel("stencil"),
	{"gups", []string{"-log", "22"}, 8, []string{"-log", "18", "-updates", "200000"}},
}

const kernelOrder = 2048

func squareKernel(name string) kernel {
	flags := []string{"-order", strconv.Itoa(kernelOrder), "-iterations", "20"}
	return kernel{name, flags, 2 * 8 * kernelOrder * kernelOrder, flags}
}

// binary returns the name of the program that the kernel in C is built to.
func (k kernel) binary() string { return "osh-" + k.name }

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
			add(k.suiteOf("ours", n), fmt.Sprintf("%s by pgas, %d PEs", k.name, n), ours, pgasrun(n, append([]string{k.name, "-json"}, k.flags...)...))
			add(k.suiteOf("osh", n), fmt.Sprintf("%s by OSHMEM, %d PEs", k.name, n), theirs, oshmem(n, chosen, append([]string{k.binary()}, k.flags...)...))
		}
		ours, theirs := ours, theirs
		ours.hosts, theirs.hosts = 2, 2
		add(k.suiteOfHosts("ours", 2), k.name+" by pgas on 2 hosts", ours, oursOnHosts(2, append([]string{k.name, "-json"}, k.flagsOnHosts...)...))
		add(k.suiteOfHosts("osh", 2), k.name+" by OSHMEM on 2 hosts", theirs, oshmemOnHosts(2, append([]string{k.binary()}, k.flagsOnHosts...)...))
	}
	return all
}

// rowsOfKernels returns the rows of the kernels. Their goal is to be no slower, wherever they run.
func rowsOfKernels() (all []row) {
	for _, k := range kernels {
		add := func(name, ours, theirs string) {
			all = append(all, row{programs, k.name + ", " + name, point{ours, k.name, k.bytes}, one(theirs, k.name, k.bytes), 1, noSlower, perOperation})
		}
		for _, n := range kernelPEs {
			add(fmt.Sprintf("%d PEs", n), k.suiteOf("ours", n), k.suiteOf("osh", n))
		}
		add("two hosts", k.suiteOfHosts("ours", 2), k.suiteOfHosts("osh", 2))
	}
	return all
}
