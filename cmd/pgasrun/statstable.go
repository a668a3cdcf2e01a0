package main

// The table of -stats: a row for each PE, and what all of them have done, in as many lines for any number of PEs.

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/stats"
)

// What the table shows of a large job; the object has all.
const (
	mostRows  = 32
	mostPairs = 5
	mostWaits = 3
)

func (s *jobStats) table(to io.Writer, npes int) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "pgasrun: %s, %v, %v of CPU time; %s of the PEs' time is blocked\n", plural.Count(npes, "PE"), shortTime(s.Elapsed), shortTime(s.CPU), percent(s.Blocked))
	fmt.Fprintf(w, "%7s %9s %9s %10s %10s %8s %10s %8s  %s\n", "PE", "time", "CPU", "memory", "heap", "ops", "bytes", "blocked", "in")
	rows := s.rows()
	for i := range rows {
		rows[i].write(w)
	}
	if len(rows) < s.PEs {
		fmt.Fprintf(w, "of %s, the %d that were blocked least and most; -stats=json has all\n", plural.Count(s.PEs, "PE"), len(rows))
	}
	if missing := npes - s.PEs; missing > 0 {
		fmt.Fprintf(w, "of %d more there are no statistics: their agents were lost\n", missing)
	}
	s.writeTimes(w)
	s.writeCounts(w)
	return w.Flush()
}

// rows returns the PEs that the table shows, in their order.
func (s *jobStats) rows() []peStats {
	if len(s.Each) <= mostRows {
		return s.Each
	}
	rows := slices.Clone(s.Each)
	slices.SortStableFunc(rows, func(a, b peStats) int {
		return cmp.Compare(share(a.blocked(), a.Elapsed), share(b.blocked(), b.Elapsed))
	})
	rows = append(rows[:mostRows/2:mostRows/2], rows[len(rows)-mostRows/2:]...)
	slices.SortFunc(rows, func(a, b peStats) int { return cmp.Compare(a.PE, b.PE) })
	return rows
}

// write writes the row of p.
func (p *peStats) write(w io.Writer) {
	heap, ops, moved := "-", "-", "-"
	if p.Counts != nil {
		t := p.Counts.Total()
		heap, ops, moved = bytesOf(p.Counts.Heap.High), number(t.Operations), bytesOf(t.Bytes)
	}
	fmt.Fprintf(w, "%7d %9v %9v %10s %10s %8s %10s %8s  %s\n", p.PE, shortTime(p.Elapsed), shortTime(p.CPU), bytesOf(p.Memory), heap, ops, moved, percent(share(p.blocked(), p.Elapsed)), waitsOf(p))
}

// writeTimes writes what the job was blocked in, its imbalance, and the longest waits of one PE for another.
func (s *jobStats) writeTimes(w io.Writer) {
	var all time.Duration
	for _, p := range s.Each {
		all += p.Elapsed
	}
	writeList(w, "by cause", s.causes(all))
	if s.Busiest >= 0 && s.PEs > 1 {
		fmt.Fprintf(w, "imbalance: PE %d is busy %.2f times as long as the mean PE\n", s.Busiest, s.Imbalance)
	}
	var pairs []string
	for _, p := range s.Pairs[:min(len(s.Pairs), mostPairs)] {
		if p.Time >= time.Millisecond {
			pairs = append(pairs, fmt.Sprintf("PE %d for PE %d %v", p.PE, p.For, shortTime(p.Time)))
		}
	}
	writeList(w, "longest waits", pairs)
	s.writeArrivals(w)
}

// collectives are the names of the waits for all members of a team, as agents see them.
var collectives = []string{boot.InBarrier.String(), boot.InCollective.String(), boot.InClose.String()}

// writeArrivals writes which PE waits least in collectives, if all others wait longer by much: it is the one that
// arrives last, unless it takes part in fewer.
func (s *jobStats) writeArrivals(w io.Writer) {
	type arrival struct {
		pe   int
		time time.Duration
	}
	var all []arrival
	for _, p := range s.Each {
		a := arrival{pe: p.PE}
		for _, wait := range p.Waits {
			if slices.Contains(collectives, wait.In) {
				a.time += wait.Time
			}
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.pe, b.pe)) })
	if len(all) < 2 || all[1].time < 2*all[0].time+10*time.Millisecond {
		return
	}
	least, most := shortTime(all[1].time).String(), shortTime(all[len(all)-1].time).String()
	if least != most {
		least += " to " + most
	}
	fmt.Fprintf(w, "in collectives: PE %d waits least, %v, and the others %s\n", all[0].pe, shortTime(all[0].time), least)
}

// writeCounts writes what PEs have counted.
func (s *jobStats) writeCounts(w io.Writer) {
	var kinds, pairs, locks []string
	for _, kind := range stats.KindNames() {
		if t, any := s.Kinds[kind]; any {
			kinds = append(kinds, fmt.Sprintf("%s %s of %s", number(t.Operations), kind, bytesOf(t.Bytes)))
		}
	}
	writeList(w, "operations", kinds)
	for _, f := range s.Traffic[:min(len(s.Traffic), mostPairs)] {
		pairs = append(pairs, fmt.Sprintf("PE %d to PE %d %s in %s", f.PE, f.To, bytesOf(f.Bytes), number(f.Operations)))
	}
	writeList(w, "most bytes", pairs)
	if m := s.Messages; m.Sent > 0 {
		fmt.Fprintf(w, "messages to other hosts: %s, each of %s and %.1f operations in the mean\n", number(m.Sent), bytesOf(uint64(m.MeanBytes())), m.MeanOperations())
	}
	if l := s.Locks; l.Alone+l.Waited > 0 {
		locks = append(locks, number(l.Alone)+" found free", number(l.Waited)+" waited for")
		for _, h := range l.HandOvers {
			locks = append(locks, fmt.Sprintf("%s from another PE of the %s", number(h.Count), h.Level))
		}
	}
	writeList(w, "locks", locks)
	if n := s.Notes; n.Matched > 0 {
		fmt.Fprintf(w, "notifications: %s, of which %s unexpected\n", number(n.Matched), number(n.Unexpected))
	}
	if c := s.Coherent; c != (stats.Coherent{}) {
		fmt.Fprintf(w, "coherent memory: %s page faults, %s pages or blocks fetched, %s released\n", number(c.Faults), number(c.Fetched), number(c.Released))
	}
}

// writeList writes a line, unless the list is empty.
func writeList(w io.Writer, what string, list []string) {
	if len(list) > 0 {
		fmt.Fprintf(w, "%s: %s\n", what, strings.Join(list, ", "))
	}
}

// mostCauses bounds a line: a program may give its waits any number of names.
const mostCauses = 12

// causes lists what PEs were blocked in, the longest first, as shares of all.
func (s *jobStats) causes(all time.Duration) (parts []string) {
	names := slices.SortedFunc(maps.Keys(s.ByCause), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.ByCause[b], s.ByCause[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), mostCauses)] {
		parts = append(parts, name+" "+percent(share(s.ByCause[name], all)))
	}
	if more := len(names) - mostCauses; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return parts
}

// waitsOf lists the longest waits of a PE.
func waitsOf(p *peStats) string {
	var parts []string
	waits := p.waits()
	for _, w := range waits[:min(len(waits), mostWaits)] {
		part := w.In
		if w.For >= 0 {
			part += fmt.Sprintf(" for PE %d", w.For)
		}
		parts = append(parts, part+" "+percent(share(w.Time, p.Elapsed)))
	}
	if more := len(waits) - mostWaits; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// bytesOf writes a number of bytes with three digits or four.
func bytesOf(n uint64) string { return scaled(n, "B", "kB", "MB", "GB", "TB", "PB", "EB") }

// number writes a count in the same way.
func number(n uint64) string {
	return strings.TrimSuffix(scaled(n, "", "k", "M", "G", "T", "P", "E"), " ")
}

func scaled(n uint64, units ...string) string {
	if n < 1000 {
		return fmt.Sprintf("%d %s", n, units[0])
	}
	v, i := float64(n), 0
	for v >= 999.5 {
		v, i = v/1000, i+1
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

func shortTime(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond)
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(100 * time.Microsecond)
}
