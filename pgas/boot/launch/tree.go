package launch

// The tree of hosts: a launcher starts the agents of at most FanOut hosts itself. Where there are more, hosts are split
// into that many groups, and the first host of a group relays for the rest (relay.go), in the same way. So the launcher
// and every relay have a bounded number of children, and n hosts start in a number of steps that grows with log n.

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/output"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
	"golang.org/x/sys/unix"
)

// branch is a host, and those for which it relays.
type branch struct {
	head *host
	rest []branch
}

// growTree splits hosts into at most fanOut branches. The launcher's own host relays for no others, since it has
// another name on them.
func growTree(hosts []*host, fanOut int) []branch {
	var tree []branch
	if len(hosts) <= fanOut {
		for _, h := range hosts {
			tree = append(tree, branch{head: h})
		}
		return tree
	}
	for i := range fanOut {
		group := hosts[i*len(hosts)/fanOut : (i+1)*len(hosts)/fanOut]
		tree = append(tree, branch{group[0], growTree(group[1:], fanOut)})
	}
	return tree
}

// relayLink is the launcher's end of one relay.
type relayLink struct {
	job      *job
	host     *host
	number   uint32     // the number that host had when the relay was started, as all numbers of relays
	via      *relayLink // the relay through which it is reached; nil: the launcher has started it itself
	link     *spawn.Link
	own      *spawn.Link // the agent that the relay runs for its own host
	send     *frame.Sender
	relays   atomic.Bool // it has been told what to start
	children map[uint32]*childStreams
	lost     bool // it has ended before a child did; run sets it before the event loop hears of the end
	ended    bool // only the event loop uses it
}

// childStreams are the launcher's ends of the streams of a host behind a relay.
type childStreams struct {
	out, errs *io.PipeWriter
	end       chan error
	ended     bool // end has been sent
}

// startTree starts the agents of all hosts.
func (j *job) startTree() error {
	var local, others []*host
	for _, h := range j.hosts {
		h.agent = j.spec.command(h.Name)
		j.spec.Logf("host %s: starting %v", h.Name, h.agent)
		if j.spec.isHere(h.Name) {
			local = append(local, h)
		} else {
			others = append(others, h)
		}
	}
	tree := growTree(others, j.spec.FanOut)
	for _, h := range local {
		tree = append(tree, branch{head: h})
	}
	for _, b := range tree {
		l, err := j.spec.start(b.head.agent)
		if err != nil {
			b.head.gone = true
			return fmt.Errorf("host %s: %w", b.head.Name, err)
		}
		j.followBranch(b, l, nil)
	}
	return nil
}

// startSpares starts the agents of the spares. The launcher starts them itself, so that they depend on no relay.
func (j *job) startSpares() {
	for _, h := range slices.Clone(j.idle) {
		h.agent = j.spec.command(h.Name)
		j.spec.Logf("spare %s: starting %v", h.Name, h.agent)
		l, err := j.spec.start(h.agent)
		if err != nil {
			h.ended, h.gone = true, true
			j.dropSpare(h, fmt.Errorf("host %s: %w", h.Name, err))
			continue
		}
		j.follow(h, l)
	}
}

// dropSpare says that h is no spare any more.
func (j *job) dropSpare(h *host, err error) {
	if h.spare && !j.closing {
		j.stderr.Notice(fmt.Sprintf("pgasrun: a spare is lost, and the job goes on without it: %v\n", err))
	}
	h.spare = false
}

// followBranch handles the command of the head of b, which becomes an agent, or a relay if there are hosts behind it.
func (j *job) followBranch(b branch, l *spawn.Link, via *relayLink) {
	b.head.via = via.path()
	if len(b.rest) == 0 {
		j.follow(b.head, l)
		return
	}
	r := &relayLink{job: j, host: b.head, number: uint32(b.head.index), via: via, link: l, send: frame.NewSender(l.In), children: map[uint32]*childStreams{}}
	j.relays = append(j.relays, r)
	b.head.via = r.path()
	r.own = r.add(b.head)
	j.follow(b.head, r.own)
	for _, c := range b.rest {
		j.followBranch(c, r.add(c.head), r)
	}
	go r.run(b)
}

// path returns the hosts of r and of the relays through which it is reached, the nearest first; none if r is nil.
func (r *relayLink) path() []*host {
	if r == nil {
		return nil
	}
	return append([]*host{r.host}, r.via.path()...)
}

// config is what the launcher tells a relay that it has started itself.
func (r *relayLink) config(b branch) frame.RelayConfig {
	spec := &r.job.spec
	agent := spec.command(spawn.HostPlace)
	return frame.RelayConfig{
		Protocol: frame.Protocol, Hosts: spec.Hosts, Argv: agent.Argv, Input: agent.Input,
		Host: uint32(b.head.index), Rest: subtreesOf(b.rest),
	}
}

func subtreesOf(branches []branch) (all []frame.Subtree) {
	for _, b := range branches {
		all = append(all, frame.Subtree{Host: uint32(b.head.index), Rest: subtreesOf(b.rest)})
	}
	return all
}

// add makes the link to the command that the relay runs for h.
func (r *relayLink) add(h *host) *spawn.Link {
	number := frame.HostNumber(uint32(h.index))
	s := &childStreams{end: make(chan error, 1)}
	l := &spawn.Link{
		In: relayWriter{r, number},
		Signal: func(sig unix.Signal) {
			if r.relays.Load() {
				r.send.Send(frame.ToChildSignal, number, []byte{byte(sig)})
			}
		},
		Wait: func() error { return <-s.end },
	}
	l.Out, s.out = io.Pipe()
	l.Errs, s.errs = io.Pipe()
	r.children[uint32(h.index)] = s
	return l
}

// relayWriter is the standard input of a command behind a relay. It ends with the relay's own.
type relayWriter struct {
	relay  *relayLink
	number []byte
}

func (w relayWriter) Write(b []byte) (int, error) {
	return len(b), w.relay.send.Send(frame.ToChild, w.number, b)
}

func (w relayWriter) Close() error { return nil }

// run reads what the relay sends, until it has ended, and ends with it the streams of all hosts behind it.
func (r *relayLink) run(b branch) {
	var readers sync.WaitGroup
	readers.Go(func() { r.job.readErrors(r.host, r.link.Errs) })
	readers.Go(func() {
		in := bufio.NewReaderSize(r.link.Out, output.MaxLine)
		progress := func(n int) { r.job.post(event{host: r.host, change: staged, bytes: n}) }
		text, err := spawn.AwaitGreeting(in, r.link.In, r.job.spec.files, progress)
		if other := frame.CheckGreeting(text); err == nil && other != nil {
			r.job.post(event{host: r.host, change: otherVersion, err: other})
		} else if err == nil {
			if r.via == nil { // the relay that has started this one tells it
				r.send.SendValue(frame.ToRelay, r.config(b))
			}
			r.relays.Store(true)
			r.demultiplex(in)
		}
		io.Copy(io.Discard, in)
	})
	readers.Wait()
	for _, s := range r.children {
		r.lost = r.lost || !s.ended
	}
	e := event{change: relayEnded, relay: r, err: r.link.Wait()}
	if !r.children[r.number].ended {
		e.host = r.host
	}
	r.job.post(e) // before the ends of the hosts behind it
	reason := error(relayLostError(r.host.Name))
	if first, ok := errors.AsType[relayLostError](e.err); ok { // it was itself started through one that is lost
		reason = first
	}
	for number := range r.children {
		r.close(number, reason)
	}
}

// relayLostError is the end of an agent or relay that was started through a relay on the host of that name, which is
// lost.
type relayLostError string

func (e relayLostError) Error() string {
	return fmt.Sprintf("host %s, through which it was started, is lost", string(e))
}

// demultiplex gives each host's streams what the relay sends of them.
func (r *relayLink) demultiplex(in *bufio.Reader) {
	for {
		k, data, err := frame.Read(in)
		if err != nil {
			if !isEnd(err) {
				r.job.post(event{host: r.host, change: badFrame, err: err})
			}
			return
		}
		if len(data) < 4 {
			continue
		}
		number, data := binary.BigEndian.Uint32(data), data[4:]
		s := r.children[number]
		switch {
		case s == nil:
		case k == frame.FromChild:
			s.out.Write(data)
		case k == frame.FromChildErrors:
			s.errs.Write(data)
		case k == frame.FromChildStaged && len(data) == 4:
			r.job.post(event{host: r.host, change: staged, bytes: int(binary.BigEndian.Uint32(data))})
		case k == frame.FromChildEnd && len(data) > 0:
			r.close(number, errors.New(string(data)))
		case k == frame.FromChildEnd:
			r.close(number, nil)
		}
	}
}

// close ends the streams of one host, if they have not ended yet. The first reason counts.
func (r *relayLink) close(number uint32, reason error) {
	s := r.children[number]
	if s.ended {
		return
	}
	s.ended = true
	s.end <- reason
	s.out.Close()
	s.errs.Close()
}

// handleRelayEnd handles the end of a relay. If that was before the end of the agent of its own host, lost, that host
// is lost, and those behind it are lost as a consequence.
func (j *job) handleRelayEnd(r *relayLink, lost *host, err error) {
	r.ended = true
	if lost != nil && !lost.ended && lost.link == r.own { // and has not been started again
		j.handleAgentExit(lost, err)
	}
	j.loseBehind(r)
}

// relayIsLost reports whether h was reached through a relay on another host, which is lost.
func (j *job) relayIsLost(h *host) bool {
	return slices.ContainsFunc(j.relays, func(r *relayLink) bool { return r.ended && r.lost && r.host != h && slices.Contains(h.via, r.host) })
}

// loseBehind handles the loss of a relay before the PEs of a term were started: it loses the hosts behind it at once,
// so that they cost one term.
func (j *job) loseBehind(r *relayLink) {
	if j.recoveries == 0 || j.hosts[0].started {
		return
	}
	for _, h := range j.hosts {
		if h != r.host && slices.Contains(h.via, r.host) && !h.ended {
			j.handleAgentExit(h, relayLostError(r.host.Name))
		}
	}
}

// closeRelays ends the input of every relay, and so that of all hosts behind it.
func (j *job) closeRelays() {
	for _, r := range j.relays {
		r.link.In.Close()
		if !r.relays.Load() {
			j.endCommand(r.link)
		}
	}
}

// signalRelays sends a signal to the command of every relay.
func (j *job) signalRelays(sig unix.Signal) {
	for _, r := range j.relays {
		r.link.Signal(sig)
	}
}

// endCommand kills a command that has not become an agent. A shell that takes a file is asked, so that it removes what
// it has of it.
func (j *job) endCommand(l *spawn.Link) {
	if j.spec.Stage {
		l.Signal(unix.SIGTERM)
		return
	}
	l.Signal(unix.SIGKILL)
}
