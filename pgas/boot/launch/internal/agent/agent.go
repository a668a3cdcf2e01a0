package agent

// The life of an agent: it starts the PEs, follows them until all of them are gone, and reports how each one ended.

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// Main runs this process as the agent of one host, over standard input and output, until the job has ended on
// that host, and returns the exit status. The process that calls it becomes the guard, and the agent its child.
func Main() int {
	if os.Getenv(boot.EnvAgent) != guardedAgent {
		return guard()
	}
	// The PEs' parent-death signal is sent when the thread that started them ends, so that must be a
	// thread that lives as long as the process.
	runtime.LockOSThread()
	stdout := pollable(1)
	a := New(thisMachine{join.Sockets}, stdout)
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) // a handler, unlike ignoring, is not inherited
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT)
	a.signals = stop
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "pgasrun: agent: becoming a subreaper:", err)
		return 1
	}
	return a.Serve(os.Stdin)
}

// New returns an agent that writes to control.
func New(m Machine, control controlOutput) *Agent {
	ended := make(chan struct{})
	return &Agent{
		machine:  m,
		control:  control,
		out:      frame.NewSender(control),
		commands: make(chan command),
		exits:    make(chan Exited),
		more:     make(chan struct{}, 1),
		ended:    ended,
		gate:     gate{heard: make(chan said), ended: ended},
		orphaned: make(chan struct{}),
	}
}

// Serve greets the launcher, does what it says on in, and returns the exit status.
func (a *Agent) Serve(in io.Reader) int {
	io.WriteString(a.control, frame.Greeting)
	go a.listen(bufio.NewReader(in))
	if err := a.run(); err != nil {
		a.out.Send(frame.FromAbort, []byte(err.Error()))
		return 1
	}
	return 0
}

// controlOutput is the standard output of an agent.
type controlOutput interface {
	io.Writer
	SetWriteDeadline(time.Time) error
}

// command is a frame that the launcher has sent.
type command struct {
	kind frame.Kind
	data []byte
}

// Exited is a reaped child.
type Exited struct {
	PID    int
	Status unix.WaitStatus
	CPU    time.Duration // the CPU time that it has used
	Memory uint64        // the most bytes that were resident
}

// An Agent is the agent of one host. A job has one term, unless it goes on after a failure: then all PEs that are left
// are ended, and the agents start the PEs of the next term.
type Agent struct {
	machine     Machine
	control     controlOutput
	out         *frame.Sender
	commands    chan command  // closed at the end of standard input
	orphaned    chan struct{} // closed with commands
	signals     <-chan os.Signal
	signalledAt time.Time     // when the launcher was told of a SIGTERM to this agent
	images      *os.File      // what PEs leave for those of the next term; nil: nothing
	imagesTerm  int           // the term in which images was made
	unread      *command      // what configure is to read first; nil: what comes next
	exits       chan Exited   // the children that have ended, and one without a number when no child is left
	more        chan struct{} // tells the goroutine that waits for children of further ones
	reaping     bool          // that goroutine runs
	ended       chan struct{} // closed when the agent ends
	gate        gate
	term
}

// term is what an agent has and knows of one term.
type term struct {
	cfg         frame.Config
	room        boot.HeapRoom
	memoryKills *boot.MemoryKills     // when the PEs were started
	globalExits chan frame.GlobalExit // the call of GlobalExit of a PE of this host, at most one
	accusations chan boot.Accusation
	over        chan struct{} // closed when the PEs of this host have ended
	watchers    sync.WaitGroup
	accusing    bool             // a PE of this host has accused another: the launcher decides which PE is the cause
	stopped     bool             // the PEs have been stopped, to be killed
	overdue     <-chan time.Time // fires when PEs that stay are to have left the term
	stalled     bool             // the launcher has been told that every PE is stalled

	exchange       *exchange // nil in a job of one host
	segment        *boot.Segment
	heaps          *os.File // the file of segment, where another term may follow
	pes            []pe
	startedAt      int64           // boot.Clock before the first PE was started
	tableAtFailure []frame.Blocked // what the PEs were doing when they were told of the first failure; nil: none
	sampler        *sampler        // nil: no statistics are wanted
	record         *record.Memory  // what the PEs record of themselves; nil: nothing
	recordFile     *os.File        // the file of record, until the PEs have inherited it
	input          chan []byte     // the input of PE 0
}

// pollable makes a descriptor one whose writes can be given a deadline.
func pollable(fd int) *os.File {
	unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), "control")
}

func (a *Agent) listen(in *bufio.Reader) {
	defer close(a.orphaned)
	defer close(a.commands)
	for {
		k, data, err := frame.Read(in)
		if err != nil {
			// A launcher that does not read the agent's output must not keep the agent from killing its PEs.
			a.control.SetWriteDeadline(time.Now().Add(spawn.DrainTime))
			return
		}
		if k == frame.ToClock {
			a.answerClock(data)
			continue
		}
		a.commands <- command{k, data}
	}
}

// run takes part in the terms of a job, one after the other. An error means that a term has not started on this host.
func (a *Agent) run() error {
	defer close(a.ended)
	defer a.dismiss()
	for first := true; ; first = false {
		before := a.exchange
		cfg, relay, err := a.configure(first)
		if before != nil { // until the launcher has said what comes next, PEs of other hosts may need it
			before.close()
			a.exchange = nil
		}
		if cfg != nil {
			a.term = term{cfg: *cfg}
		}
		switch {
		case err == errNoTerm:
			return nil
		case err != nil:
			return err
		case relay != nil:
			return a.relay(*relay)
		case a.cfg.Sweep:
			a.sweepLost()
			return nil
		}
		if again, err := a.runTerm(); !again || err != nil {
			return err
		}
	}
}

// ofTermBefore is what the launcher may still say, before the PEs of a term are started, of the term before.
var ofTermBefore = []frame.Kind{frame.ToInput, frame.ToEOF, frame.ToLive, frame.ToPing}

// runTerm prepares, starts the PEs and supervises them until all are gone. It reports whether the launcher may say that
// another term follows.
func (a *Agent) runTerm() (again bool, err error) {
	answer, err := a.prepare()
	if err != nil {
		return false, err
	}
	answer.SentAt = boot.Clock()
	a.out.SendValue(frame.FromReady, answer)
	next, ok := a.next()
	for ok && slices.Contains(ofTermBefore, next.kind) {
		if next.kind == frame.ToPing {
			a.out.Send(frame.FromPing)
		}
		next, ok = a.next()
	}
	switch {
	case !ok:
		return false, nil // another host was not ready
	case next.kind == frame.ToConfig: // a host was lost before all were ready
		a.unread = &next
		return true, nil
	}
	var st frame.Start
	if err := frame.Decode(next.data, &st); err != nil || next.kind != frame.ToStart {
		return false, fmt.Errorf("the launcher said %q instead of starting", next.kind)
	}
	a.over, a.input = make(chan struct{}), make(chan []byte, 1)
	a.globalExits, a.accusations = make(chan frame.GlobalExit), make(chan boot.Accusation)
	if err := a.start(st); err != nil {
		a.killAll()
		a.reap()
		a.sweepUntilAlone()
		return false, err
	}
	a.out.Send(frame.FromStarted)
	if a.cfg.Stats {
		a.sampler = newSampler(a.segment.States, a.cfg.Hosts[a.cfg.Host], a.record)
	}
	a.reap()
	a.machine.Watch(a)
	a.supervise()
	return a.finish()
}

// errNoTerm says that the job is over.
var errNoTerm = errors.New("no term follows")

// configure reads what the launcher says before a term: the configuration of this agent, or of the relay that it is to
// be instead. Before a later term it passes over what the launcher had still said of the term before.
func (a *Agent) configure(isFirst bool) (*frame.Config, *frame.RelayConfig, error) {
	first, ok := a.next()
	for ; !isFirst && ok && first.kind != frame.ToConfig; first, ok = a.next() {
		if first.kind == frame.ToPing {
			a.out.Send(frame.FromPing)
		}
	}
	if !isFirst && !ok {
		return nil, nil, errNoTerm
	}
	var hosts []boot.Host
	if ok && first.kind == frame.ToHosts {
		if err := frame.Decode(first.data, &hosts); err != nil {
			return nil, nil, fmt.Errorf("reading the hosts of the job: %w", err)
		}
		first, ok = a.next()
	}
	if !ok {
		return nil, nil, fmt.Errorf("the agent's standard input was closed before the launcher's first word: an agent is started by pgasrun, whose launch command must pass input on (ssh without -n, docker exec with -i)")
	}
	if first.kind == frame.ToRelay {
		relay := new(frame.RelayConfig)
		if err := frame.Decode(first.data, relay); err != nil {
			return nil, nil, fmt.Errorf("reading the relay's configuration: %w", err)
		}
		return nil, relay, nil
	}
	if first.kind != frame.ToConfig {
		return nil, nil, fmt.Errorf("an agent is started by pgasrun, not by hand")
	}
	cfg := new(frame.Config)
	if err := frame.Decode(first.data, cfg); err != nil {
		return nil, nil, fmt.Errorf("reading the agent's configuration: %w", err)
	}
	if cfg.Protocol != frame.Protocol {
		return nil, nil, frame.ErrOtherVersion
	}
	if cfg.Hosts == nil {
		cfg.Hosts = hosts
	}
	return cfg, nil, nil
}

// sweepLost kills what a lost agent of this host has left.
func (a *Agent) sweepLost() {
	for deadline := time.Now().Add(killTime); sweep(boot.JobMark(a.cfg.Mark), 0, nil) > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

// next returns the next command. ok is false if none comes any more, or if a signal ends this agent before it has PEs.
func (a *Agent) next() (c command, ok bool) {
	if a.unread != nil {
		c, a.unread = *a.unread, nil
		return c, true
	}
	select {
	case c, ok = <-a.commands:
		return c, ok
	case <-a.signals:
		return c, false
	}
}

// supervise follows the PEs of this host until all of them have ended.
func (a *Agent) supervise() {
	live := len(a.pes)
	commands := a.commands
	looks := stallLooks(a.cfg.Stall)
	for live > 0 {
		select {
		case c, ok := <-commands:
			if !ok {
				a.killAll()
				commands = nil
				continue
			}
			a.handle(c)
		case sig := <-a.signals:
			if a.isEcho(sig) {
				continue
			}
			if commands == nil || !a.signalledAt.IsZero() || sig != unix.SIGTERM {
				a.killAll()
				continue
			}
			a.signalledAt = time.Now()
			a.out.Send(frame.FromSignal, []byte{byte(unix.SIGTERM)})
		case x := <-a.globalExits:
			a.stopPEs()
			a.out.SendValue(frame.FromGlobalExit, x)
		case x := <-a.accusations:
			a.reportAccusation(x)
		case <-looks:
			a.reportStall()
		case e := <-a.exits:
			if a.childExited(e) {
				live--
			}
		case s := <-a.gate.heard:
			if a.handleSaid(s) {
				live--
			}
		case <-a.overdue:
			a.killAll()
		}
	}
}

// finish waits, when all PEs have ended, for every process that they have left, and sends what is known only then. It
// reports whether another term may follow. None does in this agent if a process cannot be killed, and then the launcher
// is not told that all are gone.
func (a *Agent) finish() (again bool, err error) {
	close(a.over)
	a.segment.EndWatches()
	a.watchers.Wait()
	close(a.input)
	finished, passed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(passed)
		a.passOver(finished)
	}()
	a.keepProcesses()
	alone := a.sweepUntilAlone()
	if alone {
		a.drain()
	}
	if a.cfg.Live {
		a.sendLive(a.table(), a.pes) // the last answer: what they had recorded in the end
	}
	if a.cfg.Events > 0 {
		sendTraces(a.out, a.record, a.cfg.Host, a.startedAt, a.pes, a.logf)
	}
	if a.sampler != nil {
		for _, p := range a.sampler.result() {
			// one by one: what a PE has counted of many others is long
			a.out.SendValue(frame.FromStats, []frame.PEStats{p})
		}
	}
	if a.cfg.Term > 0 {
		close(finished)
		<-passed
		if !alone {
			return false, nil
		}
		if err := a.keepJournals(); err != nil {
			return false, err
		}
		a.unmap()
		a.out.Send(frame.FromDone)
		return true, nil
	}
	a.out.Send(frame.FromDone)
	if a.exchange != nil {
		if a.exchange.hasOthers() {
			<-a.orphaned // PEs of other hosts may still need it
		}
		a.exchange.server.Close()
	}
	return false, nil
}

// unmap gives back what a term had mapped. Nobody reads it any more. A process that outlives the term may have the
// segment mapped for a while, so the heaps are taken from it.
func (a *Agent) unmap() {
	at, end := int64(a.segment.HeapOffset(0)), int64(a.segment.HeapOffset(len(a.pes)))
	if err := unix.Fallocate(int(a.heaps.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, end-at); err != nil {
		a.logf("giving back the memory of a term: %v", err)
	}
	a.segment.Close()
	a.heaps.Close()
	if a.record != nil {
		a.record.Close()
	}
}

// passOver reads what the launcher says when the PEs of a term have ended, so that listen reaches the end of the input,
// until finished is closed.
func (a *Agent) passOver(finished <-chan struct{}) {
	for {
		select {
		case c, ok := <-a.commands:
			if !ok {
				return
			}
			if c.kind == frame.ToPing {
				a.out.Send(frame.FromPing)
			}
		case <-finished:
			return
		}
	}
}

// isEcho reports whether sig belongs to the SIGTERM of which the launcher has been told: a scheduler signals the guard
// and the agent, and the guard passes its signal on.
func (a *Agent) isEcho(sig os.Signal) bool {
	return sig == unix.SIGTERM && !a.signalledAt.IsZero() && time.Since(a.signalledAt) < boot.SignalEcho
}

func (a *Agent) handle(c command) {
	switch c.kind {
	case frame.ToInput:
		a.toPE0(c.data)
	case frame.ToEOF:
		a.toPE0(nil)
	case frame.ToSignal:
		if len(c.data) == 1 {
			a.signalAll(syscall.Signal(c.data[0]))
		}
	case frame.ToTerminate:
		if len(c.data) == 1 {
			a.segment.Header.EndRequested.Store(1)
			a.signalAll(syscall.Signal(c.data[0]))
		}
	case frame.ToTable:
		a.out.SendValue(frame.FromTable, a.table())
	case frame.ToPing:
		a.out.Send(frame.FromPing)
	case frame.ToLive:
		a.answerLive()
	case frame.ToEndTerm:
		a.endTerm()
	case frame.ToStop:
		a.stopPEs()
		a.out.Send(frame.FromStopped)
	case frame.ToFailed:
		var d frame.Death
		if frame.Decode(c.data, &d) == nil {
			a.out.SendValue(frame.FromTable, a.announceFailure(d))
		}
	}
}

// toPE0 gives a piece of input to PE 0, or nil for its end. The launcher sends the next piece after FromInputTaken, so
// there is room, or the piece is of an earlier term.
func (a *Agent) toPE0(piece []byte) {
	select {
	case a.input <- piece:
	default:
	}
}

// childExited handles the end of a child process and reports whether that was a PE.
func (a *Agent) childExited(e Exited) bool {
	for i := range a.pes {
		p := &a.pes[i]
		if p.pid != e.PID || p.pid == 0 {
			continue
		}
		if p.process != nil {
			p.process.end()
		}
		if p.ended == nil {
			a.endPE(i, e.Status, e.CPU-p.usedBefore(), e.Memory)
			return true
		}
	}
	return false
}

// endPE notes the end of PE i of this host, and tells the launcher and the other PEs.
func (a *Agent) endPE(i int, status unix.WaitStatus, cpu time.Duration, memory uint64) {
	p := &a.pes[i]
	p.ended = &peEnd{at: boot.Clock(), cpu: cpu, memory: memory}
	if a.sampler != nil {
		a.sampler.ended(i, cpu, memory)
	}
	d := a.deathOf(i, syscall.WaitStatus(status))
	p.ended.status = d.ExitStatus()
	switch {
	case !d.Failed() || a.stopped:
	case a.accusing && d.CauseClass() == frame.Consequence:
		d.Table = a.table() // the launcher decides which death it is a consequence of
	default:
		d.Table = a.announceFailure(d)
	}
	d.SentAt = boot.Clock()
	a.out.SendValue(frame.FromDeath, d)
}

// announceFailure tells the PEs of this host that one has failed, and returns what they were doing when they were
// told of the first failure.
func (a *Agent) announceFailure(d frame.Death) []frame.Blocked {
	if a.tableAtFailure == nil {
		a.tableAtFailure = settledTable(a.cfg.Hosts[a.cfg.Host].First, a.segment.States, a.pes) // before they wake
	}
	a.segment.Fail(d.BlamedPE(), d.FailedHow())
	return a.tableAtFailure
}

// deathOf returns how PE i of this host ended, with what the PE has published about that.
func (a *Agent) deathOf(i int, status syscall.WaitStatus) frame.Death {
	st := a.segment.States[i]
	d := frame.Death{PE: a.cfg.Hosts[a.cfg.Host].First + i, Process: a.pes[i].pid, Status: status, FailedAt: boot.Clock()}
	d.RaceExit = int(st.RaceExit.Load())
	d.NeverLeft = boot.Membership(st.Membership.Load()) == boot.Joined
	d.ByLauncher = status.Signaled() && a.pes[i].signalsSent>>status.Signal()&1 != 0
	if status.Signal() == unix.SIGKILL && !d.ByLauncher && a.memoryKills != nil {
		d.OutOfMemory = a.memoryKills.Explain()
	}
	d.Peer = int(st.End.Lost.Load()) - 1
	if at := st.End.At.Load(); at != 0 {
		d.FailedAt, d.Reason = at, boot.EndReason(st.End.Why.Load())
		if d.Reason == boot.EndLost {
			d.Peer = int(st.End.Peer.Load())
		}
		if d.Reason == boot.EndOnRequest && a.pes[i].signalsSent == 0 {
			d.Reason = boot.EndOwn // it failed before it was signalled
		}
	}
	return d
}

// signalAll signals the process group of every PE, so that a wrapper's children get it too.
func (a *Agent) signalAll(sig syscall.Signal) {
	for i := range a.pes {
		a.signal(&a.pes[i], sig)
	}
}

func (a *Agent) signal(p *pe, sig syscall.Signal) {
	if p.pid == 0 || p.ended != nil {
		return
	}
	p.signalsSent |= 1 << sig
	if p.process != nil && sig == unix.SIGKILL {
		p.process.doomed = true
	}
	a.machine.Signal(p.pid, sig)
}

func (a *Agent) killAll() { a.signalAll(unix.SIGKILL) }

// handleSaid handles a message of a process that may outlive its term, and reports whether its PE has ended by that.
func (a *Agent) handleSaid(s said) bool {
	for i := range a.pes {
		p := &a.pes[i]
		switch {
		case p.process != s.by || p.ended != nil || s.by.doomed:
		case s.what == join.TermStays:
			s.by.stays = true
		case s.what == join.TermGate && s.by.stays:
			s.by.atGate = true
			status := unix.WaitStatus(1 << 8)
			if p.signalsSent&askedToLeave != 0 { // it counts as those that are killed for the next term
				p.signalsSent |= 1 << unix.SIGKILL
				status = unix.WaitStatus(unix.SIGKILL)
			}
			cpu, memory := p.usage()
			a.endPE(i, status, cpu, memory)
			return true
		}
	}
	return false
}

// endTerm ends the PEs of this host. Those that stay for another term have Config.Grace to leave this one.
func (a *Agent) endTerm() {
	for i := range a.pes {
		p := &a.pes[i]
		if p.ended == nil && p.process != nil && p.process.leave() {
			p.signalsSent |= askedToLeave
			a.overdue = time.After(a.cfg.Grace)
		} else {
			a.signal(p, unix.SIGKILL)
		}
	}
}

// keepProcesses keeps the processes that are at the gate, when all PEs of a term have ended.
func (a *Agent) keepProcesses() {
	for i := range a.pes {
		if p := a.pes[i].process; p != nil && p.atGate && !p.doomed {
			a.gate.add(i, p)
		}
	}
}

// dismiss ends the processes that are at the gate when no term follows. It kills those that take longer than
// dismissTime.
func (a *Agent) dismiss() {
	all := a.gate.all()
	if len(all) == 0 {
		return
	}
	for _, p := range all {
		p.link.Close()
	}
	for overdue := time.After(min(a.cfg.Grace, dismissTime)); len(a.gate.waiting) > 0 && overdue != nil; {
		select {
		case e := <-a.exits:
			a.gate.noteExit(e.PID)
		case <-overdue:
			overdue = nil
		}
	}
	a.gate.waiting = nil // the sweep kills those that are left
	if a.sweepUntilAlone() {
		gone := make(chan struct{})
		time.AfterFunc(spawn.DrainTime, func() { close(gone) })
		awaitOutput(all, gone)
	}
}

// dismissTime is how long processes at the gate may take to end. The launcher gives an agent somewhat longer.
const dismissTime = 2 * time.Second

// reap has every child waited for, PEs and orphans, until there is none. It is called when all PEs of a term have been
// started.
func (a *Agent) reap() {
	if !a.reaping {
		a.reaping = true
		go a.waitForChildren()
		return
	}
	select {
	case a.more <- struct{}{}:
	default: // it has not yet seen that there were more before
	}
}

// waitForChildren waits for children. When there is none, it says so and waits for more.
func (a *Agent) waitForChildren() {
	for {
		e, ok := a.machine.Wait()
		if !ok {
			e = Exited{}
		}
		select {
		case a.exits <- e:
		case <-a.ended:
			return
		}
		if ok {
			continue
		}
		select {
		case <-a.more:
		case <-a.ended:
			return
		}
	}
}

// sweepUntilAlone kills what the PEs have left running, but for processes that outlive the term, and reports whether
// that worked: a process that survives a kill for this long is stuck in the kernel.
func (a *Agent) sweepUntilAlone() bool {
	pause, none := time.Millisecond, 0
	for deadline := time.Now().Add(killTime); time.Now().Before(deadline); {
		next := time.After(pause)
	collect:
		for {
			select {
			case e := <-a.exits:
				if e.PID == 0 && len(a.gate.waiting) == 0 {
					return true
				}
				a.gate.noteExit(e.PID)
			case <-next:
				break collect
			}
		}
		if none++; a.machine.SweepUp(a) > 0 {
			none = 0
		}
		if len(a.gate.waiting) > 0 && none == 2 { // the kernel does not say when no other child is left
			return true
		}
		pause = min(2*pause, 100*time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, "a process of the job cannot be killed")
	return false
}

// drain waits until the rest of the output has been sent. The writers are dead, so only a launcher that does not
// read can delay it.
func (a *Agent) drain() {
	var ended []*process
	for i := range a.pes {
		if p := a.pes[i].process; p != nil && (!p.atGate || p.doomed) {
			ended = append(ended, p)
		}
	}
	awaitOutput(ended, a.orphaned)
}

// awaitOutput waits until nothing more comes from processes that have ended, or gone is closed.
func awaitOutput(of []*process, gone <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		for _, p := range of {
			p.readers.Wait()
		}
		close(done)
	}()
	select {
	case <-done:
	case <-gone:
	}
}

func (a *Agent) logf(format string, args ...any) {
	a.out.Send(frame.FromLog, fmt.Appendf(nil, format, args...))
}

// relayProfiles sends the profiles of one PE to the launcher.
func (a *Agent) relayProfiles(pe int, from *os.File) {
	defer from.Close()
	head := binary.BigEndian.AppendUint32(nil, uint32(pe))
	err := boot.ReadProfiles(from, func(k boot.ProfileKind, data []byte) { a.out.Send(frame.FromProfile, head, []byte{byte(k)}, data) })
	if err != nil {
		a.logf("the profiles of PE %d: %v", pe, err)
		io.Copy(io.Discard, from)
	}
}

// feed writes the launcher's standard input to PE 0. When PE 0 no longer reads, the rest is dropped.
func (a *Agent) feed(to *os.File, input <-chan []byte) {
	defer to.Close()
	for data := range input {
		if data == nil {
			return
		}
		to.Write(data)
		a.out.Send(frame.FromInputTaken)
	}
}

// answerLive sends what the PEs of this host are doing. The agent's loop calls it; what takes long is done elsewhere.
func (a *Agent) answerLive() {
	rows, pes := a.table(), slices.Clone(a.pes)
	a.watchers.Go(func() { a.sendLive(rows, pes) })
}

// sendLive sends what is known of PEs, of which rows says what they are blocked in.
func (a *Agent) sendLive(rows []frame.Blocked, pes []pe) {
	states := make([]frame.PEState, len(rows))
	for i, row := range rows {
		states[i] = liveState(a.cfg.Host, a.record, row, pes[i])
	}
	a.out.SendValue(frame.FromLive, states)
}

// reportStall tells the launcher whether every PE of this host is stalled, if that has changed.
func (a *Agent) reportStall() {
	if now := everyPEStalled(a.segment.States, a.pes); now != a.stalled {
		a.stalled = now
		var b byte
		if now {
			b = 1
		}
		a.out.Send(frame.FromStalled, []byte{b})
	}
}

// table returns what each PE of this host is blocked in.
func (a *Agent) table() []frame.Blocked {
	return tableOf(a.cfg.Hosts[a.cfg.Host].First, a.segment.States, a.pes)
}
