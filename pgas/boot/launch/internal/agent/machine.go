package agent

// What an agent asks of the machine that it runs on: to check what it is to run, to start processes, to signal and reap
// them, and to make connections. Everything else of an agent and of a relay, what they say and what they do about what
// they are told, is the same on the machines of a simulation, which stand for thousands of hosts in one process.

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

type Machine interface {
	join.Network
	// StartCommand starts the agent of another host, or another agent of this one.
	StartCommand(spawn.Line) (*spawn.Link, error)
	// Check checks that PEs can run here as a is told. It may change where their program is.
	Check(a *Agent) (frame.Ready, error)
	// StartPEs starts the PEs of a's host, which inherit the segment and find the exchange at addrs.
	StartPEs(a *Agent, segment SegmentFile, addrs []string) error
	// Watch tells a what PEs write into the segment for it.
	Watch(a *Agent)
	// Signal signals the process group of a PE.
	Signal(pid int, sig syscall.Signal)
	// Wait waits for the end of a child. ok is false when there is none.
	Wait() (e Exited, ok bool)
	// SweepUp kills what the PEs of a have left, but for those at the gate and their children, and returns how many it
	// was.
	SweepUp(a *Agent) int
}

// SegmentFile is the file of a host's segment.
type SegmentFile interface{ Fd() uintptr }

// Config returns what the launcher has told a.
func (a *Agent) Config() frame.Config { return a.cfg }

// State returns the state of PE i of a's host, in the segment.
func (a *Agent) State(i int) *boot.State { return a.segment.States[i] }

// Started notes the process of PE i of a's host, and its connection, which is nil if the process ends with its term.
func (a *Agent) Started(i, pid int, link TermLink) {
	p := &process{pid: pid, link: link}
	a.pes[i] = pe{pid: pid, process: p}
	if link != nil {
		go a.gate.follow(p)
	}
}

// Release does what the end of a's process would, where a has none of its own: it frees the memory and the connections.
func (a *Agent) Release() {
	for range a.commands {
	}
	if a.exchange != nil && a.exchange.server != nil {
		a.exchange.server.Close()
	}
	if a.segment != nil {
		a.segment.Close()
		a.heaps.Close()
	}
}

// thisMachine is the machine of this process, which the agent has taken over.
type thisMachine struct{ join.Network }

func (thisMachine) StartCommand(c spawn.Line) (*spawn.Link, error) { return spawn.StartCommand(c) }

func (thisMachine) Watch(a *Agent) {
	a.watchers.Go(a.watchGlobalExit)
	a.watchers.Go(a.watchAccusations)
}

func (thisMachine) Signal(pid int, sig syscall.Signal) { SignalGroup(pid, sig) }

func (thisMachine) Wait() (e Exited, ok bool) {
	for {
		var used unix.Rusage
		pid, err := unix.Wait4(-1, &e.Status, 0, &used)
		if err != unix.EINTR {
			e.PID = pid
			e.CPU, e.Memory = time.Duration(used.Utime.Nano()+used.Stime.Nano()), uint64(used.Maxrss)<<10
			return e, err == nil
		}
	}
}

func (thisMachine) SweepUp(a *Agent) int {
	spared := map[int]bool{}
	for _, p := range a.gate.all() {
		spared[p.pid] = true
	}
	return sweep(boot.JobMark(a.cfg.Mark), unix.Getpid(), spared)
}
