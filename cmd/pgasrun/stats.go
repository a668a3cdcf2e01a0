package main

// -stats: at the end of the job, where its PEs have spent their time, as a table or as one JSON object.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// jobStats is what -json prints. Times are nanoseconds.
type jobStats struct {
	Version   int                      `json:"version"` // of this object: 1
	PEs       int                      `json:"pes"`     // of which there are statistics
	Elapsed   time.Duration            `json:"elapsed_ns"`
	CPU       time.Duration            `json:"cpu_ns"`
	Blocked   float64                  `json:"blocked_share"`    // of the time of all PEs
	Imbalance float64                  `json:"imbalance"`        // the longest time that a PE was not blocked, over the mean
	Busiest   int                      `json:"busiest_pe"`       // that PE
	ByCause   map[string]time.Duration `json:"blocked_by_cause"` // of all PEs
	Pairs     []pair                   `json:"pairs"`            // the longest first
	Each      []launch.PEStats         `json:"each"`
}

// A pair is how long one PE was blocked because of another.
type pair struct {
	PE   int           `json:"pe"`
	For  int           `json:"for_pe"`
	Time time.Duration `json:"time_ns"`
}

// summarize adds up the statistics of PEs.
func summarize(each []launch.PEStats) jobStats {
	s := jobStats{Version: 1, PEs: len(each), ByCause: map[string]time.Duration{}, Pairs: []pair{}, Each: each, Busiest: -1}
	var all, blocked, busy, busiest time.Duration
	for _, p := range each {
		s.Elapsed, s.CPU, all = max(s.Elapsed, p.Elapsed), s.CPU+p.CPU, all+p.Elapsed
		b := p.Blocked()
		blocked += b
		busy += max(0, p.Elapsed-b)
		if p.Elapsed-b > busiest {
			busiest, s.Busiest = p.Elapsed-b, p.PE
		}
		pairs := map[int]time.Duration{}
		for _, w := range p.Waits {
			s.ByCause[w.In] += w.Time
			if w.For >= 0 {
				pairs[w.For] += w.Time
			}
		}
		for of, t := range pairs {
			s.Pairs = append(s.Pairs, pair{p.PE, of, t})
		}
	}
	slices.SortFunc(s.Pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.PE, b.PE), cmp.Compare(a.For, b.For))
	})
	s.Blocked, s.Imbalance = share(blocked, all), share(busiest*time.Duration(len(each)), busy)
	return s
}

func share(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// writeStats writes the statistics of a job of npes PEs.
func writeStats(w io.Writer, each []launch.PEStats, npes int, asJSON bool) error {
	s := summarize(each)
	if asJSON {
		return json.NewEncoder(w).Encode(s)
	}
	if len(each) == 0 {
		_, err := fmt.Fprintln(w, "pgasrun: no statistics: no PE has started, or their agents were lost")
		return err
	}
	return s.table(w, npes)
}

// What the table shows of a large job; the object has all.
const (
	mostRows  = 32
	mostPairs = 5
	mostWaits = 3
)

func (s *jobStats) table(w io.Writer, npes int) error {
	fmt.Fprintf(w, "pgasrun: %d PEs, %v, %v of CPU time; %s of the PEs' time is blocked, looked at every millisecond\n", npes, shortTime(s.Elapsed), shortTime(s.CPU), percent(s.Blocked))
	fmt.Fprintf(w, "%7s %9s %9s %10s %8s  %s\n", "PE", "time", "CPU", "memory", "blocked", "in")
	rows := s.rows()
	for _, p := range rows {
		_, err := fmt.Fprintf(w, "%7d %9v %9v %10s %8s  %s\n", p.PE, shortTime(p.Elapsed), shortTime(p.CPU), megabytes(p.Memory), percent(share(p.Blocked(), p.Elapsed)), waitsOf(p))
		if err != nil {
			return err
		}
	}
	if len(rows) < s.PEs {
		fmt.Fprintf(w, "of %d PEs, the %d that were blocked least and most; -json has all\n", s.PEs, len(rows))
	}
	if missing := npes - s.PEs; missing > 0 {
		fmt.Fprintf(w, "of %d more there are no statistics: their agents were lost\n", missing)
	}
	s.writeTotals(w)
	return nil
}

// rows returns the PEs that the table shows, in their order.
func (s *jobStats) rows() []launch.PEStats {
	if len(s.Each) <= mostRows {
		return s.Each
	}
	rows := slices.Clone(s.Each)
	slices.SortStableFunc(rows, func(a, b launch.PEStats) int {
		return cmp.Compare(share(a.Blocked(), a.Elapsed), share(b.Blocked(), b.Elapsed))
	})
	rows = append(rows[:mostRows/2:mostRows/2], rows[len(rows)-mostRows/2:]...)
	slices.SortFunc(rows, func(a, b launch.PEStats) int { return cmp.Compare(a.PE, b.PE) })
	return rows
}

// writeTotals writes what the job was blocked in, its imbalance, and the longest waits of one PE for another.
func (s *jobStats) writeTotals(w io.Writer) {
	var all time.Duration
	for _, p := range s.Each {
		all += p.Elapsed
	}
	if causes := s.causes(all); causes != "" {
		fmt.Fprintf(w, "by cause: %s\n", causes)
	}
	if s.Busiest >= 0 && s.PEs > 1 {
		fmt.Fprintf(w, "imbalance: PE %d is busy %.2f times as long as the mean PE\n", s.Busiest, s.Imbalance)
	}
	var pairs []string
	for _, p := range s.Pairs[:min(len(s.Pairs), mostPairs)] {
		if p.Time >= time.Millisecond {
			pairs = append(pairs, fmt.Sprintf("PE %d for PE %d %v", p.PE, p.For, shortTime(p.Time)))
		}
	}
	if len(pairs) > 0 {
		fmt.Fprintf(w, "longest waits: %s\n", strings.Join(pairs, ", "))
	}
}

// causes lists what PEs were blocked in, the longest first, as shares of all.
func (s *jobStats) causes(all time.Duration) string {
	names := slices.SortedFunc(maps.Keys(s.ByCause), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.ByCause[b], s.ByCause[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names {
		parts = append(parts, name+" "+percent(share(s.ByCause[name], all)))
	}
	return strings.Join(parts, ", ")
}

// waitsOf lists the longest waits of a PE.
func waitsOf(p launch.PEStats) string {
	var parts []string
	for _, w := range p.Waits[:min(len(p.Waits), mostWaits)] {
		part := w.In
		if w.For >= 0 {
			part += fmt.Sprintf(" for PE %d", w.For)
		}
		parts = append(parts, part+" "+percent(share(w.Time, p.Elapsed)))
	}
	if more := len(p.Waits) - mostWaits; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func megabytes(bytes uint64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

func shortTime(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond)
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(100 * time.Microsecond)
}
