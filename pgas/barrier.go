package pgas

// The barrier. Three shapes, chosen once:
//
//	flags    one host, a CPU for each PE: everyone raises a flag of its own and looks at all the
//	         others; for two PEs that is a single trip of a cache line.
//	central  one host, more PEs than CPUs: a counter; the last to arrive releases everybody. Few
//	         switches between processes matter then, not few cache misses.
//	hosts    several hosts: the PEs of a host count up on their leader (its first PE), the leaders
//	         disseminate in log2(hosts) rounds, and each leader releases its own.
//
// Every word only ever grows, so nothing needs to be reset and a late reader cannot miss a round.
// Sequence numbers stand in for the sense of sense-reversing barriers.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Words of the reserved start of every heap, reachable from other hosts. A cache line each.
const (
	arriveOff  = 64  // on a leader: arrivals on its host. Written by the host's PEs.
	releaseOff = 128 // on every PE: the last barrier that is over. Written by its leader.
	roundsOff  = 4096
	maxRounds  = 32
	wordStride = 64
)

// Barrier is a Quiet of the default context followed by a meeting of all PEs: when it returns, every
// PE has called it, and everything any PE issued on its default context before is complete
// (OpenSHMEM 1.6, shmem_barrier_all). When it returns an error the PEs are no longer in step: only
// Close is of use then.
func (w *World) Barrier(ctx context.Context) error {
	if err := w.def.Quiet(ctx); err != nil {
		return fmt.Errorf("barrier: %w", err)
	}
	return w.Sync(ctx)
}

// Sync is a meeting of all PEs without the Quiet: stores to this host's memory are visible after it,
// puts to other hosts need not be (OpenSHMEM 1.6, shmem_sync_all).
func (w *World) Sync(ctx context.Context) error {
	w.barrierSeq++
	if err := w.meet(ctx, w.barrierSeq); err != nil {
		return fmt.Errorf("barrier %d: %w", w.barrierSeq, err)
	}
	return nil
}

func (w *World) meet(ctx context.Context, seq uint64) error {
	switch {
	case w.far != nil:
		return w.meetHosts(ctx, seq)
	case w.flags:
		return w.meetFlags(ctx, seq)
	}
	return w.meetCentral(ctx, seq)
}

func (w *World) meetFlags(ctx context.Context, seq uint64) error {
	w.state.Arrived.Store(seq)
	for _, other := range w.job.Segment.States {
		if other != w.state {
			other.Ring(boot.MeetingWord)
		}
	}
	for i, other := range w.job.Segment.States {
		if other.Arrived.Load() >= seq {
			continue
		}
		if _, err := w.await(ctx, atLeast(&other.Arrived, seq), blockedIn{boot.InBarrier, w.first + i, seq}); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) meetCentral(ctx context.Context, seq uint64) error {
	h := w.job.Segment.Header
	if h.Arrived.Add(1) == seq*uint64(h.Local) {
		h.Released.Store(seq)
		w.job.Segment.WakeAll()
		return nil
	}
	_, err := w.await(ctx, atLeast(&h.Released, seq), blockedIn{boot.InBarrier, -1, seq})
	return err
}

func (w *World) meetHosts(ctx context.Context, seq uint64) error {
	local := w.job.Host().PEs
	why := blockedIn{boot.InBarrier, w.first, seq}
	ch := w.def.local
	if w.job.PE != w.first {
		ch.Post(w.first, transport.Add, word8(arriveOff), 1)
		_, err := w.await(ctx, w.wordCond(word8(releaseOff), GE, seq, false), why)
		return err
	}
	if _, err := w.await(ctx, w.wordCond(word8(arriveOff), GE, seq*uint64(local-1), false), why); err != nil {
		return err
	}
	if err := w.disseminate(ctx, seq); err != nil {
		return err
	}
	for pe := w.first + 1; pe < w.first+local; pe++ {
		ch.Post(pe, transport.Set, word8(releaseOff), seq)
	}
	return nil
}

// disseminate is the barrier of the leaders: in round k each tells the leader 2^k hosts on, and waits
// for the one 2^k hosts back.
func (w *World) disseminate(ctx context.Context, seq uint64) error {
	hosts := w.job.Hosts
	for k, step := 0, 1; step < len(hosts); k, step = k+1, 2*step {
		to := hosts[(w.job.Here+step)%len(hosts)].First
		from := hosts[(w.job.Here-step+len(hosts))%len(hosts)].First
		off := uint64(roundsOff + k*wordStride)
		w.def.remote.PutSignal(to, 0, nil, off, transport.Set, seq)
		if _, err := w.await(ctx, w.wordCond(word8(off), GE, seq, false), blockedIn{boot.InBarrier, from, seq}); err != nil {
			return err
		}
	}
	return nil
}

func word8(off uint64) transport.Word { return transport.Word{Off: off, Bytes: 8} }
