package containers

import (
	"context"
	"errors"
	"slices"

	"github.com/gopgas/gopgas/ckpt"
)

// Checkpoint makes tickets an item of a ckpt.Set. They are restored on any number of PEs and members, with any home:
// the numbers go on where they were, and no number comes twice. What members have in reserve is dealt out to members,
// which use it if they are made with a Batch, too.
func (t *Tickets) Checkpoint() ckpt.Parts {
	if t == nil || t.members.World == nil {
		notMade("Tickets.Checkpoint")
	}
	return ckpt.Parts{Kind: "Tickets", Save: t.save, Restore: t.restore}
}

// savedNext is the section that has the word of Tickets. The reserve of each member is in one without a name.
const savedNext = "next"

// save returns this member's reserve, and at the home the word.
func (t *Tickets) save(context.Context) ([]ckpt.Section, error) {
	if t.members.Team == nil {
		return nil, nil
	}
	t.mu.Lock()
	all := []ckpt.Section{ckpt.Elements(slices.Clone(t.reserved))}
	t.mu.Unlock()
	if t.members.Me == t.home {
		word := ckpt.Elements([]uint64{t.word.Fetch(t.home)})
		word.Name = savedNext
		all = append(all, word)
	}
	return all, nil
}

// restore takes over the reserves of every n-th PE, and at the home the word.
func (t *Tickets) restore(ctx context.Context, from *ckpt.Saved) error {
	if t.members.Team == nil {
		return nil
	}
	var reserved []span
	for pe := t.members.Me; pe < from.PEs(); pe += t.members.N {
		spans, _, err := savedElements[span](ctx, from, pe, "")
		if err != nil {
			return err
		}
		if slices.ContainsFunc(spans, func(s span) bool { return s.n == 0 }) {
			return errors.New("a reserve of numbers is damaged")
		}
		reserved = append(reserved, spans...)
	}
	if t.members.Me == t.home {
		if err := t.restoreWord(ctx, from); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reserved = reserved
	return nil
}

// restoreWord sets the word, at the home.
func (t *Tickets) restoreWord(ctx context.Context, from *ckpt.Saved) error {
	pe, err := firstSaved(ctx, from, savedNext)
	if err != nil {
		return err
	}
	word, _, err := savedElements[uint64](ctx, from, pe, savedNext)
	if err != nil {
		return err
	}
	if len(word) != 1 {
		return errors.New("its next number is damaged")
	}
	t.word.Set(t.home, word[0])
	return t.members.Ctx.Quiet(ctx)
}
