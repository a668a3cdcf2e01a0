package ckpt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/internal/cuts"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// Restore makes all items what they were at the newest cut, and returns the cut and true. If there is none it leaves
// the items as they are, and returns false. It is collective over all PEs, and comes once, after all calls of Add and
// before the first Save.
//
// A cut that is damaged is passed over with a line on the standard error, and the next older one is taken. So is a cut
// from which two jobs have begun that saved nothing. If that is so of all cuts, the newest one is taken again. Restore
// returns the same error on all PEs if there are cuts and none of them can be taken, if the items differ from those of
// the cut, or if an item does not allow this number of PEs. The items may then have any content. It also returns
// *pgas.MismatchError if the items of PEs differ, and the errors of a collective (see pgas.Team).
func (s *Set) Restore(ctx context.Context) (cut Cut, ok bool, err error) {
	hook.MustBegin("Set.Restore", ctx, s.w)
	if s.began {
		hook.Misuse("Set.Restore", "Restore has been called before")
	}
	s.began, s.term = true, 1
	defer func() { s.restored, s.savedAt = err == nil, s.w.Now() }()
	if err := pgas.Agree(ctx, s.w, "Set.Restore", s.described(), s.store != nil); err != nil {
		return Cut{}, false, err
	}
	if s.store == nil {
		return Cut{}, false, nil
	}
	if err := s.open(ctx); err != nil {
		return Cut{}, false, wrapped(err)
	}
	for passed := []Cut(nil); ; {
		m, err := s.next(ctx, passed)
		if err != nil || m == nil {
			return Cut{}, false, wrapped(err)
		}
		err = agreed(ctx, s.w.Team(), s.restore(ctx, m))
		if err == nil {
			s.last, s.safe = m.Cut, m.Cut
			s.forgetStartAtEnd(ctx, m)
			return m.Cut, true, nil
		}
		if !cuts.IsDamage(err) {
			if _, lost := errors.AsType[*pgas.PeerError](err); !lost {
				s.forgetStart(ctx, m) // such as of a job with another number of PEs
			}
			return Cut{}, false, wrapped(fmt.Errorf("cut %v: %w", m.Cut, err))
		}
		s.say("cut %v is passed over: %v", m.Cut, err)
		passed = append(passed, m.Cut)
	}
}

// forgetStartAtEnd has PE 0 not count this start of the job from a cut if the job ends well without another cut: the
// next job begins from the same one.
func (s *Set) forgetStartAtEnd(ctx context.Context, m *cuts.Manifest) {
	if s.w.PE() != 0 {
		return
	}
	s.w.AtClose(func() error {
		if hook.Leaves(s.w) && s.last == m.Cut {
			s.forgetStart(ctx, m)
		}
		return nil
	})
}

// forgetStart does not count this start of the job from a cut, since that was no fault of the cut.
func (s *Set) forgetStart(ctx context.Context, m *cuts.Manifest) {
	if s.w.PE() != 0 {
		return
	}
	m.Starts--
	if err := m.Write(ctx, s.store); err != nil {
		s.say("cut %v counts as one from which a job has begun that saved nothing, which is not so: %v", m.Cut, err)
	}
}

// open makes what the writing of cuts needs.
func (s *Set) open(ctx context.Context) (err error) {
	if s.team, err = s.w.Team().SplitStrided(ctx, 0, 1, s.w.NPEs()); err != nil {
		return err
	}
	done, err := pgas.Alloc[pgas.Signal](ctx, s.w, 1)
	if err != nil {
		return err
	}
	s.done = pgas.SignalOf(done, 0)
	s.w.AtClose(s.endAtClose)
	return nil
}

func wrapped(err error) error {
	if err != nil {
		err = fmt.Errorf("Set.Restore: %w", err)
	}
	return err
}

// choice is what PE 0 tells the others of the cut to take, and of this start of the job.
type choice struct {
	Term, Job uint64
	Manifest  *cuts.Manifest
}

// next returns the manifest of the newest cut that is not passed over, or nil if the Store has none.
func (s *Set) next(ctx context.Context, passed []Cut) (*cuts.Manifest, error) {
	var text []byte
	var err error
	if s.w.PE() == 0 {
		var c choice
		if c, err = s.choose(ctx, passed); err == nil {
			text, err = json.Marshal(c)
		}
	}
	if err := agreed(ctx, s.w.Team(), err); err != nil {
		return nil, err
	}
	text, err = pgas.BroadcastSlice(ctx, s.w.Team(), text, 0)
	if err != nil {
		return nil, err
	}
	var c choice
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	s.term, s.job = c.Term, c.Job
	return c.Manifest, nil
}

// choose is next on PE 0. It counts the start of this job from the cut.
func (s *Set) choose(ctx context.Context, passed []Cut) (c choice, err error) {
	all, err := cuts.All(ctx, s.store)
	if err != nil {
		return c, err
	}
	if len(passed) == 0 {
		err = s.own(ctx, all)
	}
	c.Term, c.Job = s.term, s.job
	if err != nil {
		return c, err
	}
	var whole []*cuts.Manifest // the newest first
	for _, cut := range all {
		if slices.Contains(passed, cut) {
			continue
		}
		m, err := cuts.ReadManifest(ctx, s.store, cut)
		switch {
		case cuts.IsDamage(err):
			s.say("cut %v is passed over: %v", cut, err)
			continue
		case err != nil:
			return c, err
		}
		whole = append(whole, m)
	}
	c.Manifest = inTurn(whole)
	for _, x := range whole[:max(slices.Index(whole, c.Manifest), 0)] {
		s.say("cut %v is passed over: %d jobs have begun from it and saved nothing", x.Cut, x.Starts)
	}
	switch {
	case c.Manifest != nil:
		c.Manifest.Starts++
		return c, c.Manifest.Write(ctx, s.store)
	case len(all) > 0:
		return c, fmt.Errorf("none of the %d cuts in %v can be taken: remove them to start anew", len(all), s.store)
	}
	return c, nil
}

// inTurn returns the cut from which the next job is to begin. Two jobs begin from each that save nothing, first from
// the newest cut, and then two more from each: what fails may be the fault of a cut, and may be that of machines.
func inTurn(whole []*cuts.Manifest) (m *cuts.Manifest) {
	for _, x := range whole {
		if m == nil || x.Starts/cuts.MostStarts < m.Starts/cuts.MostStarts {
			m = x
		}
	}
	return m
}

// restore restores all items from a cut.
func (s *Set) restore(ctx context.Context, m *cuts.Manifest) error {
	if err := s.mustFit(m); err != nil {
		return err
	}
	from := m.Open(s.store)
	defer from.Close()
	for _, x := range s.items {
		err := x.Restore(ctx, &Saved{item: x.name, kind: x.Kind, team: s.w.Team(), me: s.w.PE(), images: from})
		if err := agreed(ctx, s.w.Team(), err); err != nil {
			return fmt.Errorf("item %q: %w", x.name, err)
		}
	}
	return nil
}

// mustFit returns an error if the items are not those of a cut.
func (s *Set) mustFit(m *cuts.Manifest) error {
	if name := programName(); name != m.Program {
		return fmt.Errorf("it was saved by the program %s, and this is %s: give each program its own directory", m.Program, name)
	}
	for i := range max(len(s.items), len(m.Items)) {
		switch {
		case i >= len(s.items):
			return fmt.Errorf("it has an item %q, which this program does not add", m.Items[i].Name)
		case i >= len(m.Items):
			return fmt.Errorf("it has no item %q", s.items[i].name)
		case m.Items[i] != cuts.Item{Name: s.items[i].name, Kind: s.items[i].Kind}:
			return fmt.Errorf("item %d is the %s %q, and was the %s %q", i, s.items[i].Kind, s.items[i].name, m.Items[i].Kind, m.Items[i].Name)
		}
	}
	return nil
}
