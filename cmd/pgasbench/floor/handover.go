package floor

// The benches of two processes in shared memory: the holder of the ball goes on, the other waits.

// A pairBench is what both processes do.
type pairBench struct {
	name    string
	prepare func(p *pair) error
	batch   func(p *pair, first, n int) error
	step    int
}

var pairBenches = []pairBench{
	{name: "cache-line", batch: (*pair).trips, step: 1},
	{name: "yield", batch: (*pair).yields, step: 1},
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
