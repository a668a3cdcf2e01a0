package ui

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// serving returns a server of a page with something in it.
func serving(t *testing.T) (*Page, *Server) {
	t.Helper()
	p := pageOf(t, busy(4, 20*time.Second))
	s, err := p.Listen("auto")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.http.Close() })
	return p, s
}

// ask sends a request that calls the host so.
func ask(t *testing.T, method, url, host string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a, string(body)
}

// TestGuard: a reader without the token, or one that calls this host what it is not called, gets one line; nothing but
// reading is answered.
func TestGuard(t *testing.T) {
	_, s := serving(t)
	base := s.URL[:strings.Index(s.URL, s.token())]
	other := base + strings.Repeat("0", len(s.token())) + "/"
	for _, c := range []struct {
		name, method, url, host string
		status                  int
		body                    string
	}{
		{"the page", "GET", s.URL, "", 200, "<!doctype html>"},
		{"its head", "HEAD", s.URL, "", 200, ""},
		{"what changes", "GET", s.URL + "fragment", "", 200, "<main "},
		{"nonsense", "GET", s.URL + "fragment?from=-9&out=<script>&after=x", "", 200, "<main "},
		{"the file", "GET", s.URL + "save", "", 200, "<!doctype html>"},
		{"the sheet", "GET", s.URL + "page.css", "", 200, ":root"},
		{"the script", "GET", s.URL + "page.js", "", 200, "// Swaps"},
		{"without slash", "GET", strings.TrimSuffix(s.URL, "/"), "", 301, ""},
		{"by a tunnel", "GET", s.URL, "localhost:9999", 200, "<!doctype html>"},
		{"by IPv6", "GET", s.URL, "[::1]:80", 200, "<!doctype html>"},
		{"nothing there", "GET", s.URL + "etc/passwd", "", 404, "There is no such page"},
		{"upwards", "GET", s.URL + "..%2f", "", 404, "There is no such page"},
		{"no token", "GET", base, "", 403, "This page needs the token"},
		{"another token", "GET", other, "", 403, "This page needs the token"},
		{"half a token", "GET", base + s.token()[:8] + "/", "", 403, "This page needs the token"},
		{"the icon", "GET", base + "favicon.ico", "", 403, "This page needs the token"},
		{"a rebound name", "GET", s.URL, "evil.example:80", 403, "not of the host that your browser"},
		{"a name like localhost", "GET", s.URL, "localhost.evil.example", 403, "not of the host that your browser"},
		{"writing", "POST", s.URL, "", 405, "can only be read"},
		{"deleting", "DELETE", s.URL, "", 405, "can only be read"},
		{"writing without token", "POST", other, "", 403, "This page needs the token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, body := ask(t, c.method, c.url, c.host)
			if a.StatusCode != c.status || !strings.HasPrefix(body, c.body) && !(a.StatusCode >= 400 && strings.Contains(body, c.body)) {
				t.Errorf("status %d: %.100s", a.StatusCode, body)
			}
			if a.StatusCode >= 400 && strings.Count(body, "\n") != 1 {
				t.Errorf("not one line: %q", body)
			}
			if strings.Contains(body, s.token()) && a.StatusCode != http.StatusMovedPermanently {
				t.Error("the answer tells the token")
			}
			h := a.Header
			policy := h.Get("Content-Security-Policy")
			if h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Frame-Options") != "DENY" ||
				!strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "unsafe") {
				t.Errorf("headers %v", h)
			}
		})
	}
	if _, again := serving(t); again.token() == s.token() || len(s.token()) != 32 {
		t.Error("two pages have the same token")
	}
}

// token returns the token in the URL.
func (s *Server) token() string {
	parts := strings.Split(s.URL, "/")
	return parts[len(parts)-2]
}

// TestAddress: a port alone is of this host, and what is no address is told.
func TestAddress(t *testing.T) {
	for addr, want := range map[string]string{
		"auto": "127.0.0.1:0", ":0": "127.0.0.1:0", "7070": "127.0.0.1:7070", ":7070": "127.0.0.1:7070", "localhost:80": "localhost:80",
		"0.0.0.0:7070": "0.0.0.0:7070", "[::1]:7070": "[::1]:7070", "10.0.0.1:1": "10.0.0.1:1",
	} {
		if got, err := Address(addr); err != nil || got != want {
			t.Errorf("%s: %s %v", addr, got, err)
		}
	}
	for _, addr := range []string{"", ":", "host", "70000", ":70000", "host:", "host:http", "::1", "1:2:3", "-1", "http://localhost:80"} {
		if got, err := Address(addr); err == nil || !strings.Contains(err.Error(), "write auto, a port such as 7070") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %s %v", addr, got, err)
		}
	}
}

// TestListen: an address that cannot be had.
func TestListen(t *testing.T) {
	_, s := serving(t)
	taken := strings.Split(s.URL, "/")[2]
	for addr, part := range map[string]string{taken: "is in use: name another port, or auto", "192.0.2.1:80": "is no address of this host: name one that is, or auto", "no.such.invalid:80": "is no address of this host"} {
		if _, err := New(Job{PEs: 1}).Listen(addr); err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// TestReaderThatNeverReads: a client that asks again and again and takes no answer holds up neither the others nor the
// end.
func TestReaderThatNeverReads(t *testing.T) {
	p, s := serving(t)
	addr := strings.Split(s.URL, "/")[2]
	for range 8 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.(*net.TCPConn).SetReadBuffer(4096)
		go func() {
			for range 10000 {
				if _, err := fmt.Fprintf(c, "GET /%s/save HTTP/1.1\r\nHost: localhost\r\n\r\n", s.token()); err != nil {
					return
				}
			}
		}()
	}
	for range 10 {
		if a, _ := ask(t, "GET", s.URL+"fragment", ""); a.StatusCode != 200 {
			t.Fatal(a.Status)
		}
		p.look()
	}
	p.End(Outcome{State: Succeeded})
	s.Close()
	if _, err := http.Get(s.URL); err == nil {
		t.Error("the server answers when it is closed")
	}
}

// TestManyReaders: 200 at a time get news, and the last of them.
func TestManyReaders(t *testing.T) {
	const readers = 200
	p, s := serving(t)
	ctx, cancel := hang.Context(context.Background())
	defer cancel()
	client := http.Client{Transport: &http.Transport{MaxConnsPerHost: readers, MaxIdleConnsPerHost: readers}}
	var first, all sync.WaitGroup
	var news, finals atomic.Int64
	first.Add(readers)
	for range readers {
		all.Go(func() {
			after, told := "", false
			for {
				r, _ := http.NewRequestWithContext(ctx, "GET", s.URL+"fragment?after="+after, nil)
				a, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(a.Body)
				a.Body.Close()
				if err != nil || a.StatusCode != 200 || !strings.HasSuffix(string(body), "</main>") {
					t.Errorf("status %d, %v, %.50q", a.StatusCode, err, body)
					return
				}
				if a.Header.Get("X-Final") != "" {
					finals.Add(1)
					return
				}
				if v := a.Header.Get("X-Version"); v != after {
					news.Add(1)
					after = v
				}
				if !told {
					told = true
					first.Done()
				}
			}
		})
	}
	first.Wait()
	for range 2 * looksPerVersion {
		p.look()
	}
	p.End(Outcome{State: Succeeded})
	all.Wait()
	if finals.Load() != readers || news.Load() < readers {
		t.Errorf("of %d readers, %d were told of the end; news %d times", readers, finals.Load(), news.Load())
	}
	if n := len(p.drawn); n > 1 {
		t.Errorf("the same was drawn %d times", n)
	}
}

// TestRoom: connections beyond the bound are closed, and there is room again when others are.
func TestRoom(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &boundedListener{Listener: inner, room: make(chan struct{}, 1)}
	defer l.Close()
	accepted := make(chan net.Conn)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	dial()
	one := <-accepted
	if _, err := dial().Read(make([]byte, 1)); err != io.EOF && !isReset(err) {
		t.Errorf("one too many gets %v", err)
	}
	one.Close()
	one.Close() // leaves once
	dial()
	(<-accepted).Close()
	if len(l.room) != 0 {
		t.Errorf("%d connections are counted, of none", len(l.room))
	}
}

func isReset(err error) bool {
	return err != nil && strings.Contains(err.Error(), syscall.ECONNRESET.Error())
}
