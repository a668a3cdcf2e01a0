package benchmark

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
)

func program() *Program {
	return &Program{Name: "xy", Help: "xy is a program.", Classes: []string{"S", "W"}, Versions: []Version{
		{Name: Sequential, Help: "in order", Alone: func(context.Context, Setup) (Result, error) { return Result{}, nil }},
		{Name: Coherent, Help: "together", Job: func(context.Context, *pgas.World, Setup) (Result, error) { return Result{}, nil }},
	}}
}

func TestFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":                            "",
		"-version dsm -class W":       "",
		"-goroutines 3":               "",
		"-version mpi":                `-version "mpi": there are seq, dsm`,
		"-protocol fixed-home":        "",
		"-protocol mesi":              "there are floating, fixed-home, directory, classified, uncached",
		"-class Z":                    `-class "Z": there are S, W`,
		"-goroutines -1":              "-goroutines -1: give a positive number",
		"-speed":                      "-h lists the flags",
		"S":                           `unexpected argument "S"`,
		"-class W -version seq extra": `unexpected argument "extra"`,
	} {
		_, help, err := program().parse(strings.Fields(args))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if help != "" || (want == "") != (got == "") || !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q: error %q, help %q; want an error with %q in one line", args, got, help, want)
		}
	}
	_, help, err := program().parse([]string{"-h"})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"xy is a program.", "in order", "together", "-class class", "pgasrun -n 2 xy -version dsm"} {
		if !strings.Contains(help, part) {
			t.Errorf("the help lacks %q:\n%s", part, help)
		}
	}
}

func TestVerified(t *testing.T) {
	for name, c := range map[string]struct {
		checks []Check
		want   bool
	}{
		"none":        {nil, false},
		"equal":       {[]Check{{"x", 3, 3, 0}}, true},
		"near":        {[]Check{{"x", 3 + 1e-9, 3, 1e-8}}, true},
		"far":         {[]Check{{"x", 3 + 1e-7, 3, 1e-8}}, false},
		"one of two":  {[]Check{{"x", 3, 3, 0}, {"y", 4, 3, 0}}, false},
		"not numbers": {[]Check{{"x", math.NaN(), 3, 1e-8}}, false},
		"about zero":  {[]Check{{"x", 1e-9, 0, 1e-8}}, true},
	} {
		if got := (Result{Checks: c.checks}).Verified(); got != c.want {
			t.Errorf("%s: Verified is %v, want %v", name, got, c.want)
		}
	}
}

// TestReport: the report says what is wrong, and the status of the process follows it.
func TestReport(t *testing.T) {
	right := Result{Checks: []Check{{"x", 3, 3, 1e-8}}, Elapsed: 2 * time.Second, Operations: 4e6}
	wrong := Result{Checks: []Check{{"x", 4, 3, 1e-8}}, Elapsed: 2 * time.Second, Operations: 4e6}
	pages := right
	pages.Memory, pages.Counters = "mode paged", dsm.Stats{Gets: 7, BytesFetched: 1500000, Moves: 8, FastReleases: 9}
	for _, c := range []struct {
		r      Result
		status int
		parts  []string
	}{
		{right, 0, []string{"xy class W (seq)", "verified yes", "2.0000 s", "2.00 Mop/s"}},
		{pages, 0, []string{"mode paged", "1.500 MB by 7 gets", "8 blocks by messages, 9 without", "verified yes"}},
		{wrong, statusFailed, []string{"WRONG: the greatest error allowed is 1e-08", "verified NO"}},
	} {
		var b strings.Builder
		if got := c.r.report(&b, program(), "seq", "W"); got != c.status {
			t.Errorf("status %d, want %d", got, c.status)
		}
		for _, part := range c.parts {
			if !strings.Contains(b.String(), part) {
				t.Errorf("the report lacks %q:\n%s", part, b.String())
			}
		}
	}
}
