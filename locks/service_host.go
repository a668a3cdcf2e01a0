package locks

// A lock service for programs of a host that are no PEs of the job (n-cosed 3.1 and figure 1: "applications contact
// their local daemons"). A PE serves them over a socket; they share its places. When the connection of a program ends,
// for any reason, its locks are released.
//
// A request is answered once. The messages are those of encoding/gob, in both directions. Where races are looked for
// (PGAS_CHECK=race) they also have what a program that is a PE, and the server, know to come before them.

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gopgas/gopgas/internal/hook"
)

// hostOp is what a program asks for.
type hostOp uint8

const (
	hostLock hostOp = iota
	hostRLock
	hostTryLock
	hostTryRLock
	hostUnlock
	hostRUnlock
	hostGiveUp // gives up the request of that ID, if there is one
)

type hostRequest struct {
	ID    uint64
	Op    hostOp
	Name  string
	Order []byte // of a hook.Order
}

type hostReply struct {
	ID    uint64
	OK    bool
	Err   string
	Order []byte // of a hook.Order
}

// Serve lets programs use the service over the connections that l accepts. It returns when ctx ends, with the cause, or
// when l fails, with that error. One PE of a host serves, on a unix socket, whose permissions say which programs may
// lock.
func (s *Service) Serve(ctx context.Context, l net.Listener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("serving locks: %w", err)
		}
		wg.Go(func() { s.serveProgram(ctx, conn) })
	}
}

// program is a connection at its server.
type program struct {
	s *Service

	send sync.Mutex
	out  *gob.Encoder

	mu      sync.Mutex
	waits   map[uint64]context.CancelFunc
	holds   map[string]int // the names that it holds alone, each once
	shares  map[string]int // how often it shares each name
	dealing sync.WaitGroup
}

// serveProgram executes the requests of a program until its connection ends, and then releases its locks.
func (s *Service) serveProgram(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	p := &program{s: s, out: gob.NewEncoder(conn), waits: map[uint64]context.CancelFunc{}, holds: map[string]int{}, shares: map[string]int{}}
	in := gob.NewDecoder(conn)
	for {
		var r hostRequest
		if in.Decode(&r) != nil {
			break
		}
		p.start(ctx, r)
	}
	cancel()
	p.dealing.Wait()
	_ = p.giveBack() // waiters on a lost PE learn of it by their own waits
}

// giveBack releases what the program holds.
func (p *program) giveBack() (err error) {
	defer recoverPeer(&err)
	for name := range p.holds {
		p.s.Unlock(name)
	}
	for name, n := range p.shares {
		for range n {
			p.s.RUnlock(name)
		}
	}
	return nil
}

// start executes r, in a goroutine of its own if it may wait.
func (p *program) start(ctx context.Context, r hostRequest) {
	hook.OrderOf(p.s.w).Acquire(r.Order)
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Op == hostGiveUp {
		if giveUp := p.waits[r.ID]; giveUp != nil {
			giveUp()
		}
		return
	}
	ctx, p.waits[r.ID] = context.WithCancel(ctx)
	p.dealing.Go(func() {
		ok, err := p.do(ctx, r)
		p.reply(r, ok, err)
	})
}

func (p *program) reply(r hostRequest, ok bool, err error) {
	p.mu.Lock()
	p.waits[r.ID]()
	delete(p.waits, r.ID)
	p.mu.Unlock()
	m := hostReply{ID: r.ID, OK: ok}
	if ok && r.Op < hostUnlock {
		m.Order = hook.OrderOf(p.s.w).Release()
	}
	if err != nil {
		m.Err = err.Error()
	}
	p.send.Lock()
	defer p.send.Unlock()
	_ = p.out.Encode(m) // the decoder reports the end of the connection
}

func (p *program) do(ctx context.Context, r hostRequest) (ok bool, err error) {
	defer recoverPeer(&err)
	switch r.Op {
	case hostLock:
		err = p.s.Lock(ctx, r.Name)
	case hostRLock:
		err = p.s.RLock(ctx, r.Name)
	case hostTryLock:
		ok = p.s.TryLock(r.Name)
	case hostTryRLock:
		ok = p.s.TryRLock(r.Name)
	case hostUnlock, hostRUnlock:
		return p.unlock(r)
	default:
		return false, fmt.Errorf("request %d is none that this server knows", r.Op)
	}
	if ok = ok || err == nil && r.Op <= hostRLock; ok {
		p.note(r, 1)
	}
	return ok, err
}

func (p *program) unlock(r hostRequest) (bool, error) {
	if !p.note(r, -1) {
		return false, fmt.Errorf("this program does not hold %q", r.Name)
	}
	if r.Op == hostUnlock {
		p.s.Unlock(r.Name)
	} else {
		p.s.RUnlock(r.Name)
	}
	return true, nil
}

// note adds n to the number of times that the program holds the name. It returns false if that would be negative.
func (p *program) note(r hostRequest, n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.holds
	if r.Op == hostRLock || r.Op == hostTryRLock || r.Op == hostRUnlock {
		m = p.shares
	}
	if m[r.Name]+n < 0 {
		return false
	}
	if m[r.Name] += n; m[r.Name] == 0 {
		delete(m, r.Name)
	}
	return true
}

// Client is a program's connection to the lock service of its host. Any number of goroutines may use it; each is a
// holder of its own. The program need not be a PE.
type Client struct {
	conn net.Conn
	send chan struct{} // has an element while a goroutine writes to out
	out  *gob.Encoder

	mu     sync.Mutex
	closes bool       // Close has been called: writes have a deadline
	order  hook.Order // of the PE that the program is; nil: it is none, or there is no detector of races
	id     uint64
	asked  map[uint64]chan hostReply
	broken error
}

// Dial connects to the service that a PE of this host serves on a unix socket. Errors: those of net.Dialer.
func Dial(ctx context.Context, path string) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("the lock service of this host: %w", err)
	}
	c := NewClient(conn)
	c.order = hook.OrderIn(ctx)
	return c, nil
}

// NewClient makes a client of an open connection.
func NewClient(conn net.Conn) *Client {
	c := &Client{conn: conn, send: make(chan struct{}, 1), out: gob.NewEncoder(conn), asked: map[uint64]chan hostReply{}}
	go c.listen()
	return c
}

// Close ends the connection, and with it all holds of the program. A server that has stopped reading delays it by
// writeLimit at most. Errors: those of net.Conn.
func (c *Client) Close() error {
	if order := c.orderIn(context.Background()); order != nil {
		c.mu.Lock()
		c.closes = true
		c.limitWrites() // of earlier requests, too
		c.mu.Unlock()
		r := hostRequest{Op: hostGiveUp, Order: order.Release()} // what comes before the end of the holds
		_ = c.encode(context.Background(), r)
	}
	err := c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.broken, errCut) {
		return nil
	}
	return err
}

// limitWrites sets the deadline of writes: none before Close. The caller holds mu.
func (c *Client) limitWrites() {
	var limit time.Time
	if c.closes {
		limit = time.Now().Add(writeLimit)
	}
	_ = c.conn.SetWriteDeadline(limit)
}

// writeLimit is how long a request that is being written when its context ends may take from then on, and how long
// Close tries to tell the server's detector of races what comes before the end of the holds.
const writeLimit = time.Second

// orderIn returns the Order of the PE that the program is, or nil. ctx is that of a call.
func (c *Client) orderIn(ctx context.Context) hook.Order {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.order == nil {
		c.order = hook.OrderIn(ctx)
	}
	return c.order
}

// Lock blocks until this program holds the name alone. Errors: the cause of ctx's end, the error of Service.Lock at the
// server as text, and the end of the connection. If ctx ends while the request cannot be written, as to a server
// that has stopped reading, it returns within a second, and the connection ends, and with it all holds of the program.
func (c *Client) Lock(ctx context.Context, name string) error { return c.wait(ctx, hostLock, name) }

// RLock blocks until this program holds the name in shared mode. Errors: those of Lock.
func (c *Client) RLock(ctx context.Context, name string) error { return c.wait(ctx, hostRLock, name) }

// TryLock takes the name if no PE or program holds it or waits for it. Errors: those of Lock.
func (c *Client) TryLock(name string) (bool, error) {
	return c.ask(context.Background(), hostTryLock, name)
}

// TryRLock takes the name in shared mode if no writer holds it or waits for it. Errors: those of Lock.
func (c *Client) TryRLock(name string) (bool, error) {
	return c.ask(context.Background(), hostTryRLock, name)
}

// Unlock releases the name. Errors: this program does not hold the name, and those of Lock.
func (c *Client) Unlock(name string) error { return c.wait(context.Background(), hostUnlock, name) }

// RUnlock is Unlock for a reader. Errors: those of Unlock.
func (c *Client) RUnlock(name string) error { return c.wait(context.Background(), hostRUnlock, name) }

func (c *Client) wait(ctx context.Context, op hostOp, name string) error {
	_, err := c.ask(ctx, op, name)
	return err
}

// ask sends a request and waits for its answer. If ctx ends it asks the server to cancel, and waits on: if the server
// has granted the lock before, the caller holds it.
func (c *Client) ask(ctx context.Context, op hostOp, name string) (bool, error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	order := c.orderIn(ctx)
	id, answer, err := c.request(ctx, op, name, order)
	if err != nil {
		return false, err
	}
	var given error
	select {
	case m, ok := <-answer:
		return c.result(m, ok, order)
	case <-ctx.Done():
		given = context.Cause(ctx)
	}
	if err := c.encode(context.Background(), hostRequest{ID: id, Op: hostGiveUp}); err != nil {
		return false, err
	}
	m, ok := <-answer
	if ok && m.Err != "" {
		return false, given
	}
	return c.result(m, ok, order)
}

func (c *Client) result(m hostReply, ok bool, order hook.Order) (bool, error) {
	switch {
	case !ok:
		c.mu.Lock()
		defer c.mu.Unlock()
		return false, fmt.Errorf("the lock service of this host: %w", c.broken)
	case m.Err != "":
		return false, errors.New(m.Err)
	}
	if order != nil {
		order.Acquire(m.Order)
	}
	return m.OK, nil
}

func (c *Client) request(
	ctx context.Context, op hostOp, name string, order hook.Order,
) (id uint64, answer chan hostReply, err error) {
	c.mu.Lock()
	if c.broken != nil {
		defer c.mu.Unlock()
		return 0, nil, fmt.Errorf("the lock service of this host: %w", c.broken)
	}
	c.id++
	id, answer = c.id, make(chan hostReply, 1)
	c.asked[id] = answer
	c.mu.Unlock()
	r := hostRequest{ID: id, Op: op, Name: name}
	if order != nil && op >= hostUnlock {
		r.Order = order.Release()
	}
	if err = c.encode(ctx, r); err != nil {
		c.mu.Lock()
		delete(c.asked, id)
		c.mu.Unlock()
	}
	return id, answer, err
}

// encode writes r. It returns the cause of ctx if ctx ends while earlier requests are being written, or writeLimit
// after its end while r is. In the second case it closes the connection: the server could not read what follows a part
// of r.
func (c *Client) encode(ctx context.Context, r hostRequest) error {
	select {
	case c.send <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.send }()
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn.SetWriteDeadline(time.Now().Add(writeLimit))
		close(interrupted)
	})
	err := c.out.Encode(r)
	if stop() {
		return err
	}
	<-interrupted
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.limitWrites()
		return nil
	}
	if c.broken == nil {
		c.broken = errCut
	}
	_ = c.conn.Close()
	return context.Cause(ctx)
}

// errCut is why a Client has closed its connection by itself.
var errCut = errors.New("a request ended with its context when a part of it was written: this closed the connection")

// listen passes each answer to the goroutine that asked, until the connection ends.
func (c *Client) listen() {
	in := gob.NewDecoder(c.conn)
	for {
		var m hostReply
		err := in.Decode(&m)
		c.mu.Lock()
		if err != nil {
			if c.broken == nil {
				c.broken = err
			}
			for _, answer := range c.asked {
				close(answer)
			}
			clear(c.asked)
			c.mu.Unlock()
			return
		}
		answer := c.asked[m.ID]
		delete(c.asked, m.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}
