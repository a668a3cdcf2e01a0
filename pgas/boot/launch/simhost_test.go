package launch

// A simulated job: the launcher, relays, agents and servers of the exchange as they are, each a goroutine in place of a
// process, and stubs in place of PEs, which take part in the exchange as PEs do.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/agent"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// simulation is a job of simulated hosts.
type simulation struct {
	network  *simNetwork
	launcher *simNode
	linger   time.Duration           // that PEs stay after they have found each other
	frames   func(from, to *simNode) // nil, or called before a frame is sent to a relay or an agent, or by one

	mu        sync.Mutex          // guards what follows
	fault     map[string]simFault // by host
	places    []string            // the hosts of the last term, as its agents were told
	term      string              // the name of the last term
	secrets   map[string]string   // the name of the term that had a secret
	npes      int                 // the PEs of the last term
	serves    string              // where the root of its exchange was told to serve
	processes []*simProcess
	running   int
	started   time.Time      // of the last PE
	wired     time.Time      // when the last PE had found those it talks to
	lingering int            // PEs that have found them, and stay
	alive     map[string]int // PEs that run, by term
	errs      []error        // of PEs
	outlived  int            // how often a process has begun another term
}

// simFault is what a host does wrong.
type simFault int

const (
	noFault simFault = iota
	neverGreets
	sendsGarbage // in place of the first frame
	greetsNewer  // as an agent of a newer version
	greetsOlder  // as those did that did not say their version
	breaksFrame  // claims a frame larger than any
	garbledReady // a frame of a known kind that holds something else
	endsLate     // its PEs take lateEnd to end
	neverEnds    // nor does the command of its agent when the agent has ended
	saysWhy      // its PEs say that they end since they were asked to, and take lateEnd
)

const lateEnd = time.Second / 4

// simProcess is a relay, or an agent with its PEs. It is a machine for the code that runs on it.
type simProcess struct {
	simPort
	sim           *simulation
	in, out, errs *stream
	ended         chan struct{}
	begun         time.Time

	mu       sync.Mutex // guards what follows
	killed   bool
	pes      map[int]context.CancelCauseFunc // ends a process
	children int                             // processes that were not waited for
	exits    chan agent.Exited               // has room for all of them
	last     int                             // the number of the last process
	process  map[int]int                     // the number of the process that was given a PE last
}

func newSimulation() *simulation {
	return &simulation{
		network: newSimNetwork(), launcher: &simNode{host: "the launcher's"},
		fault: map[string]simFault{}, secrets: map[string]string{}, alive: map[string]int{},
	}
}

// spec returns a job of pes PEs on each of n hosts.
func (s *simulation) spec(n, pes, fanOut int) Spec {
	spec := Spec{
		Program: "/bin/true", Env: []string{"PGAS_HEAP_MAX=16m"}, Stdout: io.Discard, Stderr: io.Discard,
		Template: "sim {host}", Agent: []string{"/usr/local/bin/pgasrun", "agent"}, FanOut: fanOut,
		start: func(c spawn.Line) (*spawn.Link, error) { return s.start(s.launcher, c) },
	}
	for i := range n {
		spec.Hosts = append(spec.Hosts, boot.Host{Name: fmt.Sprintf("node%06d", i), PEs: pes})
	}
	return spec
}

// start starts a process for parent on the host that c names, or else on parent's own. The command reaches it as a
// message.
func (s *simulation) start(parent *simNode, c spawn.Line) (*spawn.Link, error) {
	name := parent.host
	if c.Argv[0] == "sim" {
		name = c.Argv[1]
	}
	node := &simNode{host: name}
	p := &simProcess{simPort: s.network.at(node), sim: s, begun: time.Now(), ended: make(chan struct{}), pes: map[int]context.CancelCauseFunc{}, process: map[int]int{}, exits: make(chan agent.Exited, 1<<12)}
	p.in, p.out, p.errs = newStream(parent, node), newStream(node, parent), newStream(node, parent)
	p.in.writes, p.out.writes = s.frames, s.frames
	parent.conns.Add(1)
	parent.addChildren(1)
	node.conns.Add(1)
	s.mu.Lock()
	s.processes, s.running = append(s.processes, p), s.running+1
	s.mu.Unlock()
	go func() {
		p.run()
		parent.addChildren(-1)
		close(p.ended)
	}()
	return &spawn.Link{In: p.in, Out: p.out, Errs: p.errs, Signal: p.signalled, Wait: p.await}, nil
}

func (p *simProcess) run() {
	time.Sleep(p.in.delay)
	switch p.sim.faultOf(p.node.host) {
	case neverGreets:
		p.ignoreInput()
	case sendsGarbage:
		p.out.Write([]byte(frame.Greeting))
		noise := make([]byte, 64<<10)
		for i := range noise { // random bytes can be the length of a frame, for whose end one would have to wait
			noise[i] = byte(201 + 167*i)
		}
		p.out.Write(noise)
		p.ignoreInput()
	case greetsNewer:
		p.out.Write([]byte(frame.GreetingMark + "99 v9.9.9\n"))
		p.ignoreInput()
	case greetsOlder:
		p.out.Write([]byte(frame.GreetingMark + "5\n"))
		p.ignoreInput()
	case breaksFrame:
		p.out.Write([]byte(frame.Greeting + "r\xff\xff\xff\xff"))
		p.ignoreInput()
	case garbledReady:
		p.out.Write([]byte(frame.Greeting))
		(frame.NewSender(p.out)).Send(frame.FromReady, []byte("no ready"))
		p.ignoreInput()
	default:
		p.runAgent()
		for p.sim.faultOf(p.node.host) == neverEnds && !p.isKilled() {
			time.Sleep(latency) // in simulated time, for the launcher to kill the command
		}
	}
	p.out.Close()
	p.errs.Close()
	p.sim.network.end(p.node)
	p.sim.mu.Lock()
	p.sim.running--
	p.sim.mu.Unlock()
}

// faultOf returns what a host does wrong.
func (s *simulation) faultOf(host string) simFault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault[host]
}

// notePlaces notes the hosts of a term, of which all agents are to be told the same.
func (s *simulation) notePlaces(c *frame.Config, on string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var places []string
	first := 0
	for _, h := range c.Hosts {
		if places = append(places, h.Name); h.First != first {
			s.errs = append(s.errs, fmt.Errorf("the first PE of %s has the number %d, after %d PEs: %w", h.Name, h.First, first, errPlaces))
		}
		first += h.PEs
	}
	if places[c.Host] != on || s.term == c.ID && !slices.Equal(places, s.places) {
		s.errs = append(s.errs, fmt.Errorf("%s is host %d of %v, and others were told %v: %w", on, c.Host, places, s.places, errPlaces))
	}
	if len(places) == 1 && c.Secret != nil {
		s.errs = append(s.errs, fmt.Errorf("the only host has the secret of an earlier term: %w", errPlaces))
	}
	if of, known := s.secrets[string(c.Secret)]; known && of != c.ID {
		s.errs = append(s.errs, fmt.Errorf("a term has the secret of an earlier one: %w", errPlaces))
	}
	if c.Secret != nil {
		s.secrets[string(c.Secret)] = c.ID
	}
	s.term, s.places, s.npes = c.ID, places, first
	if c.Host == 0 {
		s.serves = c.Serve
	}
}

// begins counts a PE of a term. No PE of another term may run.
func (s *simulation) begins(term string, pe int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive[term]++
	for other, n := range s.alive {
		if other != term && n > 0 {
			s.errs = append(s.errs, fmt.Errorf("PE %d of term %s begins, and of term %s run %d: %w", pe, term, other, n, errPlaces))
		}
	}
}

// ends is what begins has counted.
func (s *simulation) ends(term string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive[term]--
}

// errPlaces is the error of agents that were not told the same, and of PEs of two terms.
var errPlaces = errors.New("what runs is not one term")

// ignoreInput lives on until it is killed.
func (p *simProcess) ignoreInput() {
	for {
		if _, err := p.in.Read(make([]byte, 1<<10)); err != nil && p.isKilled() {
			return
		}
		time.Sleep(latency)
	}
}

func (p *simProcess) isKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// runAgent is a process that runs an agent, from its beginning to what the kernel does at its end.
func (p *simProcess) runAgent() {
	a := agent.New(p, p.out)
	a.Serve(p.in)
	p.in.cut()
	a.Release()
}

// signalled is what a signal to the process does.
func (p *simProcess) signalled(sig unix.Signal) {
	if sig != unix.SIGKILL {
		return
	}
	p.mu.Lock()
	p.killed = true
	for _, kill := range p.pes {
		kill(simKilled(sig))
	}
	p.mu.Unlock()
	p.in.cut()
	p.out.cut()
	p.errs.cut()
	p.sim.network.end(p.node)
}

func (p *simProcess) await() error {
	<-p.ended
	if p.isKilled() {
		return errors.New("signal: killed")
	}
	return nil
}

// simKilled ends a stub as a signal ends a PE.
type simKilled syscall.Signal

func (k simKilled) Error() string { return syscall.Signal(k).String() }

func (p *simProcess) StartCommand(c spawn.Line) (*spawn.Link, error) { return p.sim.start(p.node, c) }

func (p *simProcess) Check(*agent.Agent) (frame.Ready, error) {
	return frame.Ready{Hash: strings.Repeat("a", 64), Memory: 1 << 34, Machine: p.node.host}, nil
}

func (p *simProcess) Watch(*agent.Agent) {}
func (p *simProcess) SweepUp(*agent.Agent) int {
	return 0
}

func (p *simProcess) Signal(pid int, sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kill := p.pes[pid]; kill != nil && (sig == unix.SIGKILL || sig == unix.SIGTERM) {
		kill(simKilled(sig))
	}
}

// killPE kills the process of a PE.
func (p *simProcess) killPE(pe int) {
	p.mu.Lock()
	pid := p.process[pe]
	p.mu.Unlock()
	p.Signal(pid, unix.SIGKILL)
}

func (p *simProcess) Wait() (e agent.Exited, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.children == 0 {
		return e, false
	}
	p.mu.Unlock()
	e = <-p.exits
	p.mu.Lock()
	p.children--
	return e, true
}

// StartPEs starts a stub for each PE that has no process at the gate.
func (p *simProcess) StartPEs(a *agent.Agent, _ agent.SegmentFile, addrs []string) error {
	c := a.Config()
	host := c.Hosts[c.Host]
	p.sim.notePlaces(&c, p.node.host)
	for i := range host.PEs {
		p.sim.mark(&p.sim.started)
		if a.HandOver(i, addrs) {
			continue
		}
		ctx, kill := context.WithCancelCause(context.Background())
		p.mu.Lock()
		p.last++
		pid := p.last
		p.pes[pid] = kill
		p.children++
		if p.killed {
			kill(simKilled(unix.SIGKILL))
		}
		p.mu.Unlock()
		e := &simPE{host: p, agent: a, i: i, pid: pid, life: ctx, kill: kill, says: make(chan join.TermMessage, 4), terms: make(chan simTerm, 1)}
		var link agent.TermLink
		if c.Term > 0 {
			link = e
		}
		a.Started(i, pid, link)
		e.begins(host.First+i, addrs)
		go e.run(c.Term > 0 && pid%3 != 0)
	}
	return nil
}

// simPE is the process of a stub, and its agent's connection to it.
type simPE struct {
	host   *simProcess
	agent  *agent.Agent
	i, pid int             // its index on the host, and its number
	life   context.Context // that of the process
	kill   context.CancelCauseFunc
	says   chan join.TermMessage // has room for all
	terms  chan simTerm          // the term that it is to take part in
	leave  context.CancelCauseFunc
}

// simTerm is the part of a stub in a term.
type simTerm struct {
	ctx    context.Context
	config frame.Config
	state  *boot.State
	pe     int
	addrs  []string
}

// The causes of the end of a stub's term, and of its connection.
var (
	errLeaves = errors.New("the term ends")
	errNoTerm = errors.New("no term follows")
)

// begins has the process take part in the agent's term.
func (e *simPE) begins(pe int, addrs []string) {
	var ctx context.Context
	ctx, e.leave = context.WithCancelCause(e.life)
	e.host.mu.Lock()
	e.host.process[pe] = e.pid
	e.host.mu.Unlock()
	e.terms <- simTerm{ctx, e.agent.Config(), e.agent.State(e.i), pe, addrs}
}

// run takes part in terms until the process ends. stays says whether it outlives them. One in eight of those that say
// so does not leave when it is asked to.
func (e *simPE) run(stays bool) {
	if stays {
		e.says <- join.TermStays
	}
	var status unix.WaitStatus
	for goesOn := true; goesOn; {
		select {
		case t := <-e.terms:
			if stays && e.pid%8 == 0 {
				t.ctx = e.life
			}
			if status, goesOn = e.host.runPE(t); goesOn {
				e.says <- join.TermGate
			}
		case <-e.life.Done():
			status, goesOn = unix.WaitStatus(unix.SIGKILL), false
			if context.Cause(e.life) == errNoTerm {
				status = 1 << 8
			}
		}
	}
	e.host.mu.Lock()
	delete(e.host.pes, e.pid)
	e.host.mu.Unlock()
	e.kill(errNoTerm) // ends Hear
	e.host.exits <- agent.Exited{PID: e.pid, Status: status}
}

func (e *simPE) Hear() (join.TermMessage, error) {
	select {
	case m := <-e.says:
		return m, nil
	case <-e.life.Done():
		return 0, io.EOF
	}
}

func (e *simPE) End() error {
	e.leave(errLeaves)
	return nil
}

func (e *simPE) Begin(v boot.PEVars, _ []int) error {
	if e.life.Err() != nil {
		return io.EOF
	}
	e.host.sim.mu.Lock()
	e.host.sim.outlived++
	e.host.sim.mu.Unlock()
	e.begins(v.PE, v.BootAddrs)
	return nil
}

func (e *simPE) Close() { e.kill(errNoTerm) }

func (s *simulation) mark(at *time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*at = time.Now()
}

// runPE runs the stub of a PE to its end in a term. It reports whether the process goes on.
func (p *simProcess) runPE(t simTerm) (status unix.WaitStatus, goesOn bool) {
	c, state, pe := t.config, t.state, t.pe
	p.sim.begins(c.ID, pe)
	defer p.sim.ends(c.ID)
	state.Membership.Store(uint32(boot.Joined))
	err := p.sim.find(t.ctx, p.at(&simNode{host: p.node.host}), c, pe, t.addrs)
	var killed simKilled
	switch {
	case errors.Is(err, errLeaves):
		goesOn = true
	case errors.Is(err, errNoTerm):
		status = 1 << 8
	case errors.As(err, &killed) && p.sim.faultOf(p.node.host) == saysWhy:
		status = 1 << 8
		state.End.At.Store(boot.Clock())
		state.End.Why.Store(uint32(boot.EndOnRequest))
	case errors.As(err, &killed):
		status = unix.WaitStatus(killed)
	case err != nil:
		status = 1 << 8
		p.sim.mu.Lock()
		p.sim.errs = append(p.sim.errs, fmt.Errorf("PE %d: %w", pe, err))
		p.sim.mu.Unlock()
	default:
		state.Membership.Store(uint32(boot.Left))
	}
	if f := p.sim.faultOf(p.node.host); f == endsLate || f == saysWhy {
		time.Sleep(lateEnd) // in simulated time, which the process takes to end
	}
	return status, goesOn
}

// Sizes of what PEs publish: the address of a worker of UCX, and what a host tells of its interfaces.
const (
	addressBytes  = 200
	hostInfoBytes = 150
	hostsInValue  = 512
)

// find does what a PE does until it has found others (pgas/transport/ucp, hostinfo.go and ucp.go): it publishes its
// address, learns of all hosts what PE 0 has gathered, meets all PEs in a fence, and asks for the addresses of those
// that it talks to: the next PE of the job, and the one that is farthest.
func (s *simulation) find(ctx context.Context, network join.Network, c frame.Config, pe int, addrs []string) error {
	if c.Secret == nil { // on the only host of a job they find each other without an exchange
		return s.lingerOn(ctx)
	}
	own, last := c.Hosts[c.Host], c.Hosts[len(c.Hosts)-1]
	npes := last.First + last.PEs
	x := join.NewExchangeOver(network, c.ID, pe, c.Secret, addrs)
	defer x.Close()
	if pe == own.First {
		if err := x.Put(ctx, "host/"+strconv.Itoa(c.Host), make([]byte, hostInfoBytes)); err != nil {
			return err
		}
	}
	if err := gatherAll(ctx, x, len(c.Hosts), pe == 0); err != nil {
		return err
	}
	address := func(pe int) []byte { return fmt.Appendf(make([]byte, 0, addressBytes), "%0*d", addressBytes, pe) }
	if err := x.Put(ctx, "pe/"+strconv.Itoa(pe), address(pe)); err != nil {
		return err
	}
	if err := x.Fence(ctx); err != nil {
		return err
	}
	for _, peer := range []int{(pe + own.PEs) % npes, (pe + npes/2) % npes} {
		got, err := x.Get(ctx, "pe/"+strconv.Itoa(peer))
		if err != nil || string(got) != string(address(peer)) {
			return fmt.Errorf("the address of PE %d is %q, %w", peer, got, err)
		}
	}
	s.mark(&s.wired)
	return s.lingerOn(ctx)
}

// lingerOn is what a PE does when it has found others.
func (s *simulation) lingerOn(ctx context.Context) error {
	s.stay(1)
	defer s.stay(-1)
	select {
	case <-time.After(s.linger):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stay counts PEs that have found others.
func (s *simulation) stay(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lingering += n
}

// gatherAll has PE 0 gather what all hosts have published, and every other PE ask for all values at once.
func gatherAll(ctx context.Context, x boot.Exchange, hosts int, isFirstPE bool) error {
	errs := make([]error, (hosts+hostsInValue-1)/hostsInValue)
	var asked sync.WaitGroup
	for i := range errs {
		first := i * hostsInValue
		asked.Go(func() { errs[i] = gather(ctx, x, first, min(first+hostsInValue, hosts), isFirstPE) })
	}
	asked.Wait()
	return errors.Join(errs...)
}

// gather has PE 0 collect what the hosts from first to end have published, and publish it in one value, which others
// get.
func gather(ctx context.Context, x boot.Exchange, first, end int, isFirstPE bool) error {
	key := "hosts/" + strconv.Itoa(first)
	if !isFirstPE {
		all, err := x.Get(ctx, key)
		if err == nil && len(all) != (end-first)*hostInfoBytes {
			return fmt.Errorf("%d bytes tell of %d hosts", len(all), end-first)
		}
		return err
	}
	var all []byte
	for host := first; host < end; host++ {
		one, err := x.Get(ctx, "host/"+strconv.Itoa(host))
		if err != nil {
			return err
		}
		all = append(all, one...)
	}
	return x.Put(ctx, key, all)
}
