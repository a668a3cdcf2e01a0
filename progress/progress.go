// Package progress shows how far all PEs of a job are, together: on a terminal as a bar, elsewhere as lines now and
// then.
//
//	p, err := progress.New(ctx, w, "rows", hi-lo) // on all PEs together
//	p.Add(1)                                      // an atomic addition to own memory
//	err = p.End(ctx)                              // on all PEs together
//
// Each PE counts what it has done in a word of its own symmetric memory, so counting is one instruction. PE 0 reads the
// words of all PEs at intervals and shows the sum. No other PE takes part in that.
//
// Misuse panics with *pgas.UsageError.
//
//ci:nocgo=short
package progress

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// Progress shows how far all PEs of the job are, together. New makes one. Its methods may be called by any goroutine;
// they panic with *pgas.UsageError if the Progress is nil or zero.
type Progress struct {
	w     *pgas.World
	words pgas.Sym[int64]    // what each PE has done
	done  pgas.Atomic[int64] // the first of words
	shown *display           // on PE 0; nil elsewhere, and in the simulator

	stop    context.CancelFunc // ends the goroutine of the display
	stopped chan struct{}      // closed when that goroutine has ended
	forget  func() bool        // takes back what the end of the World would do
	once    sync.Once
}

// New begins to show, on the standard error of PE 0, how much of total is done. total is what this PE expects to do, or
// 0 if it does not know. The display has the sum of all PEs' totals, so where work is shared out as it goes, one PE
// gives all of it. name says what is done. New is collective over all PEs, with the same name.
//
// On a terminal the display is a bar in place, drawn ten times a second. Elsewhere it is a line, after two seconds and
// then more and more rarely. Nothing is shown in the simulator. PE 0 reads the counters of all PEs by one-sided fetches
// on a context of its own, so no other PE does anything for the display, and no order of the program changes. A display
// that cannot read a counter, because a PE is lost or the World is closed, ends. Progress.End ends the display, as the
// end of ctx and of the World do.
//
// New returns the errors of pgas.Agree, pgas.Alloc and World.NewContext. It panics with *pgas.UsageError if ctx or w is
// nil, or if total is negative.
func New(ctx context.Context, w *pgas.World, name string, total int) (*Progress, error) {
	hook.MustBegin("progress.New", ctx, w)
	return start(ctx, w, name, total, displayOn(os.Stderr, hook.Settings(w).Progress))
}

// start is New with a display.
func start(ctx context.Context, w *pgas.World, name string, total int, d *display) (*Progress, error) {
	if total < 0 {
		hook.Misuse("progress.New", "a total of %d: give what this PE expects to do, or 0 if it does not know", total)
	}
	if err := pgas.Agree(ctx, w, "progress", name); err != nil {
		return nil, err
	}
	words, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	all, err := pgas.SumValue(ctx, w.Team(), int64(total))
	if err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	p := &Progress{w: w, words: words, done: pgas.AtomicOf(words, 0)}
	if w.PE() > 0 || hook.Simulated(w) {
		return p, nil
	}
	d.name, d.total, d.began = name, all, w.Now()
	return p, p.show(ctx, d)
}

// show starts the display.
func (p *Progress) show(ctx context.Context, d *display) error {
	c, err := p.w.NewContext()
	if err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	p.shown, p.stopped = d, make(chan struct{})
	ctx, p.stop = context.WithCancel(ctx)
	p.forget = p.w.AtClose(func() error {
		p.halt()
		return nil
	})
	go func() {
		defer close(p.stopped)
		for wait := d.first(); p.w.Sleep(ctx, wait) == nil; wait = d.next() {
			done, err := p.sum(ctx, c)
			if err != nil {
				break
			}
			d.show(done, p.w.Now())
		}
		c.Close()
	}()
	return nil
}

// sum returns how much all PEs have done, as read on context c.
func (p *Progress) sum(ctx context.Context, c *pgas.Context) (sum int64, err error) {
	all := make([]int64, p.w.NPEs())
	defer func() {
		if r := recover(); r != nil {
			if err = p.w.Recovered(r); err == nil {
				panic(r)
			}
		}
	}()
	word := p.done.On(c)
	for pe := range all {
		word.FetchNB(pe, &all[pe])
	}
	if err := c.Quiet(ctx); err != nil {
		return 0, err
	}
	for _, n := range all {
		sum += n
	}
	return sum, nil
}

// Add notes that this PE has done n more. It is an atomic addition to this PE's own memory: it waits for nothing and
// moves nothing.
func (p *Progress) Add(n int) {
	if p == nil {
		p.made("Progress.Add")
	}
	p.done.Add(p.w.PE(), int64(n))
}

// Writer returns a writer that passes on to out. It takes the bar away before it writes, and the bar comes again below.
// A program of one PE that writes to its terminal while the bar is there writes whole lines through it. Elsewhere it
// need not.
func (p *Progress) Writer(out io.Writer) io.Writer {
	p.made("Progress.Writer")
	if p.shown == nil {
		return out
	}
	return &besideBar{p.shown, out}
}

// End ends the display and frees its memory. If anything was shown before, a last line says what all PEs have done. End
// is collective over all PEs, and contains barriers. It returns the errors of World.Barrier and of Sym.Free. A second
// End does nothing.
func (p *Progress) End(ctx context.Context) (err error) {
	p.made("Progress.End")
	hook.MustBegin("Progress.End", ctx, p.w)
	p.once.Do(func() {
		p.halt()
		if p.forget != nil {
			p.forget()
		}
		var all int64
		if all, err = pgas.SumValue(ctx, p.w.Team(), p.done.Fetch(p.w.PE())); err != nil {
			return
		}
		if p.shown != nil {
			p.shown.end(all, p.w.Now())
		}
		err = p.words.Free(ctx)
	})
	return err
}

// halt stops the goroutine of the display, and leaves its line.
func (p *Progress) halt() {
	if p.shown == nil {
		return
	}
	p.stop()
	<-p.stopped
	p.shown.leave()
}

// made panics with *pgas.UsageError if p is nil or zero.
func (p *Progress) made(op string) {
	if p == nil || p.w == nil {
		hook.Misuse(op, "a nil or zero Progress (no call has made it): use what progress.New has returned")
	}
}
