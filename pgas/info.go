package pgas

// What the library says of itself: its version, and with the variables SHMEM_VERSION, SHMEM_INFO and
// SHMEM_DEBUG what it does. All of that goes to standard error, so that the output of a program stays
// its own.

import (
	"fmt"
	"os"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/version"
)

// SpecVersion is the version of the OpenSHMEM specification whose routines this package has
// (OpenSHMEM 1.6, shmem_info_get_version).
func SpecVersion() (major, minor int) { return 1, 6 }

// LibraryName returns the name of this library with its own version, such as "gopgas v1.2.3" (OpenSHMEM 1.6,
// shmem_info_get_name).
func LibraryName() string { return "gopgas " + version.Current() }

// introduce says what the variables ask for when this PE has joined its job: the version and the table of
// variables once a job.
func (w *World) introduce() {
	w.describe()
	if w.n.Job.PE != 0 {
		return
	}
	if w.n.Job.Settings.Version {
		major, minor := SpecVersion()
		fmt.Fprintf(os.Stderr, "pgas: %s, OpenSHMEM %d.%d\n", LibraryName(), major, minor)
	}
	if w.n.Job.Settings.Info {
		boot.PrintVariables(os.Stderr, os.Environ(), nil)
	}
}

// describe is what SHMEM_DEBUG says of a job that this PE has joined.
func (w *World) describe() {
	if !w.n.Job.Settings.Debug {
		return
	}
	h := w.n.Job.Segment.Header
	far := "no other host"
	if w.n.Remote != nil {
		far = "other hosts by " + w.n.Remote.Name()
	}
	executor := "the target's CPU"
	if w.n.Job.Settings.AMO == boot.AMONIC {
		executor = "the network"
	}
	w.n.Debugf("process %d is one of %d PEs, %d of them here on %d CPUs; %s; atomics by %s; heap of %d MiB at most",
		os.Getpid(), w.NPEs(), h.Local, h.Cores, far, executor, w.heap.Usage.Max>>20)
}
