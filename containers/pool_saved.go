package containers

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/internal/plural"
)

// Checkpoint makes a pool an item of a ckpt.Set. Its tasks, those in Go's memory among them, are restored on any number
// of PEs and members, dealt out so that each has as many as the others to within one. A Save during a Run is an error,
// and so is one after a Run that has failed: it has lost tasks.
func (p *WorkPool[T]) Checkpoint() ckpt.Parts {
	if p == nil || p.members.World == nil {
		notMade("WorkPool.Checkpoint")
	}
	return ckpt.Parts{Kind: "WorkPool", Save: p.save, Restore: p.restore}
}

// save returns this member's tasks, the oldest first.
func (p *WorkPool[T]) save(context.Context) ([]ckpt.Section, error) {
	if p.members.Team == nil {
		return nil, nil
	}
	if err := p.mustRest("Save"); err != nil {
		return nil, err
	}
	d := &p.deque
	if d.full != nil {
		return nil, d.full
	}
	s := ckpt.Elements(d.spill[d.first:])
	spilled := s.Data
	s.Data = nil
	ring := d.ring.Local()
	for head, _ := poolShared(d.state.Fetch(d.me)); head != d.top; {
		at := head & d.mask
		n := min(d.top-head, uint32(len(ring))-at)
		s.Data = append(s.Data, ckpt.Elements(ring[at:at+n]).Data...)
		s.Count += int(n)
		head += n
	}
	s.Data = append(s.Data, spilled...)
	return []ckpt.Section{s}, nil
}

// mustRest returns an error if a call of op of the Set comes during a run, or after one that has failed.
func (p *WorkPool[T]) mustRest(op string) error {
	if p.running.busy() {
		return fmt.Errorf("WorkPool.Run is under way: call %s between runs", op)
	}
	if p.failed {
		return errPoolFailed
	}
	return nil
}

// restore makes this member's share of the tasks that were saved those of its deque.
func (p *WorkPool[T]) restore(ctx context.Context, from *ckpt.Saved) error {
	if p.members.Team == nil {
		return nil
	}
	if err := p.mustRest("Restore"); err != nil {
		return err
	}
	begins, err := p.begins(ctx, from)
	if err != nil {
		return err
	}
	lo, hi := p.members.Team.Share(begins[from.PEs()])
	d := &p.deque
	if hi-lo-d.ring.Len() > d.spillMost {
		return fmt.Errorf("%s were saved, and each of %s has room for %d and %d more in Go's memory: give NewWorkPool a larger capacity or Spill",
			plural.Count(begins[from.PEs()], "task"), plural.Count(p.members.N, "member"), d.ring.Len(), d.spillMost)
	}
	tasks := make([]T, hi-lo)
	for pe := range from.PEs() {
		first, end := max(lo, begins[pe]), min(hi, begins[pe+1])
		if first >= end {
			continue
		}
		if err := ckpt.Read(ctx, from, pe, 0, first-begins[pe], tasks[first-lo:end-lo]); err != nil {
			return err
		}
	}
	d.clear()
	for _, task := range tasks {
		p.push(task)
	}
	return d.full
}

// begins returns the number of the first task of each PE that has saved, and of all tasks.
func (p *WorkPool[T]) begins(ctx context.Context, from *ckpt.Saved) (begins []int, err error) {
	const most = 1 << 38 // of a PE
	begins = []int{0}
	for pe := range from.PEs() {
		s, number, err := savedSection(ctx, from, pe, "")
		if err == nil && number >= 0 {
			err = ckpt.MustBe[T](&s)
		}
		if err == nil && s.Count > most {
			err = errors.New("the number of its tasks is damaged")
		}
		if err != nil {
			return nil, err
		}
		begins = append(begins, begins[pe]+s.Count)
	}
	return begins, nil
}

// clear makes the deque empty. No thief is at work.
func (d *poolDeque[T]) clear() {
	d.tail, d.low = d.top, d.top
	d.state.Set(d.me, poolSpan(d.top, d.top))
	d.copied.Set(d.me, uint64(d.top))
	d.spill, d.first, d.full = nil, 0, nil
	d.ctx.FencePE(d.me)
}
