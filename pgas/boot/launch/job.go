package launch

// The launcher's event loop: the state of a job, and how each event changes it.

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/agent"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/output"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// job is a running Spec. Only the goroutine of run uses it, except for the output.
type job struct {
	spec   Spec
	name   string // of the job in all its terms, random
	marks  int    // how many marks there are
	id     string
	secret []byte
	most   int     // the PEs of the first term; no other one has more
	npes   int     // the PEs of this term
	first  *host   // the first one of the first term, which Spec.BootAddr is an address of
	hosts  []*host // those that run PEs, in PE order
	idle   []*host // those without a place in the job (spares.go)
	relays []*relayLink

	events     chan event
	inputTaken chan struct{} // PE 0 has read what was sent to it
	inputOver  atomic.Bool   // what else there is to read for PE 0 is not for the PE 0 of this term
	recoveries int           // the terms that have followed another one
	closing    bool          // the inputs of the agents have been closed
	program    *programOf    // that of the first term; nil: no term has begun
	closed     chan struct{} // closed by close
	sweeps     chan struct{} // one for each host that is swept up

	stdout, stderr *output.Lines
	tails          *output.Tails

	ending  // how the job ends, and because of which PEs
	hearing // accusations that are not certain
	copying // whether hosts answer, and take files

	stats []PEStats  // the statistics of the hosts whose PEs have ended
	stall stallState // whether the user has been told that the job hangs
	live  *live      // nil: nobody looks at the job while it runs
}

func newJob(spec Spec) (*job, error) {
	last := spec.Hosts[len(spec.Hosts)-1]
	j := &job{
		spec: spec, most: last.First + last.PEs, npes: last.First + last.PEs,
		events: make(chan event), inputTaken: make(chan struct{}, 1), closed: make(chan struct{}),
		sweeps: make(chan struct{}, spec.FanOut),
	}
	j.stdout, j.stderr = output.New(spec.Stdout, spec.Stderr, spec.Tag, j.npes)
	if spec.Terminal {
		f, ok := spec.Stdout.(*os.File)
		output.ShowBar(j.stdout, j.stderr, ok && IsTerminal(f))
	}
	j.tails = output.NewTails(0, j.npes)
	j.reset()
	j.name = randomHex(16)
	for i, h := range spec.Hosts {
		j.hosts = append(j.hosts, &host{Host: h, index: i, mark: j.newMark()})
	}
	j.first = j.hosts[0]
	for _, h := range spec.Spares {
		j.idle = append(j.idle, &host{Host: h, idle: true, spare: true, mark: j.newMark()})
	}
	if spec.Live != nil {
		j.live = newLive(j.hosts)
		spec.Live(j.live.snapshot)
	}
	return j, nil
}

// newMark returns the mark of what an agent starts: see boot.JobMark. Each agent has its own, since one that was lost
// may live on beside the next one of its host.
func (j *job) newMark() string {
	j.marks++
	return j.name + "." + strconv.Itoa(j.marks)
}

// all returns all hosts, those without a place in the job included.
func (j *job) all() []*host { return slices.Concat(j.hosts, j.idle) }

// reset makes a name and a secret for a term, and forgets how the term before has ended.
func (j *job) reset() {
	j.ending, j.hearing, j.stall, j.stats = ending{ended: map[int]frame.Death{}}, hearing{}, stallState{}, nil
	j.tails.Clear()
	j.id, j.secret = randomHex(16), nil
	if j.spec.settings.Networked(len(j.spec.Hosts)) {
		j.secret = make([]byte, boot.SecretBytes)
		rand.Read(j.secret)
	}
}

// close ends every agent: an agent whose input ends kills its PEs.
func (j *job) close() {
	close(j.closed)
	j.closeInputs()
}

func (j *job) run(ctx context.Context) (Result, error) {
	if err := j.startTree(); err != nil {
		j.abort(err)
	} else {
		j.startSpares()
	}
	j.connect = time.NewTimer(j.spec.ConnectTimeout)
	defer j.connect.Stop()
	done := ctx.Done()
	for !j.isOver() {
		select {
		case e := <-j.events:
			j.handle(e)
			if j.live != nil && e.host != nil && !e.host.idle {
				j.live.noteState(e.host)
			}
		case sig, ok := <-j.spec.Signals:
			if !ok {
				j.spec.Signals = nil
				break
			}
			j.handleSignal(sig)
		case <-done:
			done = nil
			j.cancel(context.Cause(ctx))
		case <-j.connect.C:
			j.connectTimedOut()
		case <-j.killTimer:
			j.kill()
		case <-j.hintTimer:
			j.hintSecondSignal()
		case <-j.stall.again:
			j.lookForStall()
		case <-j.accusationTimer:
			j.believe()
		case <-j.peerTimer:
			j.endAfter(j.deaths[0].Death)
		}
	}
	if j.live != nil {
		j.live.end()
	}
	j.stderr.RemoveBar()
	if len(j.deaths) > 0 || j.startErr != nil {
		j.stderr.EndLine()
	}
	return j.result()
}

// result says how the job has ended.
func (j *job) result() (Result, error) {
	slices.SortFunc(j.stats, func(a, b PEStats) int { return cmp.Compare(a.PE, b.PE) })
	res := Result{Ran: j.hosts[0].started || j.recoveries > 0, Status: output.Status(j.status, j.stdout, j.stderr), Stats: j.stats, Clocks: clocksOf(j.hosts), PEs: j.npes, Recoveries: j.recoveries}
	if j.stopped {
		res.Status = output.Status(boot.StopStatus, j.stdout, j.stderr)
		return res, nil
	}
	res.First = j.report(j.hosts, j.tails)
	return res, j.startErr
}

func (j *job) config(h *host) frame.Config {
	c := frame.Config{
		Protocol: frame.Protocol, ID: j.id, Host: h.index, Mark: h.mark,
		Program: j.spec.Program, Args: append([]string{j.spec.Program}, j.spec.Args...), Dir: j.spec.Dir,
		Staged: j.spec.stagedOn(h.Name),
		Env:    j.spec.Environ(), Secret: j.secret, Hash: len(j.hosts)+len(j.idle) > 1, Unbound: j.spec.Unbound, Stats: j.spec.Stats, Profiles: j.spec.Profiles != nil,
		Record: j.spec.Stats || j.spec.Live != nil || j.spec.Trace != nil,
	}
	c.Live, c.Stall = j.live != nil, j.spec.Stall
	if j.spec.Trace != nil {
		c.Events = j.spec.Events
	}
	if len(h.via) == 0 || j.recoveries > 0 { // before the first term a relay tells those that it has started
		c.Hosts = j.spec.Hosts
	}
	if j.spec.Survive > 0 {
		c.Term, c.Grace = 1+j.recoveries, j.spec.Grace
	}
	if j.secret != nil {
		c.FanOut = j.spec.FanOut
		if h == j.first {
			c.Serve = j.spec.BootAddr
		}
	}
	return c
}

// agentError returns an error that the agent of h has reported. A job on the launcher's host alone needs no host's
// name.
func (j *job) agentError(h *host, text string) error {
	if len(j.hosts) == 1 && j.spec.isHere(h.Name) {
		return errors.New(text)
	}
	return fmt.Errorf("host %s: %s", h.Name, text)
}

func (j *job) connectTimedOut() {
	for _, h := range j.hosts {
		if !h.hasAnswered() {
			j.cannotRun(h, fmt.Errorf("host %s has not answered within %v: check that `%v` works without a question, or give it longer with PGAS_BOOT_TIMEOUT", h.Name, j.spec.ConnectTimeout, h.agent))
			if h.unfit != nil {
				h.kill()
			}
		}
	}
}

// startWhenReady starts the PEs of every host once all hosts are ready and agree.
func (j *job) startWhenReady() {
	st := frame.Start{HeapMax: j.heapMax()}
	if j.lostHost != nil || slices.ContainsFunc(j.hosts, func(h *host) bool { return h.ready == nil || h.gone || h.unfit != nil }) || !j.sameProgram() {
		return
	}
	if j.secret != nil {
		j.spec.Logf("all hosts are ready; the exchange is at %v, heaps have %d bytes", j.hosts[0].ready.Addrs, st.HeapMax)
	}
	var cpus []hostCPUs
	for _, h := range j.hosts {
		cpus = append(cpus, hostCPUs{h.PEs, h.ready.Machine, h.ready.CPUs})
	}
	for i, h := range j.hosts {
		st.Cores = coresOf(cpus[i], cpus)
		st.Parent = j.hosts[agent.ExchangeParent(i, j.spec.FanOut)].ready.Addrs
		h.send.SendValue(frame.ToStart, st)
		h.started = true
	}
	j.runningSince = time.Now()
	for _, h := range j.hosts {
		if j.spec.Trace != nil && !h.clock.Same {
			go askClock(h, j.closed)
		}
	}
	if j.spec.Stdin != nil && j.recoveries == 0 {
		go j.forwardInput(j.hosts[0].send)
	} else {
		j.inputOver.Store(true)
		j.hosts[0].send.Send(frame.ToEOF)
	}
}

// programOf is the program of a host.
type programOf struct{ host, hash string }

// sameProgram reports whether all hosts have the same program, that of the first term. A spare that has not cannot run
// PEs.
func (j *job) sameProgram() bool {
	if j.program == nil {
		j.program = &programOf{j.hosts[0].Name, j.hosts[0].ready.Hash}
	}
	for _, h := range j.hosts {
		if h.ready.Hash == j.program.hash {
			continue
		}
		err := fmt.Errorf("two different binaries in one job: %s differs between host %s and host %s: copy the same file to both", j.spec.Program, j.program.host, h.Name)
		if !h.substitute && j.recoveries > 0 {
			err = fmt.Errorf("host %s: %s has changed since the job began: the terms of a job run one program", h.Name, j.spec.Program)
		}
		if h.substitute {
			j.cannotRun(h, err)
		} else {
			j.abort(err)
		}
		return false
	}
	return true
}

// heapMax returns the size that a heap may have. It is the same on every host, since offsets mean the same everywhere.
func (j *job) heapMax() uint64 {
	set, err := boot.ParseSettings(append(os.Environ(), j.spec.Env...))
	if err == nil && set.HeapMax != 0 {
		npes := 0
		for _, h := range j.hosts {
			npes += h.PEs
		}
		return boot.UserHeap(set.HeapMax, set.Race, npes)
	}
	least := ^uint64(0)
	for _, h := range j.hosts {
		if h.ready != nil {
			least = min(least, boot.DefaultHeapMax(h.PEs, h.ready.Memory, h.ready.Room))
		}
	}
	return least
}

// inputPiece is small enough that a pipe which holds one still has room for commands, so that the event
// loop never waits for a PE that does not read.
const inputPiece = 16 << 10

// forwardInput sends standard input to PE 0, one piece at a time. The PE 0 of a later term gets none.
func (j *job) forwardInput(to *frame.Sender) {
	buf := make([]byte, inputPiece)
	for {
		n, err := j.spec.Stdin.Read(buf)
		if j.inputOver.Load() {
			return
		}
		if n > 0 {
			if to.Send(frame.ToInput, buf[:n]) != nil {
				return
			}
			select {
			case <-j.inputTaken:
			case <-j.closed:
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				j.spec.Logf("reading standard input: %v", err)
			}
			to.Send(frame.ToEOF)
			return
		}
	}
}

// handleDeath handles the end of PE d.PE of h.
func (j *job) handleDeath(h *host, d frame.Death) {
	j.spec.Logf("host %s: PE %d (process %d) %s", h.Name, d.PE, d.Process, d.How())
	if j.globalExiting {
		return
	}
	if !j.terminating || !d.ByLauncher {
		j.status = max(j.status, d.ExitStatus())
	}
	j.ended[d.PE] = d
	first := len(j.deaths) == 0
	if !d.Failed() || j.terminating && first {
		return
	}
	j.recordDeath(h, d)
	h.table, d.Table = d.Table, nil
	if j.awaitsAccusation(d) {
		return
	}
	if first || d.BlamedPE() == d.PE && !d.ByLauncher {
		j.notifyOthers(h, d)
	}
	if first {
		j.userEnded = j.userSignal != 0
	}
	_, known := j.ended[d.BlamedPE()]
	switch {
	case first && j.mayGoOn() && !known: // a PE gives up a collective before it ends
		j.peerTimer = time.After(j.spec.Grace)
	case first || j.peerTimer != nil && d.BlamedPE() == d.PE:
		j.endAfter(d)
	}
}

// endAfter ends a term, or the job, after d.
func (j *job) endAfter(d frame.Death) {
	j.peerTimer = nil
	switch {
	case j.terminating:
	case j.mayGoOn() && mayGoOnAfter(d):
		j.killForTerm()
	default:
		j.endOthers(d.PE)
	}
}

// handleSignal handles a signal to the launcher. The second one that ends programs kills at once.
func (j *job) handleSignal(sig os.Signal) {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return
	}
	j.spec.Logf("got %v", s)
	switch s {
	case syscall.SIGQUIT:
		j.requestTables()
		return
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
		if j.userSignal != 0 || !j.hosts[0].started {
			j.endAtOnce(s)
			return
		}
		j.userSignal = s
		if j.killedForTerm { // no term follows, so that no images are to be kept
			j.killTimer = time.After(agentTime)
		}
		j.hintTimer = time.After(j.spec.HintDelay)
		j.continueAgents()
	}
	j.signal(frame.ToSignal, s)
}

// endAtOnce handles the second signal that ends programs, or one that comes before the PEs of a term have started.
func (j *job) endAtOnce(s syscall.Signal) {
	j.hurried, j.stopped = j.userSignal != 0, false
	if s == syscall.SIGTERM && !j.hurried && j.keepsCuts() && !j.closing && !j.isFailed() {
		j.stop(fmt.Sprintf("got %v before all PEs had started", s))
	}
	j.userSignal = s
	j.status = max(j.status, 128+int(s))
	j.terminating = true
	j.lostHost = nil // no term follows
	if !j.hosts[0].started && j.startErr == nil {
		j.startErr = fmt.Errorf("stopped by a signal (%v) before the PEs had started", s)
	}
	j.kill()
}

// hintSecondSignal tells the user how to end PEs that still run a while after the user's signal, and what they are
// doing. A PE that computes, or puts and gets in a loop, need not look at its context.
func (j *job) hintSecondSignal() {
	if j.terminating || j.globalExiting {
		return
	}
	j.stderr.Notice(fmt.Sprintf("pgasrun: the PEs have got %v, and some still run: a second signal kills them\n", j.userSignal))
	j.requestTables()
}

// continueAgents sends SIGCONT to the agents, so that stopped ones pass a signal on.
func (j *job) continueAgents() {
	j.signalRelays(unix.SIGCONT)
	for _, h := range j.hosts {
		if h.running() {
			h.link.Signal(unix.SIGCONT)
		}
	}
}

// cancel ends the job when the context of Run has ended.
func (j *job) cancel(cause error) {
	if j.startErr == nil {
		j.startErr = cause
	}
	j.lostHost, j.stopped = nil, false // no term follows
	j.requestTables()
	if j.hosts[0].started {
		j.terminate()
	} else {
		j.closeInputs()
		j.killAgentsAfter(j.spec.Grace)
	}
}

// requestTables asks all hosts what each PE is blocked in. tableArrived prints that when all have answered.
func (j *job) requestTables() {
	j.stall.asked = false // the user has asked, and gets them whatever they say
	j.askTables()
}

func (j *job) askTables() {
	for _, h := range j.hosts {
		if h.started && !h.gone && !h.done {
			h.tableRequested = true
			h.send.Send(frame.ToTable)
		}
	}
}

// handleTable stores a host's table, which was requested or is sent because a PE failed.
func (j *job) handleTable(h *host, rows []frame.Blocked) {
	h.table = rows
	if h.tableRequested {
		j.tableArrived(h)
	}
}

func (j *job) tableArrived(h *host) {
	h.tableRequested = false
	switch {
	case slices.ContainsFunc(j.hosts, func(h *host) bool { return h.tableRequested }):
	case j.stall.asked:
		j.stallTablesArrived()
	default:
		j.stderr.Notice("pgasrun: what each PE is doing:\n" + formatTable(j.hosts, -1) + explainHang(j.hosts))
	}
}

// handleAgentExit handles the end of the command of h's agent. If the agent has not reported that it is done,
// processes that its PEs have started may still run on the host: another agent kills them.
func (j *job) handleAgentExit(h *host, err error) {
	h.ended = true
	j.spec.Logf("host %s: the agent has ended", h.Name)
	defer j.killWhenStopped()
	if h.tableRequested {
		j.tableArrived(h)
	}
	h.gone = h.done || !h.started
	if h.done {
		h.lostAlone = !j.closing && !j.relayIsLost(h) // an agent stays until its input ends
		return
	}
	if !h.started {
		j.handleLostUnstarted(h, err)
		return
	}
	explains, goesOn := j.explainsFailures(h), j.mayGoOn() && (j.killSteps == 0 || j.killedForTerm)
	if j.startErr == nil && j.userSignal == 0 && (explains || goesOn) {
		j.status = max(j.status, 1)
		j.startErr, j.lostHost = h.endError(err), h
		if explains {
			j.deaths = nil
		}
	}
	h.lost, h.lostAlone = true, !j.relayIsLost(h)
	j.notifyOthers(h, frame.Death{PE: h.First, Status: syscall.WaitStatus(syscall.SIGKILL), Peer: -1})
	go j.sweepHost(h, h.mark)
	if goesOn && !j.killedForTerm { // a PE may have failed before, since it did not find those of h
		j.killForTerm()
	}
	j.terminate()
}

// explainsFailures reports whether the end of h's agent is why PEs have failed, if any have: all of them have lost
// PEs of h, or of hosts behind it.
func (j *job) explainsFailures(h *host) bool {
	return !slices.ContainsFunc(j.deaths, func(o deathRecord) bool {
		return o.CauseClass() < frame.Consequence || o.CauseClass() == frame.Consequence && !j.hostOf(o.Peer).behind(h)
	})
}

// hostOf returns the host of a PE.
func (j *job) hostOf(pe int) *host { return hostOf(j.hosts, pe) }

// sweepHost starts another agent on h, which kills what the first one has left there. The launcher starts these itself,
// since the relay may be lost too, and no more at once than it may have children.
func (j *job) sweepHost(h *host, mark string) {
	j.sweeps <- struct{}{}
	defer func() { <-j.sweeps }()
	j.spec.Logf("host %s: sweeping up", h.Name)
	ctx, cancel := context.WithTimeout(context.Background(), j.spec.ConnectTimeout)
	defer cancel()
	if err := runAgent(ctx, j.spec.start, h.agent, j.spec.files, frame.Config{Protocol: frame.Protocol, Mark: mark, Sweep: true}); err != nil {
		j.spec.Logf("host %s: sweeping up: %v", h.Name, err)
	}
	j.post(event{host: h, change: hostSwept})
}

// runAgent starts an agent, sends it one config and waits for its end.
func runAgent(ctx context.Context, start func(spawn.Line) (*spawn.Link, error), c spawn.Line, files spawn.Files, what frame.Config) error {
	l, err := start(c)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { l.Signal(unix.SIGKILL) })
	defer stop()
	go io.Copy(io.Discard, l.Errs)
	r := bufio.NewReader(l.Out)
	if text, err := spawn.AwaitGreeting(r, l.In, files, func(int) {}); err == nil && frame.CheckGreeting(text) == nil {
		(frame.NewSender(l.In)).SendValue(frame.ToConfig, what)
	}
	l.In.Close()
	io.Copy(io.Discard, r)
	return l.Wait()
}
