package atomics_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/gopgas/gopgas/atomics"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestMethodsMirrorSyncAtomic: what a type of sync/atomic has, its namesake in this package has too, and the only
// difference is the PE.
func TestMethodsMirrorSyncAtomic(t *testing.T) {
	pe := reflect.TypeFor[int]()
	for _, c := range []struct{ theirs, ours reflect.Type }{
		{reflect.TypeFor[*atomic.Int32](), reflect.TypeFor[atomics.Int32]()},
		{reflect.TypeFor[*atomic.Int64](), reflect.TypeFor[atomics.Int64]()},
		{reflect.TypeFor[*atomic.Uint32](), reflect.TypeFor[atomics.Uint32]()},
		{reflect.TypeFor[*atomic.Uint64](), reflect.TypeFor[atomics.Uint64]()},
		{reflect.TypeFor[*atomic.Uintptr](), reflect.TypeFor[atomics.Uintptr]()},
		{reflect.TypeFor[*atomic.Bool](), reflect.TypeFor[atomics.Bool]()},
	} {
		if c.theirs.NumMethod() < 4 {
			t.Errorf("%v has %d methods: what was compared?", c.theirs, c.theirs.NumMethod())
		}
		for i := range c.theirs.NumMethod() {
			theirs := c.theirs.Method(i)
			ours, ok := c.ours.MethodByName(theirs.Name)
			if !ok {
				t.Errorf("%v has no %s", c.ours, theirs.Name)
				continue
			}
			in, out := []reflect.Type{c.ours, pe}, []reflect.Type{}
			for i := 1; i < theirs.Type.NumIn(); i++ {
				in = append(in, theirs.Type.In(i))
			}
			for i := range theirs.Type.NumOut() {
				out = append(out, theirs.Type.Out(i))
			}
			if want := reflect.FuncOf(in, out, false); ours.Type != want {
				t.Errorf("%v.%s is a %v, want %v", c.ours, ours.Name, ours.Type, want)
			}
		}
	}
}

// theirs is what an integer of sync/atomic can do: the oracle.
type theirs[W any] interface {
	Load() W
	Store(W)
	Swap(W) W
	CompareAndSwap(old, v W) bool
	Add(W) W
	And(W) W
	Or(W) W
}

func seed() uint64 {
	if s, err := strconv.ParseUint(os.Getenv("TEST_SEED"), 10, 64); err == nil {
		return s
	}
	return rand.Uint64()
}

// TestAgainstSyncAtomic: any sequence of operations does to a word of another PE what the same sequence
// does to a word of sync/atomic.
func TestAgainstSyncAtomic(t *testing.T) {
	pgastest.Run(t, 2, func(ctx context.Context, w *pgas.World) error {
		seed := seed()
		rng := rand.New(rand.NewPCG(seed, uint64(w.PE())))
		for _, run := range []func() error{
			func() error { return integers(ctx, w, rng, &atomic.Int32{}) },
			func() error { return integers(ctx, w, rng, &atomic.Int64{}) },
			func() error { return integers(ctx, w, rng, &atomic.Uint32{}) },
			func() error { return integers(ctx, w, rng, &atomic.Uint64{}) },
			func() error { return integers(ctx, w, rng, &atomic.Uintptr{}) },
			func() error { return bools(ctx, w, rng) },
		} {
			if err := run(); err != nil {
				return fmt.Errorf("%w; replay with: TEST_SEED=%d go test ./atomics -run TestAgainstSyncAtomic", err, seed)
			}
		}
		return nil
	})
}

func integers[W pgas.Word](ctx context.Context, w *pgas.World, rng *rand.Rand, oracle theirs[W]) error {
	s, err := pgas.Alloc[W](ctx, w, 2)
	if err != nil {
		return err
	}
	pe, n := 1-w.PE(), atomics.Of(s, 1)
	for step := range 300 {
		v := W(rng.Uint64() >> rng.IntN(64))
		var got, want any
		var op string
		switch rng.IntN(7) {
		case 0:
			op, got, want = "Load", n.Load(pe), oracle.Load()
		case 1:
			op = "Store"
			n.Store(pe, v)
			oracle.Store(v)
		case 2:
			op, got, want = "Swap", n.Swap(pe, v), oracle.Swap(v)
		case 3:
			old := oracle.Load() + W(rng.IntN(2))
			op, got, want = "CompareAndSwap", n.CompareAndSwap(pe, old, v), oracle.CompareAndSwap(old, v)
		case 4:
			op, got, want = "Add", n.Add(pe, v), oracle.Add(v)
		case 5:
			op, got, want = "And", n.And(pe, v), oracle.And(v)
		case 6:
			op, got, want = "Or", n.Or(pe, v), oracle.Or(v)
		}
		if got != want {
			return fmt.Errorf("step %d: %T.%s(%v) is %v, want %v", step, n, op, v, got, want)
		}
		if left := n.Load(pe); left != oracle.Load() {
			return fmt.Errorf("step %d: %T.%s(%v) left %v, want %v", step, n, op, v, left, oracle.Load())
		}
	}
	return w.Barrier(ctx)
}

func bools(ctx context.Context, w *pgas.World, rng *rand.Rand) error {
	s, err := pgas.Alloc[uint32](ctx, w, 1)
	if err != nil {
		return err
	}
	var oracle atomic.Bool
	pe, b := 1-w.PE(), atomics.BoolOf(s, 0)
	for step := range 200 {
		old, v := rng.IntN(2) == 1, rng.IntN(2) == 1
		got, want := b.Load(pe), oracle.Load()
		switch rng.IntN(3) {
		case 0:
			b.Store(pe, v)
			oracle.Store(v)
		case 1:
			got, want = b.Swap(pe, v), oracle.Swap(v)
		case 2:
			got, want = b.CompareAndSwap(pe, old, v), oracle.CompareAndSwap(old, v)
		}
		if got != want {
			return fmt.Errorf("step %d: a bool gave %v, want %v", step, got, want)
		}
	}
	return w.Barrier(ctx)
}

// ticket is a type made from an integer.
type ticket int64

// TestRest: what sync/atomic has not.
func TestRest(t *testing.T) {
	pgastest.Run(t, 2, func(ctx context.Context, w *pgas.World) error {
		if err := extensions(ctx, w); err != nil {
			return err
		}
		if err := floats[float32](ctx, w); err != nil {
			return err
		}
		return floats[float64](ctx, w)
	})
}

func extensions(ctx context.Context, w *pgas.World) error {
	s, err := pgas.Alloc[ticket](ctx, w, 1)
	if err != nil {
		return err
	}
	pe, me, n := 1-w.PE(), w.PE(), atomics.Of(s, 0)
	c, err := w.NewContext(pgas.Private())
	if err != nil {
		return err
	}
	n.Store(pe, 0b1100)
	for _, c := range []struct {
		name      string
		old, want ticket
		got, left ticket
	}{
		{name: "Xor", old: 0b1100, want: 0b1010, got: n.Xor(pe, 0b0110), left: n.Load(pe)},
		{name: "Min", old: 0b1010, want: -3, got: n.Min(pe, -3), left: n.Load(pe)},
		{name: "Max", old: -3, want: 7, got: n.Max(pe, 7), left: n.Load(pe)},
		{name: "On", old: 7, want: 8, got: n.On(c).Add(pe, 1) - 1, left: n.On(c).Load(pe)},
	} {
		if c.got != c.old || c.left != c.want {
			return fmt.Errorf("%s returned %d and left %d, want %d and %d", c.name, c.got, c.left, c.old, c.want)
		}
	}
	var old ticket
	n.Atomic().FetchAddNB(pe, 1, &old)
	if err := w.Quiet(ctx); err != nil || old != 8 || n.Load(pe) != 9 {
		return fmt.Errorf("a non-blocking fetch-add of the word behind the view: %d, %v", old, err)
	}
	if got, err := n.WaitUntil(ctx, pgas.EQ, 9); err != nil || got != 9 {
		return fmt.Errorf("waited for 9: %d, %v", got, err)
	}
	if n.Load(me) != 9 {
		return fmt.Errorf("the own word is %d", n.Load(me))
	}
	return c.Close()
}

func floats[F pgas.Float](ctx context.Context, w *pgas.World) error {
	s, err := pgas.Alloc[F](ctx, w, 1)
	if err != nil {
		return err
	}
	nan, minusZero := F(math.NaN()), F(math.Copysign(0, -1))
	pe, n := 1-w.PE(), atomics.OfFloat(s, 0)
	if v := n.Add(pe, 1.5); v != 1.5 {
		return fmt.Errorf("0 + 1.5 is %v", v)
	}
	if v := n.Add(pe, 0.25); v != 1.75 || n.Load(pe) != 1.75 {
		return fmt.Errorf("1.5 + 0.25 is %v and left %v", v, n.Load(pe))
	}
	if old := n.Min(pe, -1); old != 1.75 || n.Load(pe) != -1 {
		return fmt.Errorf("min(1.75, -1) returned %v and left %v", old, n.Load(pe))
	}
	if old := n.Max(pe, 3); old != -1 || n.Load(pe) != 3 {
		return fmt.Errorf("max(-1, 3) returned %v and left %v", old, n.Load(pe))
	}
	n.Store(pe, 0)
	for _, c := range []struct {
		old, v  F
		swapped bool
	}{{minusZero, 1, false}, {0, minusZero, true}, {0, 1, false}, {minusZero, nan, true}, {nan, 2, true}, {nan, 3, false}} {
		before := n.Load(pe)
		if got := n.CompareAndSwap(pe, c.old, c.v); got != c.swapped {
			return fmt.Errorf("a compare-and-swap of %v by %v where %v was said %v", c.old, c.v, before, got)
		}
	}
	if old := n.Swap(pe, 5); old != 2 {
		return fmt.Errorf("a swap returned %v, want 2", old)
	}
	if got, err := n.On(w.Context()).WaitUntil(ctx, pgas.GT, 4.5); err != nil || got != 5 {
		return fmt.Errorf("waited for 5: %v, %v", got, err)
	}
	return w.Barrier(ctx)
}

// TestFlags: a token that goes round the PEs, and a race that one PE wins.
func TestFlags(t *testing.T) {
	pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[uint32](ctx, w, 3)
		if err != nil {
			return err
		}
		laps, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		const rounds = 20
		me, next := w.PE(), (w.PE()+1)%w.NPEs()
		token, open, won := atomics.FlagOf(s, 0), atomics.BoolOf(s, 1), atomics.FlagOf(s, 2)
		if me == 0 {
			token.Set(0)
		}
		for range rounds {
			if err := token.Wait(ctx); err != nil {
				return err
			}
			// The PE that has the token may change the word.
			plain := laps.At(0)
			plain.Put(0, plain.Get(0)+1)
			if err := w.Quiet(ctx); err != nil {
				return err
			}
			token.Clear(me)
			token.Set(next)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if got := laps.At(0).Get(0); got != int64(rounds*w.NPEs()) {
			return fmt.Errorf("the token went round and %d laps were counted, want %d", got, rounds*w.NPEs())
		}
		if token.IsSet(0) != true || token.IsSet(1) {
			return fmt.Errorf("the token is not where it must be")
		}
		// One of all wins, and opens for the others.
		if !won.TestAndSet(0) {
			for pe := range w.NPEs() {
				open.Store(pe, true)
			}
		}
		if err := open.WaitUntil(ctx, true); err != nil {
			return err
		}
		if !won.IsSet(0) || !won.TestAndSet(0) {
			return fmt.Errorf("a PE won, and can be beaten")
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		token.On(w.Context()).Clear(next)
		return token.WaitClear(ctx)
	})
}
