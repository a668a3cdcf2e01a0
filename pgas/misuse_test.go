package pgas_test

// A nil context.Context and values that were never made are misuse, wherever they are used.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// recoveredFrom returns what call panics with, and the error that w.Recovered makes of it.
func recoveredFrom(w *pgas.World, call func()) (p any, recovered error) {
	defer func() {
		if p = recover(); p != nil {
			recovered = w.Recovered(p)
		}
	}()
	call()
	return nil, nil
}

var contextType = reflect.TypeFor[context.Context]()

// argumentsFor returns zero values for f's parameters; for a function, one that does nothing.
func argumentsFor(f reflect.Type) (args []reflect.Value) {
	n := f.NumIn()
	if f.IsVariadic() {
		n--
	}
	for i := range n {
		args = append(args, reflect.Zero(f.In(i)))
	}
	return args
}

// callAll calls f, and then what it returns if that is an iterator.
func callAll(f reflect.Value, args []reflect.Value) {
	for _, r := range f.Call(args) {
		if r.Kind() == reflect.Func && !r.IsNil() && r.Type().NumIn() == 1 && r.Type().In(0).Kind() == reflect.Func {
			r.Call([]reflect.Value{reflect.Zero(r.Type().In(0))})
		}
	}
}

// TestNilContextInMethods: every exported method that takes a context.Context says that it is nil. The methods are
// found by reflection, so that none is forgotten.
func TestNilContextInMethods(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		words, err1 := pgas.Alloc[int64](ctx, w, 2)
		floats, err2 := pgas.Alloc[float64](ctx, w, 1)
		locks, err3 := pgas.Alloc[pgas.Lock](ctx, w, 1)
		signals, err4 := pgas.Alloc[pgas.Signal](ctx, w, 1)
		sub, err5 := w.Team().SplitList(ctx, []int{0})
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			return err
		}
		flags, err := pgas.Alloc[bool](ctx, w, 1)
		if err != nil {
			return err
		}
		request := pgas.SumReduceNB(ctx, w.Team(), words.All(), words.All())
		if err := request.Wait(ctx); err != nil {
			return err
		}
		seen := 0
		for _, v := range []any{
			w, sub, w.Context(), words, words.All(), words.At(0), pgas.AtomicOf(words, 0), pgas.AtomicsOf(words.All()),
			pgas.AtomicFloatOf(floats, 0), pgas.AtomicSmallOf(flags, 0), pgas.SignalOf(signals, 0), pgas.SignalsOf(signals.All()), pgas.LockOf(locks, 0),
			request, pgas.AtomicsOf(words.All()).Until(pgas.EQ, 0), words.All().PutNB(0, nil),
			pgas.AtomicsOf(pgas.Slice[int64]{}).Until(pgas.EQ, 0),
		} {
			of := reflect.ValueOf(v)
			for i := range of.NumMethod() {
				m := of.Method(i)
				if !slices.Contains(slices.Collect(parametersOf(m.Type())), contextType) {
					continue
				}
				seen++
				_, err := recoveredFrom(w, func() { callAll(m, argumentsFor(m.Type())) })
				if err == nil || !strings.Contains(err.Error(), "context.Context is nil") {
					return fmt.Errorf("%T.%s with a nil context.Context: %v", v, of.Type().Method(i).Name, err)
				}
			}
		}
		if seen < 30 {
			return fmt.Errorf("%d methods take a context.Context: there must be more", seen)
		}
		return sub.Destroy(ctx)
	})
}

func parametersOf(f reflect.Type) func(yield func(reflect.Type) bool) {
	return func(yield func(reflect.Type) bool) {
		for i := range f.NumIn() {
			if !yield(f.In(i)) {
				return
			}
		}
	}
}

// functions are the exported functions that take a context.Context, for int64.
var functions = []any{
	pgas.Alloc[int64], pgas.AllocRaw[int64], pgas.AllocHints[int64], pgas.AllocLayout[int64],
	pgas.Broadcast[int64], pgas.BroadcastNB[int64], pgas.FCollect[int64], pgas.FCollectNB[int64],
	pgas.Collect[int64], pgas.CollectNB[int64], pgas.AllToAll[int64], pgas.AllToAllNB[int64],
	pgas.AllToAllS[int64], pgas.AllToAllSNB[int64], pgas.AllToAllV[int64], pgas.AllToAllVNB[int64],
	pgas.AndReduce[int64], pgas.OrReduce[int64], pgas.XorReduce[int64], pgas.MinReduce[int64], pgas.MaxReduce[int64],
	pgas.SumReduce[int64], pgas.ProdReduce[int64], pgas.FuncReduce[int64],
	pgas.AndReduceNB[int64], pgas.OrReduceNB[int64], pgas.XorReduceNB[int64], pgas.MinReduceNB[int64], pgas.MaxReduceNB[int64],
	pgas.SumReduceNB[int64], pgas.ProdReduceNB[int64], pgas.FuncReduceNB[int64],
	pgas.SumInscan[int64], pgas.SumExscan[int64], pgas.FuncInscan[int64], pgas.FuncExscan[int64],
	pgas.SumInscanNB[int64], pgas.SumExscanNB[int64], pgas.FuncInscanNB[int64], pgas.FuncExscanNB[int64],
	pgas.SumValue[int64], pgas.MinValue[int64], pgas.MaxValue[int64], pgas.Reduce1[int64],
	pgas.Gather[int64], pgas.AllGather[int64], pgas.BroadcastValue[int64], pgas.BroadcastSlice[int64],
	pgas.Init, pgas.Open, pgas.Agree,
}

// TestNilContextInFunctions: every exported function that takes a context.Context says that it is nil, with n
// elements and with none.
func TestNilContextInFunctions(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 4)
		if err != nil {
			return err
		}
		for _, n := range []int{0, 2} {
			slices := []pgas.Slice[int64]{words.Range(0, n), words.Range(2, 2+n)}
			for _, f := range functions {
				args := argumentsFor(reflect.TypeOf(f))
				given := 0
				for i, a := range args {
					switch a.Type() {
					case reflect.TypeFor[*pgas.World]():
						args[i] = reflect.ValueOf(w)
					case reflect.TypeFor[*pgas.Team]():
						args[i] = reflect.ValueOf(w.Team())
					case reflect.TypeFor[*boot.Job]():
						args[i] = reflect.ValueOf(new(boot.Job))
					case reflect.TypeFor[pgas.Slice[int64]]():
						args[i] = reflect.ValueOf(slices[given%2])
						given++
					case reflect.TypeFor[pgas.Blocks]():
						args[i] = reflect.ValueOf(pgas.Blocks{Displs: []int{0}, Counts: []int{n}})
					case reflect.TypeFor[int]():
						if given == 2 && len(args) == 7 {
							args[i] = reflect.ValueOf(1) // a stride
						}
						if given == 2 && i == 6 {
							args[i] = reflect.ValueOf(n)
						}
					}
				}
				_, err := recoveredFrom(w, func() { reflect.ValueOf(f).Call(args) })
				if err == nil || !strings.Contains(err.Error(), "context.Context is nil") {
					return fmt.Errorf("%T with a nil context.Context and %d elements: %v", f, n, err)
				}
			}
		}
		return nil
	})
}

// harmless are the methods that are valid on zero values.
var harmless = map[string]string{
	"pgas.Slice[int64]":         "Len Local Offset Ptr Put PutNB Get GetNB IPut IPutNB IBPut IBPutNB IGet IGetNB IBGet IBGetNB Range On",
	"pgas.Sym[int64]":           "Len On",
	"pgas.Ref[int64]":           "Slice",
	"pgas.Atomic[int64]":        "Notify",
	"pgas.AtomicFloat[float64]": "Notify",
	"pgas.AtomicSlice[int64]":   "Len Range On FetchNB Until UntilEach",
	"pgas.SignalSlice":          "Len Range On Until UntilEach",
	"*pgas.Team":                "PE NPEs Translate Destroy",
	"pgas.LocalCompletion":      "Done Wait",
	"pgas.Short[int16]":         "On",
	"*pgas.World":               "Recovered",
}

// faults are the methods that fault on a nil pointer, which Recovered explains.
var faults = map[string]string{
	"pgas.Ref[int64]":           "Put Get Local",
	"pgas.Atomic[int64]":        "Fetch Set Swap CompareSwap FetchAdd Add FetchInc Inc",
	"pgas.SignalRef":            "Set Add",
	"pgas.AtomicFloat[float64]": "Fetch Set CompareSwap",
	"*pgas.World":               "PE NPEs Quiet MustQuiet",
	"new(pgas.World)":           "PE NPEs MustQuiet",
	"*pgas.Context":             "MustQuiet",
	"new(pgas.Context)":         "MustQuiet",
}

// TestZeroValuesAreMisuse calls every exported method of values that were never made.
func TestZeroValuesAreMisuse(t *testing.T) {
	for _, check := range []bool{false, true} {
		t.Run(fmt.Sprintf("check=%t", check), func(t *testing.T) {
			err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{Check: check}, func(ctx context.Context, w *pgas.World) error {
				for _, v := range []any{
					pgas.Ref[int64]{}, pgas.Slice[int64]{}, pgas.Sym[int64]{}, pgas.Atomic[int64]{}, pgas.AtomicFloat[float64]{},
					pgas.AtomicSlice[int64]{}, pgas.SignalRef{}, pgas.SignalSlice{}, pgas.LockRef{}, pgas.Atomic[int64]{}.Notify(1),
					(*pgas.WaitSet[int64])(nil), new(pgas.WaitSet[int64]), (*pgas.Request)(nil), new(pgas.Request),
					(*pgas.Context)(nil), new(pgas.Context), (*pgas.Team)(nil), (*pgas.World)(nil), new(pgas.World), pgas.LocalCompletion{},
					pgas.Short[int16]{}, pgas.AtomicSmall[bool]{}, pgas.AtomicSmall[int16]{},
					(*pgas.Group)(nil), new(pgas.Group),
				} {
					if err := zeroIsMisuse(ctx, w, v); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// zeroIsMisuse calls every exported method of v.
func zeroIsMisuse(ctx context.Context, w *pgas.World, v any) error {
	of := reflect.ValueOf(v)
	for i := range of.NumMethod() {
		m, name := of.Method(i), of.Type().Method(i).Name
		args := argumentsFor(m.Type())
		for j, a := range args {
			switch {
			case a.Type() == contextType:
				args[j] = reflect.ValueOf(ctx)
			case a.Kind() == reflect.Pointer && a.Type().Elem().Size() == 8:
				args[j] = reflect.New(a.Type().Elem())
			case a.Type().Kind() == reflect.Int && strings.HasSuffix(m.Type().In(max(0, j-1)).String(), "[]int64"):
				args[j] = reflect.ValueOf(1) // a stride
			case strings.HasPrefix(name, "I") && j >= 2:
				args[j] = reflect.ValueOf(1)
			}
		}
		if strings.HasPrefix(name, "I") && of.Kind() == reflect.Struct {
			args[len(args)-1] = reflect.ValueOf(0) // no block
		}
		p, err := recoveredFrom(w, func() { callAll(m, args) })
		_, explicit := p.(*pgas.UsageError)
		var misuse *pgas.UsageError
		kind := fmt.Sprintf("%T", v)
		fault := kind
		if of.Kind() == reflect.Pointer && !of.IsNil() {
			fault = "new(" + kind[1:] + ")"
		}
		switch {
		case has(harmless[kind], name):
			if p != nil {
				return fmt.Errorf("zero %s.%s: %v", kind, name, p)
			}
		case !errors.As(err, &misuse):
			return fmt.Errorf("zero %s.%s: %v is no *UsageError", kind, name, p)
		case !explicit && !has(faults[fault], name):
			return fmt.Errorf("zero %s.%s: %v is a fault", kind, name, p)
		case explicit && has(faults[fault], name):
			return fmt.Errorf("zero %s.%s: tested by itself now, take it out of the list", kind, name)
		}
	}
	return nil
}

func has(words, word string) bool { return slices.Contains(strings.Fields(words), word) }

var putAt = regexp.MustCompile(`Put at pgas/misuse_test\.go:\d+: `)

// TestZeroFaultIsExplained: what Recovered says of a fault names the call and the reason, and other faults are the
// program's own.
func TestZeroFaultIsExplained(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(_ context.Context, w *pgas.World) error {
		_, err := recoveredFrom(w, func() { pgas.Ref[int64]{}.Put(0, 1) })
		if err == nil || !strings.Contains(err.Error(), "a zero reference (it was made by no Alloc") || !putAt.MatchString(err.Error()) {
			return fmt.Errorf("a put with a zero Ref: %v", err)
		}
		var mine *int
		if p, err := recoveredFrom(w, func() { *mine = 1 }); p == nil || err != nil {
			return fmt.Errorf("a nil pointer of the program: %v, recovered as %v", p, err)
		}
		return nil
	})
}

// TestClosedContext: a second Close does nothing, and other calls on a closed context are misuse.
func TestClosedContext(t *testing.T) {
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		c, err := w.NewContext()
		if err != nil {
			return err
		}
		for range 3 {
			if err := c.Close(); err != nil {
				return err
			}
		}
		for name, call := range map[string]func(){
			"Fence":        c.Fence,
			"StartSession": func() { c.StartSession() },
			"batching":     func() { c.StartSession(pgas.Batch()) },
			"EndSession":   c.EndSession,
			"FencePE":      func() { c.FencePE(0) },
		} {
			if misuse, ok := panicOf(call).(*pgas.UsageError); !ok || !strings.Contains(misuse.Error(), "closed") {
				return fmt.Errorf("%s on a closed context: %v", name, misuse)
			}
		}
		if err := c.Quiet(ctx); err == nil {
			return errors.New("Quiet on a closed context returns nil")
		}
		return w.Barrier(ctx)
	})
}

// TestZeroSignalIsMisuse: a put with a zero SignalRef must not update the start of the heap.
func TestZeroSignalIsMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		var none pgas.SignalRef
		v := int64(7)
		for _, call := range []func(){
			func() { words.At(0).PutSignal(0, &v, none, 1) },
			func() { words.At(0).PutSignalAdd(0, &v, none, 1) },
			func() { words.All().PutSignal(0, []int64{v}, none, 1) },
			func() { words.All().PutSignalAdd(0, []int64{v}, none, 1) },
		} {
			if misuseIn(w, call) == nil || words.Local()[0] != 0 {
				return fmt.Errorf("a put with a zero signal, which has stored %d: no *UsageError", words.Local()[0])
			}
		}
		return nil
	})
}

// TestZeroSliceIsEmpty: where 0 elements are meant, the zero Slice moves nothing.
func TestZeroSliceIsEmpty(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		var none pgas.Slice[int64]
		none.PutSignal(1, nil, pgas.SignalOf(signals, 0), 1)
		if w.PE() == 1 {
			if _, err := pgas.SignalOf(signals, 0).WaitUntil(ctx, pgas.EQ, 1); err != nil {
				return err
			}
		}
		nothing := pgas.Blocks{Displs: []int{0, 0}, Counts: []int{0, 0}}
		team := w.Team()
		_, err1 := pgas.Collect(ctx, team, none, none)
		err = errors.Join(err1, pgas.FCollect(ctx, team, none, none), pgas.Broadcast(ctx, team, none, none, 1),
			pgas.AllToAll(ctx, team, none, none), pgas.AllToAllS(ctx, team, none, none, 1, 1, 0),
			pgas.AllToAllV(ctx, team, none, nothing, none, nothing), pgas.SumReduce(ctx, team, none, none),
			pgas.SumInscan(ctx, team, none, none), pgas.BroadcastNB(ctx, team, none, none, 0).Wait(ctx),
			pgas.SumReduceNB(ctx, team, none, none).Wait(ctx))
		if err != nil {
			return err
		}
		set := pgas.AtomicsOf(none).Until(pgas.EQ, 1)
		some, err1 := set.WaitSome(ctx, nil)
		i, _, err2 := set.WaitAny(ctx)
		if err := errors.Join(err1, err2, set.WaitAll(ctx)); err != nil || len(some) != 0 || i != -1 || !set.TestAll() {
			return fmt.Errorf("a wait for no words: %v, %v, %d", err, some, i)
		}
		for range set.Arrivals(ctx) {
			return errors.New("an arrival of no word")
		}
		for name, call := range map[string]func(){
			"Put":       func() { none.Put(0, []int64{1}) },
			"Local":     func() { pgas.FieldSlice[int64](pgas.Ref[int64]{}, 8, 2).Local() },
			"field":     func() { pgas.FieldSlice[int64](pgas.Ref[int64]{}, 8, 2).On(w.Context()) },
			"PutNotify": func() { none.PutNotify(0, nil, 1) }, // the note would be lost
			"AllToAllV": func() {
				pgas.AllToAllV(ctx, team, none, nothing, none, pgas.Blocks{Displs: []int{0, 0}, Counts: []int{1, 0}})
			},
			"field sum": func() {
				pgas.SumReduce(ctx, team, pgas.FieldSlice[int64](pgas.Ref[int64]{}, 8, 2), pgas.FieldSlice[int64](pgas.Ref[int64]{}, 8, 2))
			},
		} {
			if misuseIn(w, call) == nil {
				return fmt.Errorf("%s of some elements of the zero Slice: no *UsageError", name)
			}
		}
		return w.Barrier(ctx)
	})
}

// TestNonBlockingMisuseIsCaught: a non-blocking reduction or scan whose operands do not fit panics in the call, where
// the program can recover, and not in a goroutine of its own.
func TestNonBlockingMisuseIsCaught(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 8)
		if err != nil {
			return err
		}
		short, src := mem.Range(0, 3), mem.Range(4, 8)
		add := func(a, b int64) int64 { return a + b }
		for name, call := range map[string]func(){
			"sum of different lengths":  func() { pgas.SumReduceNB(ctx, w.Team(), short, src) },
			"func of different lengths": func() { pgas.FuncReduceNB(ctx, w.Team(), short, src, add) },
			"xor of what overlaps":      func() { pgas.XorReduceNB(ctx, w.Team(), mem.Range(0, 4), mem.Range(2, 6)) },
			"no such algorithm":         func() { pgas.MaxReduceNB(ctx, w.Team(), src, src, pgas.WithAlgorithm(pgas.Tree)) },
			"scan of different lengths": func() { pgas.SumInscanNB(ctx, w.Team(), short, src) },
			"scan by an algorithm":      func() { pgas.FuncExscanNB(ctx, w.Team(), src, src, add, pgas.WithAlgorithm(pgas.Ring)) },
		} {
			p, _ := recoveredFrom(w, call)
			if _, ok := p.(*pgas.UsageError); !ok {
				return fmt.Errorf("%s: %v is no *UsageError", name, p)
			}
		}
		return pgas.SumReduceNB(ctx, w.Team(), src, src).Wait(ctx) // the team is as it was
	})
}

// TestUnalignedWords: no reference to an atomic word, a signal or a lock is made where none can be, whether accesses
// are checked or not. Between hosts an operation on one would never be answered.
func TestUnalignedWords(t *testing.T) {
	onEvery(t, 2, unalignedWords)
	pgastest.RunLate(t, 2, 2, unalignedWords)
	t.Run("fast path", func(t *testing.T) {
		const unchecked = "PGAS_CHECK=0"
		pgastest.RunProcesses(t, 2, unalignedWords, unchecked)
		pgastest.RunHosts(t, 2, 2, unalignedWords, unchecked)
	})
}

func unalignedWords(ctx context.Context, w *pgas.World) error {
	bytes, err := pgas.AllocAligned[byte](ctx, w, 64, 8)
	if err != nil {
		return err
	}
	at := bytes.At(0)
	for name, call := range map[string]func(){
		"8 bytes at 4":            func() { pgas.FieldAtomic[int64](at, 4).Add(1, 1) },
		"8 bytes of element 1":    func() { pgas.FieldAtomic[uint64](bytes.At(1), 0).Fetch(1) },
		"4 bytes at 2":            func() { pgas.FieldAtomic[int32](at, 2).FetchAdd(1, 1) },
		"a float at 12":           func() { pgas.FieldAtomicFloat[float64](at, 12).FetchAdd(1, 1) },
		"a small integer at 3":    func() { pgas.FieldAtomicSmall[int16](at, 3).Set(1, 1) },
		"a signal at 20":          func() { at.PutSignal(1, new(byte), pgas.FieldSignal(at, 20), 1) },
		"a wait for a word at 1":  func() { pgas.FieldAtomic[int64](at, 1).WaitUntil(ctx, pgas.NE, 0) },
		"a wait for a signal":     func() { pgas.FieldSignal(at, 1).WaitUntil(ctx, pgas.NE, 0) },
		"a lock at 4":             func() { pgas.FieldLock(at, 4).Lock(ctx) },
		"a range of words at 4":   func() { pgas.AtomicsOf(pgas.FieldSlice[int64](at, 4, 2)).At(0).Add(1, 1) },
		"a range of signals at 4": func() { pgas.SignalsOf(pgas.FieldSlice[pgas.Signal](at, 4, 2)).Until(pgas.NE, 0) },
	} {
		_, err := recoveredFrom(w, call)
		if err == nil || !strings.Contains(err.Error(), "not aligned") || !strings.Contains(err.Error(), "misuse_test.go:") {
			return fmt.Errorf("%s: %v", name, err)
		}
	}
	for pe := range w.NPEs() {
		pgas.FieldAtomic[int64](at, 8).Add(pe, 1)
		pgas.FieldAtomicSmall[int16](at, 2).Set(pe, 1)
	}
	return w.Barrier(ctx)
}
