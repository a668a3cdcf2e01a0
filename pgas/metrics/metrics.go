// Package metrics publishes what PEs count of themselves (World.Stats), for Prometheus and for expvar. It writes the
// text that Prometheus reads itself and needs no client of it. A program that has metrics of its own, with that client,
// registers these with package collector, which is a module of its own:
// github.com/gopgas/gopgas/pgas/metrics/collector.
//
//	pgas.Main(func(ctx context.Context, w *pgas.World) error {
//		go func() {
//			if err := metrics.Serve(ctx, w, fmt.Sprint("localhost:", 9400+w.PE())); err != nil {
//				log.Println(err)
//			}
//		}()
//		…
//
// A PE counts if the job was started with pgasrun -stats or PGAS_STATS=1, and pgasrun -metrics serves all PEs of a job
// at one address without any of this in the program.
//
// Where to read: descriptions.go has the metrics and their names, samples.go their values, text.go how they are
// written, serve.go the ways to get them.
package metrics

import (
	"time"

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
	Blocked    time.Duration // how long it has been blocked
}

// Metrics are those of one PE or of several, at any time. Reading them waits for nothing.
type Metrics struct {
	peers bool // the metric has a value for each peer
	pes   func() []PE
}

// Of returns the metrics of what w's PE has counted, by kind of operation, cause of waits, and peer. They may be had
// before anything is counted. The labels of each begin with pe and host.
func Of(w Source) Metrics {
	return Metrics{peers: true, pes: func() []PE { return []PE{{Host: w.Host(), PE: w.Stats()}} }}
}

// Job returns the metrics of what several PEs have counted; pes is called whenever they are read. Metrics by peer
// are left out, since their number grows with the square of that of PEs.
func Job(pes func() []PE) Metrics { return Metrics{pes: pes} }
