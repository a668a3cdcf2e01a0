package result

// How an operation is timed. It is repeated in batches: the batch length is doubled until a batch takes
// long enough that reading the clock is well below 1 % of it; then batches follow each other, with one
// clock reading between two, for the time of the point. A sample is the time of a batch divided by its
// operations.
//
// The same rules, with the same numbers, stand in tests/peers/measure.h: change both or neither.

import (
	"fmt"
	"time"
)

const (
	// Window is the number of non-blocking operations between two quiets.
	Window = 64
	// ringBytes: small operations walk through a ring of this size, of at most mostSlots operands.
	ringBytes = 65536
	mostSlots = 1024
)

// Slots returns how many operands of size bytes an operation walks through: a power of two.
func Slots(size int) int {
	slots := 1
	for slots < mostSlots && 2*slots*size <= ringBytes {
		slots *= 2
	}
	return slots
}

// Plan says how long to measure. The zero value is not useful: start from Standard.
type Plan struct {
	Point time.Duration // the time for one point
	Short time.Duration // the least length of a batch
	Long  time.Duration // the same where the CPU is handed over: a median of short batches would hide the waits
	Least int           // the least number of batches, however slow the operation
	Most  int           // the largest number of batches, however fast the operation
	Tries int           // tries of a batch length; the best counts, so that one preemption does not end the doubling
}

// Standard returns the plan of pgasbench and of the peers.
func Standard(point time.Duration) Plan {
	return Plan{Point: point, Short: 20 * time.Microsecond, Long: time.Millisecond, Least: 20, Most: 20000, Tries: 3}
}

// Work is something to measure.
type Work struct {
	// Batch runs operations first … first+n-1. first grows from batch to batch, so operations can
	// carry their number and be checked.
	Batch func(first, n int) error
	// Step divides the length of each batch.
	Step int
	// Long: measure in long batches.
	Long bool
	// Agree returns the leader's value on all processes that take part. It is nil when the leader works
	// alone.
	Agree func(value int) (int, error)
	// Clock is the time since some moment; nil is the real one.
	Clock func() time.Duration
}

// Measure runs w for about p.Point. All processes that take part in w call it. It returns the error of a batch or of
// Agree.
func (p Plan) Measure(w Work) (Series, error) {
	m := &measurement{Work: w, plan: p}
	if m.Clock == nil {
		start := time.Now()
		m.Clock = func() time.Duration { return time.Since(start) }
	}
	if m.Agree == nil {
		m.Agree = func(value int) (int, error) { return value, nil }
	}
	n, took, err := m.calibrate()
	if err != nil {
		return Series{}, fmt.Errorf("calibrating: %w", err)
	}
	batches, err := m.Agree(min(max(int(p.Point/max(took, 1)), p.Least), p.Most))
	if err != nil {
		return Series{}, err
	}
	return m.sample(n, batches)
}

type measurement struct {
	Work
	plan Plan
	next int // the number of the next operation
}

func (m *measurement) batch(n int) error {
	err := m.Batch(m.next, n)
	m.next += n
	return err
}

// calibrate finds the batch length and how long such a batch takes.
func (m *measurement) calibrate() (n int, took time.Duration, err error) {
	least := m.plan.Short
	if m.Long {
		least = m.plan.Long
	}
	for n = max(m.Step, 1); ; n *= 2 {
		if took, err = m.bestOfTries(n); err != nil {
			return 0, 0, err
		}
		again := 0
		if took < least {
			again = 1
		}
		if again, err = m.Agree(again); err != nil || again == 0 {
			return n, took, err
		}
	}
}

func (m *measurement) bestOfTries(n int) (time.Duration, error) {
	best := time.Duration(1<<63 - 1)
	for range max(m.plan.Tries, 1) {
		start := m.Clock()
		if err := m.batch(n); err != nil {
			return 0, err
		}
		best = min(best, m.Clock()-start)
	}
	return best, nil
}

func (m *measurement) sample(n, batches int) (Series, error) {
	ns := make([]float64, batches)
	before := m.Clock()
	for i := range ns {
		if err := m.batch(n); err != nil {
			return Series{}, err
		}
		after := m.Clock()
		ns[i] = float64(after-before) / float64(n)
		before = after
	}
	return NewSeries(ns, m.next), nil
}
