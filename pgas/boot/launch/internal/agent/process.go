package agent

// The process of a PE: how it starts, and how its output is read. An agent starts PEs so, and a static start, which has
// no agent.

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/output"
)

// Process says how the process of one PE starts.
type Process struct {
	Program string
	Args    []string  // the arguments, with the program's own name first
	Dir     string    // the working directory; empty: the caller's
	Env     []string  // the environment, each variable once
	Files   []uintptr // the descriptors of the process; Start fills in its standard output and error
	CPUs    []int     // where it may run; nil: on the CPUs of the caller
	// Stdout and Stderr get what it writes, by whole lines unless these are very long. A piece is valid during the
	// call.
	Stdout, Stderr func(piece []byte)
}

// Start starts the process in a process group of its own, and returns its number. The kernel kills the process when the
// calling thread ends. readers counts the goroutines that read its output until all of its writers have closed it.
func (p *Process) Start(readers *sync.WaitGroup) (pid int, err error) {
	out, outEnd, err := inboundPipe()
	if err != nil {
		return 0, err
	}
	errs, errEnd, err := inboundPipe()
	if err != nil {
		return 0, err
	}
	defer unix.Close(outEnd)
	defer unix.Close(errEnd)
	p.Files[1], p.Files[2] = uintptr(outEnd), uintptr(errEnd)
	err = startBound(p.CPUs, func() error {
		pid, err = syscall.ForkExec(p.Program, p.Args, &syscall.ProcAttr{
			Dir:   p.Dir,
			Env:   p.Env,
			Files: p.Files,
			Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL},
		})
		return err
	})
	readers.Go(func() { readLines(out, p.Stdout) })
	readers.Go(func() {
		hold := &output.CrashBuffer{Emit: p.Stderr}
		defer hold.Flush()
		readLines(errs, hold.Write)
	})
	return pid, describeExec(p.Program, err)
}

// SignalGroup signals the process group of a PE, so that a wrapper's children get the signal as well.
func SignalGroup(pid int, sig syscall.Signal) { unix.Kill(-pid, sig) }

// WaitFor waits for the end of one process of a PE, and returns how it ended.
func WaitFor(pid int) (status unix.WaitStatus) {
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
			return status
		}
	}
}

// readLines reads one stream of a PE until its end.
func readLines(from *os.File, emit func(piece []byte)) {
	defer from.Close()
	output.SplitLines(from, emit)
}

// describeExec says what is wrong with program, which could not be started because of err.
func describeExec(program string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("%s is not a program that this machine can run: a script needs a #! line, a binary the right architecture", program)
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("%s cannot be run: its interpreter or loader does not exist on this host", program)
	}
	return fmt.Errorf("starting %s: %w", program, err)
}

// inboundPipe returns the end that the agent reads, and the descriptor that a PE writes. Only the agent's end is
// non-blocking: otherwise the PE would see short writes.
func inboundPipe() (agentEnd *os.File, peEnd int, err error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return nil, 0, fmt.Errorf("making a pipe for a PE (ulimit -n bounds the PEs of a host): %w", err)
	}
	unix.SetNonblock(fd[0], true)
	return os.NewFile(uintptr(fd[0]), "pipe"), fd[1], nil
}

// outboundPipe returns the descriptor that a PE reads, and the end that the agent writes.
func outboundPipe() (peEnd int, agentEnd *os.File, err error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return 0, nil, fmt.Errorf("making a pipe for a PE (ulimit -n bounds the PEs of a host): %w", err)
	}
	unix.SetNonblock(fd[1], true)
	return fd[0], os.NewFile(uintptr(fd[1]), "pipe"), nil
}
