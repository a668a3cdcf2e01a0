//go:build cgo

package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkService compares a service thread for each PE of a host with one for all of them. The engines of a host's
// PEs stand in this process, with one more that initiates. It measures a fetch from one of them at random while all are
// idle, the rate of puts to all, and the CPU time that they take while nothing is asked of them.
func BenchmarkService(b *testing.B) {
	for _, pes := range []int{1, 8, 64} {
		for _, shared := range []bool{false, true} {
			name := fmt.Sprintf("%d PEs/a thread each", pes)
			if shared {
				name = fmt.Sprintf("%d PEs/one thread", pes)
			}
			b.Run(name, func(b *testing.B) { benchService(b, pes, shared) })
		}
	}
}

func benchService(b *testing.B, pes int, shared bool) {
	b.Setenv("UCX_TLS", "tcp")
	config := func(c *Config) { c.NPEs = pes + 1 }
	nodes := []*node{newNode(b, 0, false, 0, config)}
	var served []*Engine
	for pe := 1; pe <= pes; pe++ {
		n := newNode(b, pe, shared, 0, config)
		nodes, served = append(nodes, n), append(served, n.Engine)
	}
	if shared {
		stop, err := serveShared(served)
		if err != nil {
			b.Fatal(err)
		}
		defer stop()
	}
	for i, n := range nodes[1:] { // as heartbeats do in a job
		next := nodes[1+(i+1)%pes]
		if next != n {
			n.Watch(next.config.PE, next.Address(), false)
		}
	}
	c, err := nodes[0].Channel(false, func(pe int) []byte { return nodes[pe].Address() })
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	b.Run("fetch", func(b *testing.B) { benchFetches(b, c, pes) })
	b.Run("puts", func(b *testing.B) { benchPuts(b, c, pes) })
	b.Run("idle", func(b *testing.B) { benchIdle(b, pes) })
}

func benchFetches(b *testing.B, c *Channel, pes int) {
	var took []time.Duration
	for b.Loop() {
		time.Sleep(time.Millisecond)
		start := time.Now()
		if _, err := c.Fetch(b.Context(), 1+rand.IntN(pes), wordAdd, 64, 8, 1, 0); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "us/median")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "us/p99")
}

func benchPuts(b *testing.B, c *Channel, pes int) {
	src := make([]byte, 64)
	for i := 0; b.Loop(); i++ {
		c.Put(1+i%pes, uint64(4096+64*(i%1000)), src)
	}
	if err := c.Quiet(b.Context(), -1); err != nil {
		b.Fatal(err)
	}
}

// benchIdle measures the CPU time of the whole process, of which all but the engines sleeps.
func benchIdle(b *testing.B, pes int) {
	const span = 10 * time.Millisecond
	var used time.Duration
	for b.Loop() {
		before := cpuTime(b)
		time.Sleep(span)
		used += cpuTime(b) - before
	}
	b.ReportMetric(float64(used.Microseconds())/float64(b.N)/span.Seconds()/float64(pes), "us-CPU/s/PE")
}

func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
