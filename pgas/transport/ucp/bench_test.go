//go:build cgo

package ucp

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// roles are what child processes can be.
var roles = map[string]role{
	"bench origin": benchOrigin,
	"bench target": benchTarget,
}

// Where things are in the heaps of the benchmark.
const (
	doneOff  = 64 << 10
	pingOff  = doneOff + 64
	countOff = doneOff + 128
	dataOff  = 128 << 10
)

// bench is one thing that is measured: run does it n times.
type bench struct {
	name  string
	n     int
	bytes int // of one, for bandwidth; 0 for latency
	run   func(ctx context.Context, c transport.Channel, t *Transport, buf []byte, n int) error
}

var benches = []bench{
	{"put+quiet 8", 5000, 0, putQuiet},
	{"get 8", 5000, 0, get},
	{"fetch-add", 5000, 0, fetchAdd},
	{"put 8 nb", 200000, 1, putMany},
	{"put 8 nb", 200000, 1, putMany},
	{"put 64K", 2000, 64 << 10, putMany},
	{"put 1M", 300, 1 << 20, putMany},
	{"get 1M", 300, 1 << 20, getMany},
	{"put+quiet 8K", 2000, 0, putQuiet},
	{"get 8K", 2000, 0, get},
	{"get 8 nb", 100000, 1, getMany},
	{"signal pp", 20000, -1, pingPong},
}

func putQuiet(ctx context.Context, c transport.Channel, _ *Transport, buf []byte, _ int) error {
	c.Put(1, dataOff, buf)
	return c.Quiet(ctx, 1)
}

func get(ctx context.Context, c transport.Channel, _ *Transport, buf []byte, _ int) error {
	return c.Get(ctx, 1, buf, dataOff)
}

func fetchAdd(ctx context.Context, c transport.Channel, _ *Transport, _ []byte, _ int) error {
	_, err := c.Atomic(ctx, 1, transport.Add, transport.Word{Off: countOff, Bytes: 8}, 1, 0)
	return err
}

func putMany(ctx context.Context, c transport.Channel, _ *Transport, buf []byte, n int) error {
	for range n {
		c.Put(1, dataOff, buf)
	}
	return c.Quiet(ctx, 1)
}

func getMany(ctx context.Context, c transport.Channel, _ *Transport, buf []byte, n int) error {
	for range n {
		c.GetNB(1, buf, dataOff)
	}
	return c.Quiet(ctx, 1)
}

func pingPong(ctx context.Context, c transport.Channel, t *Transport, buf []byte, n int) error {
	c.PutSignal(1, dataOff, buf, pingOff, transport.Set, uint64(n))
	return waitFor(ctx, t, pingOff, uint64(n))
}

func waitFor(ctx context.Context, t *Transport, off, value uint64) error {
	for !t.WaitWord(transport.Word{Off: off, Bytes: 8}, transport.GE, value, false, time.Millisecond) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func measure(ctx context.Context, b bench, c transport.Channel, t *Transport, signals *int) (string, error) {
	size := 8
	if b.bytes > 1 {
		size = b.bytes
	} else if strings.HasSuffix(b.name, "8K") {
		size = 8 << 10
	}
	buf := make([]byte, size)
	if b.bytes > 0 {
		best := time.Duration(1 << 62)
		for range 5 {
			start := time.Now()
			if err := b.run(ctx, c, t, buf, b.n); err != nil {
				return "", err
			}
			best = min(best, time.Since(start))
		}
		if b.bytes == 1 {
			return fmt.Sprintf("%.2f M/s", float64(b.n)/best.Seconds()/1e6), nil
		}
		return fmt.Sprintf("%.2f GB/s", float64(b.n)*float64(size)/best.Seconds()/1e9), nil
	}
	times := make([]time.Duration, b.n)
	for i := range times {
		*signals++
		start := time.Now()
		if err := b.run(ctx, c, t, buf, *signals); err != nil {
			return "", err
		}
		times[i] = time.Since(start)
		if b.bytes < 0 {
			times[i] /= 2 // a ping-pong is two ways
		}
	}
	slices.Sort(times)
	us := func(i int) float64 { return float64(times[i]) / 1e3 }
	return fmt.Sprintf("%.2f us min %.2f p10 %.2f p90 %.2f p99 %.2f", us(len(times)/2), us(0), us(len(times)/10), us(len(times)*9/10), us(len(times)*99/100)), nil
}

func benchOrigin(ctx context.Context, t *Transport, job *boot.Job, report func(string, ...any)) error {
	c, err := t.Channel(true)
	if err != nil {
		return err
	}
	signals := 0
	for _, b := range benches {
		if only := os.Getenv("PGAS_UCP_BENCH"); !strings.Contains(b.name, only) {
			continue
		}
		if b.name == "signal pp" {
			signals = 0
		}
		got, err := measure(ctx, b, c, t, &signals)
		if err != nil {
			return err
		}
		report("%s: %s", b.name, got)
	}
	c.Post(1, transport.Set, transport.Word{Off: doneOff, Bytes: 8}, 1)
	return c.Quiet(ctx, -1)
}

// benchTarget answers pings until it is told that all is done.
func benchTarget(ctx context.Context, t *Transport, job *boot.Job, _ func(string, ...any)) error {
	c, err := t.Channel(true)
	if err != nil {
		return err
	}
	heap := job.Segment.Heap(0)
	var src [8]byte
	for next := uint64(1); ctx.Err() == nil; {
		if t.WaitWord(transport.Word{Off: pingOff, Bytes: 8}, transport.GE, next, false, time.Millisecond) {
			c.PutSignal(0, dataOff, src[:], pingOff, transport.Set, next)
			next++
		} else if binary.NativeEndian.Uint64(heap[doneOff:]) == 1 {
			return c.Quiet(ctx, -1)
		}
	}
	return ctx.Err()
}

var benchOnce sync.Once

// BenchmarkHosts measures two PEs on two hosts, once; run it with -benchtime 1x.
func BenchmarkHosts(b *testing.B) {
	if !netns() {
		b.Skip("there are no network namespaces pe0 and pe1 to stand in for hosts, or this is not root")
	}
	benchOnce.Do(func() {
		f := startFamily(b, [2]string{"bench origin", "bench target"}, true, "UCX_TLS=tcp")
		for line := range f.results {
			b.Log(line)
		}
	})
}
