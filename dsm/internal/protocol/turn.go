package protocol

// Turns at changing a block. A PE takes the turns of all blocks that it releases, in any order, and gives each away as
// soon as it has changed the block. It holds no turn while it waits for one, so no two releases wait for each other.
//
// The lock words of a block form a tree of probable owners (M. Naimi, M. Trehel, A. Arnold: "A log(N) distributed
// mutual exclusion algorithm based on path reversal", 1996): a PE that wants the turn makes itself the root of what it
// knows, and follows links to the PE that has the turn or is last in the queue for it.

import (
	"context"
	"errors"

	"github.com/gopgas/gopgas/pgas"
)

// A Turn is what a release wants: to change a block.
type Turn struct {
	Block int32
	Prev  int32  // the PE to ask; when the turn has come, the PE whose version is the newest
	want  uint64 // what the compare-swap under way expects to find
	old   uint64 // what the compare-swap found

	RTS    uint64 // the read time stamp of the closed version
	Latest []byte // the newest version, if another PE has it
	Full   bool   // every byte has been changed
	WTS    uint64 // the number of the version that this PE makes
}

// begin takes t's turn if it is this PE's, and enters the queue otherwise.
func (s *State) begin(t *Turn) (mine bool) {
	b := t.Block
	lock := s.Words.Lock.At(int(b))
	first := int32(int(b) % s.N)
	asked := s.asked[b] || int(first) == s.Me
	if asked && lock.CompareSwap(s.Me, Unlocked, Locked) == Unlocked {
		t.Prev = int32(s.Me)
		return true
	}
	s.Words.Grant.At(int(b)).Set(s.Me, 0)
	s.MustQuietPE(s.Me)
	old := lock.Swap(s.Me, Locked)
	if !asked {
		s.asked[b] = true // before, the lock word was zero and said nothing
		t.Prev = first
		return false
	}
	t.Prev = int32(old - Link)
	return false
}

// TakeTurns calls change for groups of blocks of list, each as soon as this PE has their turns.
func (s *State) TakeTurns(ctx context.Context, list []int32, change func([]*Turn) error) error {
	var wanted, got []*Turn
	turns := make([]Turn, len(list))
	for i, b := range list {
		t := &turns[i]
		t.Block = b
		if s.begin(t) {
			got = append(got, t)
		} else {
			wanted = append(wanted, t)
		}
	}
	defer s.shown.clear(shownRelease)
	s.showTurn(got)
	if err := change(got); err != nil {
		return err
	}
	return s.finishTurns(ctx, wanted, nil, change)
}

// finishTurns is the rest of TakeTurns: this PE is to ask for the turns of wanted, and waits for those of queued. When
// ctx ends it leaves what is not done to the background, since other PEs count on the turns that they give to this one.
func (s *State) finishTurns(ctx context.Context, wanted, queued []*Turn, change func([]*Turn) error) error {
	var got []*Turn
	for len(wanted) > 0 {
		if ctx.Err() != nil {
			return s.leaveTurns(ctx, wanted, queued, change)
		}
		s.shown.set(shownRelease, wanted[0].Block, wanted[0].Prev)
		got, queued, wanted = s.ask(wanted, queued)
		got, queued = s.granted(got, queued)
		s.showTurn(got)
		if err := change(got); err != nil {
			return err
		}
	}
	for len(queued) > 0 {
		s.shown.set(shownRelease, queued[0].Block, queued[0].Prev)
		if err := s.awaitAnyGrant(ctx, queued); err != nil {
			if _, lost := errors.AsType[*pgas.PeerError](err); lost || ctx.Err() == nil {
				return err
			}
			return s.leaveTurns(ctx, nil, queued, change)
		}
		got, queued = s.granted(nil, queued)
		s.showTurn(got)
		if err := change(got); err != nil {
			return err
		}
	}
	return nil
}

// leaveTurns leaves the rest of a release to EndTurn, and returns the cause of ctx's end.
func (s *State) leaveTurns(ctx context.Context, wanted, queued []*Turn, change func([]*Turn) error) error {
	s.unfinished = func(ctx context.Context) error {
		defer s.shown.clear(shownRelease)
		return s.finishTurns(ctx, wanted, queued, change)
	}
	return context.Cause(ctx)
}

// ask asks for all turns of wanted at once. It returns those that this PE got, those for which it is in a queue, and
// those for which another PE is to be asked.
func (s *State) ask(wanted, queued []*Turn) (got, waits, again []*Turn) {
	for _, t := range wanted {
		s.Words.Lock.At(int(t.Block)).CompareSwapNB(int(t.Prev), t.want, Link+uint64(s.Me), &t.old)
	}
	s.MustQuiet()
	for _, t := range wanted {
		switch {
		case t.old == t.want && t.old == Unlocked:
			got = append(got, t)
		case t.old == t.want:
			queued = append(queued, t)
		case t.old >= Link:
			t.Prev, t.want = int32(t.old-Link), Unlocked
			again = append(again, t)
		default:
			t.want = t.old
			again = append(again, t)
		}
	}
	return got, queued, again
}

// granted moves the turns that have been granted from queued to got.
func (s *State) granted(got, queued []*Turn) (_, rest []*Turn) {
	for _, t := range queued {
		if v := s.Words.Grant.At(int(t.Block)).Fetch(s.Me); v != 0 {
			t.Prev = int32(v - 1)
			got = append(got, t)
		} else {
			rest = append(rest, t)
		}
	}
	return got, rest
}

// awaitAnyGrant blocks until one of the turns is granted. It waits for any of them: another than the first may have
// come, and other PEs wait for that.
func (s *State) awaitAnyGrant(ctx context.Context, queued []*Turn) error {
	ctx = s.shows(ctx)
	if len(queued) == 1 {
		_, err := s.Words.Grant.At(int(queued[0].Block)).WaitUntil(ctx, pgas.NE, 0)
		return err
	}
	lo, hi := queued[0].Block, queued[0].Block
	for _, t := range queued {
		lo, hi = min(lo, t.Block), max(hi, t.Block)
	}
	skip := make([]bool, hi-lo+1)
	for i := range skip {
		skip[i] = true
	}
	for _, t := range queued {
		skip[t.Block-lo] = false
	}
	_, _, err := s.Words.Grant.Range(int(lo), int(hi)+1).Until(pgas.NE, 0).Except(skip).WaitAny(ctx)
	return err
}

// Give gives the turns away: to the PEs that have asked for them, or to any PE that asks next.
func (s *State) Give(list []*Turn) {
	for _, t := range list {
		if v := s.Words.Lock.At(int(t.Block)).CompareSwap(s.Me, Locked, Unlocked); v != Locked {
			s.Words.Grant.At(int(t.Block)).Set(int(v-Link), uint64(s.Me)+1)
		}
	}
}

// showTurn notes that a release may wait for the first of list that another PE has.
func (s *State) showTurn(list []*Turn) {
	for _, t := range list {
		pe := t.Prev
		if s.Traits.FixedHomes {
			pe = int32(s.HomeOf(t.Block))
		}
		if int(pe) != s.Me {
			s.shown.set(shownRelease, t.Block, pe)
			return
		}
	}
}
