package collector_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"

	"github.com/gopgas/gopgas/pgas/metrics"
	"github.com/gopgas/gopgas/pgas/metrics/collector"
	"github.com/gopgas/gopgas/pgas/stats"
)

// source is a PE that has counted. Its names have what the text format escapes, and bytes that are no UTF-8.
type source struct{ s stats.PE }

func (s source) PE() int         { return s.s.PE }
func (s source) Host() string    { return "node \"\\\n-\xff7" }
func (s source) Stats() stats.PE { return s.s }

var counted = source{stats.PE{
	PE: 3, Recorded: true, Heap: stats.Heap{InUse: 64, High: 1 << 40},
	Kinds:    map[string]stats.Traffic{"put": {Operations: 7, Bytes: 1<<53 - 1}},
	Peers:    []stats.Peer{{PE: 1, Kinds: map[string]stats.Traffic{"put": {Operations: 7, Bytes: 56}}, Blocked: 1500 * time.Millisecond}},
	Messages: stats.Messages{Sent: 2, Bytes: 90, Operations: 7},
	Blocked:  map[string]stats.Wait{"barrier": {Count: 4, Time: 250 * time.Microsecond}, "a\xfe\n": {Count: 1}, "a\xfd\n": {Count: 2}},
	Locks:    stats.Locks{Alone: 5, Waited: 6, HandOvers: []stats.HandOver{{Level: "host", Count: 6}}},
	Notes:    stats.Notes{Matched: 9, Unexpected: 8},
	Coherent: stats.Coherent{Faults: 10, Fetched: 11, Released: 12},
}}

// kinds are metrics of each sort: of a PE, of one that counts nothing, of a job.
var kinds = map[string]metrics.Metrics{
	"one PE":       metrics.Of(counted),
	"not recorded": metrics.Of(source{stats.PE{PE: 1, Heap: stats.Heap{InUse: 1}}}),
	"job": metrics.Job(func() []metrics.PE {
		second := counted.s
		second.PE = 4
		return []metrics.PE{
			{Host: "a", PE: counted.s, Process: &metrics.Process{Running: true, CPU: time.Second, BlockedIn: "lock", BlockedFor: 4, Blocked: time.Minute}},
			{Host: "b", PE: second, Process: &metrics.Process{}},
		}
	}),
	"no PE": metrics.Job(func() []metrics.PE { return nil }),
}

// TestTwins: what package metrics writes is what the client of Prometheus makes of the same samples, and names and
// texts are as Prometheus asks for.
func TestTwins(t *testing.T) {
	for name, m := range kinds {
		t.Run(name, func(t *testing.T) {
			r := prometheus.NewPedanticRegistry()
			r.MustRegister(collector.New(m))
			if problems, err := testutil.GatherAndLint(r); err != nil || len(problems) > 0 {
				t.Fatalf("%v, %+v", err, problems)
			}
			var text strings.Builder
			if err := m.WriteText(&text); err != nil {
				t.Fatal(err)
			}
			if err := testutil.GatherAndCompare(r, strings.NewReader(text.String())); err != nil {
				t.Error(err)
			}
			if problems, err := promlint.New(strings.NewReader(text.String())).Lint(); err != nil || len(problems) > 0 {
				t.Errorf("%v, %+v in\n%s", err, problems, &text)
			}
		})
	}
}

// TestContentType: a reader of Prometheus knows the format of an answer by its header.
func TestContentType(t *testing.T) {
	answer := httptest.NewRecorder()
	metrics.Handler(counted).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if f := expfmt.ResponseFormat(answer.Header()); f.FormatType() != expfmt.TypeTextPlain {
		t.Errorf("%q is of type %v", answer.Header().Get("Content-Type"), f.FormatType())
	}
}
