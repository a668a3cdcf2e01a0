package survive

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// TestService: clients put values at a service whose jobs are killed as those of TestKills are. No update is lost that
// was acknowledged, and none comes back that another has replaced.
func TestService(t *testing.T) {
	each(t, *services, func(t *testing.T, _ uint64, r *rand.Rand) { serve(t, r) })
}

// serve starts a service again and again while clients use it, the last time undisturbed.
func serve(t *testing.T, r *rand.Rand) {
	const starts = 4
	dir := filepath.Join(t.TempDir(), "cuts")
	clients := make([]*client, 8)
	for i := range clients {
		clients[i] = &client{prefix: fmt.Sprint("client", i), r: rand.New(rand.NewPCG(r.Uint64(), 1))}
	}
	all := 0
	for start := range starts {
		j := begin(t, r, dir, "mapservice", "-listen", "localhost:0", "-capacity", "1000")
		end := useAll(j, clients)
		disturbed := 0
		if start < starts-1 {
			for range r.IntN(4) {
				disturbed += j.disturb(r)
			}
		}
		all += disturbed
		j.untilServed(clients, disturbed == 0)
		j.cmd.Process.Signal(unix.SIGTERM)
		status := j.end()
		end()
		if disturbed == 0 && status != 75 {
			t.Errorf("an undisturbed start has ended with status %d:\n%s", status, j.out.String())
		}
		for _, c := range clients {
			if c.wrong != nil {
				t.Fatalf("start %d: %v\n%s", start, c.wrong, j.out.String())
			}
		}
	}
	if cuts, unfinished := contents(t, dir); len(cuts) != 2 || unfinished > 0 {
		t.Errorf("at the end there are the cuts %q and %d files that were begun", cuts, unfinished)
	}
	updates, again := 0, 0
	for _, c := range clients {
		updates += c.updates
		again += c.again
	}
	t.Logf("%d updates were acknowledged, in %d starts that were disturbed %d times; requests were repeated %d times", updates, starts, all, again)
}

// untilServed waits until each client has looked at all its keys and had some more answers, or something wrong, or the
// job has ended. If it must serve, the job must not end before.
func (j *aJob) untilServed(clients []*client, must bool) {
	limit, cancel := hang.Context(j.t.Context())
	defer cancel()
	for _, c := range clients {
		for rounds := c.rounds.Load(); c.rounds.Load() < rounds+2 && !c.ended.Load(); {
			select {
			case <-j.done:
				if must {
					j.t.Fatalf("an undisturbed service has ended:\n%s", j.out.String())
				}
				return
			case <-limit.Done():
				j.t.Fatalf("the clients get no answers:\n%s", j.out.String())
			case <-time.After(5 * time.Millisecond): // for the clients to go on
			}
		}
	}
}

// useAll has all clients use the service until the function that it returns is called, after the end of the job.
func useAll(j *aJob, clients []*client) (end func()) {
	var all sync.WaitGroup
	for _, c := range clients {
		c.ended.Store(false)
		all.Go(func() {
			c.use(j)
			c.ended.Store(true)
		})
	}
	return all.Wait
}

// client has keys of its own. It has one request at a time.
type client struct {
	prefix  string
	r       *rand.Rand
	values  [8]value     // of its keys
	rounds  atomic.Int64 // how often it has put and got a value, after it has looked at all of them
	updates int          // that were acknowledged
	again   int          // requests that were repeated
	wrong   error
	ended   atomic.Bool // it waits for no more answers of this start
}

// value is what a client knows of the value of a key. The service has one of known to sent.
type value struct{ known, sent int }

// use puts and gets values until the job has ended.
func (c *client) use(j *aJob) {
	ctx, cancel := context.WithCancel(j.t.Context())
	defer cancel()
	go func() { // a connection to a process that was killed may be silent
		<-j.done
		cancel()
	}()
	transport := &http.Transport{DialContext: j.dial}
	defer transport.CloseIdleConnections()
	to := &server{j, &http.Client{Transport: transport}, c}
	for i := range c.values {
		if !c.get(ctx, to, i) {
			return
		}
	}
	for c.put(ctx, to, c.r.IntN(len(c.values))) && c.get(ctx, to, c.r.IntN(len(c.values))) {
		c.rounds.Add(1)
	}
}

func (c *client) key(i int) string { return fmt.Sprint(c.prefix, "/", i) }

// put gives a key its next value. It returns false if there is no answer before the job ends.
func (c *client) put(ctx context.Context, to *server, i int) bool {
	v := &c.values[i]
	v.sent = v.known + 1
	if _, ok := to.ask(ctx, http.MethodPut, c.key(i), strconv.Itoa(v.sent)); !ok {
		return false
	}
	v.known = v.sent
	c.updates++
	return true
}

// get looks at a value. It returns false if there is no answer before the job ends, or a wrong one.
func (c *client) get(ctx context.Context, to *server, i int) bool {
	text, ok := to.ask(ctx, http.MethodGet, c.key(i), "")
	if !ok {
		return false
	}
	v := &c.values[i]
	got, err := strconv.Atoi(text)
	if err != nil || got < v.known || got > v.sent {
		c.wrong = fmt.Errorf("key %s has %q: %d was acknowledged or shown, and %d was put last", c.key(i), text, v.known, v.sent)
		return false
	}
	v.known = got
	return true
}

// server is a service as a client sees it.
type server struct {
	j    *aJob
	http *http.Client
	c    *client
}

var served = regexp.MustCompile(`PE ([0-9]+) serves http://(\S+)`)

// ask asks PEs until one answers. It returns false if the job ends before. A key without a value has 0.
func (s *server) ask(ctx context.Context, method, key, value string) (answer string, ok bool) {
	for ; ctx.Err() == nil; s.c.again++ {
		status, text, err := s.once(ctx, method, key, value)
		switch {
		case err == nil && status == http.StatusOK:
			return text, true
		case err == nil && status == http.StatusNotFound:
			return "0", true
		}
		time.Sleep(5 * time.Millisecond) // for pgasrun to begin the next term
	}
	return "", false
}

// once asks some PE. Those that were started last are likely, and those before them have gone.
func (s *server) once(ctx context.Context, method, key, value string) (status int, answer string, err error) {
	all := served.FindAllStringSubmatch(s.j.out.String(), -1)
	if len(all) == 0 {
		return 0, "", fmt.Errorf("no PE serves")
	}
	of := all[len(all)-1-s.c.r.IntN(min(len(all), 4))]
	q, err := http.NewRequestWithContext(ctx, method, "http://"+of[2]+"/"+key, strings.NewReader(value))
	if err != nil {
		return 0, "", err
	}
	r, err := s.http.Do(q)
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, string(text), err
}

// dial connects to an address of the job: of one of its hosts, if these are network namespaces. On another one this
// may be another PE, which has the same keys, or none.
func (j *aJob) dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	var d net.Dialer
	pes, _ := j.kinds()
	if !j.netns || len(pes) == 0 {
		return d.DialContext(ctx, network, address)
	}
	done := make(chan struct{})
	go func() { // its thread ends with it, and with that its network
		defer close(done)
		runtime.LockOSThread()
		var ns *os.File
		if ns, err = os.Open(fmt.Sprintf("/proc/%d/ns/net", pes[rand.IntN(len(pes))])); err != nil {
			return
		}
		defer ns.Close()
		if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return
		}
		conn, err = d.DialContext(ctx, network, address)
	}()
	<-done
	return conn, err
}
