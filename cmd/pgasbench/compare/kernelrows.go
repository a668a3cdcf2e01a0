package compare

// The suites and rows of the kernels.

import (
	"fmt"
	"path/filepath"
)

func (k kernel) suiteOf(side string, npes int) string {
	return fmt.Sprintf("%s-%s-%d", side, k.name, npes)
}

func (k kernel) suiteOfHosts(side string, hosts int) string { return k.suiteOf(side, hosts) + "-hosts" }

func suitesOfKernels() (all []suite) {
	for _, k := range kernels {
		for _, n := range kernelPEs {
			all = append(all,
				k.ours(k.suiteOf("ours", n), fmt.Sprintf("%d PEs", n), 0, pgasrun(n, k.command(k.flags)...)),
				k.theirs(k.suiteOf("osh", n), fmt.Sprintf("%d PEs", n), 0, oshmem(n, chosen, k.peer(k.flags)...)))
		}
		all = append(all,
			k.ours(k.suiteOfHosts("ours", 2), "2 hosts", 2, inSource(oursOnHosts(2, k.command(k.flagsOnHosts)...))),
			k.theirs(k.suiteOfHosts("osh", 2), "2 hosts", 2, inSource(oshmemOnHosts(2, k.peer(k.flagsOnHosts)...))))
	}
	return all
}

func (k kernel) ours(name, where string, hosts int, argv func(t *tools) []string) suite {
	return suite{name: name, says: k.name + " by pgas, " + where, needs: needs{samples: true, hosts: hosts}, argv: argv, plain: true, read: k.read}
}

func (k kernel) theirs(name, where string, hosts int, argv func(t *tools) []string) suite {
	return suite{name: name, says: k.name + " by OSHMEM, " + where, needs: needs{kernels: true, hosts: hosts}, argv: argv, plain: true}
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

// inSource returns argv with the module's directory in place of what stands for it.
func inSource(argv func(t *tools) []string) func(t *tools) []string {
	return func(t *tools) []string {
		args := argv(t)
		for i, arg := range args {
			if arg == moduleSource {
				args[i] = filepath.Dir(filepath.Dir(t.peers))
			}
		}
		return args
	}
}
