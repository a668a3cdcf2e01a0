package pgas

import "os"

// GlobalExit ends the whole job at once with a status from 0 to 255, and does not return. One PE is enough:
// it is not collective, and what the others are doing does not matter. They are killed, on all hosts: their
// deferred calls do not run, nothing that is under way is completed, and files are as they are. What they
// have printed is passed on. The launcher exits with the status and calls nothing a failure; when several
// PEs want to end the job, one of their statuses counts. Without a launcher it ends the process
// (OpenSHMEM 1.6, shmem_global_exit).
func (w *World) GlobalExit(status int) {
	w.mustBeOpen("GlobalExit")
	if status < 0 || status > 255 {
		misuse("GlobalExit", "%d is not an exit status: use 0 to 255", status)
	}
	w.n.Debugf("ends the job with status %d", status)
	if w.opts.Goroutines {
		os.Exit(status) // the job is this process
	}
	w.n.Job.GlobalExit(status)
}
