package pgas

// The functions that run when a World ends. They are of libraries above pgas: threads that use the transport have to
// end before it does, so that a program which closes only the World leaves nothing behind.

import (
	"slices"
	"sync"
)

// closers holds the functions of AtClose that have not run yet, in the order of their registration.
type closers struct {
	mu   sync.Mutex
	list []*closer
}

// closer is one registration. Its address tells it from others.
type closer struct{ f func() error }

// add registers k, and returns the function that withdraws it.
func (s *closers) add(k *closer) (forget func() bool) {
	s.mu.Lock()
	s.list = append(s.list, k)
	s.mu.Unlock()
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		i := slices.Index(s.list, k)
		if i >= 0 {
			s.list = slices.Delete(s.list, i, i+1)
		}
		return i >= 0
	}
}

// run calls the functions, last first, and returns the first error. A function may register further ones, and may
// withdraw others.
func (s *closers) run() error {
	var first error
	for {
		k := s.take()
		if k == nil {
			return first
		}
		if err := k.f(); first == nil {
			first = err
		}
	}
}

// take removes the last function and returns it, or nil if there is none.
func (s *closers) take() *closer {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list)
	if n == 0 {
		return nil
	}
	k := s.list[n-1]
	s.list = slices.Delete(s.list, n-1, n)
	return k
}
