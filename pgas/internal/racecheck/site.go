package racecheck

import (
	"sync"

	"github.com/gopgas/gopgas/internal/callsite"
)

// A Site is the place of a call in the program. Sites that are equal pointers are one place; equal places may have
// several Sites.
type Site = *Place

// Place is what a Site points to.
type Place struct {
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
