package pgas

// What the library reports about itself: its version, and what the variables SHMEM_VERSION, SHMEM_INFO and
// SHMEM_DEBUG ask for. It prints to standard error only, since standard output belongs to the program.

import (
	"fmt"
	"os"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/version"
)

// SpecVersion returns the version of the OpenSHMEM specification whose routines this package has
// (OpenSHMEM 1.6, shmem_info_get_version).
func SpecVersion() (major, minor int) { return 1, 6 }

// LibraryName returns the name of this library with its own version, such as "gopgas v1.2.3" (OpenSHMEM 1.6,
// shmem_info_get_name).
func LibraryName() string { return "gopgas " + version.Current() }

// introduce prints what the variables ask for, when this PE has joined its job. PE 0 alone prints the version and the
// table of variables.
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
		boot.PrintVariables(os.Stderr, os.Environ(), nil, true)
	}
}

// describe prints, with SHMEM_DEBUG, how this PE has joined its job.
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
	w.n.Debugf("process %d is one of %s, %d of them here on %s; %s; atomics by %s; heap of %d MiB at most",
		os.Getpid(), plural.Count(w.NPEs(), "PE"), h.Local, plural.Count(h.Cores, "CPU"), far, executor, w.heap.Usage.Max>>20)
}
