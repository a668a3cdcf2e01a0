package coll

// Joint copies: how the members of a host that has more PEs than CPUs copy what is exposed in place.
//
// If each copied what is meant for itself, there would be two barriers, one before and one after. Each costs a switch
// of a CPU for each member, and together they cost more than to copy some KiB. But every member can reach the memory of
// all, and knows where everything is: their arguments are alike. So the members that have a CPU copy for all, and the
// others need a CPU once, to leave the call and enter the next.
//
// More than some KiB are not copied so: each member would have all pages of all members in its page table, and in its
// CPU's table of translations, instead of its own and what it reads.
//
//	1  Each member arrives, as in a central barrier. The last one opens the tasks of the call, and then releases the
//	   others: all that is exposed may be read, and all destinations may be written.
//	2  A member that finds itself released takes tasks, one at a time, until none is left: from the front or from the back,
//	   depending on its CPU, so that a CPU mostly copies again what it has copied in the call before.
//	3  It then waits until all tasks are finished. Nobody reads or writes its memory for this call any more: it leaves.
//
// Both words are on the first member. That of the finished tasks starts with the number of the call. So what is left of
// an earlier call is less than anything that a later one waits for, and nobody writes an earlier one's number later: a
// call is not opened before all members have entered it, and have left those before.

import (
	"context"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// taskBits are the lower bits of the words of tasks, which count. They hold twice as many tasks as a job has PEs. The
// word of those taken has as many more for those taken from the back.
const (
	taskBits = 20
	taskMask = 1<<taskBits - 1
)

// jointMax is up to how many bytes for each member are copied jointly.
const jointMax = 256 << 10

// joint reports whether the members of l copy jointly what they expose as s says. Each gets so many bytes in all.
func (g *Group) joint(l *layout, s *exposure, bytes int) bool {
	return s.kind == zcopy && bytes <= jointMax && g.crowded(l)
}

// crowded reports whether the members of l are all on this host, several, and have not a CPU each.
func (g *Group) crowded(l *layout) bool {
	return len(g.hosts) == 1 && len(l.localMembers) > 1 && !g.n.Dedicated
}

// enterJointly enters a call whose tasks the members do jointly, and returns when all have entered.
func (g *Group) enterJointly(ctx context.Context, e *arrival) error {
	last, err := g.arriveCentral(ctx, e)
	if err != nil {
		return err
	}
	if last {
		t := g.tasks()
		t.open()
		g.releaseCentral()
	}
	g.noteAllArrived()
	return nil
}

// takesFromBack reports from which end this member takes tasks: from the same one in every call, as long as it runs on
// the same CPU, so that a CPU finds in its caches what it has copied in the last one.
func takesFromBack() bool { return currentCPU()&1 != 0 }

// nextTask takes the next of n tasks from one end, which taskDone must follow, or reports false if all are taken.
func (g *Group) nextTask(n int, back bool) (task int, ok bool) {
	t := g.tasks()
	return t.take(n, back)
}

// taskDone finishes one of n tasks.
func (g *Group) taskDone(n int) {
	t := g.tasks()
	if t.finish() == t.allFinished(n) {
		g.wakeLocal()
	}
}

// awaitTasks blocks until all of n tasks are finished.
func (g *Group) awaitTasks(ctx context.Context, n int) error {
	t := g.tasks()
	c := node.AtLeast(t.finished, t.allFinished(n))
	if _, ok := c.Check(); ok {
		return nil
	}
	c.Party = g
	_, err := g.await(ctx, c, g.blockedIn())
	return err
}

// tasks returns the tasks of the call under way.
func (g *Group) tasks() tasks[*atomic.Uint64] {
	w := g.local[0].syncWords()
	return tasks[*atomic.Uint64]{call: g.calls.n, taken: &w.tasksTaken, finished: &w.tasksFinished}
}

// tasks are the tasks of a call that members do jointly. The words are the members' shared ones, or those of a test
// that tries every order of the accesses.
type tasks[W sharedWord] struct {
	call            uint64
	taken, finished W
}

// A sharedWord is a word that several members change.
type sharedWord interface {
	Load() uint64
	Store(v uint64)
	Add(n uint64) uint64
}

// open makes the tasks ready to be taken. All members are in the call, and nobody takes tasks yet.
func (t *tasks[W]) open() {
	t.finished.Store(t.call << taskBits)
	t.taken.Store(0)
}

// take takes the next of n tasks from the front or the back, or reports false if all are taken.
func (t *tasks[W]) take(n int, back bool) (task int, ok bool) {
	one := uint64(1)
	if back {
		one <<= taskBits
	}
	before := t.taken.Add(one) - one
	fromFront, fromBack := int(before&taskMask), int(before>>taskBits&taskMask)
	if task = fromFront; back {
		task = n - 1 - fromBack
	}
	return task, fromFront+fromBack < n
}

// finish finishes a task that was taken, and returns what finished is then.
func (t *tasks[W]) finish() uint64 { return t.finished.Add(1) }

// allFinished is the value of finished when n tasks are.
func (t *tasks[W]) allFinished(n int) uint64 { return t.call<<taskBits + uint64(n) }
