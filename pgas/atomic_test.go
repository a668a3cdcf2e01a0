package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/ucx"
)

type allocation int32

// TestAtomicsOfEveryType holds every operation on every type against plain Go arithmetic.
func TestAtomicsOfEveryType(t *testing.T) {
	onEvery(t, 2, everyType)
	pgastest.RunLate(t, 2, 2, everyType)
}

func everyType(ctx context.Context, w *pgas.World) error {
	for _, check := range []func(context.Context, *pgas.World) error{
		words[int32], words[uint32], words[int64], words[uint64], words[int], words[uint], words[uintptr], words[allocation],
		floats[float32], floats[float64],
	} {
		if err := check(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// TestAtomicsOfTheNIC: the same where the network executes every atomic, those to the own host by
// loopback.
//
//ci:ucx
func TestAtomicsOfTheNIC(t *testing.T) {
	if !ucx.Available {
		t.Skip("this test binary was built without cgo, so it has no network to execute atomics")
	}
	const nic = "PGAS_AMO=nic"
	pgastest.RunProcesses(t, 2, everyType, nic)
	t.Run("native puts", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, everyType, nic, "PGAS_RMA=native") })
	t.Run("mixed", func(t *testing.T) { pgastest.RunHosts(t, 3, 2, tickets, nic) })
	t.Run("contended", func(t *testing.T) { pgastest.RunProcesses(t, 3, contended, nic) })
	t.Run("contended between hosts", func(t *testing.T) { pgastest.RunHosts(t, 3, 2, contended, nic) })
	t.Run("signals", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, signalsCarryData, nic) })
	t.Run("fence", func(t *testing.T) { pgastest.RunProcesses(t, 2, fenceOrders, nic) })
	t.Run("fence between hosts", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, fenceOrders, nic) })
	t.Run("native fence", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, fenceOrders, "PGAS_RMA=native") })
	t.Run("native signals", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, signalsCarryData, "PGAS_RMA=native") })
}

// An atomicOp is one operation with its operand, in each way to issue it, and its oracle.
type atomicOp[V any] struct {
	name string
	do   func(pe int, v V) V       // returns the old value; nil if there is no such form
	post func(pe int, v V)         // returns nothing; nil if there is no such form
	nb   func(pe int, v V, dst *V) // the old value by the next quiet
	want func(old, v V) V          // what it leaves
}

// integerOps are the operations on a. A compare-swap happens where the word is even.
func integerOps[W pgas.Word](a pgas.Atomic[W]) []atomicOp[W] {
	even := func(old W) W { return old &^ 1 }
	return []atomicOp[W]{
		{"fetch", func(pe int, _ W) W { return a.Fetch(pe) }, nil,
			func(pe int, _ W, dst *W) { a.FetchNB(pe, dst) }, func(old, _ W) W { return old }},
		{"set", nil, a.Set, nil, func(_, v W) W { return v }},
		{"swap", a.Swap, nil, a.SwapNB, func(_, v W) W { return v }},
		{"add", a.FetchAdd, a.Add, a.FetchAddNB, func(old, v W) W { return old + v }},
		{"inc", func(pe int, _ W) W { return a.FetchInc(pe) }, func(pe int, _ W) { a.Inc(pe) },
			func(pe int, _ W, dst *W) { a.FetchIncNB(pe, dst) }, func(old, _ W) W { return old + 1 }},
		{"and", a.FetchAnd, a.And, a.FetchAndNB, func(old, v W) W { return old & v }},
		{"or", a.FetchOr, a.Or, a.FetchOrNB, func(old, v W) W { return old | v }},
		{"xor", a.FetchXor, a.Xor, a.FetchXorNB, func(old, v W) W { return old ^ v }},
		{"min", a.FetchMin, a.Min, a.FetchMinNB, func(old, v W) W { return min(old, v) }},
		{"max", a.FetchMax, a.Max, a.FetchMaxNB, func(old, v W) W { return max(old, v) }},
		{"compare-swap",
			func(pe int, v W) W { return a.CompareSwap(pe, even(a.Fetch(pe)), v) }, nil,
			func(pe int, v W, dst *W) { a.CompareSwapNB(pe, even(a.Fetch(pe)), v, dst) },
			func(old, v W) W {
				if old == even(old) {
					return v
				}
				return old
			}},
	}
}

func floatOps[F pgas.Float](a pgas.AtomicFloat[F]) []atomicOp[F] {
	return []atomicOp[F]{
		{"fetch", func(pe int, _ F) F { return a.Fetch(pe) }, nil,
			func(pe int, _ F, dst *F) { a.FetchNB(pe, dst) }, func(old, _ F) F { return old }},
		{"set", nil, a.Set, nil, func(_, v F) F { return v }},
		{"swap", a.Swap, nil, a.SwapNB, func(_, v F) F { return v }},
		{"add", a.FetchAdd, a.Add, a.FetchAddNB, func(old, v F) F { return old + v }},
		{"min", a.FetchMin, a.Min, a.FetchMinNB, func(old, v F) F { return min(old, v) }},
		{"max", a.FetchMax, a.Max, a.FetchMaxNB, func(old, v F) F { return max(old, v) }},
		{"compare-swap that happens", func(pe int, v F) F { return a.CompareSwap(pe, a.Fetch(pe), v) }, nil,
			func(pe int, v F, dst *F) { a.CompareSwapNB(pe, a.Fetch(pe), v, dst) }, func(_, v F) F { return v }},
		{"compare-swap that does not", func(pe int, v F) F { return a.CompareSwap(pe, 12345, v) }, nil,
			func(pe int, v F, dst *F) { a.CompareSwapNB(pe, 12345, v, dst) }, func(old, _ F) F { return old }},
	}
}

func words[W pgas.Word](ctx context.Context, w *pgas.World) error {
	var minusOne W
	minusOne--
	values := []W{0, 1, 5, 0x7ffffffe, minusOne, minusOne - 1, ^(minusOne >> 1)}
	s, err := pgas.Alloc[W](ctx, w, 1+2*len(values)*len(values))
	if err != nil {
		return err
	}
	return againstOracle(ctx, w, s, values,
		func(i int) []atomicOp[W] { return integerOps(pgas.AtomicOf(s, i)) },
		func(i, pe int, v W) { pgas.AtomicOf(s, i).Set(pe, v) },
		func(a, b W) bool { return a == b })
}

func floats[F pgas.Float](ctx context.Context, w *pgas.World) error {
	values := []F{0, F(math.Copysign(0, -1)), 1.5, -2.25e10, F(math.Inf(1)), F(math.NaN()), 0x1p-140}
	s, err := pgas.Alloc[F](ctx, w, 1+2*len(values)*len(values))
	if err != nil {
		return err
	}
	return againstOracle(ctx, w, s, values,
		func(i int) []atomicOp[F] { return floatOps(pgas.AtomicFloatOf(s, i)) },
		func(i, pe int, v F) { pgas.AtomicFloatOf(s, i).Set(pe, v) },
		func(a, b F) bool {
			return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b)) || a != a && b != b
		})
}

// againstOracle holds each operation, on each pair of values, against its oracle: waiting for the old value,
// not asking for it, and with all of them in flight at once. Odd elements of s are operated on, the even
// ones between them must stay 0.
func againstOracle[V comparable](ctx context.Context, w *pgas.World, s pgas.Sym[V], values []V,
	ops func(i int) []atomicOp[V], set func(i, pe int, v V), same func(a, b V) bool) error {
	var zero V
	pe := (w.PE() + 1) % w.NPEs()
	pairs := len(values) * len(values)
	first := func(i int) V { return values[i/len(values)] }
	operand := func(i int) V { return values[i%len(values)] }
	got, olds := make([]V, s.Len()), make([]V, pairs)
	word := make([][]atomicOp[V], pairs)
	for i := range word {
		word[i] = ops(1 + 2*i)
	}
	for k, op := range word[0] {
		for _, way := range []string{"fetching", "posted", "non-blocking"} {
			if way == "fetching" && op.do == nil || way == "posted" && op.post == nil || way == "non-blocking" && op.nb == nil {
				continue
			}
			for i := range pairs {
				set(1+2*i, pe, first(i))
			}
			if err := w.Quiet(ctx); err != nil {
				return err
			}
			for i := range pairs {
				switch op := word[i][k]; way {
				case "fetching":
					olds[i] = op.do(pe, operand(i))
				case "posted":
					op.post(pe, operand(i))
				default:
					op.nb(pe, operand(i), &olds[i])
				}
			}
			if err := w.Quiet(ctx); err != nil {
				return err
			}
			s.All().Get(pe, got)
			for i := range pairs {
				if way != "posted" && !same(olds[i], first(i)) {
					return fmt.Errorf("%s %s(%v) on %T %v: the old value is %v", way, op.name, operand(i), zero, first(i), olds[i])
				}
				if want := op.want(first(i), operand(i)); !same(got[1+2*i], want) {
					return fmt.Errorf("%s %s(%v) on %T %v: left %v, want %v", way, op.name, operand(i), zero, first(i), got[1+2*i], want)
				}
				if got[2*i] != zero || got[2*i+2] != zero {
					return fmt.Errorf("%s %s on a %T changed its neighbours", way, op.name, zero)
				}
			}
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	return s.Free(ctx)
}

// TestFetchAddIsAtomic: many goroutines of every PE add to one word; each sees a value of its own.
func TestFetchAddIsAtomic(t *testing.T) {
	onReal(t, 3, tickets)
}

func tickets(ctx context.Context, w *pgas.World) error {
	const workers, rounds = 4, 100
	s, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	seen, err := pgas.Alloc[int32](ctx, w, workers*rounds*w.NPEs())
	if err != nil {
		return err
	}
	done := make(chan error, workers)
	for range workers {
		go func() {
			done <- panicOf(func() {
				for range rounds {
					ticket := pgas.AtomicOf(s, 0).FetchInc(0)
					pgas.AtomicOf(seen, int(ticket)).Inc(0)
				}
			})
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() != 0 {
		return nil
	}
	for i, n := range seen.Local() {
		if n != 1 {
			return fmt.Errorf("ticket %d was drawn %d times", i, n)
		}
	}
	return nil
}

// TestContendedAtomics: every operation that changes a word, by every PE and goroutine on the same words
// at once, in every way to issue it. What is left, and what the old values were, proves that none was lost
// and none was done twice.
func TestContendedAtomics(t *testing.T) {
	onReal(t, 3, contended)
	pgastest.RunLateSeeds(t, 3, 2, 3, contended)
}

func contended(ctx context.Context, w *pgas.World) error {
	if err := contendedWords[uint32](ctx, w); err != nil {
		return err
	}
	if err := contendedWords[int64](ctx, w); err != nil {
		return err
	}
	if err := contendedFloats[float32](ctx, w); err != nil {
		return err
	}
	return contendedFloats[float64](ctx, w)
}

const (
	contestants = 3  // goroutines a PE
	rounds      = 16 // of each
)

// contend runs rounds of every PE's workers against each other, each worker on a context of its own. k
// numbers all rounds of the job from 0 on, i those of the PE.
func contend(ctx context.Context, w *pgas.World, round func(c *pgas.Context, k, i int)) error {
	done := make(chan error, contestants)
	for g := range contestants {
		c, err := w.NewContext(pgas.Private())
		if err != nil {
			return err
		}
		go func() {
			err := panicOf(func() {
				for i := range rounds {
					round(c, (w.PE()*contestants+g)*rounds+i, g*rounds+i)
				}
			})
			if err == nil {
				err = c.Close() // a quiet, too
			}
			done <- err
		}()
	}
	for range contestants {
		if err := <-done; err != nil {
			return err
		}
	}
	return w.Barrier(ctx)
}

// The words of the contest, all of them on PE 0.
const (
	wordAdd = iota
	wordXor
	wordOr
	wordAnd
	wordMin
	wordMax
	wordCount
	wordPass
	contestedWords
)

func contendedWords[W pgas.Word](ctx context.Context, w *pgas.World) error {
	s, err := pgas.Alloc[W](ctx, w, contestedWords)
	if err != nil {
		return err
	}
	n := w.NPEs() * contestants * rounds
	tickets, err := pgas.Alloc[int32](ctx, w, n)
	if err != nil {
		return err
	}
	if w.PE() == 0 {
		pgas.AtomicOf(s, wordAnd).Set(0, ^W(0))
		pgas.AtomicOf(s, wordMin).Set(0, W(2*n))
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	mine := make([]W, 6*contestants*rounds) // what non-blocking ones bring
	passed := make([]W, contestants*rounds)
	bits := reflect.TypeFor[W]().Bits()
	err = contend(ctx, w, func(c *pgas.Context, k, i int) {
		word := func(i int) pgas.Atomic[W] { return pgas.AtomicOf(s, i).On(c) }
		bit := W(1) << (k % bits)
		scrambled := k * 7 % n // n is no multiple of 7, so each number below n comes once
		switch k % 3 {
		case 0:
			word(wordAdd).Add(0, W(k))
			word(wordXor).Xor(0, W(k*0x10001))
			word(wordOr).Or(0, bit)
			word(wordAnd).And(0, ^bit)
			word(wordMin).Min(0, W(n+scrambled))
			word(wordMax).Max(0, W(scrambled))
		case 1:
			word(wordAdd).FetchAdd(0, W(k))
			word(wordXor).FetchXor(0, W(k*0x10001))
			word(wordOr).FetchOr(0, bit)
			word(wordAnd).FetchAnd(0, ^bit)
			word(wordMin).FetchMin(0, W(n+scrambled))
			word(wordMax).FetchMax(0, W(scrambled))
		case 2:
			word(wordAdd).FetchAddNB(0, W(k), &mine[6*i])
			word(wordXor).FetchXorNB(0, W(k*0x10001), &mine[6*i+1])
			word(wordOr).FetchOrNB(0, bit, &mine[6*i+2])
			word(wordAnd).FetchAndNB(0, ^bit, &mine[6*i+3])
			word(wordMin).FetchMinNB(0, W(n+scrambled), &mine[6*i+4])
			word(wordMax).FetchMaxNB(0, W(scrambled), &mine[6*i+5])
		}
		// A counter by compare-swaps: one PE gets each value.
		for old := word(wordCount).Fetch(0); ; {
			found := word(wordCount).CompareSwap(0, old, old+1)
			if found == old {
				pgas.AtomicOf(tickets, int(old)).On(c).Inc(0)
				break
			}
			old = found
		}
		// Numbers are passed through a word: each comes out once, or is left in it.
		if k%2 == 0 {
			passed[i] = word(wordPass).Swap(0, W(k+1))
		} else {
			word(wordPass).SwapNB(0, W(k+1), &passed[i])
		}
	})
	if err != nil {
		return err
	}
	if err := handIn(ctx, w, passed, pgas.AtomicOf(s, wordPass), n); err != nil {
		return err
	}
	if w.PE() == 0 {
		var xor W
		for k := range n {
			xor ^= W(k * 0x10001)
		}
		for _, word := range []struct {
			name string
			i    int
			want W
		}{
			{"add", wordAdd, W(n * (n - 1) / 2)}, {"xor", wordXor, xor}, {"or", wordOr, ^W(0)}, {"and", wordAnd, 0},
			{"min", wordMin, W(n)}, {"max", wordMax, W(n - 1)}, {"compare-swap", wordCount, W(n)},
		} {
			if got := pgas.AtomicOf(s, word.i).Fetch(0); got != word.want {
				return fmt.Errorf("%d contended %ss of a %T left %v, want %v", n, word.name, got, got, word.want)
			}
		}
		for i, times := range tickets.Local() {
			if times != 1 {
				return fmt.Errorf("value %d of a contended %T was swapped away %d times", i, xor, times)
			}
		}
	}
	return w.Barrier(ctx)
}

// handIn checks that the numbers 1 to n that were passed through a word came out of it once each, but
// for the last, and the 0 that was in it first.
func handIn[W pgas.Word](ctx context.Context, w *pgas.World, passed []W, word pgas.Atomic[W], n int) error {
	seen, err := pgas.Alloc[int32](ctx, w, n+1)
	if err != nil {
		return err
	}
	for _, v := range passed {
		pgas.AtomicOf(seen, int(v)).Inc(0)
	}
	if w.PE() == 0 {
		pgas.AtomicOf(seen, int(word.Fetch(0))).Inc(0)
	}
	if err := w.Barrier(ctx); err != nil || w.PE() != 0 {
		return err
	}
	for v, times := range seen.Local() {
		if times != 1 {
			return fmt.Errorf("%d came %d times out of a contended %T", v, times, passed[0])
		}
	}
	return nil
}

func contendedFloats[F pgas.Float](ctx context.Context, w *pgas.World) error {
	s, err := pgas.Alloc[F](ctx, w, contestedWords)
	if err != nil {
		return err
	}
	n := w.NPEs() * contestants * rounds
	olds := make([]F, 3*contestants*rounds)
	err = contend(ctx, w, func(c *pgas.Context, k, i int) {
		word := func(i int) pgas.AtomicFloat[F] { return pgas.AtomicFloatOf(s, i).On(c) }
		scrambled := F(k * 7 % n)
		switch k % 3 {
		case 0:
			word(wordAdd).Add(0, F(k)/4) // small enough to be exact in every order
			word(wordMin).Min(0, -scrambled)
			word(wordMax).Max(0, scrambled)
		case 1:
			word(wordAdd).FetchAdd(0, F(k)/4)
			word(wordMin).FetchMin(0, -scrambled)
			word(wordMax).FetchMax(0, scrambled)
		case 2:
			word(wordAdd).FetchAddNB(0, F(k)/4, &olds[3*i])
			word(wordMin).FetchMinNB(0, -scrambled, &olds[3*i+1])
			word(wordMax).FetchMaxNB(0, scrambled, &olds[3*i+2])
		}
	})
	if err != nil {
		return err
	}
	if w.PE() == 0 {
		sum, least, most := pgas.AtomicFloatOf(s, wordAdd).Fetch(0), pgas.AtomicFloatOf(s, wordMin).Fetch(0), pgas.AtomicFloatOf(s, wordMax).Fetch(0)
		if want := F(n*(n-1)/2) / 4; sum != want || least != F(1-n) || most != F(n-1) {
			return fmt.Errorf("contended sum, min and max of %d values of %T: %v, %v, %v, want %v, %v, %v", n, sum, sum, least, most, want, F(1-n), F(n-1))
		}
	}
	return w.Barrier(ctx)
}

// TestLoopsAreAtomic: what is no single instruction, applied by the owner's service thread in batches as
// fast as it can, while the owner and its neighbour do the same themselves.
func TestLoopsAreAtomic(t *testing.T) {
	onEvery(t, 3, func(ctx context.Context, w *pgas.World) error {
		const adds = 100_000
		sums, err := pgas.Alloc[float32](ctx, w, 1)
		if err != nil {
			return err
		}
		bits, err := pgas.Alloc[uint64](ctx, w, 1)
		if err != nil {
			return err
		}
		sum, flips := pgas.AtomicFloatOf(sums, 0), pgas.AtomicOf(bits, 0)
		sum.Fetch(0) // now there is a connection, and all can start at once
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for i := range adds {
			sum.Add(0, 1)
			flips.Xor(0, uint64(i*w.NPEs()+w.PE()))
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		var want uint64
		for i := range adds * w.NPEs() {
			want ^= uint64(i)
		}
		if got := sum.Fetch(0); got != float32(adds*w.NPEs()) || flips.Fetch(0) != want {
			return fmt.Errorf("the sum is %v, want %d; the bits are %#x, want %#x", got, adds*w.NPEs(), flips.Fetch(0), want)
		}
		return nil
	})
}

// TestFloatsWakeWaiters: a wait for a floating-point word compares numbers, and any update wakes it.
func TestFloatsWakeWaiters(t *testing.T) {
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		if err := floatsWake[float32](ctx, w); err != nil {
			return err
		}
		return floatsWake[float64](ctx, w)
	})
}

func floatsWake[F pgas.Float](ctx context.Context, w *pgas.World) error {
	s, err := pgas.Alloc[F](ctx, w, 2)
	if err != nil {
		return err
	}
	word, other := pgas.AtomicFloatOf(s, 1), 1-w.PE()
	for _, c := range []struct {
		name     string
		cmp      pgas.Cmp
		v        F
		do, undo func()
	}{
		{"a negative number", pgas.LT, 0, func() { word.Set(other, -1) }, nil},
		{"a fraction", pgas.GE, 0.5, func() { word.Add(other, 1.25) }, func() { word.Set(other, 0) }},
		{"-0 equals 0", pgas.EQ, 0, func() { word.Set(other, F(math.Copysign(0, -1))) }, func() { word.Set(other, 3) }},
		{"several steps", pgas.GT, 9.5, func() {
			for range 10 {
				word.Add(other, 1)
			}
		}, func() { word.Set(other, 0) }},
		{"a NaN equals nothing", pgas.NE, 10, func() { word.Set(other, F(math.NaN())) }, func() { word.Set(other, 10) }},
		{"at most", pgas.LE, -2, func() { word.Min(other, -2) }, func() { word.Set(other, 1) }},
	} {
		if c.undo != nil {
			c.undo()
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if word.Test(c.cmp, c.v) {
			return fmt.Errorf("%s: %v compares true too early", c.name, s.Local()[1])
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		c.do()
		got, err := word.WaitUntil(ctx, c.cmp, c.v)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if !word.Test(c.cmp, c.v) {
			return fmt.Errorf("%s: %v does not compare true any more", c.name, got)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	late, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := word.WaitUntil(late, pgas.GT, 1e6); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a wait whose context was over ended with %v", err)
	}
	return w.Barrier(ctx)
}

// TestManyWordsAtOnce: a non-blocking fetch of a range, each word whole while another PE changes them.
func TestManyWordsAtOnce(t *testing.T) {
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		const n = 300
		s, err := pgas.Alloc[uint64](ctx, w, n)
		if err != nil {
			return err
		}
		all := pgas.AtomicsOf(s.All())
		dst := make([]uint64, n)
		for round := range uint64(20) {
			if w.PE() == 0 {
				for i := range n {
					all.At(i).Set(0, round<<32|round)
				}
				continue
			}
			all.FetchNB(0, dst[:n-1])
			if err := w.Quiet(ctx); err != nil {
				return err
			}
			for i, v := range dst {
				if v>>32 != v&math.MaxUint32 {
					return fmt.Errorf("word %d is %#x: its halves are of different writes", i, v)
				}
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		all.FetchNB(0, dst)
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		if dst[0] != 19<<32|19 || dst[n-1] != dst[0] {
			return fmt.Errorf("the words are %#x to %#x", dst[0], dst[n-1])
		}
		err = panicOf(func() { all.FetchNB(0, make([]uint64, n+1)) })
		if usage := (*pgas.UsageError)(nil); !errors.As(err, &usage) {
			return fmt.Errorf("too long a destination: %v", err)
		}
		return w.Barrier(ctx)
	})
}

// TestValuesComeByQuiet checks, over a network that delivers as late as it may, that old values are there after the
// Quiet of their own context, and that updates keep the order of their fences.
func TestValuesComeByQuiet(t *testing.T) {
	pgastest.RunLate(t, 2, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			word, old := pgas.AtomicOf(s, 0), [3]int64{-1, -1, -1}
			word.FetchAddNB(1, 5, &old[0])
			w.Fence()
			word.SwapNB(1, 9, &old[1])
			w.Fence()
			word.CompareSwapNB(1, 9, 11, &old[2])
			c, err := w.NewContext()
			if err != nil {
				return err
			}
			if err := c.Close(); err != nil {
				return err
			}
			if old != [3]int64{-1, -1, -1} {
				return fmt.Errorf("the quiet of another context brought %v", old)
			}
			if err := w.Quiet(ctx); err != nil {
				return err
			}
			if old != [3]int64{0, 5, 9} || word.Fetch(1) != 11 {
				return fmt.Errorf("old values %v, and the word is %d", old, word.Fetch(1))
			}
		}
		return w.Barrier(ctx)
	})
}

// TestFenceOrdersPutsAndAtomics: to one PE, whatever carries them (a trap of the OpenSHMEM
// specification). The target looks at plain memory while it changes, so its PEs are processes.
func TestFenceOrdersPutsAndAtomics(t *testing.T) {
	pgastest.RunProcesses(t, 2, fenceOrders)
	if ucx.Available {
		pgastest.RunHosts(t, 2, 2, fenceOrders)
	}
}

func fenceOrders(ctx context.Context, w *pgas.World) error {
	const rounds = 300
	s, err := pgas.Alloc[int64](ctx, w, 3)
	if err != nil {
		return err
	}
	count, data, last := pgas.AtomicOf(s, 0), s.At(1), s.At(2)
	if w.PE() == 0 {
		for i := range int64(rounds) {
			count.Inc(1)
			data.Put(1, i+1)
			if i%2 == 0 {
				w.Fence()
			} else {
				w.Context().FencePE(1)
			}
			last.Put(1, i+1)
			w.Fence()
		}
		return w.Barrier(ctx)
	}
	for seen := int64(0); seen < rounds; {
		if seen = last.Get(1); count.Fetch(1) < seen || data.Get(1) < seen {
			return fmt.Errorf("put %d overtook a fence: count is %d, data %d", seen, count.Fetch(1), data.Get(1))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return w.Barrier(ctx)
}

// TestAtomicSizes: operations on 4 and on 8 bytes of one word are atomic to each other. All PEs add to a word of PE 0,
// half of them to its 8 bytes and the others to each 4 of them, and no update is lost.
func TestAtomicSizes(t *testing.T) {
	pgastest.Run(t, 4, func(ctx context.Context, w *pgas.World) error {
		const times = 500
		words, err := pgas.Alloc[[2]uint32](ctx, w, 1)
		if err != nil {
			return err
		}
		at := words.At(0)
		whole := pgas.FieldAtomic[uint64](at, 0)
		low, high := pgas.FieldAtomic[uint32](at, 0), pgas.FieldAtomic[uint32](at, 4)
		for range times {
			if w.PE()%2 == 0 {
				whole.FetchAdd(0, 1<<32|1)
			} else {
				low.FetchAdd(0, 1)
				high.Add(0, 1)
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if l, h := low.Fetch(0), high.Fetch(0); l != 4*times || h != 4*times {
			return fmt.Errorf("the halves are %d and %d, want %d", l, h, 4*times)
		}
		return nil
	})
}
