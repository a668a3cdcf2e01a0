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

// Version is the version of the OpenSHMEM specification whose routines this package has
// (OpenSHMEM 1.6, shmem_info_get_version).
func Version() (major, minor int) { return 1, 6 }

// Name returns the name of this library with its own version, such as "gopgas v1.2.3" (OpenSHMEM 1.6,
// shmem_info_get_name).
func Name() string { return "gopgas " + version.Current() }

// introduce says what the variables ask for when this PE has joined its job: the version and the table of
// variables once a job.
func (w *World) introduce() {
	w.describe()
	if w.n.job.PE != 0 {
		return
	}
	if w.n.job.Settings.Version {
		major, minor := Version()
		fmt.Fprintf(os.Stderr, "pgas: %s, OpenSHMEM %d.%d\n", Name(), major, minor)
	}
	if w.n.job.Settings.Info {
		boot.PrintVariables(os.Stderr, os.Environ(), nil)
	}
}

// debugf says what this PE does, if SHMEM_DEBUG asks for it. It is for what is rare.
func (n *Node) debugf(format string, args ...any) {
	if n.job.Settings.Debug {
		fmt.Fprintf(os.Stderr, "pgas: PE %d on %s: %s\n", n.job.PE, n.hostName(n.job.PE), fmt.Sprintf(format, args...))
	}
}

// describe is what SHMEM_DEBUG says of a job that this PE has joined.
func (w *World) describe() {
	if !w.n.job.Settings.Debug {
		return
	}
	h := w.n.job.Segment.Header
	far := "no other host"
	if w.n.far != nil {
		far = "other hosts by " + w.n.far.Name()
	}
	executor := "the target's CPU"
	if w.n.job.Settings.AMO == boot.AMONIC {
		executor = "the network"
	}
	w.n.debugf("process %d is one of %d PEs, %d of them here on %d CPUs; %s; atomics by %s; heap of %d MiB at most",
		os.Getpid(), w.NPEs(), h.Local, h.Cores, far, executor, w.heap.use.Max>>20)
}
