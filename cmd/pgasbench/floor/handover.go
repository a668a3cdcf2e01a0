package floor

import "fmt"

// The benches of processes in shared memory. Of two, the holder of the ball goes on, the other waits; of more, each
// waits until all have arrived.

// A pairBench is what each of the processes does.
type pairBench struct {
	name    string
	prepare func(p *pair) error
	batch   func(p *pair, first, n int) error
	step    int
}

var pairBenches = []pairBench{
	{name: "cache-line", batch: (*pair).trips, step: 1},
	{name: "yield", batch: (*pair).yields, step: 1},
	{name: "yield-4", batch: (*pair).rounds, step: 1},
	{name: "yield-8", batch: (*pair).rounds, step: 1},
	{name: "yield-16", batch: (*pair).rounds, step: 1},
	{name: "yield-32", batch: (*pair).rounds, step: 1},
	{name: "futex", batch: (*pair).wakes, step: 1},
	{name: "futex-two-cpus", batch: (*pair).wakes, step: 1},
	{name: "loopback-roundtrip", prepare: (*pair).connect, batch: (*pair).roundTrips, step: 1},
	{name: "loopback-stream", prepare: (*pair).connect, batch: (*pair).stream, step: window},
	{name: "hosts-roundtrip", prepare: (*pair).connect, batch: (*pair).roundTrips, step: 1},
	{name: "hosts-stream", prepare: (*pair).connect, batch: (*pair).stream, step: window},
}

func pairBenchNamed(name string) pairBench {
	for _, b := range pairBenches {
		if b.name == name {
			return b
		}
	}
	panic("floor: no bench " + name)
}

// turns returns the values of the ball that this process writes and waits for in operation i. The leader writes first.
func (p *pair) turns(i int) (mine, awaited int64) {
	odd, even := int64(2*i+1), int64(2*i+2)
	if p.leads {
		return odd, even
	}
	return even, odd
}

// trips sends a cache line there and back, n times.
func (p *pair) trips(first, n int) error {
	ball, leads := &p.ball, p.leads
	for i := first; i < first+n; i++ {
		mine, awaited := p.turns(i)
		if leads {
			ball.set(mine)
		}
		for v := ball.Load(); v != awaited; v = ball.Load() {
			if v < 0 {
				return errGone
			}
		}
		if !leads {
			ball.set(mine)
		}
	}
	return nil
}

// yields does the same on one CPU, where the process that waits gives the CPU away.
func (p *pair) yields(first, n int) error {
	ball, leads := &p.ball, p.leads
	for i := first; i < first+n; i++ {
		mine, awaited := p.turns(i)
		if leads {
			ball.set(mine)
		}
		for v := ball.Load(); v != awaited; v = ball.Load() {
			if v < 0 {
				return errGone
			}
			yield()
		}
		if !leads {
			ball.set(mine)
		}
	}
	return nil
}

// HandOver returns the name of the figure that a hand-over of a CPU costs where so many processes share it, or nearly
// so many.
func HandOver(sharing int) string {
	for _, of := range []int{4, 8, 16} {
		switch {
		case sharing <= 2:
			return "yield"
		case sharing <= of:
			return fmt.Sprintf("yield-%d", of)
		}
	}
	return "yield-32"
}

// rounds has each of the processes of one CPU run once in each round, in whatever order the kernel likes. The last to
// arrive goes on at once, so that a round takes a hand-over less than there are processes.
func (p *pair) rounds(first, n int) error {
	arrived, of := &p.arrived, int64(p.of)
	for i := first; i < first+n; i++ {
		all := int64(i+1) * of
		for v := arrived.Add(1); v < all; v = arrived.Load() {
			if v < 0 {
				return errGone
			}
			yield()
		}
	}
	return nil
}

// wakes has each process sleep until the other one wakes it.
func (p *pair) wakes(_, n int) error {
	from, to := int32(1), int32(0)
	if p.leads {
		from, to = 0, 1
	}
	w := &p.sleep
	half := w.half()
	for range n {
		for v := half.Load(); v != from; v = half.Load() {
			if v < 0 {
				return errGone
			}
			w.sleepWhile(to)
		}
		half.Store(to)
		w.wake()
	}
	return nil
}
