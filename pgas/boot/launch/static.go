package launch

// A static start on one host: the PEs that a list of hosts gives it are started here, and join those of the other hosts
// by themselves (pgas/boot/join/rendezvous_static.go). There is no launcher above this one, so it is for what starts one
// program on each host and no more: an Indexed Job of Kubernetes, systemd, docker compose.
//
// The PEs tell each other of a death. So what is left is what only their parent can do: whole lines, signals, an exit
// status for all of them, and their end when one has failed, or when this process has.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/agent"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/output"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// consequenceTime is how long PEs may go on after one of this host has failed before they are asked to end. They have
// heard of it by then, and report what they were doing.
const consequenceTime = 2 * time.Second

// staticHost is this host's part of a job with a static start.
type staticHost struct {
	spec           Spec
	host           boot.Host
	stdout, stderr *output.Lines
	exits          chan staticExit
	live           map[int]*os.Process
	output         sync.WaitGroup
	status         int
	signal         syscall.Signal    // the first forwarded one that ends programs; 0: none
	end            <-chan time.Time  // when the PEs that are left are asked to end, or killed
	killing        bool              // they have been asked
	memoryKills    *boot.MemoryKills // when the PEs were started
	failures       []frame.Death     // of this host's PEs, in order of their processes' ends
	report         <-chan time.Time  // when the one to blame is told

	tails *output.Tails
}

// settleExits is how long a PE that another one's death has ended may be reaped before that one.
const settleExits = 300 * time.Millisecond

// staticExit is the end of a PE's process.
type staticExit struct {
	pe    int
	state *os.ProcessState
}

// RunStatic starts the PEs of spec.Hosts[index], the host that join.StaticPlace has found in environ, and waits until
// they have ended. Of spec it uses Hosts, Program, Args, Dir, Env, Stdin, Stdout, Stderr, Output, Tag, Grace,
// KeepGoing, Unbound, Signals and Logf; it calls Output for a PE from two goroutines. It returns the worst exit status
// of a PE of this host; 128+N stands for signal N. When a PE fails, the others of this host are asked to end 2 s later,
// and killed after spec.Grace; so they are when ctx ends. It returns an error if the program cannot be started, or the
// cause of the end of ctx. If this process is killed, so are its PEs.
func RunStatic(ctx context.Context, spec Spec, index int, environ []string) (int, error) {
	if err := spec.complete(); err != nil {
		return 0, err
	}
	if err := agent.CheckDir(spec.Dir); err != nil {
		return 0, err
	}
	if err := spawn.CheckProgram(spec.Program); err != nil {
		return 0, err
	}
	last := spec.Hosts[len(spec.Hosts)-1]
	npes := last.First + last.PEs
	s := &staticHost{
		spec: spec, host: spec.Hosts[index], exits: make(chan staticExit), live: map[int]*os.Process{},
		memoryKills: boot.CountMemoryKills(), tails: output.NewTails(spec.Hosts[index].First, spec.Hosts[index].PEs),
	}
	s.stdout, s.stderr = output.New(spec.Stdout, spec.Stderr, spec.Tag, npes)
	// The parent-death signal of the PEs is sent when the thread that has started them ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for pe := s.host.First; pe < s.host.First+s.host.PEs; pe++ {
		if err := s.start(pe, environ); err != nil {
			s.signalAll(unix.SIGKILL)
			s.supervise(ctx)
			return 0, err
		}
	}
	spec.Logf("host %s: PEs %d to %d run", s.host.Name, s.host.First, s.host.First+s.host.PEs-1)
	err := s.supervise(ctx)
	s.drain()
	s.reportFailure()
	s.stdout.EndLine()
	s.stderr.EndLine()
	return output.Status(s.status, s.stdout, s.stderr), err
}

// start starts PE pe in a process group of its own.
func (s *staticHost) start(pe int, environ []string) error {
	cmd := exec.Command(s.spec.Program, s.spec.Args...)
	cmd.Dir, cmd.Env = s.spec.Dir, append(join.EnvironOf(environ, pe), s.spec.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if pe == 0 {
		if in, ok := s.spec.Stdin.(*os.File); ok {
			cmd.Stdin = in
		}
	}
	var mine []int
	if sets := agent.CPUSets(boot.AllowedCPUs(), s.host.PEs); sets != nil && !s.spec.Unbound {
		mine = sets[pe-s.host.First]
	}
	if err := agent.StartBound(mine, cmd.Start); err != nil {
		return agent.DescribeExec(s.spec.Program, output.Unwrapped(err))
	}
	s.live[pe] = cmd.Process
	var read sync.WaitGroup
	read.Go(func() { output.SplitLines(out, func(piece []byte) { s.write(Stdout, pe, piece) }) })
	read.Go(func() {
		hold := &output.CrashBuffer{Emit: func(piece []byte) { s.write(Stderr, pe, piece) }}
		defer hold.Flush()
		output.SplitLines(errs, hold.Write)
	})
	said := make(chan struct{})
	s.output.Go(func() {
		read.Wait()
		close(said)
	})
	go func() {
		state, _ := cmd.Process.Wait() // not cmd.Wait: a process that the PE has left may hold its output open
		select {
		case <-said:
		case <-time.After(settleExits):
		}
		s.exits <- staticExit{pe, state}
	}()
	return nil
}

// write writes a piece of the output of PE pe to one of the streams of this process, and to Spec.Output.
func (s *staticHost) write(to Stream, pe int, piece []byte) {
	if s.spec.Output != nil {
		s.spec.Output(pe, to, piece)
	}
	if to == Stdout {
		s.stdout.Write(pe, piece)
		return
	}
	s.stderr.Write(pe, piece)
	s.tails.Add(pe, piece)
}

// supervise follows the PEs until all have ended.
func (s *staticHost) supervise(ctx context.Context) error {
	var cause error
	done := ctx.Done()
	for len(s.live) > 0 {
		select {
		case e := <-s.exits:
			s.exited(e)
		case sig, ok := <-s.spec.Signals:
			if !ok {
				s.spec.Signals = nil
				break
			}
			s.forward(sig)
		case <-done:
			done, cause = nil, context.Cause(ctx)
			s.askToEnd()
		case <-s.end:
			s.askToEnd()
		case <-s.report:
			s.reportFailure()
		}
	}
	return cause
}

// drain waits until the rest of the output is written. A process that a PE has left in another process group may hold
// it open.
func (s *staticHost) drain() {
	done := make(chan struct{})
	go func() {
		s.output.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(spawn.DrainTime):
	}
}

// exited handles the end of a PE. The first that fails has the others end.
func (s *staticHost) exited(e staticExit) {
	delete(s.live, e.pe)
	unix.Kill(-e.state.Pid(), unix.SIGKILL) // what it has left
	ws, _ := e.state.Sys().(syscall.WaitStatus)
	d := frame.Death{PE: e.pe, Process: e.state.Pid(), Status: ws}
	if ws.Signaled() && ws.Signal() == unix.SIGKILL && !s.killing {
		d.OutOfMemory = s.memoryKills.Explain()
	}
	s.spec.Logf("host %s: PE %d (process %d) %s", s.host.Name, d.PE, d.Process, d.How())
	if status := d.ExitStatus(); !s.killing || s.status == 0 {
		s.status = max(s.status, status)
	}
	if ws == 0 || s.killing {
		return
	}
	if s.failures = append(s.failures, d); len(s.failures) > 1 {
		return
	}
	s.report = time.After(settleExits)
	if !s.spec.KeepGoing {
		s.end = time.After(consequenceTime)
	}
}

// reportFailure tells which PE of this host has failed: one that a signal has killed, or else the first. A PE that ends
// because of another's death says so itself.
func (s *staticHost) reportFailure() {
	s.report = nil
	if len(s.failures) == 0 || s.signal != 0 {
		return
	}
	d := s.failures[max(0, slices.IndexFunc(s.failures, func(d frame.Death) bool { return d.Status.Signaled() }))]
	s.failures = nil
	say := fmt.Sprintf("%s: PE %d on host %s (process %d) %s\n", filepath.Base(os.Args[0]), d.PE, s.host.Name, d.Process, d.How())
	remedy := explainExit(s.tails.Of(d.PE), s.host.Name)
	if remedy != "" && !d.Status.Signaled() {
		say += "  " + remedy + "\n"
	}
	s.stderr.Notice(say)
}

// forward passes a signal on. The second one that ends programs kills.
func (s *staticHost) forward(sig os.Signal) {
	n, ok := sig.(syscall.Signal)
	if !ok {
		return
	}
	s.spec.Logf("got %v", n)
	if n == unix.SIGINT || n == unix.SIGTERM || n == unix.SIGHUP {
		if s.signal != 0 {
			s.status = max(s.status, 128+int(n))
			s.signalAll(unix.SIGKILL)
			return
		}
		s.signal = n
	}
	s.signalAll(n)
}

// askToEnd asks the PEs that are left to end, and kills them when it is called again, after Spec.Grace.
func (s *staticHost) askToEnd() {
	if s.killing {
		s.signalAll(unix.SIGKILL)
		return
	}
	s.killing = true
	s.signalAll(unix.SIGTERM)
	s.end = time.After(s.spec.Grace)
}

// signalAll signals the process group of every PE, so that a wrapper's children get it too.
func (s *staticHost) signalAll(sig syscall.Signal) {
	for _, p := range s.live {
		unix.Kill(-p.Pid, sig)
	}
}
