package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQueue compares the radix heap with a stable sort.
func TestQueue(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 1))
	var q queue[int]
	type entry struct {
		at int64
		ev *int
	}
	var twin []entry
	for step := range 200_000 {
		if rng.IntN(5) < 2 || len(twin) == 0 {
			at := q.last + rng.Int64N(1<<rng.IntN(20))
			o := new(int)
			q.push(at, o)
			i, _ := slices.BinarySearchFunc(twin, at, func(e entry, at int64) int {
				if e.at <= at {
					return -1
				}
				return 1
			})
			twin = slices.Insert(twin, i, entry{at, o})
			if len(twin) < 3000 {
				continue
			}
		}
		at, o := q.pop()
		if o != twin[0].ev || at != twin[0].at {
			t.Fatalf("step %d: an event of time %d came out, want the first of time %d", step, at, twin[0].at)
		}
		twin = twin[1:]
	}
	if q.n != len(twin) {
		t.Fatalf("%d events are left, want %d", q.n, len(twin))
	}
}

// TestQueueBurst: thousands of events that come before the end of a bucket of few events come out in order, too.
func TestQueueBurst(t *testing.T) {
	const end, events = 1 << 30, 5000
	for _, span := range []int64{1, 2, 300, end} {
		rng := rand.New(rand.NewPCG(9, uint64(span)))
		q := queue[int]{lookahead: 4}
		for _, at := range []int64{0, 1, end, end + 1, 2 * end} {
			q.push(at, new(int))
		}
		if at, _ := q.pop(); at != 0 {
			t.Fatalf("the first event is of time %d", at)
		}
		order, last := map[*int]int{}, int64(0)
		for i := range events {
			o := new(int)
			order[o] = i
			q.push(1+rng.Int64N(span), o)
			if sorted := len(q.next) - q.head; span > 1 && sorted > 2*maxInserted && sorted > events/int(span)+maxInserted {
				t.Fatalf("span %d: %d events are kept sorted", span, sorted)
			}
		}
		latest := -1
		for range events + 4 {
			at, o := q.pop()
			if at < last {
				t.Fatalf("span %d: time %d after %d", span, at, last)
			}
			if i, ok := order[o]; ok {
				if at == last && i < latest {
					t.Fatalf("span %d: of two events of time %d the later one came first", span, at)
				}
				latest = i
			}
			last = at
		}
		if at, o := q.pop(); o != nil {
			t.Fatalf("an event of time %d is left", at)
		}
	}
}

func BenchmarkQueue(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var q queue[int]
	o := new(int)
	delays := make([]int64, 4096)
	for i := range delays {
		delays[i] = rng.Int64N(4_000_000)
		q.push(delays[i], o)
	}
	i := 0
	for b.Loop() {
		at, _ := q.pop()
		q.push(at+delays[i&4095], o)
		i++
	}
}
