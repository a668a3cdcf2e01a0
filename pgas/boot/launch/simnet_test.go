package launch

// The network of a simulation: byte streams in memory, on which what is written arrives after a latency, and counts of
// what passes. Time is that of a bubble of testing/synctest, which goes on when every goroutine waits, so it counts how
// many messages have to follow one another.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// latency is that of a message between two hosts. Inside a host it takes no time.
const latency = time.Millisecond

// simNode is a process of a simulation, and what it has sent and received.
type simNode struct {
	host     string
	messages atomic.Int64
	bytes    atomic.Int64
	conns    atomic.Int64 // that it has made or accepted, the streams of commands that it has started, and its own

	mu       sync.Mutex
	children int // commands that it has started, and that have not ended
	most     int // that it has had at once
}

// addChildren counts commands that have been started, or have ended.
func (n *simNode) addChildren(more int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.children += more
	n.most = max(n.most, n.children)
}

// stream carries bytes from one process to another. Any number of goroutines may write, one may read.
type stream struct {
	from, to *simNode
	delay    time.Duration
	writes   func(from, to *simNode) // nil, or called before each write

	mu     sync.Mutex // guards what follows
	queue  []piece
	ended  bool // by the writer: the reader gets what is on its way
	broken bool // by either side's death
	wake   chan struct{}
}

// piece is what one Write has written.
type piece struct {
	arrives time.Time
	data    []byte
}

func newStream(from, to *simNode) *stream {
	s := &stream{from: from, to: to, wake: make(chan struct{}, 1)}
	if from.host != to.host {
		s.delay = latency
	}
	return s
}

func (s *stream) Write(b []byte) (int, error) {
	if s.writes != nil {
		s.writes(s.from, s.to)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.broken {
		return 0, io.ErrClosedPipe
	}
	for _, n := range []*simNode{s.from, s.to} {
		n.messages.Add(1)
		n.bytes.Add(int64(len(b)))
	}
	s.queue = append(s.queue, piece{time.Now().Add(s.delay), slices.Clone(b)})
	s.signal()
	return len(b), nil
}

func (s *stream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *stream) Read(b []byte) (int, error) {
	for {
		s.mu.Lock()
		wait := time.Duration(-1)
		switch {
		case s.broken:
			s.mu.Unlock()
			return 0, io.EOF
		case len(s.queue) > 0:
			wait = time.Until(s.queue[0].arrives)
			if wait <= 0 {
				n := copy(b, s.queue[0].data)
				if s.queue[0].data = s.queue[0].data[n:]; len(s.queue[0].data) == 0 {
					s.queue = s.queue[1:]
				}
				s.mu.Unlock()
				return n, nil
			}
		case s.ended:
			s.mu.Unlock()
			return 0, io.EOF
		}
		s.mu.Unlock()
		if wait > 0 {
			time.Sleep(wait)
		} else {
			<-s.wake
		}
	}
}

// Close ends the stream behind what has been written.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.signal()
	return nil
}

// cut ends the stream at once.
func (s *stream) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = true
	s.signal()
}

func (s *stream) SetWriteDeadline(time.Time) error { return nil }

// simConn is a connection of the exchange.
type simConn struct {
	in, out *stream
	peer    simAddr
}

type simAddr string

func (a simAddr) Network() string { return "simulated" }
func (a simAddr) String() string  { return string(a) }

func (c *simConn) Read(b []byte) (int, error)       { return c.in.Read(b) }
func (c *simConn) Write(b []byte) (int, error)      { return c.out.Write(b) }
func (c *simConn) LocalAddr() net.Addr              { return simAddr("") }
func (c *simConn) RemoteAddr() net.Addr             { return c.peer }
func (c *simConn) SetDeadline(time.Time) error      { return nil }
func (c *simConn) SetReadDeadline(time.Time) error  { return nil }
func (c *simConn) SetWriteDeadline(time.Time) error { return nil }

func (c *simConn) Close() error {
	c.in.cut()
	return c.out.Close()
}

// simNetwork is where processes listen, by address.
type simNetwork struct {
	mu        sync.Mutex
	listeners map[string]*simListener
	conns     map[*simNode][]*simConn
	port      int
}

func newSimNetwork() *simNetwork {
	return &simNetwork{listeners: map[string]*simListener{}, conns: map[*simNode][]*simConn{}}
}

type simListener struct {
	node    *simNode
	addr    string
	backlog chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *simListener) Addr() net.Addr { return simAddr(l.addr) }

func (l *simListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.backlog:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *simListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// at is the network as a process has it.
func (n *simNetwork) at(node *simNode) simPort { return simPort{n, node} }

type simPort struct {
	*simNetwork
	node *simNode
}

func (p simPort) Listen(network, addr string) (net.Listener, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if network == "tcp" {
		p.port++
		addr = fmt.Sprintf("%s:%d", p.node.host, p.port)
	}
	l := &simListener{node: p.node, addr: addr, backlog: make(chan net.Conn, 1<<10), closed: make(chan struct{})}
	p.listeners[addr] = l
	return l, nil
}

func (p simPort) Addrs(port string) ([]string, error) {
	return []string{net.JoinHostPort(p.node.host, port)}, nil
}

// Dial takes as long as a handshake of TCP.
func (p simPort) Dial(ctx context.Context, addr string) (net.Conn, error) {
	p.mu.Lock()
	l := p.listeners[addr]
	p.mu.Unlock()
	if l == nil || strings.HasPrefix(addr, "@") && l.node.host != p.node.host {
		return nil, errors.New("connection refused")
	}
	there, back := newStream(p.node, l.node), newStream(l.node, p.node)
	time.Sleep(2 * there.delay)
	own, other := &simConn{in: back, out: there, peer: simAddr(addr)}, &simConn{in: there, out: back, peer: simAddr(p.node.host)}
	select {
	case <-l.closed:
		return nil, errors.New("connection refused")
	case l.backlog <- other:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p.node.conns.Add(1)
	l.node.conns.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[p.node], p.conns[l.node] = append(p.conns[p.node], own), append(p.conns[l.node], other)
	return own, nil
}

// end closes the connections and listeners of a process that has ended.
func (n *simNetwork) end(node *simNode) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns[node] {
		c.in.cut()
		c.out.cut()
	}
	for _, l := range n.listeners {
		if l.node == node {
			l.Close()
		}
	}
}
