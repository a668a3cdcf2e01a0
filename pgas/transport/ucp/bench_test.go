//go:build cgo

package ucp

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
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

// bencher is the origin of a benchmark.
type bencher struct {
	ctx  context.Context
	t    *Transport
	c    transport.Channel
	buf  []byte
	ping uint64
}

// A latency is measured once for each run, a rate over many runs and the quiet after them.
var latencies = []struct {
	name  string
	bytes int
	runs  int
	trips int // one-way trips in it that are reported as one
	run   func(b *bencher) error
}{
	{"put+quiet", 8, 4000, 1, (*bencher).putQuiet},
	{"put+quiet", 8 << 10, 2000, 1, (*bencher).putQuiet},
	{"get", 8, 4000, 1, (*bencher).get},
	{"get", 8 << 10, 2000, 1, (*bencher).get},
	{"fetch-add", 8, 4000, 1, (*bencher).fetchAdd},
	{"put-signal ping-pong, one way", 8, 4000, 2, (*bencher).pingPong},
}

var rates = []struct {
	name  string
	bytes int
	runs  int
	run   func(b *bencher)
}{
	{"put", 8, 100000, (*bencher).put},
	{"get", 8, 50000, (*bencher).getNB},
	{"fetch-add", 8, 100000, (*bencher).fetchAddNB},
	{"max", 8, 2000, (*bencher).maxNB}, // a loop of round trips where the network does the atomics
	{"put", 64 << 10, 1000, (*bencher).put},
	{"put", 1 << 20, 200, (*bencher).put},
	{"get", 1 << 20, 200, (*bencher).getNB},
	{"put of words at a stride", 32 << 10, 1000, (*bencher).putBlocks},
	{"get of words at a stride", 32 << 10, 1000, (*bencher).getBlocksNB},
}

func (b *bencher) put()   { b.c.Put(1, dataOff, b.buf) }
func (b *bencher) getNB() { b.c.GetNB(1, b.buf, dataOff) }

var countWord = transport.Word{Off: countOff, Bytes: 8}

func (b *bencher) fetchAddNB() { b.c.AtomicNB(1, transport.Add, countWord, 1, 0, b.buf) }
func (b *bencher) maxNB()      { b.c.AtomicNB(1, transport.Max, countWord, 1, 0, b.buf) }

// apart is the words of the buffer, a cache line apart in the other heap.
func (b *bencher) apart() transport.Strided {
	return transport.Strided{BlockBytes: 8, Count: len(b.buf) / 8, LocalStride: 8, RemoteStride: 64}
}

func (b *bencher) putBlocks() { b.c.(transport.Strider).PutStrided(1, dataOff, b.buf, b.apart()) }

func (b *bencher) getBlocksNB() {
	b.c.(transport.Strider).GetStridedNB(1, b.buf, dataOff, b.apart())
}

func (b *bencher) putQuiet() error {
	b.c.Put(1, dataOff, b.buf)
	return b.c.Quiet(b.ctx, 1)
}

func (b *bencher) get() error { return b.c.Get(b.ctx, 1, b.buf, dataOff) }

func (b *bencher) fetchAdd() error {
	_, err := b.c.Atomic(b.ctx, 1, transport.Add, countWord, 1, 0)
	return err
}

func (b *bencher) pingPong() error {
	b.ping++
	b.c.PutSignal(1, dataOff, b.buf, pingOff, transport.Set, b.ping)
	for !b.t.WaitWord(transport.Word{Off: pingOff, Bytes: 8}, transport.GE, b.ping, false, time.Millisecond) {
		if err := b.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// size writes n as the reports do.
func size(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%dM", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%dK", n>>10)
	}
	return fmt.Sprint(n)
}

func benchOrigin(ctx context.Context, t *Transport, _ *boot.Job, report func(string, ...any)) error {
	c, err := t.Channel(true)
	if err != nil {
		return err
	}
	b := &bencher{ctx: ctx, t: t, c: c}
	for _, l := range latencies {
		b.buf = make([]byte, l.bytes)
		times := make([]float64, l.runs)
		for i := range times {
			start := time.Now()
			if err := l.run(b); err != nil {
				return err
			}
			times[i] = float64(time.Since(start)) / 1e3 / float64(l.trips)
		}
		slices.Sort(times)
		report("%s %s: p50 %.2f us, min %.2f, p90 %.2f", l.name, size(l.bytes), times[l.runs/2], times[0], times[l.runs*9/10])
	}
	for _, r := range rates {
		b.buf = make([]byte, r.bytes)
		var best float64
		for range 5 {
			start := time.Now()
			for range r.runs {
				r.run(b)
			}
			if err := c.Quiet(ctx, 1); err != nil {
				return err
			}
			best = max(best, float64(r.runs)/time.Since(start).Seconds())
		}
		report("%s %s, stream: %.2f M/s, %.2f GB/s", r.name, size(r.bytes), best/1e6, best*float64(r.bytes)/1e9)
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

// BenchmarkHosts measures two PEs on two hosts: by active messages, and for comparison with UCX's own
// operations ("all"). Run it with -benchtime 1x.
func BenchmarkHosts(b *testing.B) {
	if !netns() {
		b.Skip("there are no network namespaces pe0 and pe1 to stand in for hosts, or this is not root")
	}
	for _, way := range []string{"am", "all"} {
		b.Run(way, func(b *testing.B) {
			for range b.N {
				f := startFamily(b, [2]string{"bench origin", "bench target"}, true, "UCX_TLS=tcp", wayEnv+"="+way)
				for line := range f.results {
					fmt.Printf("%-4s %s\n", way, line[2:])
				}
			}
		})
	}
}
