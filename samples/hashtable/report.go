package main

// The report, printed by PE 0.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/source"
)

// Result is the result of a run, as -json prints it.
type Result struct {
	PEs         int   `json:"pes"`
	Hosts       int   `json:"hosts"`
	Files       int64 `json:"files"`
	Unreadable  int64 `json:"unreadable"`
	Malformed   int64 `json:"malformed"`
	Refused     int64 `json:"refused"`
	Bytes       int64 `json:"bytes"`
	Identifiers int64 `json:"identifiers"`
	Distinct    int64 `json:"distinct"`
	// counts added to the table: one for each identifier of a batch
	Inserts    int64              `json:"inserts"`
	Entries    int64              `json:"entries"`             // inserts that made an entry
	Seconds    float64            `json:"seconds"`             // reading, counting and inserting
	InsertRate float64            `json:"inserts_per_s"`       // of all PEs, over that time
	TableShare float64            `json:"table_share"`         // of that time
	TableRate  float64            `json:"table_inserts_per_s"` // of all PEs, over that share
	Growths    uint64             `json:"growths"`             // times the table was made larger
	Slots      int                `json:"slots"`               // of each PE, at the end
	Top        []source.Frequency `json:"top"`
	Verified   *source.Verdict    `json:"verified,omitempty"`
}

// summarize fills in the sums, the distinct identifiers and the most frequent ones. It is collective;
// only PE 0's result means anything.
func summarize(ctx context.Context, c *counter, took time.Duration) (*Result, error) {
	top, distinct := ownTop(c.table)
	distinct, err := pgas.SumValue(ctx, c.w.Team(), distinct)
	if err != nil {
		return nil, err
	}
	lists, err := pgas.Gather(ctx, c.w.Team(), source.Encode(top), 0)
	if err != nil {
		return nil, err
	}
	r := sums(c, took)
	r.Distinct = distinct
	r.Top = source.MostFrequent(source.AllFrequencies(lists))
	return r, nil
}

func sums(c *counter, took time.Duration) *Result {
	t := c.tally
	r := &Result{
		PEs: c.w.NPEs(), Hosts: len(c.w.Hosts()),
		Files: t.Files().Fetch(0), Unreadable: t.Unreadable().Fetch(0), Malformed: t.Malformed().Fetch(0), Refused: t.Refused().Fetch(0),
		Bytes: t.Bytes().Fetch(0), Identifiers: t.Identifiers().Fetch(0),
		Inserts: t.Inserts().Fetch(0), Entries: t.Entries().Fetch(0),
		Seconds: took.Seconds(), Growths: c.grown, Slots: c.table.slots,
	}
	r.InsertRate = float64(r.Inserts) / r.Seconds
	inTable := float64(max(1, t.MergeNS().Fetch(0))) / 1e9 / float64(r.PEs)
	r.TableShare = inTable / r.Seconds
	r.TableRate = float64(r.Inserts) / inTable
	return r
}

// ownTop returns the most frequent identifiers of this PE's volume, and how many identifiers it holds.
func ownTop(t *table) (top []source.Frequency, distinct int64) {
	var last source.Frequency // of the best so far, once there are enough
	t.own(func(_ uint64, name string, n int64) {
		distinct++
		f := source.Frequency{Name: name, Count: n}
		if last.Count > 0 && source.MoreFrequent(f, last) > 0 {
			return
		}
		if top = append(top, f); len(top) == 8*source.TopMost {
			top = source.MostFrequent(top)
			last = top[source.TopMost-1]
		}
	})
	return source.MostFrequent(top), distinct
}

// printJSON prints r as one object on one line.
func printJSON(out io.Writer, r *Result) error { return json.NewEncoder(out).Encode(r) }

// printText prints r as text.
func printText(out io.Writer, r *Result) {
	for _, f := range r.Top {
		fmt.Fprintf(out, "%10d  %s\n", f.Count, f.Name)
	}
	fmt.Fprintf(out, "%d identifier%s, %d of them different, in %d file%s (%.1f MB)\n", r.Identifiers, plural(r.Identifiers), r.Distinct, r.Files, plural(r.Files), float64(r.Bytes)/1e6)
	fmt.Fprintf(out, "%d PE%s on %d host%s took %.2f s, %.0f%% of it in the table\n", r.PEs, plural(int64(r.PEs)), r.Hosts, plural(int64(r.Hosts)), r.Seconds, 100*r.TableShare)
	fmt.Fprintf(out, "%d inserts, %d of them new: %.2f million inserts/s over the whole time, %.1f million inserts/s of that in the table\n", r.Inserts, r.Entries, r.InsertRate/1e6, r.TableRate/1e6)
	if r.Growths > 0 {
		fmt.Fprintf(out, "the table grew %d time%s, to %d slots per PE (-table %d saves that)\n", r.Growths, plural(int64(r.Growths)), r.Slots, r.Slots)
	}
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

// incomplete returns an error that says what was not counted, or nil.
func (r *Result) incomplete() error {
	var what []string
	if n := r.Unreadable; n > 0 {
		what = append(what, fmt.Sprintf("%d file%s could not be read", n, plural(n)))
	}
	if n := r.Refused; n > 0 {
		what = append(what, fmt.Sprintf("%d identifier%s had more than %d bytes", n, plural(n), longMax))
	}
	if what == nil {
		return nil
	}
	return fmt.Errorf("the count is not complete: %s", strings.Join(what, ", "))
}

// verify compares the table with a sequential count. It is collective; the verdict is PE 0's.
func verify(ctx context.Context, c *counter) (*source.Verdict, error) {
	var mine []byte
	c.table.own(func(_ uint64, name string, n int64) {
		mine = source.AppendFrequency(mine, source.Frequency{Name: name, Count: n})
	})
	lists, err := pgas.Gather(ctx, c.w.Team(), mine, 0)
	if err != nil || c.w.PE() != 0 {
		return nil, err
	}
	return source.Verify(ctx, c.root, longMax, lists)
}
