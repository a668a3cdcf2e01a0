package coll

// Every order of joint copies. Members that make a few calls one after the other are a model whose steps are single
// accesses to shared memory. The accesses to the words of tasks are those of joint.go; the barrier before them is the
// model's. Everything that the members may do in any order is visited.

import (
	"fmt"
	"testing"
)

// A jointBug is an edit of the model, which must be found.
type jointBug int

const (
	noJointBug jointBug = iota
	releasesFirst
	leavesEarly
	finishesFirst
	numJointBugs
)

var jointBugNames = [numJointBugs]string{"", "the members are released before the tasks are open", "a member leaves when no task is left", "a task is finished before it is done"}

// A jointStep is what a member does next.
type jointStep uint8

const (
	jointArrive jointStep = iota
	jointOpen
	jointOpenSecond
	jointRelease
	jointReleased
	jointTake
	jointCopy
	jointFinish
	jointAwait
	jointOver
)

// jointMembers is the most members of a model.
const jointMembers = 3

// A jointMember is a member of a host. It has a block for each member, and gets one from each.
type jointMember struct {
	step   jointStep
	inside bool
	call   uint8
	task   uint8 // the task under way: all blocks for one member
	from   uint8 // whose block is next
	source uint8 // the call whose data its source holds
	dst    [jointMembers]uint8
}

// A jointModel is the state of all.
type jointModel struct {
	bug               jointBug
	n, calls          uint8
	arrived, released uint64
	taken, finished   uint64
	members           [jointMembers]jointMember
	wrong             string
}

// A modelWord is a word of the model. Of the accesses of a function only number only is made; the others must be
// stores.
type modelWord struct {
	p    *uint64
	only int
	seen *int
}

// skips counts an access, and reports whether it is not to be made.
func (w modelWord) skips() bool {
	*w.seen++
	return w.only != *w.seen
}

func (w modelWord) Load() uint64 { return *w.p }

func (w modelWord) Store(v uint64) {
	if !w.skips() {
		*w.p = v
	}
}

func (w modelWord) Add(n uint64) uint64 {
	if w.skips() {
		panic("a function adds to a word and makes another access: they must be two steps")
	}
	*w.p += n
	return *w.p
}

// tasks returns the tasks of member me's call, of which access number only is made.
func (m *jointModel) tasks(me, only int) tasks[modelWord] {
	seen := new(int)
	return tasks[modelWord]{
		call:     uint64(m.members[me].call),
		taken:    modelWord{&m.taken, only, seen},
		finished: modelWord{&m.finished, only, seen},
	}
}

// move lets member me make its next step, and reports whether it could.
func (m *jointModel) move(i int) bool {
	me, n := &m.members[i], int(m.n)
	t := m.tasks(i, 1)
	switch me.step {
	case jointArrive:
		me.inside, me.source = true, me.call
		m.arrived++
		if me.step = jointReleased; int(m.arrived) == n {
			m.arrived, me.step = 0, jointOpen
			if m.bug == releasesFirst {
				m.released = uint64(me.call)
			}
		}
	case jointOpen:
		t.open()
		me.step = jointOpenSecond
	case jointOpenSecond:
		t = m.tasks(i, 2)
		t.open()
		me.step = jointRelease
	case jointRelease:
		m.released = uint64(me.call)
		me.step = jointTake
	case jointReleased:
		if m.released < uint64(me.call) {
			return false
		}
		me.step = jointTake
	case jointTake:
		m.take(i, t)
	case jointCopy:
		m.copyBlock(i)
	case jointFinish:
		if t.finish() > t.allFinished(n) {
			m.wrong = fmt.Sprintf("member %d finishes a task of call %d that another has finished", i, me.call)
		}
		if me.step = jointTake; m.bug == finishesFirst {
			me.step = jointCopy
		}
	case jointAwait:
		if m.finished < t.allFinished(n) && m.bug != leavesEarly {
			return false
		}
		m.leave(i)
	default:
		return false
	}
	return true
}

// take has member i take a task.
func (m *jointModel) take(i int, t tasks[modelWord]) {
	me := &m.members[i]
	task, ok := t.take(int(m.n), i%2 != 0)
	switch {
	case !ok:
		me.step = jointAwait
	case m.bug == finishesFirst:
		me.step, me.task, me.from = jointFinish, uint8(task), 0
	default:
		me.step, me.task, me.from = jointCopy, uint8(task), 0
	}
}

// copyBlock has member i copy the next block of its task. Both owners must be in the call.
func (m *jointModel) copyBlock(i int) {
	me := &m.members[i]
	from, to := &m.members[me.from], &m.members[me.task]
	for _, owner := range []*jointMember{from, to} {
		if !owner.inside || owner.call != me.call {
			m.wrong = fmt.Sprintf("member %d copies in call %d from %d to %d, of which one is not in the call", i, me.call, me.from, me.task)
		}
	}
	to.dst[me.from] = from.source
	if me.from++; me.from == m.n {
		me.from = 0
		if me.step = jointFinish; m.bug == finishesFirst {
			me.step = jointTake
		}
	}
}

// leave has member i leave its call. It must have its blocks.
func (m *jointModel) leave(i int) {
	me := &m.members[i]
	for from := range m.n {
		if me.dst[from] != me.call {
			m.wrong = fmt.Sprintf("member %d leaves call %d with a block of call %d from %d", i, me.call, me.dst[from], from)
		}
	}
	step := jointArrive
	if me.call == m.calls {
		step = jointOver
	}
	*me = jointMember{step: step, call: me.call + 1}
}

// over reports whether all members have made all calls.
func (m *jointModel) over() bool {
	for _, me := range m.members[:m.n] {
		if me.step != jointOver {
			return false
		}
	}
	return true
}

// exploreJoint visits everything that can become of so many members which make so many calls. It returns what is wrong,
// or "", and how many states there were.
func exploreJoint(members, calls uint8, bug jointBug) (wrong string, states int) {
	first := jointModel{bug: bug, n: members, calls: calls}
	for i := range first.members[:members] {
		first.members[i].call = 1
	}
	seen := map[jointModel]bool{first: true}
	for todo := []jointModel{first}; len(todo) > 0; {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		moved := false
		for i := range int(members) {
			next := m
			if !next.move(i) {
				continue
			}
			if moved = true; next.wrong != "" {
				return next.wrong, len(seen)
			}
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
		if !moved && !m.over() {
			return fmt.Sprintf("no member can go on: %+v", m), len(seen)
		}
	}
	return "", len(seen)
}

// jointCasts are how many members make how many calls.
var jointCasts = [][2]uint8{{1, 3}, {2, 1}, {2, 3}, {3, 2}}

// TestJointEveryOrder: in every order of the accesses, each member leaves each call with its blocks, nobody's memory is
// read or written once it has left, and no member waits for ever. Edits of the model are found.
func TestJointEveryOrder(t *testing.T) {
	for _, c := range jointCasts {
		wrong, states := exploreJoint(c[0], c[1], noJointBug)
		if wrong != "" {
			t.Errorf("%d members, %d calls: %s", c[0], c[1], wrong)
		}
		t.Logf("%d members, %d calls: %d states", c[0], c[1], states)
	}
	for b := noJointBug + 1; b < numJointBugs; b++ {
		t.Run(jointBugNames[b], func(t *testing.T) {
			if wrong, _ := exploreJoint(2, 2, b); wrong != "" {
				t.Logf("caught by every order of two members: %s", wrong)
			} else {
				t.Error("not found")
			}
		})
	}
}
