package metrics_test

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/metrics"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/stats"
)

// source is a PE that has counted.
type source struct{ s stats.PE }

func (s source) PE() int         { return s.s.PE }
func (s source) Host() string    { return "node-\xff7" }
func (s source) Stats() stats.PE { return s.s }

var counted = source{stats.PE{
	PE: 3, Recorded: true, Heap: stats.Heap{InUse: 64, High: 128},
	Kinds:    map[string]stats.Traffic{"put": {Operations: 7, Bytes: 56}},
	Peers:    []stats.Peer{{PE: 1, Kinds: map[string]stats.Traffic{"put": {Operations: 7, Bytes: 56}}, Blocked: 1500 * time.Millisecond}},
	Messages: stats.Messages{Sent: 2, Bytes: 90, Operations: 7},
	Blocked:  map[string]stats.Wait{"barrier": {Count: 4, Time: 250 * time.Millisecond}, "a\xfe": {Count: 1}, "a\xfd": {Count: 2}},
	Locks:    stats.Locks{Alone: 5, Waited: 6, HandOvers: []stats.HandOver{{Level: "host", Count: 6}}},
	Notes:    stats.Notes{Matched: 9, Unexpected: 8},
	Coherent: stats.Coherent{Faults: 10, Fetched: 11, Released: 12},
}}

// text returns the samples of m as they are written, one a line.
func text(t *testing.T, m metrics.Metrics) []string {
	t.Helper()
	var b strings.Builder
	if err := m.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(b.String(), "\n"), func(line string) bool { return line == "" || line[0] == '#' })
}

// TestText: the values are those of the PE. That the text is of Prometheus is tested in package collector.
func TestText(t *testing.T) {
	got := text(t, metrics.Of(counted))
	for name, want := range map[string]string{
		"recorded": "1", "heap_in_use_bytes": "64", "heap_high_bytes": "128", "operations_total kind=put": "7", "operation_bytes_total kind=put": "56", "operations_total kind=get": "0",
		"waits_total cause=barrier": "4", "waits_total cause=a?": "3", "blocked_seconds_total cause=barrier": "0.25", "peer_operations_total peer=1": "7", "peer_bytes_total peer=1": "56",
		"peer_blocked_seconds_total peer=1": "1.5", "messages_total": "2", "message_bytes_total": "90", "message_operations_total": "7", "lock_acquisitions_total waited=true": "6",
		"lock_acquisitions_total waited=false": "5", "lock_hand_overs_total level=host": "6", "notifications_matched_total": "9", "notifications_unexpected_total": "8",
		"page_faults_total": "10", "pages_fetched_total": "11", "pages_released_total": "12",
	} {
		name, label, _ := strings.Cut(name, " ")
		labels := []string{`pe="3"`, `host="node-?7"`}
		if key, value, more := strings.Cut(label, "="); more {
			labels = append(labels, key+`="`+value+`"`)
		}
		slices.Sort(labels)
		line := "pgas_" + name + "{" + strings.Join(labels, ",") + "} " + want
		if !slices.Contains(got, line) {
			t.Errorf("no line %s in\n%s", line, strings.Join(got, "\n"))
		}
	}
}

// TestNotRecorded: a PE that counts nothing has its heap, and says so.
func TestNotRecorded(t *testing.T) {
	if got := text(t, metrics.Of(source{stats.PE{PE: 1, Heap: stats.Heap{InUse: 1}}})); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

// TestJob: PEs of a job have the same metrics, without those by peer.
func TestJob(t *testing.T) {
	second := counted.s
	second.PE = 4
	got := text(t, metrics.Job(func() []metrics.PE {
		return []metrics.PE{
			{Host: "a", PE: counted.s, Process: &metrics.Process{Running: true, CPU: time.Second, BlockedIn: "lock", BlockedFor: 4, Blocked: time.Minute}},
			{Host: "b", PE: second, Process: &metrics.Process{}},
		}
	}))
	for name, want := range map[string]int{"pgas_recorded{": 2, "pgas_operations_total{": 2 * len(stats.KindNames()), "pgas_peer_bytes_total{": 0, "pgas_running{": 2, "pgas_blocked_now_seconds{": 1} {
		n := 0
		for _, line := range got {
			if strings.HasPrefix(line, name) {
				n++
			}
		}
		if n != want {
			t.Errorf("%d of %s; want %d", n, name, want)
		}
	}
}

// TestServe: every PE serves what it has counted, as text of Prometheus and as a variable, until its context ends.
func TestServe(t *testing.T) {
	t.Setenv("PGAS_STATS", "1")
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		words.At(0).Put(1-w.PE(), 1)
		l, err := metrics.Listen("0")
		if err != nil {
			return err
		}
		addr := l.Addr().(*net.TCPAddr)
		l.Close()
		name := fmt.Sprintf("pgas-%d-%d", w.PE(), addr.Port)
		metrics.Publish(w, name)
		serving, stop := context.WithCancel(ctx)
		defer stop()
		served := make(chan error, 1)
		go func() { served <- metrics.Serve(serving, w, fmt.Sprint(addr.Port)) }()
		get := func(path string) (string, error) {
			for {
				resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", addr.Port, path))
				if err != nil && len(served) == 0 {
					continue // it does not listen yet
				}
				if err != nil {
					return "", err
				}
				defer resp.Body.Close()
				text, err := io.ReadAll(resp.Body)
				return string(text), err
			}
		}
		text, err := get("/metrics")
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("pgas_operations_total{host=%q,kind=\"put\",pe=\"%d\"} 1\n", w.Host(), w.PE()); !strings.Contains(text, want) {
			return fmt.Errorf("no %s in %s", want, text)
		}
		if text, err = get("/debug/vars"); err != nil {
			return err
		}
		var vars map[string]json.RawMessage
		var s stats.PE
		if err := json.Unmarshal([]byte(text), &vars); err != nil {
			return err
		}
		if err := json.Unmarshal(vars[name], &s); err != nil || s.Kinds["put"].Operations != 1 || s.PE != w.PE() {
			return fmt.Errorf("%v, %s", err, text)
		}
		stop()
		return <-served
	})
}

// TestStrangers: a request that calls this machine by a name is refused at an address of this machine only, and
// connections beyond the bound are closed, of which each that ends makes room for another.
func TestStrangers(t *testing.T) {
	l, err := metrics.Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- metrics.ServeAt(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "numbers") }))
	}()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(host string) (int, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String(), nil)
		if err != nil {
			return 0, err
		}
		req.Host = host
		resp, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		return resp.StatusCode, nil
	}
	var open []net.Conn
	for range 64 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// An answer says that the server has counted the connection.
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	if got, err := get("localhost"); err == nil {
		t.Errorf("the 65th connection is answered with %d", got)
	}
	for _, c := range open {
		c.Close()
	}
	for hangs, cancel := hang.Context(t.Context()); ; {
		if got, err := get("localhost"); err == nil && got == 200 {
			cancel()
			break
		}
		if hangs.Err() != nil {
			t.Fatal("no connection is answered after all others have ended")
		}
	}
	for host, want := range map[string]int{
		"127.0.0.1:9400": 200, "[::1]:9400": 200, "::1": 200, "localhost": 200, "LOCALHOST:1": 200,
		"evil.example:9400": 403, "evil.example": 403, "127.0.0.1.evil.example": 403, "localhost.evil.example": 403,
	} {
		if got, err := get(host); got != want || err != nil {
			t.Errorf("Host: %s has %d, %v; want %d", host, got, err, want)
		}
	}
}

// TestPublished: a variable of expvar is what Stats returns.
func TestPublished(t *testing.T) {
	metrics.Publish(counted, "counted")
	var s stats.PE
	if err := json.Unmarshal([]byte(expvar.Get("counted").String()), &s); err != nil || s.Locks.Waited != 6 {
		t.Errorf("%v, %+v", err, s)
	}
}

// TestListen: an address of no kind, and one that is taken, are errors of one line that say what to do.
func TestListen(t *testing.T) {
	taken, err := metrics.Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if !taken.Addr().(*net.TCPAddr).IP.IsLoopback() {
		t.Errorf("without a host it listens at %v", taken.Addr())
	}
	for addr, want := range map[string]string{
		"nowhere":             "give a port (9400) or an address",
		"70000":               "give a port (9400) or an address",
		"no such host:1":      "give another address",
		"203.0.113.1:9400":    "cannot assign requested address: give another address",
		taken.Addr().String(): "address already in use: give another address",
	} {
		if _, err := metrics.Listen(addr); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
