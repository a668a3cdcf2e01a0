package node

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// TestYieldsAgain: a PE that has handed its turn on yields once more for each PE that shares its CPU, and no longer than more
// PEs stand in queues than can run beside the holder.
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
