// Package result is what a benchmark says: how operations are timed, the statistics of the samples, and
// the line of JSON that pgasbench and the programs of tests/peers print alike.
package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Result is one point: one operation at one size. Times are of one operation; a ping-pong counts one
// way.
type Result struct {
	Bench     string  `json:"bench"`
	Bytes     int     `json:"bytes"`
	PEs       int     `json:"pes"`
	Transport string  `json:"transport"`
	Beside    int     `json:"beside,omitempty"` // programs that computed on the host of PE 0 meanwhile
	P50ns     float64 `json:"p50_ns"`
	MinNs     float64 `json:"min_ns"`
	// if PEs compete: the 99th percentile for the PE that waited longest
	P99ns    float64 `json:"p99_ns"`
	MBps     float64 `json:"mbps"`               // 10^6 bytes a second, at the median
	Mops     float64 `json:"mops"`               // 10^6 operations a second, at the median
	RssKB    float64 `json:"rss_kb,omitempty"`   // resident memory of a PE, for the bench "idle" and with -costs
	PssKB    float64 `json:"pss_kb,omitempty"`   // the same memory, shared pages divided by their sharers
	CPUns    float64 `json:"cpu_ns,omitempty"`   // with -costs: CPU time of all PEs, for one operation
	Switches float64 `json:"switches,omitempty"` // with -costs: context switches of all PEs, for one operation
	// with -costs: bytes that all hosts send to each other, for one operation
	WireBytes float64 `json:"wire_bytes,omitempty"`

	Computed string `json:"computed,omitempty"` // what a program has computed, in the same words on both sides

	// Of what PEs compete for:

	// the median wait, from request to acquisition, of the PE that waited longest
	WaitP50ns float64 `json:"wait_p50_ns,omitempty"`
	MaxNs     float64 `json:"max_ns,omitempty"` // the longest wait of that PE
	// the most turns that others had between two turns of a PE, or before its first
	Passed int `json:"passed,omitempty"`
	Least  int `json:"least,omitempty"` // turns of the PE that had the fewest
	Most   int `json:"most,omitempty"`  // turns of the PE that had the most
}

// Of makes a Result of samples. ways is how many of what Bench counts one sample holds: 2 for a
// ping-pong.
func Of(bench string, size, pes int, transport string, s Series, ways float64) Result {
	p50 := s.Quantile(0.5) / ways
	return Result{
		Bench: bench, Bytes: size, PEs: pes, Transport: transport,
		P50ns: p50, MinNs: s.Min() / ways, P99ns: s.Quantile(0.99) / ways,
		MBps: float64(size) * 1e3 / p50, Mops: 1e3 / p50,
	}
}

// Write prints r as one line of JSON.
func (r Result) Write(w io.Writer) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("writing a result: %w", err)
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// Read reads all results in text. Lines that are not JSON objects (what a launcher says beside them)
// are passed over; an object with an unknown field is an error.
func Read(text []byte) ([]Result, error) {
	var all []Result
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		var r Result
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("line %d is not a result: %w", n, err)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	return all, nil
}
