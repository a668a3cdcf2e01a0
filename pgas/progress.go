package pgas

// Progress of the whole job. Each PE counts what it has done in a word of its own symmetric memory, so counting is one
// instruction. PE 0 reads the words of all PEs at intervals and shows the sum: in place on a terminal, by whole lines elsewhere
// (progress_show.go). No other PE takes part in that.

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

// Progress shows how far all PEs of the job are, together. World.Progress makes one. Its methods may be called by any goroutine;
// they panic with *UsageError if it is nil or zero.
type Progress struct {
	w     *World
	words Sym[int64] // what each PE has done
	done  Atomic[int64]
	shown *display // on PE 0; nil elsewhere, and in the simulator

	stop    context.CancelFunc
	stopped chan struct{}
	forget  func() bool
	once    sync.Once
}

// Progress begins to show, on the standard error of PE 0, how much of total is done. total is what this PE expects to do, and
// 0 if it does not know: the display has the sum of those of all PEs, so where work is shared out as it goes, one PE gives all
// of it. name says what is done. It is collective over all PEs, with the same name.
//
// On a terminal it is a bar in place, ten times a second; elsewhere it is a line, after two seconds and then more and more
// rarely. Nothing is shown in the simulator. PE 0 reads the counters of all PEs by one-sided fetches on a context of its own,
// so no other PE does anything for the display, and no order of the program changes. A display that cannot read a counter,
// because a PE is lost or the World is closed, ends.
//
// It returns the errors of Alloc, or of NewContext. It panics with *UsageError if total is negative or ctx is nil. Progress.End
// ends it, as the end of ctx and of the World do.
func (w *World) Progress(ctx context.Context, name string, total int) (*Progress, error) {
	return w.progress(ctx, name, total, displayOn(os.Stderr))
}

// progress is Progress with a display.
func (w *World) progress(ctx context.Context, name string, total int, d *display) (*Progress, error) {
	w.mustBeOpen("World.Progress")
	mustHaveContext("World.Progress", ctx)
	if total < 0 {
		misuse("World.Progress", "a total of %d: give what this PE expects to do, or 0 if it does not know", total)
	}
	if err := Agree(ctx, w, "progress", name); err != nil {
		return nil, err
	}
	words, err := Alloc[int64](ctx, w, 1)
	if err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	all, err := SumValue(ctx, w.team, int64(total))
	if err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	p := &Progress{w: w, words: words, done: AtomicOf(words, 0)}
	if w.PE() > 0 || w.n.Sched != nil {
		return p, nil
	}
	d.name, d.total, d.began = name, all, w.n.Now()
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
			d.show(done, p.w.n.Now())
		}
		c.Close()
	}()
	return nil
}

// sum returns how much all PEs have done, as read on context c.
func (p *Progress) sum(ctx context.Context, c *Context) (sum int64, err error) {
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

// Add notes that this PE has done n more. It is an atomic addition to this PE's own memory: it waits for nothing and moves
// nothing.
func (p *Progress) Add(n int) {
	if p == nil {
		p.made("Progress.Add")
	}
	p.done.Add(p.w.PE(), int64(n))
}

// Writer returns a writer that passes on to out, and takes the bar away before what is written; the bar comes again below. A
// program of one PE that writes to its terminal while the bar is there writes whole lines through it. Elsewhere it need not.
func (p *Progress) Writer(out io.Writer) io.Writer {
	p.made("Progress.Writer")
	if p.shown == nil {
		return out
	}
	return &besideBar{p.shown, out}
}

// End ends the display, with a last line of what all PEs have done if there was one before, and frees its memory. It is
// collective over all PEs, and contains barriers. It returns the errors of Barrier and of Free. A second End does nothing.
func (p *Progress) End(ctx context.Context) (err error) {
	p.made("Progress.End")
	mustHaveContext("Progress.End", ctx)
	p.once.Do(func() {
		p.halt()
		if p.forget != nil {
			p.forget()
		}
		var all int64
		if all, err = SumValue(ctx, p.w.team, p.done.Fetch(p.w.PE())); err != nil {
			return
		}
		if p.shown != nil {
			p.shown.end(all, p.w.n.Now())
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

// made panics with *UsageError if p is nil or zero.
func (p *Progress) made(op string) {
	if p == nil || p.w == nil {
		misuse(op, "a nil or zero Progress (no call has made it): use what World.Progress has returned")
	}
}
