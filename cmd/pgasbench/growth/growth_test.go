package growth

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasbench/compare"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// grown makes a file of results in which every operation takes of(n) ns at n PEs or hosts, and as many bytes.
func grown(t *testing.T, dir string, of func(n float64) float64) []job {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, folder, "growth.jsonl")
	lines := []any{about{Machine: compare.Machine(), CPUs: 2, Peer: "nobody", Commit: "1234567", Date: "today", Short: true}}
	all := short.jobs()
	for _, j := range all {
		one := record{Job: j.name()}
		for _, b := range j.benches {
			for _, size := range j.sizes {
				v := of(float64(j.place.PEs))
				one.Results = append(one.Results, result.Result{Bench: b, Bytes: size, PEs: j.place.PEs, P50ns: v, CPUns: v, WireBytes: v, PssKB: 100})
			}
		}
		lines = append(lines, one)
	}
	for _, line := range lines {
		if err := appendTo(file, line); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestNamesWhatGrows: what grows as P is named, with its reason or without; what grows as log P is not.
func TestNamesWhatGrows(t *testing.T) {
	for name, c := range map[string]struct {
		of       func(n float64) float64
		findings bool
	}{
		"as log P":  {math.Log, false},
		"not":       {func(float64) float64 { return 50 }, false},
		"as P cube": {func(n float64) float64 { return n * n * n }, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			all := grown(t, dir, c.of)
			o, err := Parse([]string{"-o", dir, "-short", "-draw"})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := Main(t.Context(), o, &out, os.Stderr); err != nil {
				t.Fatal(err)
			}
			text := validate(t, dir, all)
			if got := strings.Contains(text, "| P^"); got != c.findings || got == strings.Contains(text, "Nothing does.") {
				t.Errorf("findings %v, want %v:\n%s", got, c.findings, text)
			}
			const known, plain = "each PE receives P blocks: no algorithm sends fewer bytes", "no reason is known: memory"
			if strings.Contains(text, known) != c.findings || strings.Contains(out.String(), plain) {
				t.Errorf("%s\n%s", text, &out)
			}
			if unknown := "no reason is known: time of put against simulated PEs, as P^3.00\n"; strings.Contains(out.String(), unknown) != c.findings {
				t.Errorf("%q is not as it should be in\n%s", unknown, &out)
			}
		})
	}
}

// validate checks that a page has all that it promises: its plots, which are not large, and figures in its tables.
func validate(t *testing.T, dir string, all []job) string {
	t.Helper()
	const mostBytes = 100 << 10
	content, err := os.ReadFile(filepath.Join(dir, page))
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	plots := regexp.MustCompile(`!\[[^]]+\]\(([^)]+\.svg)\)`).FindAllStringSubmatch(text, -1)
	for _, m := range plots {
		plot, err := os.ReadFile(filepath.Join(dir, m[1]))
		if err != nil || !bytes.Contains(plot, []byte("<svg")) || len(plot) > mostBytes {
			t.Errorf("%s: %d bytes, %v", m[1], len(plot), err)
		}
	}
	if least := 6; len(plots) < least {
		t.Errorf("%d plots, and there must be %d: bytes, PEs and simulated PEs are on every machine", len(plots), least)
	}
	for _, head := range []string{"# How cost grows", "| floor | |", "## What grows faster than log P"} {
		if !strings.Contains(text, head) {
			t.Errorf("the page has no %q", head)
		}
	}
	for _, j := range all {
		if j.axis == againstPEs && !regexp.MustCompile(`(?m)^\| PEs( \| \d+)* \| `+regexp.QuoteMeta(result.Digits(float64(j.place.PEs))[:1])).MatchString(text) {
			t.Errorf("no table has a column of %d PEs", j.place.PEs)
		}
	}
	return text
}

// TestShortRun does the whole run, with real programs, in two pieces.
func TestShortRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts programs")
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		o, err := Parse(append([]string{"-o", dir, "-short", "-source", "../../.."}, args...))
		if err != nil {
			t.Fatal(err)
		}
		var out, news bytes.Buffer
		if err := Main(t.Context(), o, &out, &news); err != nil {
			t.Fatalf("%v\n%s", err, &news)
		}
		return out.String()
	}
	first := run("-limit", "1ns")
	if !regexp.MustCompile(`^1 of \d+ jobs are done; the same command goes on\n$`).MatchString(first) {
		t.Errorf("the first piece says %q", first)
	}
	if rest := run(); !strings.Contains(rest, "is drawn from") {
		t.Errorf("the second piece says %q", rest)
	}
	validate(t, dir, short.jobs())
	r, err := read(filepath.Join(dir, folder, "growth.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range short.jobs() {
		one := r.records[j.name()]
		alwaysThere := j.side == ours && j.place.Hosts <= 1
		if len(one.Results) == 0 && (one.Failed == "" || alwaysThere) {
			t.Errorf("%s: no result, %q", j.name(), one.Failed)
		}
		for _, got := range one.Results {
			if got.P50ns <= 0 || j.side == ours && got.PssKB <= 0 {
				t.Errorf("%s: %+v", j.name(), got)
			}
		}
	}
}

// TestPageIsDrawnFromItsResults: the page in docs is what its results give.
func TestPageIsDrawnFromItsResults(t *testing.T) {
	const docs = "../../../docs/figures"
	r, err := read(filepath.Join(docs, folder, "growth.jsonl"))
	if err != nil || len(r.records) == 0 {
		t.Fatalf("the results of docs/figures/%s: %d records, %v", page, len(r.records), err)
	}
	if r.about.CPUs == 0 || r.about.Short {
		t.Errorf("they are of %+v", r.about)
	}
	all := long.jobs()
	for _, j := range all {
		if _, done := r.records[j.name()]; !done {
			t.Errorf("nothing was measured for %s", j.name())
		}
	}
	committed := validate(t, docs, all)
	dir := t.TempDir()
	plots, err := r.plots(dir, all)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := r.text(all, plots); text != committed {
		t.Errorf("docs/figures/%s is not what its results give: pgasbench growth -o docs/figures -draw", page)
	}
}

// open is what grows faster than log P in the results of docs, and nobody knows yet why it grows so fast. The list may
// only become shorter: a cost that is not in it needs a reason.
var open = []string{
	"time of broadcast against PEs",
	"time of sum against PEs",
	"time of barrier against hosts",
	"bytes on the wire of barrier against hosts",
	"bytes on the wire of sum against hosts",
	"time of alltoall against hosts",
	"CPU time of alltoall against hosts",
	"bytes on the wire of alltoall against hosts",
	"time of sum against simulated PEs",
}

// TestGrowthHasReasons: what the page in docs names as growing faster than log P has a reason that explains it, but for
// open.
func TestGrowthHasReasons(t *testing.T) {
	r, err := read(filepath.Join("../../../docs/figures", folder, "growth.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	left := slices.Clone(open)
	for _, f := range r.findings(long.jobs()) {
		what, _, _ := strings.Cut(f.String(), ", as P^")
		i := slices.Index(left, what)
		switch {
		case f.known:
		case i >= 0:
			left = slices.Delete(left, i, i+1)
		default:
			t.Errorf("%s: find out why, and say so in reasons.go (%q explains less)", f, f.reason)
		}
	}
	for _, what := range left {
		t.Errorf("%s has a reason, or does not grow so any more: take it off the list", what)
	}
}

// TestReasonsAreUsed: each reason is of an operation that is measured along its axis.
func TestReasonsAreUsed(t *testing.T) {
	for _, why := range reasons {
		found := slices.ContainsFunc(long.jobs(), func(j job) bool {
			return j.axis == why.axis && j.side == ours && slices.ContainsFunc(j.benches, why.benches.MatchString)
		})
		if !found {
			t.Errorf("no job measures %v against %s", why.benches, why.axis)
		}
	}
}

func TestFasterThanLog(t *testing.T) {
	series := func(of func(x float64) float64) (points []xy) {
		for x := 2.0; x <= 4096; x *= 4 {
			points = append(points, xy{x, of(x)})
		}
		return points
	}
	for name, c := range map[string]struct {
		of       func(x float64) float64
		faster   bool
		exponent float64
	}{
		"log":            {func(x float64) float64 { return 100 * math.Log(x) }, false, 0.3},
		"square of log":  {func(x float64) float64 { return math.Log(x) * math.Log(x) }, true, 0.6},
		"root":           {math.Sqrt, true, 0.5},
		"linear":         {func(x float64) float64 { return x }, true, 1},
		"constant":       {func(float64) float64 { return 7 }, false, 0},
		"linear at last": {func(x float64) float64 { return max(200, x) }, true, 0.3},
	} {
		points := series(c.of)
		if _, got := fasterThanLog(points); got != c.faster {
			t.Errorf("%s: faster %v", name, got)
		}
		if k := exponent(points); math.Abs(k-c.exponent) > 0.12 {
			t.Errorf("%s: exponent %.2f, want %.2f", name, k, c.exponent)
		}
	}
	if _, none := fasterThanLog(nil); none {
		t.Error("no point grows")
	}
	if _, faster := fasterThanLog([]xy{{2, 5}}); faster {
		t.Error("one point grows")
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                "-o is missing",
		"-o x more":       "unexpected argument",
		"-o x -limit -1s": "it is negative: write a time such as 5s",
		"-o x -child 0s":  "give a job some time, such as 40s",
		"-o x -only [":    "not a regular expression",
		"-o x -fast":      "flag provided but not defined",
	} {
		if _, err := Parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// TestRefusesOtherResults: results of another machine, of another kind of run, or that are damaged, are not mixed in.
func TestRefusesOtherResults(t *testing.T) {
	dir := t.TempDir()
	grown(t, dir, math.Log)
	o, err := Parse([]string{"-o", dir, "-draw"})
	if err != nil {
		t.Fatal(err)
	}
	if err := Main(t.Context(), o, os.Stderr, os.Stderr); err == nil || !strings.Contains(err.Error(), "another kind of run (-short)") {
		t.Errorf("got %v", err)
	}
	r := &results{about: about{Machine: "a Cray"}}
	if err := o.introduce(t.Context(), r, new(compare.Launcher)); err == nil || !strings.Contains(err.Error(), "of another machine (a Cray)") {
		t.Errorf("got %v", err)
	}
	f, err := os.OpenFile(o.file(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"job":"half a li`)
	f.Close()
	var syntax *json.SyntaxError
	if _, err := read(o.file()); err == nil || !strings.Contains(err.Error(), "remove the line, and the job is measured again") {
		t.Errorf("got %v (%v)", err, syntax)
	}
}
