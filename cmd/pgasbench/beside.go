package main

// Other load on the machine, for -beside: programs that only compute.

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// mostBeside is the largest number of programs that -beside starts.
const mostBeside = 1024

// startBeside starts n programs that compute until stop is called or this process ends. They may use all CPUs,
// whichever this PE is bound to. They stay in its session: the kernel divides CPUs among sessions first.
func startBeside(n int) (stop func(), err error) {
	var loops []*exec.Cmd
	started, done := make(chan error), make(chan struct{})
	go func() { // the kernel ends them with the thread that has started them
		runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine, and its CPUs are all of them
		var all unix.CPUSet
		for cpu := range len(all) * 64 {
			all.Set(cpu)
		}
		err := unix.SchedSetaffinity(0, &all)
		for len(loops) < n && err == nil {
			loop := exec.Command("sh", "-c", "while :; do :; done")
			loop.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			if err = loop.Start(); err == nil {
				loops = append(loops, loop)
			}
		}
		started <- err
		<-done
	}()
	err = <-started
	stop = func() {
		for _, loop := range loops {
			loop.Process.Kill()
			loop.Wait()
		}
		close(done)
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("-beside %d: cannot start a program that computes: %w", n, err)
	}
	return stop, nil
}
