package join

// A PE of a job that has no agent is a member: its connection to the exchange stays, and stands for its process. When
// the kernel closes the connection of a process that has not left the job, the server tells the other members at once.
// The server is in the process of PE 0, so a member that loses the server has lost PE 0. arbiter.go says what members
// do while that process is silent.
//
// Members also say that they end because of an error, before other PEs can notice; that PE X accuses PE Y; and that a
// PE has called GlobalExit.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

// memberGrace is how long a PE may go on after another has failed, before it gets SIGTERM; and then until it is ended.
const memberGrace = time.Second

// member is the connection of a PE to the members of its job.
type member struct {
	client *client
	server *Server   // the server, if this is the process of PE 0
	job    *boot.Job // nil until watch
	events chan message
	lost   chan struct{} // closed when the connection is
	left   chan struct{} // closed by Leave

	serverLeft chan struct{} // closed when the server takes no more part
	questions  chan struct{} // one token: a question to the arbiter is wanted
	ends       sync.Once     // the first failure ends this process: those after it are its consequences
	clock      func() int64  // boot.Clock; a test in a bubble of synctest has the bubble's clock
}

// memberExchange is the exchange of a member. Its connection lasts as long as the process.
type memberExchange struct{ *client }

// Close does nothing. The error is always nil.
func (memberExchange) Close() error { return nil }

// maxEvents is more than a server tells a member.
const maxEvents = 16

func newMember(t *ticket, rank int, server *Server, within time.Duration) *member {
	m := &member{
		server: server, events: make(chan message, maxEvents), lost: make(chan struct{}), left: make(chan struct{}),
		serverLeft: make(chan struct{}), questions: make(chan struct{}, 1), clock: boot.Clock,
	}
	m.client = NewExchange(t.ID, rank, t.Secret, t.Addrs).(*client)
	m.client.dialTime = within
	m.client.told = func(n message) { m.events <- n }
	m.client.lost = func() { close(m.lost) }
	return m
}

// join comes to the exchange and returns this process's place.
func (m *member) join(ctx context.Context, n newcomer) (place, error) {
	var p place
	answer, err := m.client.call(ctx, message{kind: msgJoin, value: encodeJSON(n)})
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(answer.value, &p); err != nil || p.HostIndex < 0 || p.HostIndex >= len(p.Hosts) {
		return p, errors.New("the server of the exchange speaks another version of its protocol: install the same program on every host")
	}
	return p, nil
}

// abandon closes the connection of a process that does not become a PE.
func (m *member) abandon() {
	m.client.Close()
	if m.server != nil {
		m.server.Close()
	}
}

// watch begins to react to what the server says, and to what the PEs of this host say of others.
func (m *member) watch(j *boot.Job) {
	m.watchServer(j)
	if j.Exchange != nil {
		go m.passOnAccusations()
	}
}

// watchServer begins to react to what the server says, and to its silence.
func (m *member) watchServer(j *boot.Job) {
	m.job = j
	go m.listen()
	switch {
	case m.watchesArbiter():
		go m.watchArbiter()
	case m.severalHosts():
		go m.watchHosts()
	}
}

// listen reacts until this PE has left, or the server has and takes no more part.
func (m *member) listen() {
	lost := m.lost
	for {
		select {
		case e := <-m.events:
			switch e.kind {
			case msgFailed:
				if pe, how, ok := decodePair(e.value); ok {
					m.failed(int(pe), how)
				}
			case msgExit:
				m.exit(e.value)
			case msgAsk:
				m.arbiterAnswered(e.value)
			case msgServerLeaves:
				lost = nil
				close(m.serverLeft)
			}
		case <-lost:
			if len(m.events) > 0 {
				continue // what the server has said before
			}
			lost = nil
			m.failed(0, boot.GoneHow)
		case <-m.left:
			return
		}
	}
}

// failed tells this process that a PE has failed. A process that then does not end by itself is ended: no agent does.
// Failures that it hears of later are consequences of the first, as the end of the arbiter's process is.
func (m *member) failed(pe int, how uint64) {
	j := m.job
	if pe < 0 || pe >= j.NPEs || pe == j.PE || m.hasLeft() {
		return
	}
	j.Segment.Fail(pe, how)
	m.ends.Do(func() { time.AfterFunc(memberGrace, func() { m.end(pe, how) }) })
}

// end ends this process because pe has failed, if this PE has not left the job.
func (m *member) end(pe int, how uint64) {
	j := m.job
	if m.hasLeft() {
		return
	}
	name := j.Hosts[j.HostOf(pe)].Name
	fmt.Fprintf(os.Stderr, "pgas: PE %d on %s: ends, because PE %d on %s has failed: %v\n", j.PE, j.Host().Name, pe, name, boot.HowDied(how))
	j.Segment.Header.EndRequested.Store(1)
	unix.Kill(os.Getpid(), unix.SIGTERM)
	time.Sleep(memberGrace)
	if !m.hasLeft() {
		os.Exit(1)
	}
}

func (m *member) hasLeft() bool { return isClosed(m.left) }

// passOnAccusations tells the server of every accusation that a PE of this host makes. Every PE of the host does: any
// of them may be stopped.
func (m *member) passOnAccusations() {
	for seen := uint64(0); ; {
		var x boot.Accusation
		x, seen = m.job.Segment.AwaitAccusation(seen)
		m.say(message{kind: msgAccuse, value: encodeJSON(x)})
	}
}

// say sends n, for which there is no answer. A server that is lost needs none.
func (m *member) say(n message) {
	ctx, cancel := context.WithTimeout(context.Background(), boot.ExitTimeout)
	defer cancel()
	if l, err := m.client.connect(ctx); err == nil {
		l.send(n)
	}
}

// Leave tells the server that no PE waits for this one any more.
func (m *member) Leave() {
	if m.hasLeft() {
		return
	}
	close(m.left)
	m.say(message{kind: msgLeave})
}

// Ending tells the server that this PE ends because of an error. The process of PE 0 tells the members itself before it
// ends: they would take the end of the server for the first failure.
func (m *member) Ending(why boot.EndReason, peer int) {
	value := encodePair(uint64(why), uint64(peer))
	if m.server != nil {
		m.server.endingOf(0, value)
		return
	}
	m.say(message{kind: msgEnding, value: value})
}

// GlobalExit has every member end its process with status, and this one too. It returns if that takes too long.
func (m *member) GlobalExit(status int) {
	m.say(message{kind: msgExit, value: []byte(strconv.Itoa(status))})
	time.Sleep(boot.ExitTimeout)
}

// exit ends this process for a PE that has called GlobalExit. The server's process waits for the others: their
// launcher may kill what is left when the first ends, before they have heard.
func (m *member) exit(value []byte) {
	status, err := strconv.Atoi(string(value))
	if err != nil {
		return
	}
	if m.server != nil {
		m.server.awaitEmpty(outlast)
	}
	os.Exit(status)
}

// outlast is how long the process of PE 0 waits for the others to end after a GlobalExit.
const outlast = time.Second
