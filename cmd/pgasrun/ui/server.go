package ui

// The server of a page. A reader's request for news waits here until there is some. Whatever readers do, the job goes
// on, and pgasrun ends: connections are bounded in number, requests in time, and at the end those that wait for the
// last news have a moment to take it.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Bounds of what readers may cost.
const (
	mostConnections = 512
	headerTime      = 5 * time.Second
	answerTime      = 20 * time.Second // an answer, with the wait for news in it
	newsTime        = 10 * time.Second // the longest wait for news
	lastTime        = 5 * time.Second  // for a page that was shown lately, to get the last news
	recently        = 3 * time.Second
	longestOut      = 1 << 10 // of the list of PEs whose output is shown
)

// Server serves a page.
type Server struct {
	URL string // the address of the page, with the token

	page     *Page
	http     *http.Server
	asked    atomic.Int64 // when the page was last asked for, by the clock of time.Now
	waiting  atomic.Int64 // requests that are being answered
	finals   atomic.Int64 // last pages that were answered with
	accepted *boundedListener
}

// Address returns the address to listen on: addr is "auto", a port or :port on this host alone, or host:port as it is.
func Address(addr string) (string, error) {
	port, whole := strings.TrimPrefix(addr, ":"), addr
	if addr == "auto" {
		port = "0"
	}
	if !strings.Contains(port, ":") {
		whole = net.JoinHostPort("127.0.0.1", port)
	}
	host, port, err := net.SplitHostPort(whole)
	if err != nil || host == "" {
		return "", fmt.Errorf("%s is no address: write auto, a port such as 7070 for this host alone, or host:port, as [::1]:7070", addr)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || addr == "" {
		return "", fmt.Errorf("%s is no address: a port is a number up to 65535; write auto, a port such as 7070 for this host alone, or host:port, as [::1]:7070", addr)
	} else {
		port = fmt.Sprint(n)
	}
	return net.JoinHostPort(host, port), nil
}

// Listen begins to serve p at an address that Address knows. The error says what to do.
func (p *Page) Listen(addr string) (*Server, error) {
	at, err := Address(addr)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, explainListen(at, err)
	}
	name, _, _ := net.SplitHostPort(at)
	return p.serve(l, name), nil
}

// explainListen says why an address cannot be had, and what to do.
func explainListen(at string, err error) error {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use: name another port, or auto for a free one", at)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is no address of this host: name one that is, or auto", at)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s is not allowed to this user: name a port from 1024 on, or auto", at)
	case errors.As(err, &dns):
		return fmt.Errorf("%s is no address of this host: its name is not known", at)
	}
	return fmt.Errorf("%s cannot be listened on: %w", at, err)
}

// serve begins to serve p on l. A request may call this host name.
func (p *Page) serve(l net.Listener, name string) *Server {
	token := newToken()
	s := &Server{page: p, accepted: &boundedListener{Listener: l, room: make(chan struct{}, mostConnections)}}
	host, port, _ := net.SplitHostPort(l.Addr().String())
	shown := name
	if ip := net.ParseIP(host); name == "" || ip != nil && ip.IsUnspecified() {
		shown, _ = os.Hostname()
		name = shown
	}
	s.URL = fmt.Sprintf("http://%s/%s/", net.JoinHostPort(shown, port), token)
	s.http = &http.Server{
		Handler: &guard{token, name, s.routes()}, ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, WriteTimeout: answerTime, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
	}
	go s.http.Serve(s.accepted)
	return s
}

// routes answers by path. There is no http.ServeMux, which would send a path that is not clean to one without the
// token.
func (s *Server) routes() http.Handler {
	at := map[string]http.HandlerFunc{
		"/": s.whole, "/fragment": s.fragment, "/save": s.save,
		"/page.css": static("text/css; charset=utf-8", pageCSS), "/page.js": static("text/javascript; charset=utf-8", pageJS),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, known := at[r.URL.Path]; known {
			answer(w, r)
			return
		}
		refuse(w, http.StatusNotFound, "There is no such page: open the address that pgasrun has printed.")
	})
}

func static(kind, content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, content)
	}
}

// requestOf reads what a reader wants to see. What makes no sense counts as nothing.
func requestOf(r *http.Request) request {
	q := r.URL.Query()
	from, _ := strconv.Atoi(q.Get("from"))
	out := q.Get("out")
	if len(out) > longestOut || strings.Trim(out, "0123456789,") != "" {
		out = ""
	}
	return request{from: max(from, 0), out: out}
}

// whole answers with the whole page.
func (s *Server) whole(w http.ResponseWriter, r *http.Request) {
	s.begin()
	defer s.waiting.Add(-1)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	what := requestOf(r)
	what.part = whole
	s.answer(w, s.page.draw(what))
}

// fragment answers with what changes of the page, when it is newer than what the reader has.
func (s *Server) fragment(w http.ResponseWriter, r *http.Request) {
	s.begin()
	defer s.waiting.Add(-1)
	if after, err := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64); err == nil {
		s.page.await(r.Context(), after)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	s.answer(w, s.page.draw(requestOf(r)))
}

func (s *Server) begin() {
	s.waiting.Add(1)
	s.asked.Store(time.Now().UnixNano())
}

func (s *Server) answer(w http.ResponseWriter, d drawing) {
	w.Header().Set("X-Version", fmt.Sprint(d.version))
	if d.final {
		w.Header().Set("X-Final", "1")
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(d.html)))
	w.Write(d.html)
	if err := http.NewResponseController(w).Flush(); err == nil && d.final { // so that Close cuts nothing off
		s.finals.Add(1)
	}
	s.asked.Store(time.Now().UnixNano())
}

// save answers with the page as a file.
func (s *Server) save(w http.ResponseWriter, _ *http.Request) {
	s.begin()
	defer s.waiting.Add(-1)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="pgasrun.html"`)
	s.page.Save(w)
}

// await waits until there is a newer version than that of a reader, or for newsTime.
func (p *Page) await(ctx context.Context, version uint64) {
	ctx, cancel := context.WithTimeout(ctx, newsTime)
	defer cancel()
	for {
		p.mu.Lock()
		news, newer := p.news, p.version != version
		p.mu.Unlock()
		if newer {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends the server. While a page asks for news, as one that is shown does all the time, Close waits until the page
// has got the last news, but no longer than lastTime. It does not wait for a page that has not asked for a while.
func (s *Server) Close() {
	for until := time.Now().Add(lastTime); time.Now().Before(until) && s.isWatched() && (s.waiting.Load() > 0 || s.finals.Load() == 0); {
		time.Sleep(5 * time.Millisecond)
	}
	s.http.Close()
}

func (s *Server) isWatched() bool { return time.Now().UnixNano()-s.asked.Load() < int64(recently) }

// boundedListener has a bounded number of connections. One more is closed at once.
type boundedListener struct {
	net.Listener
	room chan struct{}
}

func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.room <- struct{}{}:
			return &boundedConn{Conn: c, leave: sync.OnceFunc(func() { <-l.room })}, nil
		default:
			c.Close()
		}
	}
}

type boundedConn struct {
	net.Conn
	leave func()
}

func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
