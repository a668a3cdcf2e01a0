package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/ucx"
)

// A scraped is a line of what a job answers: a metric, its labels and its value.
type scraped struct {
	name   string
	labels map[string]string
	value  float64
}

var (
	sampleLine = regexp.MustCompile(`^(\w+)\{(.*)\} (\S+)$`)
	labelOf    = regexp.MustCompile(`(\w+)="([^"]*)"`)
)

// parseMetrics reads the text format of Prometheus, as far as this job's names need it.
func parseMetrics(t *testing.T, text string) (all []scraped) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no sample: %q", line)
		}
		s := scraped{name: m[1], labels: map[string]string{}}
		var err error
		if s.value, err = strconv.ParseFloat(m[3], 64); err != nil {
			t.Fatal(err)
		}
		for _, l := range labelOf.FindAllStringSubmatch(m[2], -1) {
			s.labels[l[1]] = l[2]
		}
		all = append(all, s)
	}
	return all
}

// scrape waits until a job has metrics that hold.
func scrape(t *testing.T, r *running, holds func([]scraped) bool) {
	t.Helper()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	var text []byte
	for limit.Err() == nil {
		if url := regexp.MustCompile(`http://\S+`).FindString(r.stderr.String()); url != "" {
			resp, err := http.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			text, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			if holds(parseMetrics(t, string(text))) {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s\n%s", &r.stderr, text)
}

// sumOf adds up a metric, where a label has the given value, or everywhere if that is "", and lists the PEs that have
// it.
func sumOf(all []scraped, name, label string) (sum float64, pes []string) {
	for _, s := range all {
		if s.name != name {
			continue
		}
		has := label == ""
		for _, v := range s.labels {
			has = has || v == label
		}
		if has {
			sum += s.value
		}
		pes = append(pes, s.labels["pe"])
	}
	return sum, pes
}

// TestMetrics: while a job runs, one address has what all of its PEs have counted, on this host and on others.
func TestMetrics(t *testing.T) {
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			if name != "local" && !ucx.Available {
				t.Skip("PEs on two hosts, which need cgo")
			}
			stdin, more, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer more.Close()
			r := launchJob(t, stdin, slices.Concat(place, []string{"-metrics", ":0", "./testdata/counted", "input"})...)
			stdin.Close()
			const pes = 3
			scrape(t, r, func(all []scraped) bool {
				puts, _ := sumOf(all, "pgas_operations_total", "put")
				running, who := sumOf(all, "pgas_running", "")
				blocked, _ := sumOf(all, "pgas_blocked_now_seconds", "barrier")
				return puts == 7*pes && running == pes && slices.Equal(who, []string{"0", "1", "2"}) && blocked > 0
			})
			more.Close()
			if status, _ := r.end(); status != 0 {
				t.Errorf("status %d: %s", status, &r.stderr)
			}
		})
	}
}

// TestMetricsAddress: without an address to serve at, the job runs all the same, and one line says why.
func TestMetricsAddress(t *testing.T) {
	for addr, why := range map[string]string{"nowhere": "give a port", "203.0.113.1:1": "give another address"} {
		r := launchJob(t, nil, "-n", "1", "-metrics", addr, "./testdata/counted")
		status, _ := r.end()
		if text := r.stderr.String(); status != 0 || !strings.Contains(text, why) || !strings.HasSuffix(text, "; the job runs without\n") || strings.Count(text, "\n") != 1 {
			t.Errorf("status %d: %s", status, text)
		}
	}
}

// TestAwaited: a metric names no PE as waited for that has arrived where others wait.
func TestAwaited(t *testing.T) {
	in := func(pe int, op boot.BlockedOp, on int, seq uint64) launch.PEState {
		return launch.PEState{PE: pe, Known: true, Op: op, For: on, Seq: seq}
	}
	pes := []launch.PEState{in(0, boot.InBarrier, 0, 4), in(1, boot.InBarrier, 0, 4), in(2, boot.InBarrier, 0, 5), in(3, boot.InBarrier, 6, 4), in(4, boot.InLock, 5, 64), in(5, boot.InLock, 4, 64), in(6, boot.NotBlocked, -1, 0), in(7, boot.InGet, 1<<20, 0), in(8, boot.InGet, 9, 0), in(9, boot.InGet, 8, 0)}
	for pe, want := range []int{-1, -1, 0, 6, 5, 4, -1, -1, 9, 8} {
		if got := awaited(&pes[pe], pes); got != want {
			t.Errorf("PE %d waits for PE %d, want %d", pe, got, want)
		}
	}
}
