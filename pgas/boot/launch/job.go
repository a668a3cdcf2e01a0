package launch

// The launcher's event loop: the state of a job, and what each event makes of it.

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

// job is a running Spec. But for the output, only the goroutine of run touches it.
type job struct {
	spec   Spec
	id     string
	secret []byte
	npes   int
	hosts  []*host

	events chan event
	taken  chan struct{} // PE 0 has taken its input
	over   chan struct{} // closed by close

	stdout, stderr *lines
	tailMu         sync.Mutex
	tails          []tail

	status    int
	deaths    []obituary     // of PEs that failed, in order of arrival (cause.go)
	wished    bool           // the user had asked for the end before the first death
	endedAt   int64          // when the PEs were asked to end
	asked     syscall.Signal // the last signal the user had us forward that ends programs
	ending    bool           // the PEs have been told to end
	exiting   bool           // because one of them wants it (exit.go)
	exited    bool           // and have been killed for it
	refused   error          // why the job did not start or was cut short
	kills     int            // steps that kill has taken
	abandoned bool           // something that we have killed holds on to its output: do not wait
	grace     <-chan time.Time
	teach     <-chan time.Time  // when to say that a second signal kills
	ended     map[int]death     // PEs that have, by number
	suspects  []boot.Accusation // those that are not certain, in the order in which they came
	hearing   <-chan time.Time  // not nil while a certain accusation may still come
}

func newJob(spec Spec) (*job, error) {
	last := spec.Hosts[len(spec.Hosts)-1]
	j := &job{
		spec: spec, id: randomHex(16), npes: last.First + last.PEs,
		ended: map[int]death{}, events: make(chan event), taken: make(chan struct{}, 1), over: make(chan struct{}),
	}
	j.stdout, j.stderr = newLines(spec.Stdout, spec.Tag, j.npes), newLines(spec.Stderr, spec.Tag, j.npes)
	j.tails = make([]tail, j.npes)
	if spec.settings.Networked(len(spec.Hosts)) {
		j.secret = make([]byte, boot.SecretBytes)
		rand.Read(j.secret)
	}
	for i, h := range spec.Hosts {
		j.hosts = append(j.hosts, &host{Host: h, index: i})
	}
	return j, nil
}

// post delivers an event unless nobody listens any more.
func (j *job) post(e event) {
	e.at = boot.Clock()
	select {
	case j.events <- e:
	case <-j.over:
	}
}

// close ends every agent: the end of its input makes it kill what it has.
func (j *job) close() {
	close(j.over)
	j.closeInputs()
}

func (j *job) run(ctx context.Context) (Result, error) {
	for _, h := range j.hosts {
		h.agent = j.spec.command(h.Name)
		j.spec.Logf("host %s: starting %v", h.Name, h.agent)
		if err := j.startHost(h); err != nil {
			h.gone = true
			j.refuse(err)
			break
		}
	}
	connect := time.NewTimer(j.spec.ConnectTimeout)
	defer connect.Stop()
	done := ctx.Done()
	for !j.finished() && !j.abandoned {
		j.releaseExchange()
		select {
		case e := <-j.events:
			j.happened(e)
		case sig, ok := <-j.spec.Signals:
			if !ok {
				j.spec.Signals = nil
				break
			}
			j.signalled(sig)
		case <-done:
			done = nil
			j.cutShort(context.Cause(ctx))
		case <-connect.C:
			j.connectTimedOut()
		case <-j.grace:
			j.kill()
		case <-j.teach:
			j.teachToKill()
		case <-j.hearing:
			j.lost(j.likeliest())
		}
	}
	if len(j.deaths) > 0 || j.refused != nil {
		j.stderr.endLine()
	}
	return Result{Status: j.status, First: j.report()}, j.refused
}

func (j *job) config(h *host) config {
	c := config{
		Version: version, ID: j.id, Hosts: j.spec.Hosts, Here: h.index,
		Program: j.spec.Program, Args: append([]string{j.spec.Program}, j.spec.Args...), Dir: j.spec.Dir,
		Env: j.spec.Environ(), Secret: j.secret, Hash: len(j.hosts) > 1, Unbound: j.spec.Unbound,
	}
	if j.secret != nil && h.index == 0 {
		c.Serve = anyHost
		if j.spec.BootAddr != "" {
			c.Serve = j.spec.BootAddr
		}
	}
	return c
}

// finished: every agent that was started is gone.
func (j *job) finished() bool {
	return !slices.ContainsFunc(j.hosts, func(h *host) bool { return h.cmd != nil && !h.gone })
}

// releaseExchange ends the first host's agent, which serves the exchange until no host needs it.
func (j *job) releaseExchange() {
	if !slices.ContainsFunc(j.hosts, func(h *host) bool { return h.cmd != nil && !h.done && !h.gone }) {
		j.closeInputs()
	}
}

func (j *job) happened(e event) {
	h := e.host
	switch e.kind {
	case hostGone:
		j.hostGone(h, e.err)
	case hostSwept:
		h.gone = true
	case hostBabbles:
		j.refuse(fmt.Errorf("host %s: `%v` prints something else than an agent does: it must run the command that follows it, and be silent itself", h.Name, h.agent))
	case hostGreets:
		go h.send.value(toConfig, j.config(h)) // it may be longer than a pipe holds
	case fromRefusal:
		h.done = true // it sweeps up what it has started
		j.refuse(j.from(h, string(e.data)))
	case fromReady:
		h.ready = new(ready)
		if err := decode(e.data, h.ready); err != nil {
			j.refuse(j.from(h, "its agent is of another version"))
			return
		}
		h.told(h.ready.Sent, e.at)
		j.startWhenReady()
	case fromStarted:
		j.spec.Logf("host %s: %d PEs run, from PE %d on", h.Name, h.PEs, h.First)
	case fromTaken:
		select {
		case j.taken <- struct{}{}:
		default:
		}
	case fromDeath:
		var d death
		if decode(e.data, &d) == nil {
			h.told(d.Sent, e.at)
			j.died(h, d)
		}
	case fromTable:
		j.tableCame(h, e.data)
	case fromAccused:
		var x boot.Accusation
		if decode(e.data, &x) == nil {
			j.accused(x)
		}
	case fromExit:
		var x exitAsked
		if decode(e.data, &x) == nil {
			h.frozen = true
			j.exitWanted(h, x)
		}
	case fromFrozen:
		h.frozen = true
		j.killWhenFrozen()
	case fromLog:
		j.spec.Logf("host %s: %s", h.Name, e.data)
	case fromDone:
		h.done = true
		j.killWhenFrozen()
	}
}

// from is an error that an agent has told us of; a job on this host alone needs no host's name.
func (j *job) from(h *host, text string) error {
	if len(j.hosts) == 1 && h.Name == Local {
		return errors.New(text)
	}
	return fmt.Errorf("host %s: %s", h.Name, text)
}

// refuse ends a job that cannot start; the first reason counts.
func (j *job) refuse(err error) {
	if j.refused == nil {
		j.refused = err
	}
	j.closeInputs()
	j.killAgentsAfter(5 * time.Second)
}

// killAgentsAfter arms the steps of kill.
func (j *job) killAgentsAfter(d time.Duration) {
	j.ending = true
	j.grace = time.After(d)
}

func (j *job) connectTimedOut() {
	for _, h := range j.hosts {
		if h.ready == nil && !h.gone {
			j.refuse(fmt.Errorf("host %s has not answered within %v: check that `%v` works without a question, or give it longer with -connect-timeout", h.Name, j.spec.ConnectTimeout, h.agent))
		}
	}
}

// startWhenReady starts the PEs of every host once all hosts are ready and agree.
func (j *job) startWhenReady() {
	st := start{HeapMax: j.heapMax()}
	for _, h := range j.hosts {
		if h.ready == nil || h.gone {
			return
		}
		if h.ready.Hash != j.hosts[0].ready.Hash {
			j.refuse(fmt.Errorf("two different binaries in one job: %s differs between host %s and host %s: copy the same file to both", j.spec.Program, j.hosts[0].Name, h.Name))
			return
		}
	}
	st.Addrs = j.hosts[0].ready.Addrs
	if j.secret != nil {
		j.spec.Logf("all hosts are ready; the exchange is at %v, heaps have %d bytes", st.Addrs, st.HeapMax)
	}
	var tenants []tenant
	for _, h := range j.hosts {
		tenants = append(tenants, tenant{h.PEs, h.ready.Machine, h.ready.CPUs})
	}
	for i, h := range j.hosts {
		st.Cores = shareOf(tenants[i], tenants)
		h.send.value(toStart, st)
		h.started = true
	}
	if j.spec.Stdin != nil {
		go j.forwardInput(j.hosts[0])
	} else {
		j.hosts[0].send.bytes(toEOF)
	}
}

// heapMax is the same on every host: offsets mean the same everywhere.
func (j *job) heapMax() uint64 {
	set, err := boot.ParseSettings(append(os.Environ(), j.spec.Env...))
	if err == nil && set.HeapMax != 0 {
		return boot.RoundHeap(set.HeapMax)
	}
	least := ^uint64(0)
	for _, h := range j.hosts {
		if h.ready != nil {
			least = min(least, boot.DefaultHeapMax(h.PEs, h.ready.Memory))
		}
	}
	return least
}

// inputPiece is small enough that a pipe which holds one still has room for commands, so that the event
// loop never waits for a PE that does not read.
const inputPiece = 16 << 10

// forwardInput sends standard input to PE 0, one piece at a time.
func (j *job) forwardInput(h *host) {
	buf := make([]byte, inputPiece)
	for {
		n, err := j.spec.Stdin.Read(buf)
		if n > 0 {
			if h.send.bytes(toInput, buf[:n]) != nil {
				return
			}
			select {
			case <-j.taken:
			case <-j.over:
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				j.spec.Logf("reading standard input: %v", err)
			}
			h.send.bytes(toEOF)
			return
		}
	}
}

// died handles the end of a PE.
func (j *job) died(h *host, d death) {
	j.spec.Logf("host %s: PE %d (process %d) %s", h.Name, d.PE, d.Process, describeEnd(d))
	if j.exiting {
		return
	}
	if !j.ending || !d.Ours && !j.sweptAway(d) {
		j.status = max(j.status, exitStatus(d))
	}
	j.ended[d.PE] = d
	first := len(j.deaths) == 0
	if !d.failed() || j.ending && first {
		return
	}
	j.bury(h, d)
	h.table, d.Table = d.Table, nil
	if j.hears(d) {
		return
	}
	if first || d.blames() == d.PE && !d.Ours {
		j.tellOthers(h, d)
	}
	if !first {
		return
	}
	j.wished = j.asked != 0
	if !j.spec.KeepGoing {
		j.end()
	}
}

// sweptAway reports whether a PE was killed by the sweep of a host whose agent was lost, and not by its own agent: two
// names of hosts may stand for one machine, and a sweep reaches all of it.
func (j *job) sweptAway(d death) bool {
	lost := slices.ContainsFunc(j.hosts, func(h *host) bool { return h.lost })
	return lost && d.Status.Signaled() && d.Status.Signal() == syscall.SIGKILL
}

// tellOthers makes blocked calls on all hosts but h return an error.
func (j *job) tellOthers(h *host, d death) {
	for _, other := range j.hosts {
		if other != h && other.started && !other.gone {
			other.send.value(toFailed, d)
		}
	}
}

// end asks every PE to end, unless the user has just done so, and makes sure after the grace.
func (j *job) end() {
	if j.ending {
		return
	}
	j.endedAt = boot.Clock()
	j.killAgentsAfter(j.spec.Grace)
	j.continueAgents()
	if j.asked == 0 {
		j.signal(toEnd, syscall.SIGTERM)
	}
}

// kill is what follows when a request to end has not been enough: first the PEs, then the agents'
// commands, at last giving up on whoever still holds our output.
func (j *job) kill() {
	switch j.kills++; j.kills {
	case 1:
		j.signal(toSignal, syscall.SIGKILL)
		j.closeInputs()
	case 2:
		j.killAgents()
	default:
		j.abandoned = true
	}
	j.grace = time.After(5 * time.Second)
}

// killAgents ends commands that do not end by themselves, with what they have started here.
func (j *job) killAgents() {
	for _, h := range j.hosts {
		h.kill()
	}
}

// closeInputs makes every agent kill what it has and end. A command that has not become an agent yet
// may be anything, and need not look at its input.
func (j *job) closeInputs() {
	for _, h := range j.hosts {
		if h.in != nil {
			h.in.Close()
		}
		if h.ready == nil {
			h.kill()
		}
	}
}

// signal sends sig to every PE; k is toSignal or toEnd.
func (j *job) signal(k kind, sig syscall.Signal) {
	for _, h := range j.hosts {
		if h.started && !h.gone {
			h.send.bytes(k, []byte{byte(sig)})
		}
	}
}

// signalled handles a signal to the launcher. The second one that ends programs kills at once.
func (j *job) signalled(sig os.Signal) {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return
	}
	j.spec.Logf("got %v", s)
	switch s {
	case syscall.SIGQUIT:
		j.askTables()
		return
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
		if j.asked != 0 || !j.hosts[0].started {
			j.status = max(j.status, 128+int(s))
			j.ending = true
			if !j.hosts[0].started && j.refused == nil {
				j.refused = fmt.Errorf("stopped by a signal (%v) before the job had started", s)
			}
			j.kill()
			return
		}
		j.asked = s
		j.teach = time.After(j.spec.Teach)
		j.continueAgents()
	}
	j.signal(toSignal, s)
}

// teachToKill tells the user how to end PEs that still run a while after the user's signal, and what they are
// doing: a PE that computes, or puts and gets in a loop, need not look at its context.
func (j *job) teachToKill() {
	if j.ending || j.exiting {
		return
	}
	j.stderr.say(fmt.Sprintf("pgasrun: the PEs have got %v, and some still run: a second signal kills them\n", j.asked))
	j.askTables()
}

// continueAgents continues stopped agents, so that they pass a signal on.
func (j *job) continueAgents() {
	for _, h := range j.hosts {
		if h.running() {
			unix.Kill(-h.cmd.Process.Pid, unix.SIGCONT)
		}
	}
}

// cutShort ends a job whose context has ended.
func (j *job) cutShort(cause error) {
	if j.refused == nil {
		j.refused = cause
	}
	j.askTables()
	if j.hosts[0].started {
		j.end()
	} else {
		j.closeInputs()
		j.killAgentsAfter(j.spec.Grace)
	}
}

// askTables has what each PE is blocked in printed when every host has told.
func (j *job) askTables() {
	for _, h := range j.hosts {
		if h.started && !h.gone && !h.done {
			h.tableDue = true
			h.send.bytes(toTable)
		}
	}
}

// tableCame notes a host's table, whether it was asked for or comes because a PE failed.
func (j *job) tableCame(h *host, data []byte) {
	var rows []blocked
	if decode(data, &rows) != nil {
		return
	}
	h.table = rows
	if h.tableDue {
		j.tableNoLongerDue(h)
	}
}

func (j *job) tableNoLongerDue(h *host) {
	h.tableDue = false
	if !slices.ContainsFunc(j.hosts, func(h *host) bool { return h.tableDue }) {
		j.stderr.say("pgasrun: what each PE is doing:\n" + formatTable(j.hosts, -1))
	}
}

// hostGone handles the end of an agent's command. If it was not in order, what its PEs have started may
// still run there.
func (j *job) hostGone(h *host, err error) {
	j.spec.Logf("host %s: the agent has ended", h.Name)
	defer j.killWhenFrozen()
	if h.tableDue {
		j.tableNoLongerDue(h)
	}
	h.gone = h.done || !h.started
	if h.done {
		return
	}
	if !h.started {
		j.refuse(h.ended(err))
		return
	}
	if j.refused == nil && j.asked == 0 && j.explains(h) {
		j.status = max(j.status, 1)
		j.refused = h.ended(err)
		j.deaths = nil
	}
	h.lost = true
	j.tellOthers(h, death{PE: h.First, Status: syscall.WaitStatus(syscall.SIGKILL), Peer: -1})
	go j.sweepHost(h)
	j.end()
}

// explains reports whether the end of h's agent is why PEs have failed, if any have: all of them have lost PEs
// of h.
func (j *job) explains(h *host) bool {
	return !slices.ContainsFunc(j.deaths, func(o obituary) bool {
		return o.rank() < consequence || o.rank() == consequence && j.hostOf(o.Peer) != h
	})
}

// hostOf returns the host of a PE.
func (j *job) hostOf(pe int) *host {
	at := slices.IndexFunc(j.hosts, func(h *host) bool { return pe < h.First+h.PEs })
	return j.hosts[max(at, 0)]
}

// sweepHost has another agent kill what a killed one has left on its host.
func (j *job) sweepHost(h *host) {
	j.spec.Logf("host %s: sweeping up", h.Name)
	ctx, cancel := context.WithTimeout(context.Background(), j.spec.ConnectTimeout)
	defer cancel()
	if err := h.agent.order(ctx, config{Version: version, ID: j.id, Sweep: true}); err != nil {
		j.spec.Logf("host %s: sweeping up: %v", h.Name, err)
	}
	j.post(event{host: h, kind: hostSwept})
}

// order starts an agent, gives it one order and waits for its end.
func (c agentCommand) order(ctx context.Context, what config) error {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Env = append(boot.StripEnv(os.Environ()), boot.EnvAgent+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { out.Close() })() // processes that the command has started may keep it open
	io.WriteString(in, c.input)
	r := bufio.NewReader(out)
	if err := skipTo(r, greeting); err == nil {
		(&sender{w: in}).value(toConfig, what)
	}
	in.Close()
	io.Copy(io.Discard, r)
	return cmd.Wait()
}
