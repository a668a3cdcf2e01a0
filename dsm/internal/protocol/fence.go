package protocol

// The end of a fence: a release whose context has ended is finished in the background.

import (
	"context"
	"errors"

	"github.com/gopgas/gopgas/pgas"
)

// EndTurn gives the turn of fences. If a release has been left unfinished, it is finished in the background first.
func (s *State) EndTurn() {
	rest := s.unfinished
	if rest == nil {
		s.Turn.Give()
		return
	}
	s.unfinished = nil
	started := s.behind.start(s.World, func(ctx context.Context) {
		var lost error // the next fence finds it, too
		defer s.Turn.Give()
		defer RecoverPeer(&lost)
		if rest(ctx) != nil {
			s.unfinished = nil // the region ends
		}
	})
	if !started {
		s.Turn.Give()
	}
}

// RecoverPeer, deferred, turns a panic with *pgas.PeerError, by which an operation says that its target is lost, into
// an error. Other panics go on.
func RecoverPeer(err *error) {
	p := recover()
	if p == nil {
		return
	}
	e, _ := p.(error)
	peer, ok := errors.AsType[*pgas.PeerError](e)
	if !ok {
		panic(p)
	}
	*err = peer
}
