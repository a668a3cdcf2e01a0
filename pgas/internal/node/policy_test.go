package node

import (
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// TestYieldsAgain: a PE that has handed its turn on yields once more for each PE that shares its CPU, and no longer
// than more PEs stand in queues than can run beside the holder.
func TestYieldsAgain(t *testing.T) {
	for _, c := range []struct {
		local, cores uint32
		inQueues     int32
		want         int // yields
	}{
		{16, 2, 0, 0},
		{16, 2, 1, 0}, // the holder and the one behind it have a CPU each
		{16, 2, 2, 8},
		{16, 2, 16, 8},
		{3, 2, 2, 2},
		{4, 1, 0, 0},
		{4, 1, 1, 4},
		{128, 64, 63, 0},
		{128, 64, 64, 2},
		{2, 2, 100, 0}, // a CPU for each
		{1, 0, 0, 0},   // a host without a CPU of its own
		{1, 0, 1, 1},
	} {
		job := &boot.Job{Segment: &boot.Segment{Header: &boot.Header{Local: c.local, Cores: c.cores}}}
		p, yields := waitPolicyOf(job, false), 0
		for p.yieldsAgain(yields, c.inQueues) {
			yields++
		}
		if yields != c.want {
			t.Errorf("%d PEs on %d CPUs with %d in queues: %d more yields, want %d", c.local, c.cores, c.inQueues, yields, c.want)
		}
	}
}

// TestSlicesThatCount: where PEs share CPUs, a PE that computes takes slices from the waits of all others, and is no
// other program. So one wait counts once there, and not alone.
func TestSlicesThatCount(t *testing.T) {
	const slice = int64(3 * time.Millisecond) // is paid by 47 waits that were met
	type wait struct {
		met    int64 // waits that were met before this one
		slices int   // that this one loses
		counts int   // of them
	}
	for _, c := range []struct {
		name    string
		crowded bool
		waits   []wait
	}{
		{"a CPU for each PE", false, []wait{{slices: 1, counts: 1}, {slices: 2, counts: 2}, {met: 47, slices: 1}, {slices: 1, counts: 1}}},
		{"a PE computes for long", true, []wait{{slices: 1000}}},
		{"a PE computes now and then", true, []wait{{slices: 10}, {slices: 10}, {slices: 10}, {met: 47, slices: 10}, {slices: 10}}},
		{"another program", true, []wait{{slices: 1}, {slices: 1}, {met: 46, slices: 1}, {slices: 1, counts: 1}, {slices: 2, counts: 1}}},
	} {
		n := &Node{Policy: waitPolicy{Oversubscribed: c.crowded}}
		for i, w := range c.waits {
			n.waiters.met.Store(w.met)
			y, counts := yields{node: n}, 0
			for range w.slices {
				if y.counts(slice) {
					counts++
				}
			}
			if counts != w.counts {
				t.Errorf("%s: of wait %d %d slices count, want %d", c.name, i, counts, w.counts)
			}
		}
	}
}
