//go:build race

package strands

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// maxGoroutines is how many goroutines a process may have for another strand to be one. The detector ends a process
// that has some 8,000.
const maxGoroutines = 4000

var tellTooMany = sync.OnceFunc(func() {
	fmt.Fprintf(os.Stderr, "pgas: the race detector does not see all operations as work that goes on after their calls from now on, "+
		"because this process has %d goroutines: use fewer contexts, or fewer PEs\n", maxGoroutines)
})

// maxFrames is how many frames of the initiator's stack a report shows.
const maxFrames = 24

// A strand is a goroutine that carries out the tasks of one channel, one after the other. Its fields belong to the
// goroutine that has locked the channel, or to the strand while that goroutine waits for it.
type strand struct {
	mem    *shm.Channel
	tasks  chan *task // nil: there are too many goroutines, so the initiator carries out the tasks
	done   chan struct{}
	issued clock // what the initiator of the task has done
	ended  clock // what the strand has done

	wanted, shown stack // the initiator's, and the one that the detector has

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

// workers are the strands of a channel that are goroutines.
type workers struct{ all []*strand }

// begin starts a strand.
//
//go:norace
func (w *workers) begin(mem *shm.Channel) *strand {
	s := &strand{mem: mem}
	if runtime.NumGoroutine() >= maxGoroutines {
		hide()
		tellTooMany()
		show()
		return s
	}
	s.tasks, s.done = make(chan *task), make(chan struct{})
	w.all = append(w.all, s)
	go s.work()
	return s
}

// end stops the strands.
//
//go:norace
func (w *workers) end() {
	for _, s := range w.all {
		s.end()
	}
	w.all = nil
}

// work carries out tasks until it is to stop.
//
//go:norace
func (s *strand) work() {
	for {
		hide()
		t := <-s.tasks
		show()
		if t.kind == stop {
			return
		}
		s.carryOut(t)
		hide()
		s.done <- struct{}{}
		show()
	}
}

// run has s carry out t for the calling goroutine, and waits until it has.
//
//go:norace
func (s *strand) run(t *task) {
	if s.tasks == nil {
		t.carryOut(s)
		return
	}
	s.issued.setTo()
	hide()
	s.tasks <- t
	<-s.done
	show()
}

// end stops s.
//
//go:norace
func (s *strand) end() {
	hide()
	s.tasks <- &task{kind: stop}
	show()
}

// carryOut does what t says, after what t is to follow. The detector sees it with the stack of the initiator, of which
// the frames stay that the last task had too. (The compiler removes calls of enterFrame and leaveFrame from a function
// without other calls.)
//
//go:norace
func (s *strand) carryOut(t *task) {
	same := s.wanted.sameFrames(&s.shown)
	for range s.shown.n - same {
		leaveFrame()
	}
	for i := s.wanted.n - 1 - same; i >= 0; i-- {
		enterFrame(s.wanted.pcs[i])
	}
	s.shown = s.wanted
	s.issued.follow()
	t.carryOut(s)
}

// carryOut does what t says on the calling goroutine, after what t is to follow.
//
//go:norace
func (t *task) carryOut(s *strand) {
	for i := range t.nafter {
		t.after[i].follow()
	}
	t.act(s)
	s.ended.add()
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
