package metrics

// The ways to get the metrics: over HTTP as Prometheus reads them, and as a variable of package expvar.

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Handler returns a handler of what w's PE has counted, as text of Prometheus. A program that has metrics of its own
// registers these with them: package collector.
func Handler(w Source) http.Handler { return Of(w) }

// ServeHTTP answers with the samples of now, as text of Prometheus.
func (m Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", contentType)
	m.WriteText(w) // an error is that of a client that has gone
}

// Publish makes what w's PE has counted a variable of package expvar, as an object of JSON: the stats.PE of
// World.Stats. As expvar.Publish, it ends the program if the name is taken.
func Publish(w Source, name string) {
	expvar.Publish(name, expvar.Func(func() any { return w.Stats() }))
}

// Serve serves what w's PE has counted at http://addr/metrics, and the variables of package expvar at /debug/vars,
// until ctx ends. It then returns nil. An addr without a host is one of this machine only, as ":9400" and "9400" are;
// name 0.0.0.0 to be reached from others. Each PE of a host needs a port of its own. It returns an error if it cannot
// listen at addr.
func Serve(ctx context.Context, w Source, addr string) error {
	l, err := Listen(addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", Handler(w))
	mux.Handle("/debug/vars", expvar.Handler())
	return ServeAt(ctx, l, mux)
}

// Listen listens at addr, of this machine only unless addr has a host. Its error is one line that says what to do.
func Listen(addr string) (net.Listener, error) {
	full, err := complete(addr)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", full)
	if err != nil {
		return nil, fmt.Errorf("metrics cannot be served at %s: %w: give another address, or port 0 for any that is free", full, cause(err))
	}
	return l, nil
}

// known returns a handler that refuses requests to an address of this machine only if they call it by another name than
// an address or localhost.
func known(at net.Addr, h http.Handler) http.Handler {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
		if _, err := netip.ParseAddr(name); err != nil && !strings.EqualFold(name, "localhost") {
			http.Error(w, "These are the metrics of a program at an address of its machine only: ask for them by that address or as localhost.",
				http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// complete returns addr with the host that it leaves out.
func complete(addr string) (string, error) {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = ":" + addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("metrics cannot be served at %q: give a port (9400) or an address (0.0.0.0:9400, [::1]:9400)", addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// cause returns what err says about the address, which the caller has named.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}

// Bounds of what readers may cost.
const (
	mostConnections = 64
	headerTime      = 10 * time.Second
	answerTime      = 30 * time.Second
)

// ServeAt serves h at l until ctx ends, and then returns nil. It closes a connection beyond the 64th at once. At an
// address of this machine only it answers requests that name an address or localhost: a page that a browser on this
// machine shows cannot read the metrics by a name that it has made point here (DNS rebinding).
func ServeAt(ctx context.Context, l net.Listener, h http.Handler) error {
	var open atomic.Int64
	s := &http.Server{
		Handler: known(l.Addr(), h), ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, WriteTimeout: answerTime, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
		ConnState: func(c net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				if open.Add(1) > mostConnections {
					c.Close()
				}
			case http.StateClosed, http.StateHijacked:
				open.Add(-1)
			}
		},
	}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.Serve(l); ctx.Err() == nil {
		return fmt.Errorf("serving metrics at %v: %w", l.Addr(), err)
	}
	return nil
}
