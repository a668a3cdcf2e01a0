package pgas

// Waits for any, some or all of many words (OpenSHMEM 1.6, section 9.11). A range of words and a
// comparison make a WaitSet, once; the program then waits on it as often as it likes. The set is where
// the wait remembers whom it answered last, which is what makes `any` fair, and what keeps a wait free
// of allocation.
//
//	inbox := pgas.SignalsOf(flags.All()).Until(pgas.NE, 0)
//	for {
//		from, request, err := inbox.WaitAny(ctx)
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

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// AtomicSlice refers to a range of integer words of symmetric memory that are only ever accessed
// atomically.
type AtomicSlice[W Word] struct {
	ctx *Context
	off uintptr
	n   int
}

// AtomicsOf is the elements of s as atomic words.
func AtomicsOf[W Word](s Slice[W]) AtomicSlice[W] { return AtomicSlice[W](s) }

// Len is the number of words.
func (a AtomicSlice[W]) Len() int { return a.n }

// At refers to word i. It panics with *UsageError if i is out of range.
func (a AtomicSlice[W]) At(i int) Atomic[W] { return atomicOf(Slice[W](a).At(i)) }

// Range is the words lo to hi, hi excluded.
func (a AtomicSlice[W]) Range(lo, hi int) AtomicSlice[W] {
	return AtomicSlice[W](Slice[W](a).Range(lo, hi))
}

// On is the same words on another context.
func (a AtomicSlice[W]) On(c *Context) AtomicSlice[W] {
	a.ctx.isNothing("On", a.n)
	return AtomicSlice[W]{c, a.off, a.n}
}

// Until is the set of this PE's own copies of the words, to be waited for until they compare true with
// v.
func (a AtomicSlice[W]) Until(cmp Cmp, v W) *WaitSet[W] {
	return newWaitSet(a, cmp, v)
}

// UntilEach is Until with a value for each word. The set keeps values: they may be changed between
// waits, not during one (OpenSHMEM 1.6, the routines whose names end in _vector).
func (a AtomicSlice[W]) UntilEach(cmp Cmp, values []W) *WaitSet[W] {
	if len(values) != a.n {
		misuse("UntilEach", "%d values for %d words: give one for each", len(values), a.n)
	}
	s := newWaitSet(a, cmp, 0)
	s.s.Wants = firstOf(values)
	return s
}

// WaitSet is a number of words of this PE and what they are to become. Updates by atomics and signals,
// of any PE and of any goroutine of this one, wake who waits on it; plain puts and stores need not. What
// the updater put before the update is visible when a wait has seen it, as Atomic.WaitUntil and
// SignalRef.WaitUntil have it.
//
// A WaitSet belongs to one goroutine at a time. Any number of sets may have words in common.
type WaitSet[W Word] struct {
	s    node.WordSet
	w    *World
	ref  uintptr // the reference to the first word
	none bool    // the words are those of the zero Slice, and w is nil
	err  error
}

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

// refuses returns why a wait with ctx must fail at once, or nil.
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

// poll lets other PEs run where they do not by themselves.
func (s *WaitSet[W]) poll() {
	if !s.none {
		s.w.n.YieldIfScheduled()
	}
}

// Except takes words out of the set, those whose skip[i] is true, and returns the set. The set keeps
// skip, which has an element for each word: the program may change it between waits, not during one. nil
// puts all words back (OpenSHMEM 1.6, the status argument; as there, true means not waited for).
func (s *WaitSet[W]) Except(skip []bool) *WaitSet[W] {
	s.made("Except")
	if skip != nil && len(skip) != s.s.N {
		misuse("Except", "%d elements for %d words: give one for each, or nil", len(skip), s.s.N)
	}
	s.s.Skip = skip
	return s
}

// WaitAll blocks until each word has compared true at some time since the call began; they need not
// all do so at the same time. Of an empty set it returns at once (OpenSHMEM 1.6, shmem_wait_until_all,
// shmem_wait_until_all_vector).
func (s *WaitSet[W]) WaitAll(ctx context.Context) error {
	s.made("WaitAll")
	if err := s.refuses(ctx, "waiting for all of a set of words"); err != nil {
		return err
	}
	i := s.s.FirstFalse()
	if i == s.s.N {
		return nil
	}
	s.s.MarkPending(i)
	return s.s.Await(ctx, node.ExhaustAll)
}

// WaitAny blocks until a word compares true, and returns its index and the value that did. It is fair:
// it goes round the words, so one that stays true is returned after at most as many calls as there are
// words. Of an empty set it returns -1 at once; with an error it returns -1 too
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
	return s.s.Found, W(s.s.Value), nil
}

// WaitSome blocks until a word compares true, looks at all of them, and appends to into the indexes of
// those that compared true, in no particular order. Of an empty set it returns into at once
// (OpenSHMEM 1.6, shmem_wait_until_some, shmem_wait_until_some_vector).
func (s *WaitSet[W]) WaitSome(ctx context.Context, into []int) ([]int, error) {
	if i, _, err := s.WaitAny(ctx); i < 0 {
		return into, err
	}
	return s.s.Collect(into), nil
}

// Arrivals waits for each word to compare true, and yields its index and the value that did, once, as
// soon as it is found: first come, first served, without an order among those that have come together.
// The loop ends when all have come, or when they cannot any more: Err then says why. The body must not
// wait on the same set.
func (s *WaitSet[W]) Arrivals(ctx context.Context) iter.Seq2[int, W] {
	return func(yield func(int, W) bool) { s.arrivals(ctx, yield) } // inlined, so that a loop allocates nothing
}

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
		if !yield(s.s.Found, W(s.s.Value)) {
			return
		}
	}
}

// Err is why the last loop over Arrivals ended early: ctx ended or a PE died; nil if it did not.
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

// TestAll reports whether each word compares true now, each at the moment it is looked at. All words of
// an empty set do (OpenSHMEM 1.6, shmem_test_all, shmem_test_all_vector).
func (s *WaitSet[W]) TestAll() bool {
	s.made("TestAll")
	s.poll()
	return s.s.FirstFalse() == s.s.N
}

// TestAny returns the index of a word that compares true now and the value that did, or -1. It is fair,
// as WaitAny is, and the two go round together (OpenSHMEM 1.6, shmem_test_any, shmem_test_any_vector).
func (s *WaitSet[W]) TestAny() (i int, v W) {
	s.made("TestAny")
	s.poll()
	if !s.s.Find() {
		return -1, 0
	}
	return s.s.Found, W(s.s.Value)
}

// TestSome appends to into the indexes of all words that compare true now, in no particular order
// (OpenSHMEM 1.6, shmem_test_some, shmem_test_some_vector).
func (s *WaitSet[W]) TestSome(into []int) []int {
	s.made("TestSome")
	s.poll()
	if !s.s.Find() {
		return into
	}
	return s.s.Collect(into)
}
