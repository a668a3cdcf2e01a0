package racecheck

import (
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/callsite"
)

// A Site is the place of a call in the program. Sites that are equal pointers are one place; equal places may have
// several Sites.
type Site = *Place

// Place is what a Site points to.
type Place struct {
	path  uint64 // the number of the stack; 0: it is not known
	stack callsite.Stack
	once  sync.Once
	call  string
	line  string
}

// Here returns the Site of the program's call that has led to this one.
func Here() Site {
	p := new(Place)
	p.stack.Take()
	return p
}

// mostSites is how many stacks of calls a PE keeps. It takes those of further calls each time anew.
const mostSites = 1 << 16

// sites are the Sites of a PE by the numbers of their stacks.
type sites struct {
	recent [256]atomic.Pointer[Place]

	mu  sync.Mutex
	all map[uint64]Site
}

// here returns the Site of a call, whose stack has a number.
func (s *sites) here(path uint64) Site {
	at := &s.recent[path%uint64(len(s.recent))]
	if p := at.Load(); p != nil && p.path == path {
		return p
	}
	p := s.find(path)
	at.Store(p)
	return p
}

func (s *sites) find(path uint64) Site {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.all[path]; p != nil {
		return p
	}
	p := &Place{path: path}
	p.stack.Take()
	if s.all == nil {
		s.all = map[uint64]Site{}
	}
	if len(s.all) < mostSites {
		s.all[path] = p
	}
	return p
}

// At returns the Site of a call that another process has made.
func At(call, line string) Site {
	p := &Place{call: call, line: line}
	p.once.Do(func() {})
	return p
}

// Name returns the runtime's function that the program has called, such as "Slice.Put", and the file and line of the
// call. Both are "" if no function of the program has led to the access.
func (p *Place) Name() (call, line string) {
	if p == nil {
		return "", ""
	}
	p.once.Do(func() { p.call, p.line = p.stack.Call() })
	return p.call, p.line
}
