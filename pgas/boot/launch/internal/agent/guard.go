package agent

// The guard: a small process between the launcher's command and the agent of a host, for the case that launcher
// and agent are killed at once. PEs die with their agent (their parent-death signal), but the processes that
// they have started do not. The guard is a subreaper above the agent, so it adopts all of these, whatever their
// session and environment, and kills them. It reads no input and sends no answers. Its process name differs
// from the launcher's, so that a kill by that name does not hit it.

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

// guardedAgent in boot.EnvAgent marks the agent itself, which a guard has started.
const guardedAgent = "2"

const guardName = "pgas-guard"

// guard starts the agent, waits for its end, and kills the processes it has left. It returns the agent's exit status.
func guard() int {
	runtime.LockOSThread() // the agent dies with the thread that has started it
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "pgasrun: guard: becoming a subreaper:", err)
		return 1
	}
	os.WriteFile("/proc/self/comm", []byte(guardName), 0)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT, unix.SIGPIPE)
	agent, err := syscall.ForkExec("/proc/self/exe", os.Args, &syscall.ProcAttr{
		Env:   append(boot.StripEnv(os.Environ()), boot.EnvAgent+"="+guardedAgent),
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgasrun: guard: starting the agent:", err)
		return 1
	}
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		unix.Dup3(int(null.Fd()), 1, 0) // so that the launcher sees the end of the agent's output
	}
	go func() {
		for sig := range signals {
			if s, ok := sig.(syscall.Signal); ok && s != unix.SIGPIPE {
				unix.Kill(agent, s)
			}
		}
	}()
	go killOrphan(agent)
	status := reapUntil(agent)
	killChildren()
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// killOrphan kills the agent if the launcher is gone and the agent does not end by itself.
func killOrphan(agent int) {
	for {
		fds := []unix.PollFd{{Fd: 0}} // only hang-ups are reported: the input is the agent's
		_, err := unix.Poll(fds, -1)
		if err == nil && fds[0].Revents != 0 {
			break
		}
		if err != nil && err != unix.EINTR {
			return
		}
	}
	time.Sleep(OrphanTime)
	unix.Kill(agent, unix.SIGKILL)
}

// reapUntil reaps children until it has the status of pid.
func reapUntil(pid int) unix.WaitStatus {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		if got == pid || err != nil && err != unix.EINTR {
			return status
		}
	}
}

// killChildren kills the children of this process, and those that it adopts when they die.
func killChildren() {
	pause := time.Millisecond
	for deadline := time.Now().Add(killTime); time.Now().Before(deadline); pause = min(2*pause, 100*time.Millisecond) {
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err == unix.ECHILD {
				return
			}
			if err == nil && pid == 0 {
				break
			}
		}
		sweep("", os.Getpid(), nil)
		time.Sleep(pause)
	}
}
