package containers

import (
	"context"
	"errors"
	"time"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// RunFor is Run for a time: when d has passed by the clock of the first member, members begin no more tasks. It returns
// how many tasks are left at all members together; it is 0 if all have been run. The tasks that are left stay in the
// pool: the next Run goes on with them, and between two runs a ckpt.Set saves them. It is collective over the members.
//
// At the end of the time the first member tells each other one with a message, after the task that it is running. Then
// come two barriers of the members, and three reductions. The errors are those of Run, on all members.
func (p *WorkPool[T]) RunFor(ctx context.Context, d time.Duration, run func(ctx context.Context, task T, add func(T)) error) (left int, err error) {
	const op = "WorkPool.RunFor"
	p.check(op)
	p.members.MustBelong(ctx, op)
	switch {
	case run == nil:
		carry.Misuse(op, "no function to run tasks with")
	case d < 0:
		carry.Misuse(op, "%v is no time to run tasks for", d)
	}
	p.running.enterLong(p.members.World)
	defer p.running.leave()
	if p.failed {
		return 0, errPoolFailed
	}
	p.failed = true // until it ends well
	if p.members.Me == 0 {
		p.until = max(p.members.World.Now()+d, 1)
	}
	err = p.joint(ctx, op, func(task T) error { return run(ctx, task, p.push) })
	p.until = 0
	if left, err = p.endRun(ctx, err); err != nil {
		return 0, err
	}
	p.failed = false
	return left, nil
}

// endRun makes the pool ready for the next run, after one that has ended with ran at this member: well, since its time
// was over, or with an error. It returns how many tasks are left. All members return an error if one has failed.
func (p *WorkPool[T]) endRun(ctx context.Context, ran error) (left int, err error) {
	t := p.members.Team
	failed := 0 // or the member whose task has failed, and 1
	if other, ok := errors.AsType[*TaskError](ran); ok {
		failed = other.PE + 1
	} else if ran != nil && ran != errPoolHalted {
		failed = p.members.Me + 1
	}
	failed, err = pgas.MaxValue(ctx, t, failed)
	switch {
	case ran != nil && ran != errPoolHalted:
		return 0, ran
	case err != nil:
		return 0, err
	case failed > 0:
		return 0, p.taskError(failed - 1)
	}
	if err := t.Barrier(ctx); err != nil { // what members have told each other is there, and thieves have copied
		return 0, err
	}
	if left, err = pgas.SumValue(ctx, t, p.deque.len()); err != nil {
		return 0, err
	}
	wave, err := pgas.MaxValue(ctx, t, p.end.wave)
	if err != nil {
		return 0, err
	}
	p.end.restart(wave + 1)
	p.control.At(poolStop).Set(p.members.Me, 0)
	if p.members.Me == 0 {
		p.control.At(poolStop+1).Set(0, 0)
	}
	return left, t.Barrier(ctx) // the words are 0 before the next run, and no member meets one of this run
}
