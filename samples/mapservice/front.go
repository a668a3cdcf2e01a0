package main

// The side of the clients: an HTTP server of each PE. Its goroutines do not touch the map. They give requests to the
// goroutine of the body, and wait for the answers.

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	maxKey   = 1 << 10 // bytes
	maxValue = 1 << 16
	maxBatch = 1 << 10 // requests of a round
	pause    = 2 * time.Millisecond
)

// request is a PUT or a GET that waits for its answer.
type request struct {
	key, value string
	put        bool
	answer     answer      // what the body will say
	answered   chan answer // has room for it
}

type answer struct {
	status int
	text   string
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff") // a value is no page, whatever is in it
	w.WriteHeader(a.status)
	io.WriteString(w, a.text)
}

// front is the server of a PE. It outlives terms of the job, and so do the connections of its clients. A request that
// has no answer when a term ends gets one in the next.
type front struct {
	requests chan *request
	taken    []*request    // those that the body has taken, and not answered
	ended    chan struct{} // closed when the body answers no more
	server   http.Server
	address  string // where the server listens; "": nowhere yet
}

func newFront() *front {
	f := &front{requests: make(chan *request, maxBatch), ended: make(chan struct{})}
	f.server.Handler, f.server.ReadHeaderTimeout = f, 10*time.Second
	return f
}

// listen has the clients at an address served, for a PE. In later terms the server is where it was.
func (f *front) listen(address string, pe int) error {
	if f.address == "" {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		f.address = l.Addr().String()
		go f.server.Serve(l)
	}
	fmt.Printf("PE %d serves http://%s\n", pe, f.address)
	return nil
}

// end ends the server, after all answers that were given are written.
func (f *front) end() {
	close(f.ended)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // for clients that do not read
	defer cancel()
	f.server.Shutdown(ctx)
	f.server.Close()
}

// ServeHTTP waits for the answer of the body.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{key: strings.TrimPrefix(r.URL.Path, "/"), put: r.Method == http.MethodPut, answered: make(chan answer, 1)}
	switch {
	case !q.put && r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET, PUT")
		http.Error(w, "use GET or PUT", http.StatusMethodNotAllowed)
		return
	case q.key == "" || len(q.key) > maxKey:
		http.Error(w, "the path is the key: give one of 1 to 1024 bytes", http.StatusBadRequest)
		return
	case q.put:
		value, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxValue))
		if err != nil {
			http.Error(w, "the body is the value: "+err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		q.value = string(value)
	}
	select {
	case f.requests <- q:
	case <-f.ended:
	case <-r.Context().Done():
	}
	select {
	case a := <-q.answered:
		a.write(w)
	case <-f.ended:
		f.late(w, q)
	case <-r.Context().Done(): // the client has gone
	}
}

// late answers a request when the body answers no more. The body may have answered this one before.
func (f *front) late(w http.ResponseWriter, q *request) {
	select {
	case a := <-q.answered:
		a.write(w)
	default:
		http.Error(w, "the service stops: ask again later", http.StatusServiceUnavailable)
	}
}

// answer gives the answers of a batch that take has returned.
func (f *front) answer(batch []*request) {
	for _, q := range batch {
		q.answered <- q.answer
	}
	f.taken = nil
}

// take returns the requests that wait. If there are none it waits for one, for a moment: other PEs wait for this one.
func (f *front) take(ctx context.Context) []*request {
	if f.taken == nil {
		f.taken = f.batch(ctx)
	}
	return f.taken
}

func (f *front) batch(ctx context.Context) (batch []*request) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case q := <-f.requests:
		batch = append(batch, q)
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return nil
	}
	for len(batch) < maxBatch {
		select {
		case q := <-f.requests:
			batch = append(batch, q)
		default:
			return batch
		}
	}
	return batch
}
