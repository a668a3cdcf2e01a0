package main

// -metrics: what all PEs of the job have counted, for Prometheus, at one address of the launcher while the job runs.
// The numbers are those that agents have sent last, a fraction of a second ago; those of PEs that have ended stay. A PE
// that hangs or was killed has them too, since agents read what PEs have counted without their help.

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
	addr string
	news io.Writer
	l    net.Listener
	now  func() launch.Snapshot // nil until the job starts
	stop context.CancelFunc
}

// open listens at the address, and says where that is.
func (m *jobMetrics) open(*launch.Spec) (err error) {
	if m.l, err = metrics.Listen(m.addr); err != nil {
		return runsWithout{fmt.Errorf("-metrics: %w; the job runs without", err)}
	}
	fmt.Fprintf(m.news, "pgasrun: metrics at http://%v/metrics\n", m.l.Addr())
	return nil
}

// attach has the launcher tell what is known of the job.
func (m *jobMetrics) attach(job *launch.Spec) { job.Live = bothLive(job.Live, m.serve) }

// serve serves the job that now tells of, until finish.
func (m *jobMetrics) serve(now func() launch.Snapshot) {
	m.now = now
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics.Job(m.pes))
	go metrics.ServeAt(ctx, m.l, mux)
}

// finish stops to serve.
func (m *jobMetrics) finish(*ending) {
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

// awaited returns the PE for which p waits, or -1 if that is not known: what a PE publishes in a collective is at which
// PE the arrivals are counted, which may be itself, or one that has arrived.
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

// bothLive returns a launch.Spec.Live that tells two of the job; a may be nil.
func bothLive(a, b func(now func() launch.Snapshot)) func(now func() launch.Snapshot) {
	if a == nil {
		return b
	}
	return func(now func() launch.Snapshot) {
		a(now)
		b(now)
	}
}
