package floor

// The benches of one process: locked instructions and copies.

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// A line is a word on a cache line of its own.
type line struct {
	_ [64]byte
	atomic.Int64
	_ [64]byte
}

// onCPU measures batches on one CPU, by a thread that ends with them.
func onCPU(cpu int, plan result.Plan, batch func(first, n int) error) (s result.Series, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err = pin(cpu); err == nil {
			s, err = plan.Measure(result.Work{Batch: batch, Step: 1})
		}
	}()
	<-done
	return s, err
}

// locked are batches of one locked instruction each, which package atomic compiles to. Each returns what shows that all
// were executed.
var locked = map[string]func(w *line) func(first, n int) error{
	"locked-add": func(w *line) func(first, n int) error {
		return func(first, n int) error {
			for range n {
				w.Add(1)
			}
			return w.must(first + n)
		}
	},
	"locked-compare-swap": func(w *line) func(first, n int) error {
		return func(first, n int) error {
			for i := first; i < first+n; i++ {
				w.CompareAndSwap(int64(i), int64(i)+1)
			}
			return w.must(first + n)
		}
	},
	"locked-exchange": func(w *line) func(first, n int) error {
		return func(first, n int) error {
			for i := first; i < first+n; i++ {
				w.Swap(int64(i) + 1)
			}
			return w.must(first + n)
		}
	},
}

func (w *line) must(want int) error {
	if got := w.Load(); got != int64(want) {
		return fmt.Errorf("the word is %d after %d operations", got, want)
	}
	return nil
}

// measureCopies measures copies of one size and checks them.
func measureCopies(cpu, size int, plan result.Plan) (result.Series, error) {
	c, err := NewCopies(size)
	if err != nil {
		return result.Series{}, err
	}
	defer c.Close()
	if size >= longCopy {
		plan.Least, plan.Tries = 3, 1
	}
	s, err := onCPU(cpu, plan, c.Batch)
	if err != nil {
		return s, err
	}
	return s, c.Check(s.Done)
}

// longCopy is a size from which a few copies are measured: each takes milliseconds.
const longCopy = 16 << 20
