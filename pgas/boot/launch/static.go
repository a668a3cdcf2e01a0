package launch

// A static start on one host: the PEs that a list of hosts gives it are started here, and join those of the other hosts
// by themselves (pgas/boot/join/rendezvous_static.go). There is no launcher above this one, so it is for what starts
// one program on each host and no more: an Indexed Job of Kubernetes, systemd, docker compose.
//
// It is no agent. An agent answers a launcher, and knows its PEs by the segment that it has made for them: their
// deaths, what they wait for, whether they have left the job. PEs of a static start make a segment of their own, and
// tell each other of a death. So what is left is what only their parent can do: whole lines, signals, an exit status
// for all of them, and their end when one has failed, or when this process has. A PE starts as under an agent
// (agent.Process).

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
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

// StaticSpec says which PEs of a job RunStatic starts, and how. Hosts, Program and Environ are required. A field that
// Spec has as well means the same.
type StaticSpec struct {
	Hosts   []boot.Host // the hosts of the whole job
	Host    int         // the index in Hosts of the one whose PEs are started: join.StaticPlace finds it
	Environ []string    // the environment of every PE, in which join.StaticPlace has found the job

	Program string
	Args    []string
	Dir     string
	Env     []string // what is added to Environ
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Tag     bool
	Output  func(pe int, s Stream, piece []byte) // called for a PE from two goroutines, one for each stream

	Grace     time.Duration
	KeepGoing bool
	Unbound   bool
	Signals   <-chan os.Signal
	Logf      func(format string, args ...any)

	saves bool // the environment says where the program saves its state
}

// complete checks the spec and fills in defaults.
func (s *StaticSpec) complete() error {
	if err := CheckHosts(s.Hosts); err != nil {
		return err
	}
	set, err := boot.ParseSettings(slices.Concat(s.Environ, s.Env))
	if err != nil {
		return err
	}
	s.saves = set.Checkpoint != ""
	if s.Dir, s.Program, err = whereItRuns(s.Dir, s.Program); err != nil {
		return err
	}
	s.Grace = cmp.Or(s.Grace, defaultGrace)
	if s.Logf == nil {
		s.Logf = logNothing
	}
	if err := agent.CheckDir(s.Dir); err != nil {
		return err
	}
	return spawn.CheckProgram(s.Program)
}

// consequenceTime is how long PEs may go on after one of this host has failed before they are asked to end. They have
// heard of it by then, and report what they were doing.
const consequenceTime = 2 * time.Second

// settleExits is how long a PE that another one's death has ended may be reaped before that one.
const settleExits = 300 * time.Millisecond

// staticHost is this host's part of a job with a static start.
type staticHost struct {
	spec           StaticSpec
	host           boot.Host
	stdout, stderr *output.Lines
	tails          *output.Tails
	exits          chan staticExit
	live           map[int]int       // the processes of the PEs that run, by PE
	readers        sync.WaitGroup    // the readers of the output of all PEs
	status         int               // the worst exit status so far
	signal         syscall.Signal    // the first forwarded one that ends programs; 0: none
	end            <-chan time.Time  // when the PEs that are left are asked to end, or killed
	killing        bool              // the PEs have been asked to end
	memoryKills    *boot.MemoryKills // when the PEs were started
	failures       []frame.Death     // the deaths of this host's PEs, in order of their processes' ends
	report         <-chan time.Time  // when the PE that is to blame is named
}

// staticExit is the end of a PE's process.
type staticExit struct {
	pe, process int
	status      unix.WaitStatus
}

// RunStatic starts the PEs of this host, and waits until they have ended. It returns the worst exit status of a PE of
// this host; 128+N stands for signal N. When a PE fails, the others of this host are asked to end 2 s later, and killed
// after spec.Grace. The same happens when ctx ends. RunStatic returns an error if the program cannot be started, or the
// cause of the end of ctx. If this process is killed, so are its PEs.
func RunStatic(ctx context.Context, spec StaticSpec) (int, error) {
	if err := spec.complete(); err != nil {
		return 0, err
	}
	last, host := spec.Hosts[len(spec.Hosts)-1], spec.Hosts[spec.Host]
	s := &staticHost{
		spec: spec, host: host, tails: output.NewTails(host.First, host.PEs),
		exits: make(chan staticExit), live: map[int]int{}, memoryKills: boot.CountMemoryKills(),
	}
	s.stdout, s.stderr = output.New(spec.Stdout, spec.Stderr, spec.Tag, last.First+last.PEs)
	// The parent-death signal of the PEs is sent when the thread that has started them ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := s.start(); err != nil {
		s.signalAll(unix.SIGKILL)
		s.supervise(ctx)
		return 0, err
	}
	spec.Logf("host %s: PEs %d to %d run", host.Name, host.First, host.First+host.PEs-1)
	err := s.supervise(ctx)
	s.drain()
	s.reportFailure()
	s.stdout.EndLine()
	s.stderr.EndLine()
	return output.Status(s.status, s.stdout, s.stderr), err
}

// start starts the PEs of this host.
func (s *staticHost) start() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cpus := agent.Binding(s.host.PEs, s.spec.Unbound)
	for i := range s.host.PEs {
		input := null
		if in, ok := s.spec.Stdin.(*os.File); ok && s.host.First+i == 0 {
			input = in
		}
		if err := s.startPE(s.host.First+i, input.Fd(), cpus[i]); err != nil {
			return err
		}
	}
	return nil
}

// startPE starts PE pe, on cpus, with the descriptor that is its standard input.
func (s *staticHost) startPE(pe int, input uintptr, cpus []int) error {
	p := agent.Process{
		Program: s.spec.Program, Args: append([]string{s.spec.Program}, s.spec.Args...), Dir: s.spec.Dir,
		Env:   agent.Once(append(join.EnvironOf(s.spec.Environ, pe), s.spec.Env...)),
		Files: []uintptr{input, 0, 0}, CPUs: cpus,
		Stdout: func(piece []byte) { s.write(Stdout, pe, piece) },
		Stderr: func(piece []byte) { s.write(Stderr, pe, piece) },
	}
	read := new(sync.WaitGroup)
	process, err := p.Start(read)
	if err != nil {
		return err
	}
	s.live[pe] = process
	said := make(chan struct{})
	s.readers.Go(func() {
		read.Wait()
		close(said)
	})
	go func() {
		status := agent.WaitFor(process)
		select {
		case <-said:
		case <-time.After(settleExits): // a process that the PE has left may hold its output open
		}
		s.exits <- staticExit{pe, process, status}
	}()
	return nil
}

// write writes a piece of the output of PE pe to one of the streams of this process, and to StaticSpec.Output.
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
		s.readers.Wait()
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
	agent.SignalGroup(e.process, unix.SIGKILL) // what it has left
	ws := syscall.WaitStatus(e.status)
	d := frame.Death{PE: e.pe, Process: e.process, Status: ws}
	if ws.Signaled() && ws.Signal() == unix.SIGKILL && !s.killing {
		d.OutOfMemory = s.memoryKills.Explain()
	}
	s.spec.Logf("host %s: PE %d (process %d) %s", s.host.Name, d.PE, d.Process, d.How())
	if status := d.ExitStatus(); !s.killing || s.status == 0 {
		s.status = max(s.status, status)
	}
	// One SIGTERM, to any host, has all PEs of the job save and stop.
	stopped := ws.ExitStatus() == boot.StopStatus && (s.spec.saves || s.signal == unix.SIGTERM)
	if ws == 0 || s.killing || stopped {
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

// askToEnd asks the PEs that are left to end, and kills them when it is called again, after StaticSpec.Grace.
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
	for _, process := range s.live {
		agent.SignalGroup(process, sig)
	}
}
