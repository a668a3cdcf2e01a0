package main

// -metrics: what all PEs of the job have counted, for Prometheus, at one address of the launcher while the job runs. The numbers are
// what agents have told last, a fraction of a second ago; those of PEs that have ended stay. A PE that hangs or was killed has them too,
// since agents read what PEs have counted without their help.

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/metrics"
	"github.com/gopgas/gopgas/pgas/stats"
)

// jobMetrics serves the metrics of a job.
type jobMetrics struct {
	l    net.Listener
	now  func() launch.Snapshot // nil until the job starts
	stop context.CancelFunc
}

// openMetrics listens at addr, and says on out where.
func openMetrics(addr string, out io.Writer) (*jobMetrics, error) {
	l, err := metrics.Listen(addr)
	if err != nil {
		return nil, fmt.Errorf("-metrics: %w", err)
	}
	fmt.Fprintf(out, "pgasrun: metrics at http://%v/metrics\n", l.Addr())
	return &jobMetrics{l: l}, nil
}

// serve serves the job that now tells of, until close.
func (m *jobMetrics) serve(now func() launch.Snapshot) {
	m.now = now
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics.Job(m.pes))
	go metrics.ServeAt(ctx, m.l, mux)
}

func (m *jobMetrics) close() {
	if m.stop != nil {
		m.stop()
	}
	m.l.Close()
}

// pes returns what is known of the PEs.
func (m *jobMetrics) pes() (list []metrics.PE) {
	s := m.now()
	for i := range s.PEs {
		if p := &s.PEs[i]; p.Known {
			list = append(list, metrics.PE{Host: s.Hosts[p.Host].Name, PE: stats.Of(countsOf(p)), Process: processOf(p, s.PEs)})
		}
	}
	return list
}

// countsOf returns what a PE has counted, with its peers that are known only as a sum as one.
func countsOf(p *launch.PEState) record.Counts {
	return record.Counts{PE: p.PE, Counters: p.Counters, Levels: p.Levels, Waits: p.Waits, Peers: append(p.Peers[:len(p.Peers):len(p.Peers)], p.Others)}
}

func processOf(p *launch.PEState, pes []launch.PEState) *metrics.Process {
	s := &metrics.Process{Running: !p.Ended, CPU: p.CPU, Memory: p.Memory}
	if p.Op != boot.NotBlocked {
		s.BlockedIn, s.BlockedFor, s.Blocked = p.In, awaited(p, pes), p.Time
	}
	return s
}

// awaited returns the PE for which p waits, or -1 if that is not known: what a PE publishes in a collective is at which PE the
// arrivals are counted, which may be itself, or one that has arrived.
func awaited(p *launch.PEState, pes []launch.PEState) int {
	if p.For < 0 || p.For >= len(pes) || p.For == p.PE {
		return -1
	}
	collective := p.Op == boot.InBarrier || p.Op == boot.InCollective || p.Op == boot.InClose
	if other := &pes[p.For]; collective && other.Op == p.Op && other.Seq == p.Seq && other.Team == p.Team {
		return -1
	}
	return p.For
}
