package main

// The report, printed by PE 0.

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/source"
)

// Result is the result of a run, as -json prints it.
type Result struct {
	PEs         int                `json:"pes"`
	Hosts       int                `json:"hosts"`
	Files       int64              `json:"files"`
	Unreadable  int64              `json:"unreadable"`
	Malformed   int64              `json:"malformed"`
	Bytes       int64              `json:"bytes"`
	Identifiers int64              `json:"identifiers"`
	Distinct    int64              `json:"distinct"`
	Digest      string             `json:"digest"`    // of all identifiers with their counts
	Inserts     int64              `json:"inserts"`   // counts added to the map: one for each identifier of a PE
	Seconds     float64            `json:"seconds"`   // reading, counting and adding
	MapShare    float64            `json:"map_share"` // of that time: the wait for the slowest PE included
	Top         []source.Frequency `json:"top"`
	Verified    *source.Verdict    `json:"verified,omitempty"`
}

// summarize adds up what all PEs have done, finds the most frequent identifiers, and compares all with a sequential
// count if it is asked to. It is collective; only PE 0's result means anything.
func summarize(ctx context.Context, c *counter, took time.Duration, verify bool) (*Result, error) {
	var mine []source.Frequency
	var digest uint64
	for name, n := range c.counts.Local() {
		mine = append(mine, source.Frequency{Name: name, Count: n})
		digest += hash(name) * uint64(n)
	}
	distinct, err := pgas.SumValue(ctx, c.w.Team(), len(mine))
	if err != nil {
		return nil, err
	}
	if digest, err = pgas.SumValue(ctx, c.w.Team(), digest); err != nil {
		return nil, err
	}
	sum, err := pgas.Reduce1(ctx, c.w.Team(), c.done, totals.plus)
	if err != nil {
		return nil, err
	}
	r := &Result{
		PEs: c.w.NPEs(), Hosts: len(c.w.Hosts()), Distinct: int64(distinct), Digest: fmt.Sprintf("%016x", digest), Seconds: took.Seconds(),
		Files: sum.Files, Unreadable: sum.Unreadable, Malformed: sum.Malformed, Bytes: sum.Bytes, Identifiers: sum.Identifiers, Inserts: sum.Inserts,
	}
	r.MapShare = float64(sum.MapNS) / 1e9 / float64(r.PEs) / r.Seconds
	all := source.Encode(mine)
	tops, err := pgas.Gather(ctx, c.w.Team(), source.Encode(source.MostFrequent(mine)), 0)
	if err != nil {
		return nil, err
	}
	r.Top = source.MostFrequent(source.AllFrequencies(tops))
	if verify {
		lists, err := pgas.Gather(ctx, c.w.Team(), all, 0)
		if err != nil || c.w.PE() != 0 {
			return r, err
		}
		r.Verified, err = source.Verify(ctx, c.root, math.MaxInt, lists)
		return r, err
	}
	return r, nil
}

// hash is FNV-1a, which does not change from run to run.
func hash(name string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, name)
	return h.Sum64()
}

// publish prints the result; it fails if it is not complete or not verified.
func publish(out io.Writer, r *Result, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(out).Encode(r); err != nil {
			return err
		}
	} else {
		r.print(out)
	}
	if r.Verified != nil {
		if err := r.Verified.Err(); err != nil {
			return err
		}
	}
	if r.Unreadable > 0 {
		return fmt.Errorf("the count is not complete: %d file%s could not be read", r.Unreadable, plural(r.Unreadable))
	}
	return nil
}

// print prints r as text.
func (r *Result) print(out io.Writer) {
	for _, f := range r.Top {
		fmt.Fprintf(out, "%10d  %s\n", f.Count, f.Name)
	}
	fmt.Fprintf(out, "%d identifier%s, %d of them different, in %d file%s (%.1f MB)\n", r.Identifiers, plural(r.Identifiers), r.Distinct, r.Files, plural(r.Files), float64(r.Bytes)/1e6)
	fmt.Fprintf(out, "%d PE%s on %d host%s took %.2f s, %.0f%% of it in the map, to which they added %d counts\n", r.PEs, plural(int64(r.PEs)), r.Hosts, plural(int64(r.Hosts)), r.Seconds, 100*r.MapShare, r.Inserts)
	if r.Verified != nil {
		r.Verified.Print(out, r.Seconds)
	}
	if r.Malformed > 0 {
		fmt.Fprintf(out, "%d file%s not well-formed Go, and counted all the same\n", r.Malformed, map[bool]string{true: " is", false: "s are"}[r.Malformed == 1])
	}
}

func plural(n int64) string {
	if n == 1 {
		return ""
	}
	return "s"
}
