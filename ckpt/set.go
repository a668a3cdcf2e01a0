package ckpt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gopgas/gopgas/ckpt/internal/memory"
	"github.com/gopgas/gopgas/internal/cuts"
	"github.com/gopgas/gopgas/internal/cuts/image"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// A Set is what a program saves together: its items. All PEs make the same calls of a Set in the same order, from one
// goroutine at a time.
type Set struct {
	w     *pgas.World
	store Store // nil: nothing is kept
	keep  int
	every time.Duration
	items []named

	began    bool            // Restore was called
	restored bool            // Restore has returned no error
	last     Cut             // which was restored or saved last
	safe     Cut             // the newest that is in the Store
	team     *pgas.Team      // all PEs, for what goes on after Save
	journals []journal       // that the program has made
	journal  *memory.Journal // which has the records of all of them; nil: nothing is kept
	memory   *memory.Memory  // where images are kept between terms; nil: nowhere
	found    []*memory.Kept  // the cuts that Restore has found there
	first    uint64          // the term of the first start of the PEs by pgasrun; 0: no cut was made since
	// forgotten: no host knows what earlier terms have saved there.
	forgotten bool
	unsafe    bool           // the last cut could not be kept in the memory of hosts
	shadow    image.Frame    // a copy of what this PE has saved last, where memory is nil
	frame     *image.Frame   // the image that is being made
	writing   *writing       // the cut that is being written; nil: none is
	group     *pgas.Group    // which writes or has written a cut last, and removes older ones; nil: nothing was saved
	done      pgas.SignalRef // how far this PE is with the last cut: see keptOf and writtenOf
	term      uint64
	job       uint64        // a random number, of this start of the job
	savedAt   time.Duration // when a cut was saved last, or Restore has returned, by w.Now
	asked     func() bool   // whether the job is to stop
	images    func() (*hook.ImageFile, bool)
}

// A writing is a cut that is being written.
type writing struct {
	cut    Cut
	job    uint64        // which has saved it: an earlier start, if it is a cut that Restore has found in memory
	image  func() []byte // returns this PE's image; nil: the Store has it
	cancel context.CancelFunc
	kept   bool  // it is in the memory of hosts, whatever becomes of it in the Store
	err    error // of the cut; the same on all PEs
}

type named struct {
	name string
	Parts
}

// journal is a Journal, as a Set knows it.
type journal struct {
	name   string
	bytes  int
	replay func(record []byte) error
}

// An Option changes what New makes.
type Option func(*Set)

// In has the Set keep its cuts in a Store. The default is the directory that `pgasrun -checkpoint` or the variable
// PGAS_CHECKPOINT names. Without either nothing is kept, and Save is a barrier, unless the job was started with
// `pgasrun -survive`. Then the newest two cuts are in the memory of the hosts, too, for the terms that follow.
func In(s Store) Option { return func(set *Set) { set.store = s } }

// Every has SaveIfDue save when d has passed since the last cut. The default is ten minutes.
func Every(d time.Duration) Option {
	return func(set *Set) {
		if d < 0 {
			hook.Misuse("ckpt.Every", "%v is no time between two cuts", d)
		}
		set.every = d
	}
}

// Keep has the Set keep the n newest cuts, 2 at least. The default is 2.
func Keep(n int) Option {
	return func(set *Set) {
		if n < 2 {
			hook.Misuse("ckpt.Keep", "%d cuts: keep 2 at least, since the newest one may turn out to be damaged", n)
		}
		set.keep = n
	}
}

// New returns an empty Set.
//
// In a program of pgas.Main that has a Store, the first SIGTERM does not end the context of the body any more: the next
// Save or SaveIfDue saves and returns ErrStop. A second SIGTERM, a second later or more, ends the context.
func New(w *pgas.World, opts ...Option) *Set {
	s := &Set{w: w, keep: 2, every: 10 * time.Minute, asked: func() bool { return false }}
	s.images = func() (*hook.ImageFile, bool) { return hook.Images(w) }
	if dir := hook.Settings(w).Checkpoint; dir != "" {
		s.store = Dir(dir)
	}
	for _, o := range opts {
		o(s)
	}
	if s.store != nil {
		s.asked = hook.StopLater(w)
	}
	return s
}

// Term returns the number of this start of the program, after Restore, on all PEs the same. It is larger than that of
// every earlier start with the same Store, and of every earlier start of the PEs by pgasrun -survive. Without either it
// is 1.
func (s *Set) Term() uint64 { return s.term }

// keeps reports whether Save has somewhere to keep a cut.
func (s *Set) keeps() bool { return s.store != nil || s.memory != nil }

// Add adds an item under a name, before Restore. All PEs add the same names in the same order. It panics with
// *pgas.UsageError if the name is taken, empty or longer than 200 bytes, or after Restore.
func (s *Set) Add(name string, it Item) {
	const most = 200
	switch {
	case s.began:
		hook.Misuse("Set.Add", "Restore has been called: add all items before it")
	case name == "" || len(name) > most || strings.Contains(name, "\x00"):
		hook.Misuse("Set.Add", "the name %q: give one of 1 to %d bytes", name, most)
	case it == nil:
		hook.Misuse("Set.Add", "item %q is nil", name)
	}
	for _, other := range s.items {
		if other.name == name {
			hook.Misuse("Set.Add", "there is an item %q already: give each its own name", name)
		}
	}
	s.items = append(s.items, named{name, it.Checkpoint()})
}

// described returns the names and kinds of the items, for Agree.
func (s *Set) described() string {
	var all []string
	for _, x := range s.items {
		all = append(all, fmt.Sprintf("%s %q", x.Kind, x.name))
	}
	for _, j := range s.journals {
		all = append(all, fmt.Sprintf("journal %q of %d bytes", j.name, j.bytes))
	}
	return strings.Join(all, ", ")
}

// peError is an error of another PE.
type peError struct {
	pe      int
	text    string
	damaged bool
}

func (e *peError) Error() string { return fmt.Sprintf("PE %d: %s", e.pe, e.text) }

func (e *peError) Is(target error) bool { return e.damaged && target == image.ErrDamaged }

// agreed returns the error of the first PE of t that has one, on all PEs. mine is that of this PE, or what agreed has
// returned to all PEs before. It is collective. The loss of a PE is an error of each PE by itself.
func agreed(ctx context.Context, t *pgas.Team, mine error) error {
	if _, lost := errors.AsType[*pgas.PeerError](mine); lost {
		return mine
	}
	rank := 0
	if _, told := errors.AsType[*peError](mine); mine != nil && !told { // the PE that has told it has it, too
		rank = t.NPEs() - t.PE()
	}
	first, err := pgas.MaxValue(ctx, t, rank)
	if err != nil {
		return errors.Join(mine, err)
	}
	if first == 0 {
		return mine
	}
	pe := t.NPEs() - first
	var text []byte
	if pe == t.PE() {
		text = []byte{0}
		if cuts.IsDamage(mine) {
			text[0] = 1
		}
		text = append(text, mine.Error()...)
	}
	text, err = pgas.BroadcastSlice(ctx, t, text, pe)
	if err != nil {
		return errors.Join(mine, err)
	}
	if pe == t.PE() {
		return mine
	}
	return &peError{pe, string(text[1:]), text[0] != 0}
}

// say prints a line, once for the job.
func (s *Set) say(format string, args ...any) {
	in := any("the memory of hosts")
	if s.store != nil {
		in = s.store
	}
	if s.w.PE() == 0 {
		fmt.Fprintf(os.Stderr, "pgas: checkpoint in %v: %s\n", in, fmt.Sprintf(format, args...))
	}
}
