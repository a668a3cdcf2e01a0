package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/ucx"
)

// scrape returns the metrics of a job, when it has any that hold.
func scrape(t *testing.T, r *running, holds func(map[string]*dto.MetricFamily) bool) (text string) {
	t.Helper()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	for limit.Err() == nil {
		if url := regexp.MustCompile(`http://\S+`).FindString(r.stderr.String()); url != "" {
			resp, err := http.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			p := expfmt.NewTextParser(model.UTF8Validation)
			families, parseErr := p.TextToMetricFamilies(strings.NewReader(string(b)))
			if err != nil || parseErr != nil {
				t.Fatalf("%v, %v: %s", err, parseErr, b)
			}
			if text = string(b); holds(families) {
				return text
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s\n%s", &r.stderr, text)
	return ""
}

// sumOf adds up a metric, where it has the given label or any if that is "".
func sumOf(f *dto.MetricFamily, label string) (sum float64, pes []string) {
	for _, m := range f.GetMetric() {
		has := label == ""
		for _, l := range m.GetLabel() {
			has = has || l.GetValue() == label
			if l.GetName() == "pe" {
				pes = append(pes, l.GetValue())
			}
		}
		if has {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
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
			text := scrape(t, r, func(f map[string]*dto.MetricFamily) bool {
				puts, _ := sumOf(f["pgas_operations_total"], "put")
				running, who := sumOf(f["pgas_running"], "")
				blocked, _ := sumOf(f["pgas_blocked_now_seconds"], "barrier")
				return puts == 7*pes && running == pes && slices.Equal(who, []string{"0", "1", "2"}) && blocked > 0
			})
			if problems, err := promlint.New(strings.NewReader(text)).Lint(); err != nil || len(problems) > 0 {
				t.Errorf("%v, %+v", err, problems)
			}
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
