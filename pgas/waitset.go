package pgas

// Waits for any, some or all of many words (OpenSHMEM 1.6, section 9.11). A program makes a WaitSet once, of a range
// of words and a comparison, and then waits on it as often as it likes. The set remembers the word that was returned
// last. So WaitAny is fair, and a wait allocates nothing.
//
//	requests := pgas.SignalsOf(flags.All()).Until(pgas.NE, 0)
//	for {
//		from, request, err := requests.WaitAny(ctx)
//		…
//	}
//
//	for pe, sum := range pgas.AtomicsOf(sums.All()).Until(pgas.GT, 0).Arrivals(ctx) {
//		…
//	}

import (
	"context"
	"fmt"
	"iter"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// AtomicSlice refers to a range of integer words of symmetric memory that are only ever accessed atomically.
type AtomicSlice[W Word] struct {
	ctx *Context
	off uintptr
	n   int
}

// AtomicsOf returns the elements of s as atomic words. It panics with *UsageError if they are not aligned.
func AtomicsOf[W Word](s Slice[W]) AtomicSlice[W] {
	aligned(s.off, node.SizeOf[W](), misaligned)
	return AtomicSlice[W](s)
}

// Len returns the number of words.
func (a AtomicSlice[W]) Len() int { return a.n }

// At returns a reference to word i. It panics with *UsageError if i is out of range.
func (a AtomicSlice[W]) At(i int) Atomic[W] { return atomicOf(Slice[W](a).At(i)) }

// Range returns the words lo to hi, hi excluded. It panics with *UsageError unless 0 ≤ lo ≤ hi ≤ Len.
func (a AtomicSlice[W]) Range(lo, hi int) AtomicSlice[W] {
	return AtomicSlice[W](Slice[W](a).Range(lo, hi))
}

// On returns the same words on context c. It panics with *UsageError if a is zero and not empty.
func (a AtomicSlice[W]) On(c *Context) AtomicSlice[W] {
	a.ctx.isNothing("On", a.n)
	return AtomicSlice[W]{c, a.off, a.n}
}

// Until returns the set of this PE's own copies of the words, each with the condition that it compares true with v.
// It panics with *UsageError if cmp is no comparison.
func (a AtomicSlice[W]) Until(cmp Cmp, v W) *WaitSet[W] {
	return newWaitSet(a, cmp, v)
}

// UntilEach is Until with a value for each word. The set keeps values: the program may change them between waits, not
// during one. It panics with *UsageError if len(values) is not the number of words (OpenSHMEM 1.6, the routines whose
// names end in _vector).
func (a AtomicSlice[W]) UntilEach(cmp Cmp, values []W) *WaitSet[W] {
	if len(values) != a.n {
		misuse("UntilEach", "%s for %s: give one for each", plural.Count(len(values), "value"), plural.Count(a.n, "word"))
	}
	s := newWaitSet(a, cmp, 0)
	s.s.Wants = firstOf(values)
	return s
}

// WaitSet is a set of this PE's own words with a condition for each. Updates by atomics and signals, of any PE and of
// any goroutine of this one, wake the waiter; plain puts and stores need not. A wait that sees an update also sees
// every put that the updater ordered before it.
//
// A WaitSet belongs to one goroutine at a time. Any number of sets may have words in common. The methods panic with
// *UsageError if the set is nil or zero.
type WaitSet[W Word] struct {
	s    node.WordSet
	w    *World
	ref  uintptr // the reference to the first word
	none bool    // the words are those of the zero Slice, and w is nil
	err  error
}

// newWaitSet returns the set of the words of a.
func newWaitSet[W Word](a AtomicSlice[W], cmp Cmp, v W) *WaitSet[W] {
	s := &WaitSet[W]{s: node.WordSet{N: a.n, Wide: wide[W](), Signed: isSigned[W](), Cmp: cmp}, ref: a.off}
	if s.none = a.ctx.isNothing("Until", a.n); s.none {
		return s
	}
	checkCmp(cmp)
	s.w = a.ctx.w
	s.s.Init(&s.w.n, a.ctx.place("Until", a.off, uintptr(s.s.Bytes())), uint64(v))
	return s
}

// refuses returns the error of a wait with ctx that must fail at once, or nil.
func (s *WaitSet[W]) refuses(ctx context.Context, name string) error {
	mustHaveContext(name, ctx)
	switch {
	case s.none && ctx.Err() != nil:
		return fmt.Errorf("%s: %w", name, context.Cause(ctx))
	case !s.none && s.w.refuses(ctx):
		return s.w.refusal(ctx, name)
	}
	return nil
}

// poll yields to other PEs where a scheduler decides which PE runs.
func (s *WaitSet[W]) poll() {
	if !s.none {
		s.w.n.YieldIfScheduled()
	}
}

// Except excludes the words whose skip[i] is true from the set, and returns the set. The set keeps skip, which has an
// element for each word: the program may change it between waits, not during one. nil includes all words again. It
// panics with *UsageError if skip has another length than the set (OpenSHMEM 1.6, the status argument; as there, true
// means not waited for).
func (s *WaitSet[W]) Except(skip []bool) *WaitSet[W] {
	s.made("Except")
	if skip != nil && len(skip) != s.s.N {
		misuse("Except", "%s for %s: give one for each, or nil", plural.Count(len(skip), "element"), plural.Count(s.s.N, "word"))
	}
	s.s.Skip = skip
	return s
}

// WaitAll blocks until each word has compared true at some time since the call began; the words need not all do so at
// the same time. It returns at once for an empty set. It returns *PeerError if a PE of the job is lost, the cause of
// ctx if ctx ends, *NotesError if this PE has had no room for notifications for too long, or an error that says that
// the World is closed (OpenSHMEM 1.6, shmem_wait_until_all, shmem_wait_until_all_vector).
func (s *WaitSet[W]) WaitAll(ctx context.Context) error {
	s.made("WaitAll")
	if err := s.refuses(ctx, "waiting for all of a set of words"); err != nil {
		return err
	}
	if i := s.s.FirstFalse(); i < s.s.N {
		s.s.MarkPending(i)
		if err := s.s.Await(ctx, node.ExhaustAll); err != nil {
			return err
		}
	}
	s.looked(ctx)
	return nil
}

// looked tells the detector of races that this PE has looked at all words but those that are excluded.
func (s *WaitSet[W]) looked(ctx context.Context) {
	if s.none || s.w.n.Races == nil {
		return
	}
	if s.s.Skip == nil {
		off, bytes := s.s.Span()
		s.w.looked(ctx, off, bytes)
		return
	}
	for i, excluded := range s.s.Skip {
		if !excluded {
			off, bytes := s.s.Place(i)
			s.w.looked(ctx, off, bytes)
		}
	}
}

// lookedAt tells it that this PE has looked at the word that was found.
func (s *WaitSet[W]) lookedAt(ctx context.Context) {
	off, bytes := s.s.Place(s.s.Found)
	s.w.looked(ctx, off, bytes)
}

// WaitAny blocks until a word compares true, and returns its index and the value that did. It is fair: it searches
// the words round robin, so a word that stays true is returned after at most as many calls as there are words. For an
// empty set it returns -1 and no error at once. With an error it returns -1 too; its errors are those of WaitAll
// (OpenSHMEM 1.6, shmem_wait_until_any, shmem_wait_until_any_vector).
func (s *WaitSet[W]) WaitAny(ctx context.Context) (i int, v W, err error) {
	s.made("WaitAny")
	if err := s.refuses(ctx, "waiting for any of a set of words"); err != nil {
		return -1, 0, err
	}
	if !s.s.Find() {
		if s.s.Empty() {
			return -1, 0, nil
		}
		if err := s.s.Await(ctx, node.FindAny); err != nil {
			return -1, 0, err
		}
	}
	s.lookedAt(ctx)
	return s.s.Found, W(s.s.Value), nil
}

// WaitSome blocks until a word compares true, then tests all words, and appends the indexes of those that compare
// true to into, in no particular order. For an empty set it returns into at once. Its errors are those of WaitAll
// (OpenSHMEM 1.6, shmem_wait_until_some, shmem_wait_until_some_vector).
func (s *WaitSet[W]) WaitSome(ctx context.Context, into []int) ([]int, error) {
	if i, _, err := s.WaitAny(ctx); i < 0 {
		return into, err
	}
	into = s.s.Collect(into)
	s.looked(ctx)
	return into, nil
}

// Arrivals waits for each word to compare true, and yields its index and the value that did, once, as soon as the
// wait finds it. Words that become true together are yielded in no particular order. The loop ends when all words
// have been yielded, or when a wait fails; Err then returns the reason. The body of the loop must not wait on the
// same set.
func (s *WaitSet[W]) Arrivals(ctx context.Context) iter.Seq2[int, W] {
	return func(yield func(int, W) bool) { s.arrivals(ctx, yield) } // inlined, so that a loop allocates nothing
}

// arrivals is the loop of Arrivals.
func (s *WaitSet[W]) arrivals(ctx context.Context, yield func(int, W) bool) {
	s.made("Arrivals")
	mustHaveContext("Arrivals", ctx)
	s.err = nil
	s.s.MarkPending(0)
	for s.s.Left > 0 {
		if s.err = s.refuses(ctx, "waiting for arrivals"); s.err != nil {
			return
		}
		if !s.s.FindPending() {
			if s.err = s.s.Await(ctx, node.FindNew); s.err != nil {
				return
			}
		}
		s.lookedAt(ctx)
		if !yield(s.s.Found, W(s.s.Value)) {
			return
		}
	}
}

// Err returns the error that ended the last loop over Arrivals early, one of those of WaitAll; nil if there was none.
func (s *WaitSet[W]) Err() error {
	s.made("Err")
	return s.err
}

// made panics with *UsageError if s is nil or zero, or if accesses are checked and its words have been freed.
func (s *WaitSet[W]) made(op string) {
	if s == nil || s.w == nil && !s.none {
		misuse(op, "a nil or zero WaitSet (it was made by no Until): use what Until or UntilEach returns")
	}
	if s.ref>>generationShift != 0 {
		s.w.check.place(op, s.ref, uintptr(s.s.Bytes()))
	}
}

// TestAll reports, without waiting, whether each word compares true, each at the moment of its test. It returns true
// for an empty set (OpenSHMEM 1.6, shmem_test_all, shmem_test_all_vector).
func (s *WaitSet[W]) TestAll() bool {
	s.made("TestAll")
	s.poll()
	all := s.s.FirstFalse() == s.s.N
	s.looked(context.Background())
	return all
}

// TestAny returns, without waiting, the index of a word that compares true and its value, or -1. It is fair, as
// WaitAny is, and shares its place in the round with it (OpenSHMEM 1.6, shmem_test_any, shmem_test_any_vector).
func (s *WaitSet[W]) TestAny() (i int, v W) {
	s.made("TestAny")
	s.poll()
	if !s.s.Find() {
		s.looked(context.Background())
		return -1, 0
	}
	s.lookedAt(context.Background())
	return s.s.Found, W(s.s.Value)
}

// TestSome appends the indexes of all words that compare true to into, without waiting, in no particular order
// (OpenSHMEM 1.6, shmem_test_some, shmem_test_some_vector).
func (s *WaitSet[W]) TestSome(into []int) []int {
	s.made("TestSome")
	s.poll()
	if s.s.Find() {
		into = s.s.Collect(into)
	}
	s.looked(context.Background())
	return into
}
