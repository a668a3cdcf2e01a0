package agent

// A relay: an agent that is told to start the agents of further hosts, in place of PEs. It passes their standard
// streams on, each byte with the number of its host, and knows nothing of what they mean. So the launcher talks to a
// host behind relays as to one that it has started itself: its output stays whole, because frames do, and its failure
// is its own.
//
// What a relay tells its children by itself, when they greet, is what the launcher would have to tell each of many: a
// relay, what it starts, so that a tree starts in one round for each of its levels; an agent, the hosts of the job.
//
// A relay runs the agent of its own host too, as a child. When its input ends, it ends the inputs of its children, and
// ends itself when all of them have. When it is killed, their inputs end all the same, and the guard above it kills
// what is left.

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/output"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
	"golang.org/x/sys/unix"
)

// relayedHosts are the children of a relay, by the number of their host.
type relayedHosts struct {
	out   *frame.Sender
	cfg   frame.RelayConfig
	hosts map[uint32]*relayedHost
}

// relayedHost is one child of a relay.
type relayedHost struct {
	rest  []frame.Subtree // the hosts for which it relays
	link  *spawn.Link
	input chan []byte // the standard input of the command; nil closes it
}

// relayQueue is how many frames a relay keeps for a child that does not read: more than the launcher sends to one.
const relayQueue = 256

// relay starts the commands of cfg and passes on their streams until all have ended.
func (a *Agent) relay(cfg frame.RelayConfig) error {
	if err := cfg.Check(); err != nil {
		return err
	}
	r := &relayedHosts{out: a.out, cfg: cfg, hosts: map[uint32]*relayedHost{}}
	var running sync.WaitGroup
	for _, c := range append([]frame.Subtree{{Host: cfg.Host}}, cfg.Rest...) {
		l, err := a.machine.StartCommand(childLine(cfg, c.Host))
		if err != nil {
			r.out.Send(frame.FromChildEnd, frame.HostNumber(c.Host), []byte(err.Error()))
			continue
		}
		h := &relayedHost{rest: c.Rest, link: l, input: make(chan []byte, relayQueue)}
		r.hosts[c.Host] = h
		running.Go(func() { r.follow(c.Host, h) })
	}
	go r.obey(a.commands)
	running.Wait()
	return nil
}

// childLine returns the command line of the agent of a host.
func childLine(cfg frame.RelayConfig, host uint32) spawn.Line {
	if host == cfg.Host {
		return spawn.Line{Argv: append([]string{"/proc/self/exe"}, os.Args[1:]...)}
	}
	return spawn.Line{Argv: spawn.WithHost(cfg.Argv, cfg.Hosts[host].Name), Input: cfg.Input}
}

// instruct tells a child that has greeted what all children are told.
func (r *relayedHosts) instruct(host uint32, h *relayedHost) {
	to := frame.NewSender(h.link.In)
	if len(h.rest) == 0 {
		to.SendValue(frame.ToHosts, r.cfg.Hosts)
		return
	}
	cfg := r.cfg
	cfg.Host, cfg.Rest = host, h.rest
	to.SendValue(frame.ToRelay, cfg)
}

// follow passes on what a child writes, until it has ended.
func (r *relayedHosts) follow(host uint32, h *relayedHost) {
	number := frame.HostNumber(host)
	var readers sync.WaitGroup
	readers.Go(func() { pass(h.link.Errs, func(b []byte) { r.out.Send(frame.FromChildErrors, number, b) }) })
	out := bufio.NewReaderSize(h.link.Out, output.MaxLine)
	progress := func(n int) { r.out.Send(frame.FromChildStaged, number, binary.BigEndian.AppendUint32(nil, uint32(n))) }
	if text, err := spawn.AwaitGreeting(out, h.link.In, ownFiles(), progress); err == nil {
		r.out.Send(frame.FromChild, number, []byte(text))
		go func() {
			if frame.CheckGreeting(text) == nil { // otherwise the launcher ends the job
				r.instruct(host, h) // it may be longer than a pipe holds
			}
			h.feed()
		}()
	}
	pass(out, func(b []byte) { r.out.Send(frame.FromChild, number, b) })
	readers.Wait()
	text := ""
	if err := h.link.Wait(); err != nil {
		text = err.Error()
	}
	r.out.Send(frame.FromChildEnd, number, []byte(text))
}

// feed writes to the child what the launcher has sent for it.
func (h *relayedHost) feed() {
	for b := range h.input {
		h.link.In.Write(b)
	}
	h.link.In.Close()
}

// pass calls emit with the bytes of from as they come, until its end.
func pass(from io.Reader, emit func([]byte)) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			emit(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// obey handles the frames of the launcher, until its input ends. Then the inputs of all children end.
func (r *relayedHosts) obey(commands <-chan command) {
	for c := range commands {
		if len(c.data) < 4 {
			continue
		}
		h := r.hosts[binary.BigEndian.Uint32(c.data)]
		switch {
		case h == nil:
		case c.kind == frame.ToChild:
			h.input <- c.data[4:]
		case c.kind == frame.ToChildSignal && len(c.data) == 5:
			h.link.Signal(unix.Signal(c.data[4]))
		}
	}
	for _, h := range r.hosts {
		close(h.input)
	}
	time.Sleep(OrphanTime) // an agent kills and sweeps in less
	for _, h := range r.hosts {
		h.link.Signal(unix.SIGKILL)
	}
}
