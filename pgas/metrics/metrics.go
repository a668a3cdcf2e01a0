// Package metrics publishes what PEs count of themselves (World.Stats), for Prometheus and for expvar. It is the only package
// that links a client of Prometheus: a program that does not import it has none.
//
//	pgas.Main(func(ctx context.Context, w *pgas.World) error {
//		go func() {
//			if err := metrics.Serve(ctx, w, fmt.Sprint("localhost:", 9400+w.PE())); err != nil {
//				log.Println(err)
//			}
//		}()
//		…
//
// A PE counts if the job was started with pgasrun -stats or PGAS_STATS=1, and pgasrun -metrics serves all PEs of a job at
// one address without any of this in the program.
//
// Where to read: collector.go has the metrics and their names, serve.go the ways to get them.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopgas/gopgas/pgas/stats"
)

// A Source has what is published of one PE. A *pgas.World is one.
type Source interface {
	PE() int
	Host() string
	Stats() stats.PE
}

// PE is what is published of one PE.
type PE struct {
	Host string
	stats.PE
	Process *Process // what its launcher knows besides; nil: nothing
}

// Process is what the launcher of a job knows of a PE's process.
type Process struct {
	Running bool
	CPU     time.Duration // user and system time so far
	Memory  uint64        // bytes that are resident

	BlockedIn  string        // what the PE is blocked in; empty: it computes
	BlockedFor int           // the PE that it waits for, or -1
	Blocked    time.Duration // for how long
}

// Collector returns a collector of what w's PE has counted, by kind of operation, cause of waits, and peer. It may be
// registered before anything is counted, and collecting waits for nothing. The labels of each metric begin with pe and host.
func Collector(w Source) prometheus.Collector {
	return collector{peers: true, pes: func() []PE { return []PE{of(w)} }}
}

// Job returns a collector of what several PEs have counted; pes is called whenever metrics are collected. Metrics by peer
// are left out, since their number grows with the square of that of PEs.
func Job(pes func() []PE) prometheus.Collector { return collector{pes: pes} }

func of(w Source) PE { return PE{Host: w.Host(), PE: w.Stats()} }
