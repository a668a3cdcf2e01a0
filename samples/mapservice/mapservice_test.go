package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestVerify: what the clients of all PEs have put is there, on PEs of every kind.
func TestVerify(t *testing.T) {
	pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
		f := newFront()
		defer f.end()
		return options{listen: "localhost:0", capacity: 200, keys: 100, verify: true}.run(ctx, w, f)
	})
}

// slow is a Store in which each file is begun late.
type slow struct{ ckpt.Store }

func (s slow) Create(ctx context.Context, name string) (ckpt.Writer, error) {
	time.Sleep(2 * time.Millisecond) // so that an answer which does not wait for the file comes before it
	return s.Store.Create(ctx, name)
}

// TestSafe: when an update is acknowledged, the cut with it is there. A job on other PEs has the value.
func TestSafe(t *testing.T) {
	const updates = 10
	dir := t.TempDir()
	store := slow{ckpt.Dir(dir)}
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		s, err := newService(ctx, w, 100, newFront(), ckpt.In(store))
		if err != nil {
			return err
		}
		server := httptest.NewServer(s.front)
		defer server.Close()
		defer close(s.front.ended)
		s.load = make(chan error, 1)
		go func() {
			defer close(s.load)
			for i := 0; w.PE() == 0 && i <= updates; i++ {
				if err := putSafely(ctx, server, dir, fmt.Sprint(i)); err != nil {
					s.load <- err
					return
				}
			}
		}()
		return s.run(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		s, err := newService(ctx, w, 100, newFront(), ckpt.In(store))
		if err != nil {
			return err
		}
		if got, ok := s.texts.Find("key"); !ok || got != fmt.Sprint(updates) {
			return fmt.Errorf("the key has %q, and %d was acknowledged", got, updates)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// putSafely puts a value, and looks for the cut of the answer.
func putSafely(ctx context.Context, server *httptest.Server, dir, value string) error {
	text, err := ask(ctx, server.Client(), http.MethodPut, server.URL+"/key", value)
	if err != nil {
		return err
	}
	cut, ok := strings.CutPrefix(strings.TrimSpace(text), "kept in cut ")
	if !ok {
		return fmt.Errorf("the answer is %q", text)
	}
	_, err = os.Stat(filepath.Join(dir, cut+".json"))
	return err
}

// TestRefused: requests that make no sense are answered without the body of the job.
func TestRefused(t *testing.T) {
	f := newFront()
	server := httptest.NewServer(f)
	defer server.Close()
	for _, x := range []struct {
		method, path, body string
		status             int
	}{
		{http.MethodDelete, "/key", "", http.StatusMethodNotAllowed},
		{http.MethodGet, "/", "", http.StatusBadRequest},
		{http.MethodGet, "/" + strings.Repeat("k", maxKey+1), "", http.StatusBadRequest},
		{http.MethodPut, "/key", strings.Repeat("v", maxValue+1), http.StatusRequestEntityTooLarge},
	} {
		q, err := http.NewRequestWithContext(t.Context(), x.method, server.URL+x.path, strings.NewReader(x.body))
		if err != nil {
			t.Fatal(err)
		}
		r, err := server.Client().Do(q)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != x.status {
			t.Errorf("%s %.10s: %s, want %d", x.method, x.path, r.Status, x.status)
		}
	}
	close(f.ended)
	if _, err := ask(t.Context(), server.Client(), http.MethodGet, server.URL+"/key", ""); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("after the end: %v", err)
	}
}

// TestFull: an update for which there is no room is refused, and the service goes on.
func TestFull(t *testing.T) {
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		s, err := newService(ctx, w, 1, newFront())
		if err != nil {
			return err
		}
		var batch []*request
		for i := range 100 {
			batch = append(batch, &request{key: fmt.Sprint(i), put: true})
		}
		if _, err := s.apply(ctx, batch); err != nil {
			return err
		}
		if first, last := batch[0].answer.status, batch[99].answer.status; first != http.StatusOK || last != http.StatusInsufficientStorage {
			return fmt.Errorf("the answers are %d and %d", first, last)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAddress: each PE has the next port.
func TestAddress(t *testing.T) {
	for _, x := range []struct {
		listen string
		pe     int
		want   string
	}{
		{"localhost:8080", 0, "localhost:8080"}, {":80", 3, ":83"}, {"[::1]:80", 1, "[::1]:81"}, {"localhost:0", 5, "localhost:0"},
		{"localhost", 0, ""}, {"localhost:http", 0, ""}, {":65535", 1, ""}, {":70000", 0, ""},
	} {
		got, err := options{listen: x.listen}.address(x.pe)
		if got != x.want || (err == nil) != (x.want != "") {
			t.Errorf("PE %d of %s: %q, %v", x.pe, x.listen, got, err)
		}
	}
}
