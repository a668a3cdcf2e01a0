package containers_test

// Planted bugs in queues, pools and values. Each is an edit of the real source, which must be found.

import (
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

var queueMutants = []mutant.Bug{
	mutant.New("an item is announced before it is there", "queue_push.go", "QueueAdversaries",
		"	q.members.Ctx.FencePE(q.home)\n	q.words.At(t.in(q.ring))", "	q.words.At(t.in(q.ring))",
	),
	mutant.New("a late producer forgets its ticket", "queue_push.go", "Queue(Explored|Adversaries)",
		"			q.publish(t, ticketDead, len(items))\n			return pushed, err\n", "			return pushed, err\n",
	),
	mutant.New("a late producer does not wait for room", "queue_push.go", "Queue(Explored|Adversaries|$)",
		"			room, err = q.awaitRoom(ctx, t, wait)\n", "			room = len(items)\n",
	),
	mutant.New("Close wakes nobody", "queue_push.go", "QueueExplored/closed",
		"	q.publish(t, ticketDead, 1)\n", "	_ = t\n",
	),
	mutant.New("a place is given back before it has been read", "queue_pop.go", "QueueAdversaries",
		"		q.getItems(first, dst[:k])\n		got = k\n	}\n	q.words.At(first.in(q.ring)).Set(q.home, chunk(first, ticketFreed, k))\n",
		"		got = k\n	}\n	q.words.At(first.in(q.ring)).Set(q.home, chunk(first, ticketFreed, k))\n	q.members.Ctx.MustQuiet()\n	q.members.World.Yield()\n	if got > 0 {\n		q.getItems(first, dst[:k])\n	}\n",
	),
	mutant.New("the rest of a chunk is lost", "queue_pop.go", "QueueRandom",
		"			q.words.At(q.front.in(q.ring)).Set(q.home, chunk(q.front, ticketLive, n-k))\n		}\n		q.getItems(first", "		}\n		q.getItems(first",
	),
}

// The models have more, whose orders the simulator's seeds do not find (model/pool_test.go: HEAD_FIRST, ONE_WAVE,
// FORGETS_CHILDREN).
var poolMutants = []mutant.Bug{
	mutant.New("tasks are shared before they are there", "pool_deque.go", "WorkPool(DequeAdversaries|Adversaries|Explored)",
		"	d.ctx.FencePE(d.me)\n", "",
	),
	mutant.New("overwrites tasks that are being copied", "pool_deque.go", "WorkPool(DequeAdversaries|Explored)",
		"	if copied != head {\n		return false\n	}\n", "	_ = copied\n",
	),
	mutant.New("says that it has copied before it has", "pool_steal.go", "WorkPool(DequeAdversaries|Explored)",
		"	p.getLoot(victim, head, loot)\n	p.deque.copied.Add(victim, uint64(n))\n", "	p.deque.copied.FetchAdd(victim, uint64(n))\n	p.getLoot(victim, head, loot)\n",
	),
	mutant.New("leaves before others have learned of the end", "pool.go", "WorkPool(Adversaries|$)",
		"		err = p.members.Team.Sync(ctx) // no thief of this run takes a task of the next one\n", "",
	),
}

var distMutants = []mutant.Bug{
	mutant.New("does not look at the version again", "dist.go", "DistObjectExplored",
		"	if d.version.Fetch(pe) != at {\n		return v, false\n	}\n", "",
	),
	mutant.New("the version is even before the value is whole", "dist.go", "DistObjectExplored",
		"	d.members.Ctx.FencePE(d.members.Me)\n	d.current += 2\n", "	d.current += 2\n",
	),
	mutant.New("says only afterwards that it writes", "dist.go", "DistObjectExplored",
		"	d.version.Set(d.members.Me, d.current+1)\n", "",
	),
}

// TestMutants tries the first of all, since each compiles the package; ./tests/mutants and -long try the others.
//
//ci:weekly
func TestMutants(t *testing.T) {
	bugs := slices.Concat(mailboxBugs, mapMutants)
	for _, b := range slices.Concat(queueMutants, poolMutants, distMutants) {
		b.Run = "^Test" + b.Run
		bugs = append(bugs, b)
	}
	mutant.Plant(t, bugs, *long)
}
