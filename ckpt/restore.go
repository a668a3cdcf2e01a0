package ckpt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/ckpt/internal/memory"
	"github.com/gopgas/gopgas/internal/cuts"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
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
	if err := s.open(ctx); err != nil || !s.keeps() {
		return Cut{}, false, wrapped(err)
	}
	for passed := []origin(nil); ; {
		c, err := s.next(ctx, passed)
		if err != nil {
			return Cut{}, false, wrapped(err)
		}
		s.forgotten = false // it is said
		if c.From.Cut == (Cut{}) {
			s.know()
			return Cut{}, false, nil
		}
		err = agreed(ctx, s.w.Team(), s.restore(ctx, c))
		if err == nil {
			s.forgetStartAtEnd(ctx, c.Manifest)
			s.last, s.safe = c.From.Cut, c.From.Cut
			if err := s.keepAnew(ctx, c); err != nil {
				return Cut{}, false, wrapped(err)
			}
			s.know()
			return c.From.Cut, true, nil
		}
		if !cuts.IsDamage(err) {
			if _, lost := errors.AsType[*pgas.PeerError](err); !lost {
				s.forgetStart(ctx, c.Manifest) // such as of a job with another number of PEs
			}
			return Cut{}, false, wrapped(fmt.Errorf("cut %v: %w", c.From.Cut, err))
		}
		s.say("cut %v%s is passed over: %v", c.From.Cut, c.From.where(), err)
		passed = append(passed, c.From)
	}
}

// know notes in the memory of this host that its PEs have what earlier terms have saved, when they have it.
func (s *Set) know() {
	if s.memory != nil {
		s.memory.Know(cmp.Or(s.first, s.term))
	}
}

// keepAnew keeps a cut that is restored where it belongs, if that is elsewhere: in the Store, or in places of a job
// with other numbers of PEs. For these it saves the next cut, as it does after it has replayed journals.
func (s *Set) keepAnew(ctx context.Context, c choice) error {
	switch {
	case s.journal != nil:
		job, pes := c.From.Job, 0
		if c.kept != nil {
			pes = c.kept.PEs
		} else {
			job, pes = c.Manifest.Job, c.Manifest.PEs
			if err := s.mustHaveJournals(c.From.Cut, job); err != nil {
				return err
			}
		}
		if err := s.replay(ctx, c.From.Cut, job, pes); err != nil {
			return err
		}
	case c.kept == nil:
		return nil
	case c.kept.PEs == s.w.NPEs():
		if s.store != nil {
			s.writeKept(ctx, c)
		}
		return nil
	}
	if _, err := hook.Settle(ctx, s.w, "Set.Restore", 0); err != nil {
		return err
	}
	if err := s.save(ctx, 0); err != nil {
		return err
	}
	return s.waitKept(ctx)
}

// writeKept writes a cut that is restored from memory to the Store, if that does not have it: the term that saved it
// may have ended before. It also removes what that term has left there.
func (s *Set) writeKept(ctx context.Context, c choice) {
	x := &writing{cut: c.From.Cut, job: c.From.Job}
	if !c.Stored {
		x.image = func() []byte { return s.memory.Own(c.From.Cut) }
	}
	s.beginWriting(ctx, x)
}

// An origin is what a job goes on from: a cut in the Store, or one in the memory of hosts.
type origin struct {
	Cut    Cut
	Job    uint64 // which has saved it
	Memory bool
}

// where names the memory, where that may not be clear.
func (o origin) where() string {
	if o.Memory {
		return " in memory"
	}
	return ""
}

// forgetStartAtEnd has PE 0 not count this start of the job from a cut if the job ends well without another cut: the
// next job begins from the same one.
func (s *Set) forgetStartAtEnd(ctx context.Context, m *cuts.Manifest) {
	if s.w.PE() != 0 || m == nil {
		return
	}
	s.w.AtClose(func() error {
		if hook.Leaves(s.w) && s.last == m.Cut {
			s.forgetStart(ctx, m)
		}
		return nil
	})
}

// forgetStart does not count this start of the job from a cut in the Store, since that was no fault of the cut.
func (s *Set) forgetStart(ctx context.Context, m *cuts.Manifest) {
	if s.w.PE() != 0 || m == nil {
		return
	}
	m.Starts--
	if err := m.Write(ctx, s.store); err != nil {
		s.say("cut %v counts as one from which a job has begun that saved nothing, which is not so: %v", m.Cut, err)
	}
}

// open makes what the keeping of cuts needs, if they are kept.
func (s *Set) open(ctx context.Context) (err error) {
	images, mine := s.images()
	switch {
	case images != nil && !mine && len(s.journals) > 0:
		hook.Misuse("Set.Restore", "one Set of a job keeps its cuts in memory, and another one has called Restore before: make journals of that one")
	case s.store == nil && images == nil:
		return nil
	case s.store == nil && !mine:
		hook.Misuse("Set.Restore", "with -survive one Set of a job keeps its cuts in memory, and another one has called Restore before: give this one a Store")
	}
	if s.team, err = s.w.Team().SplitStrided(ctx, 0, 1, s.w.NPEs()); err != nil {
		return err
	}
	done, err := pgas.Alloc[pgas.Signal](ctx, s.w, 1)
	if err != nil {
		return err
	}
	s.done = pgas.SignalOf(done, 0)
	s.w.AtClose(s.endAtClose)
	if images == nil || !mine {
		return nil
	}
	s.memory, err = memory.New(s.w, images.File, images.Hosts)
	if err := agreed(ctx, s.w.Team(), err); err != nil {
		return err
	}
	if err := s.memory.Join(ctx); err != nil {
		return err
	}
	s.term = max(s.term, uint64(images.Term))
	s.found, err = s.memory.Find(ctx)
	if err := agreed(ctx, s.w.Team(), err); err != nil {
		return err
	}
	if s.first, s.forgotten, err = s.memory.Began(ctx, images.Since, images.Term); err != nil {
		return err
	}
	return s.openJournal(ctx, images)
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
	From      origin         // zero: the program begins anew
	Manifest  *cuts.Manifest // of a cut in the Store
	Stored    bool           // a cut in memory is in the Store, too
	kept      *memory.Kept   // of one in memory
	starts    int
}

// next returns the newest cut that is not passed over.
func (s *Set) next(ctx context.Context, passed []origin) (c choice, err error) {
	var text []byte
	if s.w.PE() == 0 {
		if c, err = s.choose(ctx, passed); err == nil {
			text, err = json.Marshal(c)
		}
	}
	if err := agreed(ctx, s.w.Team(), err); err != nil {
		return c, err
	}
	text, err = pgas.BroadcastSlice(ctx, s.w.Team(), text, 0)
	if err != nil {
		return c, err
	}
	c = choice{}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}
	s.term, s.job = c.Term, c.Job
	for _, k := range s.found {
		if c.From == originOf(k) {
			c.kept = k
			k.Starts++
			s.memory.CountStart(k.Cut)
		}
	}
	return c, nil
}

func originOf(k *memory.Kept) origin { return origin{k.Cut, k.Job, true} }

// choose is next on PE 0. It counts the start of this job from the cut, if that is in the Store.
func (s *Set) choose(ctx context.Context, passed []origin) (c choice, err error) {
	var all []Cut
	if s.store != nil {
		if all, err = cuts.All(ctx, s.store); err != nil {
			return c, err
		}
	}
	switch {
	case len(passed) == 0:
		err = s.own(ctx, all)
	case s.replays():
		err = fmt.Errorf("cut %v cannot be taken, and journals go on from no other: start the job again to go on without them", passed[0].Cut)
	}
	if err != nil {
		return c, err
	}
	whole, lost := s.kept(passed)
	stored, err := s.stored(ctx, all, passed)
	if err != nil {
		return c, err
	}
	whole = append(whole, stored...)
	slices.SortStableFunc(whole, func(a, b choice) int { return b.From.Cut.Compare(a.From.Cut) }) // memory first
	i := inTurn(whole)
	if s.replays() {
		i = min(0, len(whole)-1) // journals are of the newest alone
	}
	for _, x := range whole[:max(i, 0)] {
		s.say("cut %v%s is passed over: %d jobs have begun from it and saved nothing", x.From.Cut, x.From.where(), x.starts)
	}
	if i >= 0 {
		c = whole[i]
	}
	c.Stored = c.From.Memory && slices.ContainsFunc(whole, func(x choice) bool {
		return x.Manifest != nil && x.From.Cut == c.From.Cut && x.Manifest.Job == c.From.Job
	})
	c.Term, c.Job = s.term, s.job
	if err := s.mustNotBeLost(c, lost); err != nil {
		return c, err
	}
	switch {
	case c.Manifest != nil:
		c.Manifest.Starts++
		return c, c.Manifest.Write(ctx, s.store)
	case i < 0 && len(all) > 0:
		return c, fmt.Errorf("none of the %d cuts in %v can be taken: remove them to start anew", len(all), s.store)
	case i < 0 && len(passed) > 0:
		return c, fmt.Errorf("none of the %s in memory can be taken", plural.Count(len(passed), "cut"))
	}
	return c, nil
}

// stored returns those of all cuts of the Store that can be taken.
func (s *Set) stored(ctx context.Context, all []Cut, passed []origin) (whole []choice, err error) {
	for _, cut := range all {
		if slices.Contains(passed, origin{Cut: cut}) {
			continue
		}
		m, err := cuts.ReadManifest(ctx, s.store, cut)
		switch {
		case cuts.IsDamage(err):
			s.say("cut %v is passed over: %v", cut, err)
			continue
		case err != nil:
			return nil, err
		}
		whole = append(whole, choice{From: origin{Cut: cut}, Manifest: m, starts: m.Starts})
	}
	return whole, nil
}

// kept returns the cuts in memory of which all images are there, and those that were whole and are not any more, each
// the newest first.
func (s *Set) kept(passed []origin) (whole []choice, lost []*memory.Kept) {
	for _, k := range s.found {
		switch {
		case len(k.Lost) == 0 && !slices.Contains(passed, originOf(k)):
			whole = append(whole, choice{From: originOf(k), kept: k, starts: int(k.Starts)})
		case len(k.Lost) > 0 && k.Safe:
			lost = append(lost, k)
		}
	}
	if slices.ContainsFunc(whole, func(x choice) bool { return x.kept.Safe }) {
		whole = slices.DeleteFunc(whole, func(x choice) bool { return !x.kept.Safe && s.staysWhereItIs(x.kept) })
	}
	return whole, lost
}

// staysWhereItIs reports whether the images of a cut in memory are restored without a copy on another host. The cut
// that Save makes next then takes the place of the one before. So the cut must be safe, unless none is.
func (s *Set) staysWhereItIs(k *memory.Kept) bool { return k.PEs != s.w.NPEs() || s.journal != nil }

// mustNotBeLost says which cut in memory is lost, if it is newer than that which is taken. It returns an error if none
// is taken, or if no PE can know of cuts and there is no Store, since the program would begin anew in silence.
func (s *Set) mustNotBeLost(c choice, lost []*memory.Kept) error {
	switch {
	case s.forgotten && s.store != nil && s.journal != nil:
		return fmt.Errorf("all hosts were lost at once, and with them the journals in their memory: start the job again to go on from what is in %v without them", s.store)
	case s.forgotten && s.store == nil:
		return errors.New("all hosts were lost at once, and with them whatever the job had saved in their memory: start it again to begin anew; with -checkpoint it keeps its cuts on disks, too")
	case s.forgotten:
		s.say("all hosts were lost at once, and with them the cuts in their memory: the job goes on from what is in %v", s.store)
		return nil
	}
	if len(lost) == 0 || lost[0].Cut.Compare(c.From.Cut) <= 0 {
		return nil
	}
	pes := plural.Count(len(lost[0].Lost), "PE")
	if c.From.Cut != (Cut{}) && !s.replays() {
		s.say("cut %v is lost with the hosts that had the images of %s in memory: the job goes on from cut %v", lost[0].Cut, pes, c.From.Cut)
		return nil
	}
	what := "there is no other: with -checkpoint the job keeps its cuts on disks, too"
	if c.From.Cut != (Cut{}) {
		what = fmt.Sprintf("the journals since then: start the job again to go on from cut %v without them", c.From.Cut)
	}
	return fmt.Errorf("cut %v is lost with the hosts that had the images of %s in memory (PE %d and others), and %s", lost[0].Cut, pes, lost[0].Lost[0], what)
}

// inTurn returns the index of the cut from which the next job is to begin, or -1. Two jobs begin from each that save
// nothing, first from the newest cut, and then two more from each: what fails may be the fault of a cut, and may be
// that of machines.
func inTurn(whole []choice) int {
	best := -1
	for i, x := range whole {
		if best < 0 || x.starts/cuts.MostStarts < whole[best].starts/cuts.MostStarts {
			best = i
		}
	}
	return best
}

// restore restores all items from a cut.
func (s *Set) restore(ctx context.Context, c choice) error {
	if c.kept != nil {
		return s.restoreKept(ctx, c.kept)
	}
	if err := s.mustFit(c.Manifest); err != nil {
		return err
	}
	return s.restoreItems(ctx, c.Manifest.Open(s.store))
}

// restoreKept restores all items from a cut in memory, after each image is again on as many hosts as it was. Images of
// another number of PEs stay where they are. So do images of a cut with journals: a host that has an image also has the
// journal since then.
func (s *Set) restoreKept(ctx context.Context, k *memory.Kept) error {
	return s.memory.Serving(ctx, s.team, func() error {
		if s.staysWhereItIs(k) {
			return s.restoreItems(ctx, s.memory.Open(k))
		}
		if err := agreed(ctx, s.team, s.memory.Mend(ctx, k)); err != nil {
			return err
		}
		if err := agreed(ctx, s.team, s.memory.MendWards(ctx, k)); err != nil {
			return err
		}
		s.memory.Safe(k.Cut)
		return s.restoreItems(ctx, s.memory.Open(k))
	})
}

func (s *Set) restoreItems(ctx context.Context, from images) error {
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
