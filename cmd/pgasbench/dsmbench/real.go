package dsmbench

// How a job measures. A bench repeats rounds: the last PE prepares, all meet, PE 0 takes the time of the operation and
// of what stands beside it, one after the other, so that both have the same neighbours on the machine.

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
)

// measured is one row. Times are of one operation.
type measured struct {
	Bench     string  `json:"bench"`
	What      string  `json:"what,omitempty"` // which row of a bench, if it has several
	Block     int     `json:"block"`          // bytes of a block
	PEs       int     `json:"pes"`
	Transport string  `json:"transport"` // how the last PE is reached
	Mode      string  `json:"mode"`
	P50ns     float64 `json:"p50_ns"`
	MinNs     float64 `json:"min_ns"`
	BesideNs  float64 `json:"beside_p50_ns"` // the time of the operation beside it
	BesideMin float64 `json:"beside_min_ns"`
	Ratio     float64 `json:"ratio"` // the ratio of the medians
	Ops       int     `json:"ops"`   // operations that were measured
	// Of PE 0, for each operation:
	FastReads float64 `json:"fast_reads"`
	SlowReads float64 `json:"slow_reads"`
	Moves     float64 `json:"moves"` // releases that sent messages
}

// A bench is one figure, for one or all sizes of blocks.
type bench struct {
	name, doc string
	run       func(m *meter) error
}

// Row makes benches the rows of a table.
func (b bench) Row() (name, doc string) { return b.name, b.doc }

// meter is one PE that measures.
type meter struct {
	ctx         context.Context
	w           *pgas.World
	blocks      []int         // sizes of blocks
	span        time.Duration // for how long a trial repeats rounds
	json        bool          // print rows as JSON
	out         io.Writer
	agreed      pgas.Sym[int64]
	first, last bool
	partner     int // the last PE
	bench       string
	rows        []measured
}

// A trial is a bench with its parameters.
type trial struct {
	what    string
	block   int
	region  *dsm.Region
	ops     int                    // operations of a round, by which its times are divided
	prepare func(round int) error  // every PE calls it; a barrier follows
	before  func(round int) error  // PE 0 calls it, and is not measured
	operate func(round int) error  // PE 0 calls it, and is measured
	beside  func(round int) error  // PE 0 calls it behind operate, and is measured
	after   func(round int) error  // every PE calls it
	alone   bool                   // PE 0 works alone: other PEs only take part in barriers
	check   func(rounds int) error // every PE calls it in the end
}

// least and most are rounds of a trial, however long they take.
const (
	least = 5
	most  = 20000
)

// measure repeats rounds of t for the time of the options, and prints a row. It is collective.
func (m *meter) measure(t trial) error {
	var own, beside []float64
	began := time.Now()
	var before, counted dsm.Stats
	for round := 0; ; round++ {
		again := round < least || round < most && time.Since(began) < m.span
		if ok, err := m.agree(again); err != nil || !ok {
			if err != nil {
				return err
			}
			break
		}
		if err := m.prepare(t, round); err != nil {
			return err
		}
		if m.first {
			before = t.region.Stats()
			took, err := timed(t.operate, round)
			if err != nil {
				return err
			}
			counted = plus(counted, since(before, t.region.Stats()))
			other, err := timed(t.beside, round)
			if err != nil {
				return err
			}
			own, beside = append(own, took/float64(t.ops)), append(beside, other/float64(t.ops))
		}
		if t.after != nil {
			if err := t.after(round); err != nil {
				return err
			}
		}
	}
	if t.check != nil {
		if err := t.check(len(own)); err != nil {
			return err
		}
	}
	return m.report(t, own, beside, counted)
}

// prepare has every PE prepare a round and meet.
func (m *meter) prepare(t trial, round int) error {
	if t.prepare != nil {
		if err := t.prepare(round); err != nil {
			return err
		}
	}
	if !t.alone {
		if err := t.region.Barrier(m.ctx); err != nil {
			return err
		}
	}
	if t.before == nil || !m.first {
		return nil
	}
	return t.before(round)
}

// agree returns PE 0's value on every PE.
func (m *meter) agree(value bool) (bool, error) {
	if m.first {
		v := int64(0)
		if value {
			v = 1
		}
		for pe := range m.w.NPEs() {
			m.agreed.At(0).Put(pe, v)
		}
	}
	if err := m.w.Barrier(m.ctx); err != nil {
		return false, err
	}
	value = m.agreed.Local()[0] == 1
	return value, m.w.Barrier(m.ctx)
}

// timed returns the nanoseconds that f takes.
func timed(f func(round int) error, round int) (float64, error) {
	began := time.Now()
	err := f(round)
	return float64(time.Since(began)), err
}

// plus adds what a row shows.
func plus(a, b dsm.Stats) dsm.Stats {
	a.FastReads += b.FastReads
	a.SlowReads += b.SlowReads
	a.Moves += b.Moves
	return a
}

// report prints the row of a trial, on PE 0. The first round is left out: it touches memory for the first time.
func (m *meter) report(t trial, own, beside []float64, s dsm.Stats) error {
	if !m.first {
		return nil
	}
	rounds := len(own)
	a, b := result.NewSeries(own[1:], rounds), result.NewSeries(beside[1:], rounds)
	ops := float64(rounds * t.ops)
	r := measured{
		Bench: m.bench, What: t.what, Block: t.block, PEs: m.w.NPEs(), Transport: m.w.TransportTo(m.partner), Mode: t.region.Mode().String(),
		P50ns: a.Quantile(0.5), MinNs: a.Min(), BesideNs: b.Quantile(0.5), BesideMin: b.Min(), Ops: rounds * t.ops,
		FastReads: float64(s.FastReads) / ops, SlowReads: float64(s.SlowReads) / ops, Moves: float64(s.Moves) / ops,
	}
	r.Ratio = r.P50ns / max(r.BesideNs, 1e-3)
	return m.row(r)
}

// row prints r and keeps it for the plot.
func (m *meter) row(r measured) error {
	m.rows = append(m.rows, r)
	if m.json {
		return sweep.PrintJSON(m.out, r)
	}
	if len(m.rows) == 1 {
		if _, err := fmt.Fprintf(m.out, "%-15s %-18s %-5s %-5s %8s %12s %12s %8s %6s %6s %6s\n", "bench", "", "mode", "to", "block", "p50", "beside", "ratio", "fast", "slow", "moves"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(m.out, "%-15s %-18s %-5s %-5s %8d %12s %12s %8.2f %6.2f %6.2f %6.2f\n",
		r.Bench, r.What, r.Mode, r.Transport, r.Block, nanoseconds(r.P50ns), nanoseconds(r.BesideNs), r.Ratio, r.FastReads, r.SlowReads, r.Moves)
	return err
}

// nanoseconds writes a time with the unit that suits it.
func nanoseconds(ns float64) string {
	switch {
	case ns >= 1e6:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case ns >= 1e3:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	}
	return fmt.Sprintf("%.2f ns", ns)
}
