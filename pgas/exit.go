package pgas

import "os"

// GlobalExit ends the whole job at once with a status from 0 to 255, and does not return. It is not collective: one PE
// ends the job, whatever the other PEs are doing. The launcher kills them on all hosts: their deferred calls do not
// run, and operations in flight are not completed. It passes on what they have printed, exits with the status and
// reports no failure. If several PEs call GlobalExit, the status of one of them counts. Without a launcher GlobalExit
// ends the process. It panics with *UsageError if the status is out of range (OpenSHMEM 1.6, shmem_global_exit).
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
