package dsmbench

// What a user sees of simulations that take long: every few seconds a line about those that run.

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// progressEvery is the time between two lines.
const progressEvery = 10 * time.Second

// progress is how far points have come.
type progress struct {
	mu      sync.Mutex
	total   int
	done    int
	running []*running
}

// running is a point that is being simulated.
type running struct {
	p    *progress
	c    point
	step int // the last step that PE 0 has ended
}

func (p *progress) begin(c point) *running {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &running{p: p, c: c}
	p.running = append(p.running, r)
	return r
}

// stepped counts a step of PE 0.
func (r *running) stepped() {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	r.step++
}

func (r *running) end() {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	r.p.done++
	r.p.running = slices.DeleteFunc(r.p.running, func(other *running) bool { return other == r })
}

// String describes how far all points are, in a line.
func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, r := range p.running {
		all = append(all, fmt.Sprintf("%s: %d steps", r.c.name(), r.step))
	}
	return fmt.Sprintf("pgasbench: %d of %d points done; running: %s", p.done, p.total, strings.Join(all, "; "))
}

// watch prints a line every few seconds until ctx ends.
func (p *progress) watch(ctx context.Context, w io.Writer) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			fmt.Fprintln(w, p)
		}
	}
}
