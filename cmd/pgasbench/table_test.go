package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var someResults = []result.Result{
	{Bench: "put", Bytes: 8, PEs: 2, Transport: "shm", P50ns: 2.387, MinNs: 2.36, P99ns: 6.004, MBps: 3351.5, Mops: 418.9},
	{Bench: "put", Bytes: 1 << 20, PEs: 2, Transport: "shm", P50ns: 21443, MinNs: 21001, P99ns: 1.21e6, MBps: 48900, Mops: 0.04663},
	{Bench: "signal-pingpong", Bytes: 4 << 20, PEs: 2, Transport: "ucp", P50ns: 2.5e9, MinNs: 999.6, P99ns: 3e9, MBps: 1.7, Mops: 0.0000004},
	{Bench: "barrier", PEs: 16, Transport: "shm", P50ns: 33400, MinNs: 31800, P99ns: 38700, Mops: 0.0299},
	{Bench: "dmcs-contended", Bytes: 8, PEs: 16, Transport: "shm", P50ns: 1712, Mops: 0.5841, WaitP50ns: 24600, P99ns: 58000, MaxNs: 1.62e6, Passed: 31, Least: 18250, Most: 18261},
	{Bench: "idle", PEs: 16, Transport: "shm", RssKB: 12014, PssKB: 2137},
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	o := newOutput(&options{}, true, &out)
	for _, r := range someResults {
		if err := o.add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "table.golden")
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || out.String() != string(want) {
		t.Errorf("%v\ngot\n%swant\n%s(go test -run TestTable -update rewrites it)", err, out.String(), want)
	}
}

func TestOtherPEsPrintNothing(t *testing.T) {
	var out bytes.Buffer
	o := newOutput(&options{json: true, plot: filepath.Join(t.TempDir(), "x.svg")}, false, &out)
	if err := o.add(someResults[0]); err != nil || o.close() != nil || out.Len() != 0 {
		t.Errorf("%v, printed %q", err, out.String())
	}
}

func TestPlot(t *testing.T) {
	dir := t.TempDir()
	var rs []result.Result
	for _, bench := range []string{"put", "get"} {
		for size := 1; size <= 4<<20; size *= 16 {
			rs = append(rs, result.Of(bench, size, 2, "shm", result.NewSeries([]float64{float64(10 + size/4)}, 1), 1))
		}
	}
	for file, magic := range map[string]string{"x.svg": "<?xml", "x.png": "\x89PNG"} {
		path := filepath.Join(dir, file)
		if err := drawPlot(path, rs); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(got, []byte(magic)) {
			t.Errorf("%s: %v, starts with %q", file, err, got[:min(len(got), 8)])
		}
		if file == "x.svg" {
			for _, text := range []string{">put<", ">get<", ">Latency by size<", ">Bandwidth by size<", ">MB/s<", ">64k<"} {
				if !bytes.Contains(got, []byte(text)) {
					t.Errorf("the plot does not show %s", text)
				}
			}
		}
	}
	if err := drawPlot(filepath.Join(dir, "none.svg"), rs[:1]); err == nil || !strings.Contains(err.Error(), "nothing to draw") {
		t.Errorf("one point: %v", err)
	}
	if err := drawPlot(filepath.Join(dir, "no", "such.svg"), rs); err == nil {
		t.Error("a plot in no directory was written")
	}
}

// A short run says nothing; a long one a line every few seconds.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&out, true, 9, func() time.Time { return now })
	for _, step := range []time.Duration{0, quietFor - 1, 1, 1, quietFor} {
		now = now.Add(step)
		p.at("put", 8)
	}
	want := "pgasbench: point 3 of 9, put 8 bytes\npgasbench: point 5 of 9, put 8 bytes\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
