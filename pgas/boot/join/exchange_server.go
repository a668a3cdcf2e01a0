package join

// The server side of the exchange. The agent of the job's first host runs it, because the other hosts can reach that
// host; the launcher may be on a network that they cannot reach. Servers of other hosts may pass calls on to it
// (exchange_relay.go).
//
// A PE dials several addresses of the server's host at once, so several of its connections may pass the handshake.
// It keeps one and calls on that one only. So the server registers a PE's connection at its first call, not at the
// handshake: after the handshake the server cannot tell which connection the PE keeps, and could close the wrong one.
//
// The server listens until all its callers have called. Each connects once, so afterwards only a process outside the
// job would use the listener. In a job without agents it goes on, at the addresses where its callers came: what starts
// processes there may start one again, which is told that it cannot take part.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// acceptPause is how long the server waits after an accept that failed, for example for want of a descriptor.
const acceptPause = 20 * time.Millisecond

// maxHalfOpen bounds the connections that have not passed the handshake yet. The server closes one beyond it; a PE
// then dials again.
const maxHalfOpen = 256

// ServerConfig says what a server serves: the whole exchange of a job, or a part of it.
type ServerConfig struct {
	ID      string // the name of the job
	Secret  []byte // the secret of the job
	NPEs    int    // the number of PEs of the job
	Callers int    // PEs, and other servers, that call this one
	PEs     int    // the PEs that call, and those behind servers that call: a fence has all of these

	// Lost is called with the number of a PE when the connection of that caller, or of the server ParentPE that this
	// one calls, ends before Close. It may be nil.
	Lost     func(pe int)
	ParentPE int

	Parent  []string // addresses of the server that knows what this one does not; none: this is the root
	FirstPE int      // the first PE of this server's host; the server's number to the parent
	Network Network  // the network by which it calls the parent; nil: Sockets

	// Silence is how long a connection may leave what is sent unacknowledged, Settings.PeerTimeout of the job.
	Silence time.Duration
}

// Server is the exchange of one job, or of a part of it.
type Server struct {
	ServerConfig
	logf func(format string, args ...any)
	half chan struct{} // one token for each half-open connection

	parent *client         // nil in the root
	ctx    context.Context // the context of calls to the parent; Close ends it
	cancel context.CancelFunc

	mu         sync.Mutex // guards the fields below
	lns        []net.Listener
	table      map[string][]byte
	waiting    map[string][]reply // the Gets of what has not been Put
	arrived    map[int]arrival    // PEs in the current fence
	links      map[int]*link      // the connection on which each PE calls
	registered map[int]bool       // PEs that have called at least once
	conns      map[net.Conn]bool  // all connections, proved or not
	closed     bool
	assembly   *assembly // nil in a job of pgasrun

	running sync.WaitGroup
}

// reply is the destination of the answer to a call.
type reply struct {
	link *link
	call uint64
}

// An arrival is a call of a fence, of a PE or of a server that has the calls of several.
type arrival struct {
	reply
	pes int
}

// Serve runs a server on lns until Close. It logs the connections that it refuses.
func Serve(lns []net.Listener, c ServerConfig, logf func(format string, args ...any)) *Server {
	s := newServer(lns, c, logf)
	s.listen()
	return s
}

// newServer returns the server that Serve runs, before it accepts connections.
func newServer(lns []net.Listener, c ServerConfig, logf func(format string, args ...any)) *Server {
	s := &Server{
		ServerConfig: c, logf: logf, lns: lns, half: make(chan struct{}, maxHalfOpen),
		table: map[string][]byte{}, waiting: map[string][]reply{}, arrived: map[int]arrival{},
		links: map[int]*link{}, registered: map[int]bool{}, conns: map[net.Conn]bool{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if c.Parent != nil {
		s.parent = NewExchangeOver(cmp.Or(c.Network, Sockets), c.ID, c.FirstPE, c.Secret, c.Parent).(*client)
		s.parent.silence = c.Silence
		s.parent.lost = func() { s.tellLost(c.ParentPE) }
	}
	return s
}

// Close ends the exchange and every connection.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for conn := range s.conns {
		conn.Close()
	}
	s.mu.Unlock()
	s.stopListening()
	s.cancel()
	if s.parent != nil {
		s.parent.Close()
	}
	s.running.Wait()
}

// listen accepts connections until all callers have called or Close.
func (s *Server) listen() {
	for _, ln := range s.lns {
		s.running.Go(func() { s.acceptFrom(ln) })
	}
}

func (s *Server) stopListening() {
	s.mu.Lock()
	defer s.mu.Unlock()
	closeAll(s.lns)
}

// narrow ends listening on every interface. In its place the server listens at addrs. Callers hold mu.
func (s *Server) narrow(addrs []string) {
	at := slices.IndexFunc(s.lns, func(ln net.Listener) bool {
		tcp, ok := ln.Addr().(*net.TCPAddr)
		return ok && tcp.IP.IsUnspecified()
	})
	if at < 0 || s.closed {
		return
	}
	s.lns[at].Close()
	s.lns = slices.Delete(s.lns, at, at+1)
	for _, addr := range addrs {
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			s.logf("exchange: listening at %s: %v: a process that is started again is not told why it cannot take part", addr, err)
			continue
		}
		s.lns = append(s.lns, ln)
		s.running.Go(func() { s.acceptFrom(ln) })
	}
}

func (s *Server) acceptFrom(ln net.Listener) {
	for failed := false; ; {
		conn, err := ln.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			if !failed {
				s.logf("exchange: accepting a connection: %v; tries again", err)
			}
			failed = true
			time.Sleep(acceptPause)
			continue
		}
		failed = false
		select {
		case s.half <- struct{}{}:
			s.running.Go(func() { s.receive(conn) })
		default:
			s.logf("exchange: too many connections that prove nothing; closed the one from %v", conn.RemoteAddr())
			conn.Close()
		}
	}
}

// track records a connection, which Close then ends. It reports false if Close has been called.
func (s *Server) track(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.conns[conn] = true
	}
	return !s.closed
}

// untrack closes a connection, and removes its record.
func (s *Server) untrack(conn net.Conn) {
	conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
}

// receive authenticates one connection and serves it until it ends.
func (s *Server) receive(conn net.Conn) {
	defer s.untrack(conn)
	if !s.track(conn) {
		<-s.half
		return
	}
	l, pe, err := accept(conn, s.ID, s.NPEs, s.Secret)
	<-s.half
	if err != nil {
		s.logf("exchange: turned away %v: %v", conn.RemoteAddr(), err)
		return
	}
	l.limitSilence(cmp.Or(s.Silence, boot.DefaultPeerTimeout))
	m, err := l.receive()
	if err != nil {
		return // the PE keeps another connection
	}
	if err := s.register(pe, l); err != nil {
		s.logf("exchange: turned away %v: %v", conn.RemoteAddr(), err)
		refuse(l, m, err)
		return
	}
	defer s.unregister(pe)
	for ; err == nil; m, err = l.receive() {
		s.handle(pe, l, m)
	}
}

// refuse answers m, and every later call on l, with the error why.
func refuse(l *link, m message, why error) {
	for err := error(nil); err == nil; m, err = l.receive() {
		reply{l, m.call}.answer(msgError, []byte(why.Error()))
	}
}

// register makes l the connection of PE pe. It returns an error if pe has a connection. With the last caller the
// server stops listening.
func (s *Server) register(pe int, l *link) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, again := s.links[pe], s.registered[pe]
	switch {
	case s.assembly != nil && again:
		return s.refuseAgain(pe, old)
	case old != nil:
		return fmt.Errorf("PE %d is connected already: %s", pe, boot.StartedByPE)
	}
	s.links[pe], s.registered[pe] = l, true
	if len(s.registered) == s.Callers && s.assembly == nil {
		closeAll(s.lns)
	}
	return nil
}

// refuseAgain returns the answer to a process that comes in the place of one that has come. The host of that one may be
// gone without a word, so that its connection seems to live: it is tested, and the job ends if it is dead.
func (s *Server) refuseAgain(rank int, old *link) error {
	if why := s.assembly.refusal; why != nil {
		return why
	}
	if old == nil {
		return fmt.Errorf("rank %d of this job has run already, and its process has ended: one that is started again cannot take its place; start the whole job anew", rank)
	}
	go old.test()
	return fmt.Errorf("rank %d of this job is running already: if another process has the same number, correct that; if its host has failed, start the whole job anew", rank)
}

func (s *Server) unregister(pe int) {
	s.mu.Lock()
	delete(s.links, pe)
	s.mu.Unlock()
	if s.assembly != nil {
		s.gone(pe)
	}
	s.tellLost(pe)
}

// tellLost reports the end of a connection to a caller, or to the parent.
func (s *Server) tellLost(pe int) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if !closed && s.Lost != nil {
		s.Lost(pe)
	}
}

// awaitEmpty waits until no connection but one is left, at most for a time.
func (s *Server) awaitEmpty(most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		n := len(s.links)
		s.mu.Unlock()
		if n <= 1 {
			return
		}
	}
}

// handle executes the call m of pe. It answers on l, or on the connections of the PEs whose calls are now complete.
func (s *Server) handle(pe int, l *link, m message) {
	caller := reply{l, m.call}
	switch {
	case s.assembly != nil && m.kind == msgJoin:
		s.come(caller, pe, m.value)
		return
	case s.assembly != nil && m.kind == msgAsk:
		s.asked(pe)
		caller.answer(msgOK, nil)
		return
	case s.assembly != nil && m.kind > msgJoin:
		s.handleMember(pe, m)
		return
	}
	switch m.kind {
	case msgPut:
		s.put(caller, m.key, m.value)
	case msgGet:
		s.get(caller, m.key)
	case msgFence:
		s.fence(caller, pe, m.value)
	case msgPath:
		s.running.Go(func() { s.tellPath(caller) })
	default:
		caller.answer(msgError, fmt.Appendf(nil, "the exchange's server cannot be asked for %d", m.kind))
	}
}

func (r reply) answer(k kind, value []byte) {
	if err := r.link.send(message{kind: k, call: r.call, value: value}); err != nil {
		r.link.conn.Close()
	}
}

func (s *Server) put(caller reply, key string, value []byte) {
	if s.parent != nil {
		s.running.Go(func() { s.putAtParent(caller, key, value) })
		return
	}
	if !s.publish(key, value) {
		caller.answer(msgError, []byte("it is published already with another value; a key is written once"))
		return
	}
	caller.answer(msgOK, nil)
}

// publish stores a value, and answers the Gets that wait for it. It reports false if there is another value.
func (s *Server) publish(key string, value []byte) bool {
	s.mu.Lock()
	old, written := s.table[key]
	if !written {
		s.table[key] = value
	}
	readers := s.waiting[key]
	delete(s.waiting, key)
	s.mu.Unlock()
	if written && !bytes.Equal(old, value) {
		return false
	}
	for _, r := range readers {
		r.answer(msgOK, value)
	}
	return true
}

func (s *Server) get(caller reply, key string) {
	s.mu.Lock()
	value, written := s.table[key]
	first := !written && len(s.waiting[key]) == 0
	if !written {
		s.waiting[key] = append(s.waiting[key], caller)
	}
	s.mu.Unlock()
	switch {
	case written:
		caller.answer(msgOK, value)
	case first && s.parent != nil:
		s.running.Go(func() { s.getFromParent(key) })
	}
}

// fence records that pe has arrived in the current fence, and answers all callers if it is the last. It counts PEs, not
// calls: a PE that has given up a fence and calls it again is counted once.
func (s *Server) fence(caller reply, pe int, value []byte) {
	pes, ok := decodeFence(value)
	if !ok || pes > s.PEs {
		caller.answer(msgError, []byte("a fence for more PEs than the server has"))
		return
	}
	s.mu.Lock()
	s.arrived[pe] = arrival{caller, pes}
	all, n := s.arrived, 0
	for _, a := range all {
		n += a.pes
	}
	if n == s.PEs {
		s.arrived = map[int]arrival{}
	}
	s.mu.Unlock()
	switch {
	case n != s.PEs:
	case s.parent != nil:
		s.running.Go(func() { s.fenceAtParent(all) })
	default:
		for _, a := range all {
			a.answer(msgOK, nil)
		}
	}
}
