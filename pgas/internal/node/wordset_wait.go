package node

// The wait for a set of words.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Await blocks until the goal is reached.
func (s *WordSet) Await(ctx context.Context, g goal) error {
	s.goal = g
	s.node.AboutToRead()
	c := Cond{Word: transport.Word{Off: s.off}, set: s}
	_, err := s.node.Await(ctx, c, Blocked{Op: boot.InWait, Peer: -1, Seq: s.off})
	if err != nil {
		return fmt.Errorf("waiting for %s%s: %w", s.describe(), callsite.At(), err)
	}
	return nil
}

// describe is what the wait is for, in words.
func (s *WordSet) describe() string {
	value := "the value given for it"
	if s.Wants == nil {
		value = fmt.Sprint(s.wanting())
	}
	if s.goal == FindAny {
		return fmt.Sprintf("any of %s from %s on to be %s %s", plural.Count(s.N, "word"), s.node.WordName(s.off), s.Cmp, value)
	}
	return fmt.Sprintf("each of %s to be %s %s (%d have not been, the first is %s)",
		plural.Count(s.N, "word"), s.Cmp, value, s.Left, s.node.WordName(s.offset(s.firstPending())))
}
