package locks

// The distributed tree (rma-locks 3.2.3): a distributed queue for each element of each level of the
// topology, from level 1, the machine, to level N, the innermost. A PE that wants the lock enters the queue
// of its innermost element; the head of that queue enters the queue of the level above, and so on. The head at level
// 1 has the lock, or goes on to the readers' counter if there is one. A holder that releases the lock passes it on
// inside its innermost element if it can: that is a short way, and the queues above are not touched.
//
// The words that PEs tell each other, in a node's status:
//
//	goOn    you are the head of this queue: go on to the level above (ACQUIRE_PARENT; at level 1, MODE_CHANGE)
//	handed the lock is yours, with all levels above. Carries the PE whose node represents this element in the
//	        queue above, the number of holders in a row inside this element, and the number of writers since
//	        readers were last admitted
//
// A PE that climbed itself writes into its own nodes what it would have been told.
//
// Where the listings fall short:
//
// 1. Listing 5 releases level i-1 by the releaser's own node, as if the releaser had climbed there. When
// the lock has been passed to it inside its element, another PE has climbed: the releaser's CAS of TAIL fails, and
// it waits for a successor for ever. In this file the word says which PE's node represents the element above, and the
// releaser leaves by that node. (A PE waits on its own memory, so the node cannot belong to the element.)
//
// 2. Listing 8 compares T_W with the count of level 1, which counts what was passed at level 1 only; the
// text (3.2.3) says the total number of passings between writers. In this file the word carries the total, and
// the lock goes to the readers when the total reaches T_W, at whatever level it would have been passed.
//
// 3. The counts of Listing 5 start at ACQUIRE_START, whose value is not given. In this file the first holder
// of an element has 1, and the lock stays in the element while the count is below T_L: T_L = 1 passes nothing on.
//
// Cancellation. A PE that gives up at level i abandons its node in that queue, and leaves the queues of the inner
// levels, where it is the head, with goOn: the successor in each of them climbs by a node of its own.
//
// Invariant: of the PEs of an element of level i+1, only the head of its queue has a waiting node in the queue of
// level i. Other nodes of these PEs in that queue are abandoned, or represent the element.

import (
	"context"
	"fmt"
	"strings"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/topo"
)

// MaxLevels is the number of levels of the topology that a lock can have.
const MaxLevels = 6

// The words of a tree: a kind, and for handed three numbers of 20 bits.
const (
	goOn   = firstWord
	handed = firstWord + 1

	kindBits   = 3
	numberBits = 20
	numberMax  = 1<<numberBits - 1
)

// grant is the content of the word handed.
type grant struct {
	above int // the PE whose node represents this element in the queue of the level above; -1 at level 1
	count int // holders in a row inside this element, this one included
	total int // writers in a row, this one included
}

func (g grant) word() int64 {
	return handed | int64(g.above+1)<<kindBits | int64(g.count)<<(kindBits+numberBits) | int64(g.total)<<(kindBits+2*numberBits)
}

func isGrant(word int64) bool { return word&(1<<kindBits-1) == handed }

func grantOf(word int64) grant {
	word >>= kindBits
	return grant{int(word&numberMax) - 1, int(word >> numberBits & numberMax), int(word >> (2 * numberBits))}
}

// A tree is a PE's handle: the queues of the elements that it is in.
type tree struct {
	me     int
	queues []queue // the queues from level 1 on
	tl     []int   // T_L of each level
	tw     int     // T_W; 0: there are no readers
	top    summit  // what the head of level 1 claims; nil if that is nothing
}

// summit is what the head of level 1 has to take besides.
type summit interface {
	claim(ctx context.Context, way *passage) error // after an error it is not held
	tryClaim() bool
	yield()
}

// newTree makes the tree of a lock whose nodes are at refs, by level.
func newTree(w *pgas.World, ref RMAMCSStateRef, levels []topo.Level, tl []int) tree {
	t := tree{me: w.PE(), tl: tl}
	for i, l := range levels {
		t.queues = append(t.queues, newQueue(w, ref.Level(i), l.Representative(l.Element(t.me))))
	}
	return t
}

// acquire climbs until this PE holds the lock. Errors: *pgas.PeerError if a PE of the job dies, and the cause of ctx's
// end.
func (t *tree) acquire(ctx context.Context, way *passage) error {
	for i := len(t.queues) - 1; i >= 0; i-- {
		word, err := t.queues[i].enter(ctx, way)
		if err != nil {
			t.descend(i + 1)
			return err
		}
		if isGrant(word) {
			t.take(i+1, grantOf(word).total)
			return nil
		}
		t.queues[i].status.Swap(t.me, goOn)
	}
	if t.top != nil {
		if err := t.top.claim(ctx, way); err != nil {
			t.descend(0)
			return err
		}
	}
	t.take(0, 1)
	return nil
}

// try climbs as long as each queue on the way is empty.
func (t *tree) try() bool {
	for i := len(t.queues) - 1; i >= 0; i-- {
		if !t.queues[i].try() {
			t.descend(i + 1)
			return false
		}
		t.queues[i].status.Swap(t.me, goOn)
	}
	if t.top != nil && !t.top.tryClaim() {
		t.descend(0)
		return false
	}
	t.take(0, 1)
	return true
}

// take writes to this PE's nodes from level index i inwards that it holds the lock by them.
func (t *tree) take(i, total int) {
	for ; i < len(t.queues); i++ {
		above := t.me
		if i == 0 {
			above = -1
		}
		t.queues[i].status.Swap(t.me, grant{above, 1, total}.word())
	}
}

// descend leaves the queues from level index i inwards, in which this PE is the head and holds nothing.
func (t *tree) descend(i int) {
	for ; i < len(t.queues); i++ {
		t.queues[i].leave(t.me, goOn)
	}
}

// release passes the lock on.
func (t *tree) release() {
	t.releaseAt(len(t.queues)-1, t.me, grantOf(t.leaf().status.Fetch(t.me)).total)
}

// releaseAt releases level index i, which the node of PE head holds: inside the element as long as T_L and T_W allow,
// and otherwise after it has released the level above. total is the holder's, since the word in a node of a level
// above may be old.
func (t *tree) releaseAt(i, head, total int) {
	q := &t.queues[i]
	g := grantOf(q.status.Fetch(head))
	above := g.above
	if g.count < t.tl[i] && (t.tw == 0 || total < t.tw) {
		g.count++
		g.total = min(total+1, numberMax)
		var passed bool
		if head, passed = q.pass(head, g.word()); passed {
			return
		}
	}
	if i > 0 {
		t.releaseAt(i-1, above, total)
	} else if t.top != nil {
		t.top.yield()
	}
	q.leave(head, goOn)
}

// leaf returns the innermost queue, which every PE that wants the lock enters.
func (t *tree) leaf() *queue { return &t.queues[len(t.queues)-1] }

// holder returns a PE that held the lock a moment ago.
func (t *tree) holder() (pe int, held bool) {
	for pe, s := range readAll(t.leaf().w, t.leaf().status) {
		if isGrant(s) {
			return pe, true
		}
	}
	return 0, false
}

// waiters returns the number of PEs that were seen waiting at any level.
func (t *tree) waiters() int {
	return count(peekAll(t.leaf().w, t.leaf().status), func(s int64) bool { return s == waiting || s == goOn })
}

// levelsOf returns the levels of a lock: without names those that divide the PEs, the outermost if there are too many.
func levelsOf(full *topo.Tree, names []string) (levels []topo.Level, err error) {
	if names == nil {
		trimmed := full.Trim()
		for i := range min(trimmed.Depth(), MaxLevels) {
			levels = append(levels, trimmed.LevelAt(i))
		}
		return levels, nil
	}
	levels = append(levels, full.LevelAt(0))
	for _, name := range names {
		if name == topo.Machine {
			continue
		}
		l, err := full.Level(name)
		if err != nil {
			return nil, err
		}
		levels = append(levels, l)
	}
	if len(levels) > MaxLevels {
		return nil, fmt.Errorf("%d levels, and a lock can have %d", len(levels), MaxLevels)
	}
	for i := 1; i < len(levels); i++ {
		if levels[i].Elements() < levels[i-1].Elements() {
			return nil, fmt.Errorf("level %s before %s: levels go from the machine inwards", levels[i-1].Name(), levels[i].Name())
		}
	}
	return levels, nil
}

// The locality that is chosen if the options leave it open: larger where passing on costs more, which is between hosts
// (rma-locks 6). 50 on each host is the best value of Figure 4c.
const (
	localityInHost = 10
	localityHost   = 50
)

// thresholds returns T_L of each level: the given value if there is one and it is not 0.
func thresholds(full *topo.Tree, levels []topo.Level, given []int) ([]int, error) {
	if len(given) > len(levels) {
		return nil, fmt.Errorf("%s of T_L, and the lock has %d levels: %s", plural.Count(len(given), "value"), len(levels), namesOf(levels))
	}
	hosts, err := full.Level(topo.Host)
	if err != nil {
		return nil, err
	}
	tl := make([]int, len(levels))
	for i, l := range levels {
		tl[i] = localityHost
		if l.Elements() > hosts.Elements() {
			tl[i] = localityInHost
		}
		if i < len(given) && given[i] != 0 {
			tl[i] = given[i]
		}
		if tl[i] < 1 || tl[i] > numberMax {
			return nil, fmt.Errorf("T_L = %d for level %s: it is from 1 to %d", tl[i], l.Name(), numberMax)
		}
	}
	return tl, nil
}

// namesOf returns the names of levels, for a message.
func namesOf(levels []topo.Level) string {
	var names []string
	for _, l := range levels {
		names = append(names, l.Name())
	}
	return strings.Join(names, ", ")
}
