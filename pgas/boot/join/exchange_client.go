package join

// The client side of the exchange: one connection, made on first use, on which the server answers calls in
// any order, so that a Get that waits for a slow PE delays no other call, and a cancelled call disturbs none.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// dialStagger is the time after which the client tries the next address, too.
const dialStagger = 100 * time.Millisecond

// NewExchange returns the exchange of job id for PE pe. The server is at one of addrs. On first use the client
// connects to all of them, and keeps a connection whose other end proves that it holds the secret.
func NewExchange(id string, pe int, secret []byte, addrs []string) boot.Exchange {
	return NewExchangeOver(Sockets, id, pe, secret, addrs)
}

// NewExchangeOver returns the exchange of a job, as NewExchange does, over another network.
func NewExchangeOver(network Network, id string, pe int, secret []byte, addrs []string) boot.Exchange {
	c := &client{network: network, id: id, pe: pe, secret: secret, addrs: addrs, dialLock: make(chan struct{}, 1), gone: make(chan struct{})}
	c.calls = map[uint64]chan message{}
	return c
}

type client struct {
	network Network
	id      string
	pe      int
	secret  []byte
	addrs   []string

	// A member's; nil in other jobs.
	told func(message) // gets what the server says by itself
	lost func()        // is called when the connection is lost
	// dialTime bounds the search for a server that answers; 0: as long as silence, and for one handshake at least.
	dialTime time.Duration

	silence time.Duration // the silence after which the connection is given up; 0: DefaultPeerTimeout

	dialLock chan struct{} // held by the call that dials
	gone     chan struct{} // closed with err set

	mu    sync.Mutex // guards the fields below
	link  *link
	calls map[uint64]chan message // the calls that wait for their answer, by number
	last  uint64
	fence *pending // the fence that was entered and has not returned to the caller
	err   error    // why the exchange can no longer be used

	reasons map[string]error // why the last attempt to reach each address has failed
}

func (c *client) Put(ctx context.Context, key string, value []byte) error {
	_, err := c.call(ctx, message{kind: msgPut, key: key, value: value})
	return wrapError(err, "publishing "+key)
}

func (c *client) Fence(ctx context.Context) error {
	return wrapError(c.fenceOnce(ctx), "waiting for every PE in a fence")
}

// fenceOnce enters a fence, or goes on waiting in the fence that an earlier call has given up: the server counts
// this PE as arrived in that fence, which may be complete by now.
func (c *client) fenceOnce(ctx context.Context) error {
	c.mu.Lock()
	pending := c.fence
	c.mu.Unlock()
	if pending == nil {
		p, err := c.ask(ctx, message{kind: msgFence})
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.fence, pending = p, p
		c.mu.Unlock()
	}
	_, err := c.await(ctx, pending)
	return err
}

func (c *client) Get(ctx context.Context, key string) ([]byte, error) {
	m, err := c.call(ctx, message{kind: msgGet, key: key})
	return m.value, wrapError(err, "asking for "+key)
}

func (c *client) Close() error {
	c.fail(errors.New("it is closed"))
	return nil
}

func wrapError(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("exchange: %s: %w", doing, err)
}

// call sends m and returns its answer.
func (c *client) call(ctx context.Context, m message) (message, error) {
	p, err := c.ask(ctx, m)
	if err != nil {
		return message{}, err
	}
	defer c.forget(p) // if ctx ends first, no call waits for the answer
	return c.await(ctx, p)
}

// pending is a call whose answer is on its way.
type pending struct {
	number uint64
	answer chan message
}

// ask sends m and returns the pending call.
func (c *client) ask(ctx context.Context, m message) (*pending, error) {
	l, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	p := &pending{answer: make(chan message, 1)}
	c.mu.Lock()
	c.last++
	p.number = c.last
	c.calls[p.number] = p.answer
	c.mu.Unlock()
	m.call = p.number
	if err := l.send(m); err != nil {
		c.forget(p)
		return nil, c.because(err)
	}
	return p, nil
}

// because returns why the exchange has ended, if it has: that is the cause of err then.
func (c *client) because(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.err, err)
}

func (c *client) forget(p *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, p.number)
	if c.fence == p {
		c.fence = nil
	}
}

func (c *client) await(ctx context.Context, p *pending) (message, error) {
	select {
	case got := <-p.answer:
		c.forget(p)
		if got.kind == msgError {
			return message{}, errors.New(string(got.value))
		}
		return got, nil
	case <-c.gone:
		return message{}, c.err
	case <-ctx.Done():
		return message{}, context.Cause(ctx)
	}
}

// connect returns the connection. The first call makes it.
func (c *client) connect(ctx context.Context) (*link, error) {
	select {
	case c.dialLock <- struct{}{}:
		defer func() { <-c.dialLock }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	l, err := c.link, c.err
	c.mu.Unlock()
	if l != nil || err != nil {
		return l, err
	}
	within, remedy := max(cmp.Or(c.silence, boot.DefaultPeerTimeout), handshakeTime), "pgasrun -boot-addr"
	if c.dialTime > 0 {
		within, remedy = c.dialTime, boot.EnvRendezvous
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, errUnanswered)
	defer cancel()
	if l, err = c.dial(ctx); errors.Is(err, errUnanswered) {
		return nil, c.unanswered(within, remedy)
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		l.conn.Close()
		return nil, c.err
	}
	c.link = l
	go c.listen(l)
	return l, nil
}

// errUnanswered ends the search for the server.
var errUnanswered = errors.New("no address answered")

// unanswered returns the error of a search that has found no server, with what has failed at each address.
func (c *client) unanswered(within time.Duration, remedy string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var tried []string
	for _, addr := range c.addrs {
		s := addr
		if why := c.reasons[addr]; why != nil {
			s += " (" + why.Error() + ")"
		}
		tried = append(tried, s)
	}
	hint := "the process that serves it must run, and the hosts must reach each other by one of these addresses"
	var dns *net.DNSError
	for _, why := range c.reasons {
		if errors.As(why, &dns) {
			hint = "a name must resolve on every host (under Kubernetes: the headless Service of the job must exist)"
		}
	}
	return fmt.Errorf("none of %s answered as the exchange of this job within %v: %s (%s chooses it)", strings.Join(tried, ", "), within, hint, remedy)
}

// failedAt notes why addr was not reached.
func (c *client) failedAt(addr string, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reasons == nil {
		c.reasons = map[string]error{}
	}
	c.reasons[addr] = why
}

// dial tries all addresses, again and again, until one proves to be the server's, and returns the connection.
func (c *client) dial(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithCancel(ctx)
	found := make(chan *link)
	var tries sync.WaitGroup
	for i, addr := range c.addrs {
		tries.Go(func() { c.try(ctx, addr, time.Duration(i)*dialStagger, found) })
	}
	defer tries.Wait()
	defer cancel()
	select {
	case l := <-found:
		return l, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// try dials addr from time to time, until it is the server's or ctx ends. It sends the connection to found.
func (c *client) try(ctx context.Context, addr string, after time.Duration, found chan<- *link) {
	for ; ; after = 3 * dialStagger {
		select {
		case <-time.After(after):
		case <-ctx.Done():
			return
		}
		l, err := c.handshake(ctx, addr)
		if err != nil {
			if !isOver(ctx) {
				c.failedAt(addr, err)
			}
			continue
		}
		select {
		case found <- l:
		case <-ctx.Done():
			l.conn.Close()
		}
		return
	}
}

// isOver reports whether ctx has ended, or is about to because its time is over: what fails then says nothing of an
// address.
func isOver(ctx context.Context) bool {
	end, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !time.Now().Before(end)
}

// handshake returns a connection to addr on which both ends have proved that they hold the secret.
func (c *client) handshake(ctx context.Context, addr string) (*link, error) {
	conn, err := c.network.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	l, err := proveIdentity(conn, c.id, c.pe, c.secret)
	if !stop() || err != nil {
		conn.Close()
		return nil, errors.Join(err, ctx.Err())
	}
	l.limitSilence(cmp.Or(c.silence, boot.DefaultPeerTimeout))
	return l, nil
}

// listen passes answers to their calls until the connection ends.
func (c *client) listen(l *link) {
	for {
		m, err := l.receive()
		if err != nil {
			c.fail(l.lost(err))
			if c.lost != nil {
				c.lost()
			}
			return
		}
		if m.kind.told() {
			if c.told != nil && m.kind != msgTest {
				c.told(m)
			}
			continue
		}
		c.mu.Lock()
		answer := c.calls[m.call]
		delete(c.calls, m.call)
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// fail ends the exchange. Only the first call has an effect.
func (c *client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	close(c.gone)
	if c.link != nil {
		c.link.conn.Close()
	}
}
