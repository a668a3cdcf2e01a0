package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

func TestCompare(t *testing.T) {
	want := map[string]int64{"a": 1, "b": 2, "c": 3}
	for _, c := range []struct {
		name          string
		table         []frequency
		agree, differ int
	}{
		{"same", []frequency{{"c", 3}, {"a", 1}, {"b", 2}}, 3, 0},
		{"lost", []frequency{{"a", 1}, {"b", 2}}, 2, 1},
		{"empty", nil, 0, 3},
		{"invented", []frequency{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 1}}, 3, 1},
		{"wrong", []frequency{{"a", 1}, {"b", 1}, {"c", 3}}, 2, 1},
		{"twice", []frequency{{"a", 1}, {"a", 1}, {"b", 2}, {"c", 3}}, 3, 1},
	} {
		v := compare(c.table, want)
		if v.Agree != c.agree || v.Differ != c.differ || (v.err() == nil) != (c.differ == 0) || len(v.Sample) != c.differ {
			t.Errorf("%s: %+v, error %v; want %d to agree, %d to differ", c.name, v, v.err(), c.agree, c.differ)
		}
	}
}

func TestIncomplete(t *testing.T) {
	for want, r := range map[string]Result{
		"<nil>": {},
		"the count is not complete: 1 file could not be read":                                            {Unreadable: 1},
		"the count is not complete: 2 files could not be read, 1 identifier had more than 8388607 bytes": {Unreadable: 2, Refused: 1},
	} {
		if got := fmt.Sprint(r.incomplete()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestProgress: the sums are shown while they grow, by whole lines in a log and in place on a terminal.
func TestProgress(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
			tallies, err := AllocTally(ctx, w, 1)
			if err != nil {
				return err
			}
			tallies.At(0).Files().Add(0, 3)
			tallies.At(0).Identifiers().Add(0, 99)
			r, out := io.Pipe()
			p := &progress{make(chan struct{}), make(chan struct{})}
			go p.show(out, time.Millisecond, inPlace, tallies.At(0), 7)
			first := make([]byte, 100)
			n, err := r.Read(first)
			if err != nil {
				return err
			}
			go io.Copy(io.Discard, r)
			p.end()
			r.Close()
			if got := string(first[:n]); !strings.Contains(got, "3 of 7 files, 99 identifiers, ") || strings.HasSuffix(got, "\n") == inPlace {
				return fmt.Errorf("in place %v: got %q", inPlace, got)
			}
			return nil
		})
	}
}
