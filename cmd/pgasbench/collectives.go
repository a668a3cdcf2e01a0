package main

// The collectives that move data. A size is what one PE contributes: the message of a broadcast, the block
// of a collect, the block for one other PE of an alltoall, the vector of a sum. The root of broadcasts goes
// round, so that no PE runs ahead of the others and is timed alone. Every operation carries its number in
// the first word of each contribution; the first word of what arrives is compared each time, and all of it
// after the last. The same rules stand in tests/peers/collectives.h.

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

// contributed returns word i of what a PE contributes to an operation. Blocks of an alltoall differ by tag.
func contributed(pe, i, number, tag int) int64 {
	if i == 0 {
		return int64(number + 1000*pe + tag)
	}
	return int64(7*i + pe)
}

// A gathering is a collective made ready: what this PE contributes, and where the result goes.
type gathering struct {
	r        *runner
	words    int // the number of words of a contribution
	dst, src pgas.Slice[int64]
	out, in  []int64 // this PE's copies of the operands
	round    func(number int) error
	check    func(number int) error // checks that everything has arrived
}

// gather makes a gathering with so many blocks in its source and its result. It is collective.
func (r *runner) gather(size, from, to int) (*gathering, error) {
	words := size / 8
	if need := (from + to) * words; r.blocks.Len() < need {
		if r.blocks.Len() > 0 {
			if err := r.blocks.Free(r.ctx); err != nil {
				return nil, err
			}
		}
		var err error
		if r.blocks, err = pgas.AllocAligned[int64](r.ctx, r.w, need, 4096); err != nil {
			return nil, err
		}
	}
	g := &gathering{r: r, words: words, dst: r.blocks.Range(0, to*words), src: r.blocks.Range(to*words, (to+from)*words)}
	g.out, g.in = g.dst.Local(), g.src.Local()
	clear(g.out)
	for i := range g.in {
		g.in[i] = contributed(r.w.PE(), i%words, 0, 0)
	}
	return g, nil
}

func (g *gathering) task() task {
	batch := func(first, n int) error {
		for i := first; i < first+n; i++ {
			if err := g.round(i); err != nil {
				return err
			}
		}
		return nil
	}
	verify := func(done int) error {
		if err := g.r.checkGot(done); err != nil {
			return err
		}
		return g.check(done - 1)
	}
	return task{batch: batch, verify: verify, step: 1, long: true, ways: 1, via: g.r.w.TransportTo(g.r.partner)}
}

// failed returns a task that cannot be done.
func failed(err error) task {
	return task{batch: func(int, int) error { return err }, step: 1, ways: 1}
}

// sign marks this PE's block for PE to with the number of the operation.
func (g *gathering) sign(number, to, tag int) {
	g.in[to*g.words] = contributed(g.r.w.PE(), 0, number, tag)
}

// look compares the first word of a block with what PE pe has contributed.
func (g *gathering) look(number, block, pe, tag int) {
	g.r.wrong |= uint64(g.out[block*g.words] ^ contributed(pe, 0, number, tag))
}

// compare compares a whole block with it.
func (g *gathering) compare(number, block, pe, tag int) error {
	for i, got := range g.out[block*g.words : (block+1)*g.words] {
		if want := contributed(pe, i, number, tag); got != want {
			return fmt.Errorf("word %d from PE %d is %d and should be %d", i, pe, got, want)
		}
	}
	return nil
}

// compareAll compares a block of each PE.
func (g *gathering) compareAll(number, tag int) error {
	for pe := range g.r.w.NPEs() {
		if err := g.compare(number, pe, pe, tag); err != nil {
			return err
		}
	}
	return nil
}

func broadcastTask(r *runner, size int) task {
	g, err := r.gather(size, 1, 1)
	if err != nil {
		return failed(err)
	}
	team, npes := r.w.Team(), r.w.NPEs()
	g.round = func(number int) error {
		root := number % npes
		g.sign(number, 0, 0)
		err := pgas.Broadcast(r.ctx, team, g.dst, g.src, root)
		g.look(number, 0, root, 0)
		return err
	}
	g.check = func(number int) error { return g.compare(number, 0, number%npes, 0) }
	return g.task()
}

func fcollectTask(r *runner, size int) task {
	return collectWith(r, size, func(team *pgas.Team, g *gathering) error {
		return pgas.FCollect(r.ctx, team, g.dst, g.src)
	})
}

func collectTask(r *runner, size int) task {
	return collectWith(r, size, func(team *pgas.Team, g *gathering) error {
		_, err := pgas.Collect(r.ctx, team, g.dst, g.src)
		return err
	})
}

func collectWith(r *runner, size int, collect func(*pgas.Team, *gathering) error) task {
	team, npes := r.w.Team(), r.w.NPEs()
	g, err := r.gather(size, 1, npes)
	if err != nil {
		return failed(err)
	}
	g.round = func(number int) error {
		g.sign(number, 0, 0)
		err := collect(team, g)
		g.look(number, number%npes, number%npes, 0)
		return err
	}
	g.check = func(number int) error { return g.compareAll(number, 0) }
	return g.task()
}

func alltoallTask(r *runner, size int) task {
	team, me, npes := r.w.Team(), r.w.PE(), r.w.NPEs()
	g, err := r.gather(size, npes, npes)
	if err != nil {
		return failed(err)
	}
	g.round = func(number int) error {
		for pe := range npes {
			g.sign(number, pe, pe)
		}
		err := pgas.AllToAll(r.ctx, team, g.dst, g.src)
		g.look(number, number%npes, number%npes, me)
		return err
	}
	g.check = func(number int) error { return g.compareAll(number, me) }
	return g.task()
}

func sumTask(r *runner, size int) task {
	g, err := r.gather(size, 1, 1)
	if err != nil {
		return failed(err)
	}
	team, npes := r.w.Team(), r.w.NPEs()
	pes := npes * (npes - 1) / 2 // the sum of all their numbers
	first := func(number int) int64 { return int64(npes*number + 1000*pes) }
	g.round = func(number int) error {
		g.sign(number, 0, 0)
		err := pgas.SumReduce(r.ctx, team, g.dst, g.src)
		r.wrong |= uint64(g.out[0] ^ first(number))
		return err
	}
	g.check = func(number int) error {
		for i, got := range g.out {
			want := int64(7*i*npes + pes)
			if i == 0 {
				want = first(number)
			}
			if got != want {
				return fmt.Errorf("word %d of the sum is %d and should be %d", i, got, want)
			}
		}
		return nil
	}
	return g.task()
}
