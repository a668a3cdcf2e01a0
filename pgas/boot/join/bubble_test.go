package join

// Jobs in a bubble of testing/synctest: time goes on when every goroutine waits, so a time-out strikes what never
// comes, and nothing that comes late. The processes are goroutines, and their network is a pipe for each connection.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// pipes are a network with one listener, which is at every address.
type pipes struct {
	backlog chan net.Conn
	closed  chan struct{}
	once    sync.Once

	mu   sync.Mutex // guards what follows
	mute bool       // what the listener's side sends is held back
	held []held
}

// held is what a connection has sent while the listener's side was mute.
type held struct {
	conn net.Conn
	data []byte
}

func newPipes() *pipes { return &pipes{backlog: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Listen(string, string) (net.Listener, error) { return p, nil }

func (p *pipes) Addrs(string) ([]string, error) { return []string{"pipe"}, nil }

func (p *pipes) Dial(ctx context.Context, _ string) (net.Conn, error) {
	there, here := net.Pipe()
	select {
	case p.backlog <- servedConn{there, p}:
		return here, nil
	case <-p.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.backlog:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// hush makes the listener's side say nothing, as a process that is stopped.
func (p *pipes) hush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = true
}

// speak sends what has been held back since hush.
func (p *pipes) speak() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.held {
		h.conn.Write(h.data)
	}
	p.held, p.mute = nil, false
}

// servedConn is the listener's end of a connection.
type servedConn struct {
	net.Conn
	net *pipes
}

func (c servedConn) Write(b []byte) (int, error) {
	c.net.mu.Lock()
	mute := c.net.mute
	if mute {
		c.net.held = append(c.net.held, held{c.Conn, append([]byte(nil), b...)})
	}
	c.net.mu.Unlock()
	if mute {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// bubble is a job of static processes whose segments, one for each host, the test has made.
type bubble struct {
	t      *testing.T
	net    *pipes
	server *Server
	jobs   []*boot.Job // by PE; nil for those that are absent, or if the job has not assembled
	errs   []error
}

// inBubble runs test with a job that has assembled, or with its errors if some of the processes are absent.
func inBubble(t *testing.T, set boot.Settings, hosts string, test func(b *bubble), absent ...int) {
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{t: t, net: newPipes()}
		t.Cleanup(b.end)
		b.assemble(set, hosts, absent)
		test(b)
	})
}

// end ends what the goroutines of a job wait for.
func (b *bubble) end() {
	for _, j := range b.jobs {
		if j != nil && !memberOf(j).hasLeft() {
			b.stop(j.PE) // or this process would be ended when the server is
		}
	}
	b.net.speak()
	b.server.Close()
	for _, j := range b.jobs {
		if j != nil {
			memberOf(j).client.Close()
		}
	}
}

func (b *bubble) assemble(set boot.Settings, hosts string, absent []int) {
	list, err := staticHosts(hosts)
	if err != nil {
		b.t.Fatal(err)
	}
	var told []string
	for _, h := range list {
		for range h.PEs {
			told = append(told, h.Name)
		}
	}
	n, secret := len(told), newNonce()
	b.server = newServer([]net.Listener{b.net}, ServerConfig{ID: testJob, Secret: secret, NPEs: n, Callers: n, PEs: n}, b.t.Logf)
	b.server.assemble(told, bootTimeout(set))
	b.jobs, b.errs = make([]*boot.Job, n), make([]error, n)
	members, places := make([]*member, n), make([]place, n)
	var running sync.WaitGroup
	for rank, host := range told {
		if len(absent) > 0 && rank == absent[0] {
			absent = absent[1:]
			continue
		}
		m := newMember(&ticket{ID: testJob, Secret: secret, Addrs: []string{"pipe"}}, rank, nil, bootTimeout(set))
		m.client.network, m.clock = b.net, func() int64 { return time.Now().UnixNano() }
		if rank == 0 {
			m.server = b.server
		}
		members[rank] = m
		running.Go(func() {
			places[rank], b.errs[rank] = m.join(b.t.Context(), newcomer{Rank: rank, Size: n, Host: host, Machine: host, Memory: 1 << 30, CPUs: []int{0}})
		})
	}
	running.Wait()
	if errors.Join(b.errs...) != nil {
		for _, m := range members {
			if m != nil {
				m.client.Close()
			}
		}
		return
	}
	b.start(set, members, places)
}

// start makes PEs of the processes that have assembled.
func (b *bubble) start(set boot.Settings, members []*member, places []place) {
	segments := map[int]*boot.Segment{}
	for i, h := range places[0].Hosts {
		f, err := boot.CreateSegment(len(places), h.First, h.PEs, 1, boot.RoundHeap(1))
		if err != nil {
			b.t.Fatal(err)
		}
		defer f.Close()
		if segments[i], err = boot.MapSegment(f); err != nil {
			b.t.Fatal(err)
		}
	}
	for rank, m := range members {
		p := places[rank]
		j := &boot.Job{ID: testJob, PE: p.PE, NPEs: len(places), Hosts: p.Hosts, HostIndex: p.HostIndex, Launched: true, Settings: set, Segment: segments[p.HostIndex], Member: m}
		if set.Networked(len(j.Hosts)) {
			j.Exchange = memberExchange{m.client}
		}
		b.jobs[p.PE] = j
		m.watchServer(j) // not the accusations, for which a thread would sleep in the kernel, where time does not pass
	}
}

// stop stops the process of a PE: its connection stays.
func (b *bubble) stop(pe int) { close(memberOf(b.jobs[pe]).left) }

// failed returns the PE that has failed as the host of a PE knows it, or -1, and how.
func (b *bubble) failed(pe int) (int, uint64) {
	head := b.jobs[pe].Segment.Header
	return int(head.Failed.Load()) - 1, head.FailedHow.Load()
}

// await lets time pass until so holds, and returns how much.
func (b *bubble) await(what string, so func() bool) time.Duration {
	b.t.Helper()
	begun := time.Now()
	for !so() {
		if time.Since(begun) > 10*time.Minute {
			b.t.Fatal(what)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
	}
	return time.Since(begun)
}

// awaitSilent awaits that the host of each of pes has lost want for its silence, and fails the test unless that takes
// as long as a PE may be silent, and a few beats at most beyond.
func (b *bubble) awaitSilent(want int, pes ...int) {
	b.t.Helper()
	beat, limit := memberOf(b.jobs[pes[0]]).arbiterBeat()
	begun := time.Now()
	for _, pe := range pes {
		b.await(fmt.Sprintf("the host of PE %d does not notice a silence", pe), func() bool {
			lost, _ := b.failed(pe)
			return lost >= 0
		})
		lost, how := b.failed(pe)
		var x boot.Accusation
		if err := boot.HowDied(how); lost != want || !errors.As(err, &x) || !x.Silent {
			b.t.Errorf("PE %d has lost PE %d, not PE %d for its silence: %v", pe, lost, want, err)
		}
		if took := time.Since(begun); took < limit-beat || took > limit+5*beat {
			b.t.Errorf("PE %d has noticed the silence after %v: a PE may be silent for %v", pe, took, limit)
		}
	}
}
