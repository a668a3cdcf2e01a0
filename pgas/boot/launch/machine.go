package launch

// What an agent asks of the machine that it runs on: to check what it is to run, to start processes, to signal and reap them,
// and to make connections. Everything else of an agent and of a relay, what they say and what they do about what they are
// told, is the same on the machines of a simulation, which stand for thousands of hosts in one process.

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

type machine interface {
	boot.Network
	// startCommand starts the agent of another host, or another agent of this one.
	startCommand(commandLine) (*link, error)
	// check checks that PEs can run here as a is told. It may change where their program is.
	check(a *agent) (ready, error)
	// startPEs starts the PEs of a's host, which inherit the segment and find the exchange at addrs.
	startPEs(a *agent, segment segmentFile, addrs []string) error
	// watch tells a what PEs write into the segment for it.
	watch(a *agent)
	// signal signals the process group of a PE.
	signal(pid int, sig syscall.Signal)
	// wait waits for the end of a child. ok is false when there is none.
	wait() (e exitedChild, ok bool)
	// sweepUp kills what the PEs of a have left.
	sweepUp(a *agent)
}

// segmentFile is the file of a host's segment.
type segmentFile interface{ Fd() uintptr }

// config returns what the launcher has told a.
func (a *agent) config() config { return a.cfg }

// state returns the state of PE i of a's host, in the segment.
func (a *agent) state(i int) *boot.State { return a.segment.States[i] }

// startedPE notes the process of PE i of a's host.
func (a *agent) startedPE(i, pid int) { a.pes[i].pid = pid }

// release does what the end of a's process would, where a has none of its own: it frees the memory and the connections.
func (a *agent) release() {
	for range a.commands {
	}
	if a.exchange != nil && a.exchange.server != nil {
		a.exchange.server.Close()
	}
	if a.segment != nil {
		a.segment.Close()
	}
}

// thisMachine is the machine of this process, which the agent has taken over.
type thisMachine struct{ boot.Network }

func (thisMachine) startCommand(c commandLine) (*link, error) { return startCommand(c) }

func (thisMachine) watch(a *agent) {
	go a.watchGlobalExit()
	go a.watchAccusations()
}

func (thisMachine) signal(pid int, sig syscall.Signal) { unix.Kill(-pid, sig) }

func (thisMachine) wait() (e exitedChild, ok bool) {
	for {
		var used unix.Rusage
		pid, err := unix.Wait4(-1, &e.status, 0, &used)
		if err != unix.EINTR {
			e.pid = pid
			e.cpu, e.memory = time.Duration(used.Utime.Nano()+used.Stime.Nano()), uint64(used.Maxrss)<<10
			return e, err == nil
		}
	}
}

func (thisMachine) sweepUp(a *agent) { sweep(boot.JobMarks(a.cfg.ID, a.cfg.Host), unix.Getpid()) }
