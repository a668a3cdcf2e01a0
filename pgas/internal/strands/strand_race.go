//go:build race && (amd64 || arm64)

package strands

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// maxThreads is how many goroutines and strands a process may have for another strand to have a thread. The detector
// ends a process that has some 8,000 threads.
const maxThreads = 4000

var tellTooMany = sync.OnceFunc(func() {
	fmt.Fprintf(os.Stderr, "pgas: the race detector does not see all operations as work that goes on after their calls from now on, "+
		"because this process has %d goroutines, to which the operations of a context add some: use fewer contexts, or fewer PEs\n", maxThreads)
})

var tellUnknown = sync.OnceFunc(func() {
	fmt.Fprintf(os.Stderr, "pgas: the race detector does not see operations as work that goes on after their calls, "+
		"because this program is built with %s: build it with another version of Go\n", runtime.Version())
})

// A strand yields after its first updates, and then after one of some.
const (
	yieldsFirst = 64
	yieldsEvery = 16
)

// maxFrames is how many frames of the initiator's stack a report shows.
const maxFrames = 24

// maxAfter is how many clocks a task can follow: those of all strands of a target, of its fences and of quiets.
const maxAfter = maxStrands + 2

// A strand carries out the tasks of one channel, one after the other, as a thread of its own to the detector. Its
// fields belong to the goroutine that has locked the channel.
type strand struct {
	mem    *shm.Channel
	thread thread // 0: there are too many, so the tasks are steps of the initiator
	issued clock  // what the initiator of the task has done
	ended  clock  // what the strand has done

	after  [maxAfter]*clock // what the next task follows besides its initiator
	nafter int

	wanted, shown stack // the initiator's, and the one that the detector has

	updates        uint64 // of words
	fences, quiets uint64 // how many of the target's fences, and of the channel's quiets, the strand has followed
	remote         spans  // of targets, since the last quiet
	past           spans  // of targets, before the last quiet
	local          spans  // of the initiator
}

// A stack has the addresses that calls return to, the innermost first.
type stack struct {
	pcs [maxFrames]uintptr
	n   int
}

// follow makes the next task of s follow c.
//
//go:norace
func (s *strand) follow(c *clock) {
	s.after[s.nafter] = c
	s.nafter++
}

// begun are the strands of a channel that have threads.
type begun struct{ all []*strand }

// begin starts a strand.
//
//go:norace
func (b *begun) begin(mem *shm.Channel) *strand {
	s := &strand{mem: mem}
	if tooMany() {
		return s
	}
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	newThread(&s.thread, pc[0])
	b.all = append(b.all, s)
	return s
}

// tooMany reports whether there can be no more threads, and says so once.
//
//go:norace
func tooMany() bool {
	hide()
	defer show()
	if int64(runtime.NumGoroutine())+threads.Load() < maxThreads {
		return false
	}
	tellTooMany()
	return true
}

// end ends the strands.
//
//go:norace
func (b *begun) end() {
	for _, s := range b.all {
		if s.thread != 0 {
			s.thread.end()
		}
	}
	b.all = nil
}

// run carries out t for the calling goroutine, which is s to the detector meanwhile. The detector must then see no
// access to the goroutine's stack, since the next frames there are the initiator's: functions have the directive
// norace, or get no address of the stack. (The directive does not hold for what the compiler wraps a deferred call
// with arguments in.)
//
//go:norace
func (s *strand) run(t *task) {
	if s.thread == 0 {
		t.carryOut(s)
		return
	}
	s.issued.setTo()
	as := s.thread
	s.thread = 0 // if t panics, the goroutine remains s
	before := become(as)
	s.show()
	s.issued.follow()
	t.carryOut(s)
	become(before)
	s.thread = as
	if t.kind == update || t.kind == signal {
		s.yield()
	}
}

// yield lets a waiter look at the word that s has just updated. Otherwise the waiter often sees a later value, which
// orders more than the one that it has asked for. After many updates a strand yields after one of some.
//
//go:norace
func (s *strand) yield() {
	s.updates++
	if s.updates <= yieldsFirst || s.updates%yieldsEvery == 0 {
		runtime.Gosched()
	}
}

// show shows the stack of the initiator to the detector. The frames stay that the last task had too. (The compiler
// removes calls of enterFrame and leaveFrame from a function without other calls.)
//
//go:norace
func (s *strand) show() {
	same := s.wanted.sameFrames(&s.shown)
	for range s.shown.n - same {
		leaveFrame()
	}
	for i := s.wanted.n - 1 - same; i >= 0; i-- {
		enterFrame(s.wanted.pcs[i])
	}
	s.shown = s.wanted
}

// carryOut does what t says, after what t is to follow.
//
//go:norace
func (t *task) carryOut(s *strand) {
	for i, c := range s.after[:s.nafter] {
		c.follow()
		s.after[i] = nil // it would keep the channel alive, which is to end s
	}
	s.nafter = 0
	t.act(s)
	s.ended.add()
	if t.noted {
		s.mem.Fill(t.pe, t.ticket, t.note)
	}
}

// sameFrames returns how many outermost frames two stacks share.
//
//go:norace
func (s *stack) sameFrames(t *stack) (n int) {
	for n < s.n && n < t.n && s.pcs[s.n-1-n] == t.pcs[t.n-1-n] {
		n++
	}
	return n
}
