package dsm

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

// A turn is what a release wants: to change block b.
type turn struct {
	b    int32
	prev int32  // the PE to ask; when the turn has come, the PE whose version is the newest
	want uint64 // what the compare-swap under way expects to find
	old  uint64 // and what it found

	rts    uint64 // of the closed version
	latest []byte
	full   bool // every byte has been changed
	wts    uint64
}

// begin takes t's turn if it is this PE's, and enters the queue otherwise.
func (r *Region) begin(t *turn) (mine bool) {
	b := t.b
	lock := r.words.lock.At(int(b))
	first := int32(int(b) % r.n)
	asked := r.asked[b] || int(first) == r.me
	if asked && lock.CompareSwap(r.me, unlocked, locked) == unlocked {
		t.prev = int32(r.me)
		return true
	}
	r.words.grant.At(int(b)).Set(r.me, 0)
	r.mustQuietPE(r.me)
	old := lock.Swap(r.me, locked)
	if !asked {
		r.asked[b] = true // before, the lock word was zero and said nothing
		t.prev = first
		return false
	}
	t.prev = int32(old - link)
	return false
}

// takeTurns calls change for groups of blocks of list, each as soon as this PE has their turns.
func (r *Region) takeTurns(ctx context.Context, list []int32, change func([]*turn) error) error {
	var wanted, got []*turn
	turns := make([]turn, len(list))
	for i, b := range list {
		t := &turns[i]
		t.b = b
		if r.begin(t) {
			got = append(got, t)
		} else {
			wanted = append(wanted, t)
		}
	}
	defer r.shown.clear(shownRelease)
	r.showTurn(got)
	if err := change(got); err != nil {
		return err
	}
	return r.finishTurns(ctx, wanted, nil, change)
}

// finishTurns is the rest of takeTurns: this PE is to ask for the turns of wanted, and waits for those of queued. When
// ctx ends it leaves what is not done to the background, since other PEs count on the turns that they give to this one.
func (r *Region) finishTurns(ctx context.Context, wanted, queued []*turn, change func([]*turn) error) error {
	var got []*turn
	for len(wanted) > 0 {
		if ctx.Err() != nil {
			return r.leaveTurns(ctx, wanted, queued, change)
		}
		r.shown.set(shownRelease, wanted[0].b, wanted[0].prev)
		got, queued, wanted = r.ask(wanted, queued)
		got, queued = r.granted(got, queued)
		r.showTurn(got)
		if err := change(got); err != nil {
			return err
		}
	}
	for len(queued) > 0 {
		r.shown.set(shownRelease, queued[0].b, queued[0].prev)
		if err := r.awaitAnyGrant(ctx, queued); err != nil {
			if _, lost := errors.AsType[*pgas.PeerError](err); lost || ctx.Err() == nil {
				return err
			}
			return r.leaveTurns(ctx, nil, queued, change)
		}
		got, queued = r.granted(nil, queued)
		r.showTurn(got)
		if err := change(got); err != nil {
			return err
		}
	}
	return nil
}

// leaveTurns has inTurn finish a release in the background, and returns the cause of ctx's end.
func (r *Region) leaveTurns(ctx context.Context, wanted, queued []*turn, change func([]*turn) error) error {
	r.unfinished = func(ctx context.Context) error {
		defer r.shown.clear(shownRelease)
		return r.finishTurns(ctx, wanted, queued, change)
	}
	return context.Cause(ctx)
}

// ask asks for all turns of wanted at once. It returns those that this PE got, those for which it is in a queue, and
// those for which another PE is to be asked.
func (r *Region) ask(wanted, queued []*turn) (got, waits, again []*turn) {
	for _, t := range wanted {
		r.words.lock.At(int(t.b)).CompareSwapNB(int(t.prev), t.want, link+uint64(r.me), &t.old)
	}
	r.mustQuiet()
	for _, t := range wanted {
		switch {
		case t.old == t.want && t.old == unlocked:
			got = append(got, t)
		case t.old == t.want:
			queued = append(queued, t)
		case t.old >= link:
			t.prev, t.want = int32(t.old-link), unlocked
			again = append(again, t)
		default:
			t.want = t.old
			again = append(again, t)
		}
	}
	return got, queued, again
}

// granted moves the turns that have been granted from queued to got.
func (r *Region) granted(got, queued []*turn) (_, rest []*turn) {
	for _, t := range queued {
		if v := r.words.grant.At(int(t.b)).Fetch(r.me); v != 0 {
			t.prev = int32(v - 1)
			got = append(got, t)
		} else {
			rest = append(rest, t)
		}
	}
	return got, rest
}

// awaitAnyGrant blocks until one of the turns is granted. It waits for any of them: another than the first may have
// come, and other PEs wait for that.
func (r *Region) awaitAnyGrant(ctx context.Context, queued []*turn) error {
	ctx = r.shows(ctx)
	if len(queued) == 1 {
		_, err := r.words.grant.At(int(queued[0].b)).WaitUntil(ctx, pgas.NE, 0)
		return err
	}
	lo, hi := queued[0].b, queued[0].b
	for _, t := range queued {
		lo, hi = min(lo, t.b), max(hi, t.b)
	}
	skip := make([]bool, hi-lo+1)
	for i := range skip {
		skip[i] = true
	}
	for _, t := range queued {
		skip[t.b-lo] = false
	}
	_, _, err := r.words.grant.Range(int(lo), int(hi)+1).Until(pgas.NE, 0).Except(skip).WaitAny(ctx)
	return err
}

// give gives the turns away: to the PEs that have asked for them, or to any PE that asks next.
func (r *Region) give(list []*turn) {
	for _, t := range list {
		if v := r.words.lock.At(int(t.b)).CompareSwap(r.me, locked, unlocked); v != locked {
			r.words.grant.At(int(t.b)).Set(int(v-link), uint64(r.me)+1)
		}
	}
}

func (r *Region) mustQuietPE(pe int) {
	if err := r.ctx.QuietPE(r.waits, pe); err != nil {
		panic(err)
	}
}
