package races

// Every non-blocking form of package pgas over late networks and in the simulator: when sources are read and
// destinations filled.

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// A nonblocking is the memory of a program with an operation that does not wait.
type nonblocking struct {
	*pgas.World
	data   pgas.Slice[int64] // element 0 is what the operation accesses on PE 1
	mem    pgas.Sym[int64]
	floats pgas.Sym[float64] // the same
	flag   pgas.Atomic[int64]
	sig    pgas.SignalRef
}

const noteTag = 5

// A putForm puts v[0] into element 0 of PE 1.
type putForm struct {
	put    func(c nonblocking, v []int64) pgas.LocalCompletion
	notes  bool // it notifies its target
	copied bool // it has its source copied at the call, as its documentation says
}

// puts are all forms with a source.
var puts = map[string]putForm{
	"Ref.PutNB": {put: func(c nonblocking, v []int64) pgas.LocalCompletion { return c.data.At(0).PutNB(1, &v[0]) }, copied: true},
	"Ref.PutSignalNB": {put: func(c nonblocking, v []int64) pgas.LocalCompletion {
		return c.data.At(0).PutSignalNB(1, &v[0], c.sig, 1)
	}, copied: true},
	"Slice.PutNB":       {put: func(c nonblocking, v []int64) pgas.LocalCompletion { return c.data.PutNB(1, v) }},
	"Slice.PutSignalNB": {put: func(c nonblocking, v []int64) pgas.LocalCompletion { return c.data.PutSignalNB(1, v, c.sig, 1) }},
	"Slice.IPutNB":      {put: func(c nonblocking, v []int64) pgas.LocalCompletion { return c.data.IPutNB(1, v, 2, 1, 2) }},
	"Slice.IBPutNB":     {put: func(c nonblocking, v []int64) pgas.LocalCompletion { return c.data.IBPutNB(1, v, 2, 1, 1, 2) }},
	"Ref.PutSignalAddNB": {put: func(c nonblocking, v []int64) pgas.LocalCompletion {
		return c.data.At(0).PutSignalAddNB(1, &v[0], c.sig, 1)
	}, copied: true},
	"Slice.PutSignalAddNB": {put: func(c nonblocking, v []int64) pgas.LocalCompletion {
		return c.data.PutSignalAddNB(1, v, c.sig, 1)
	}},
	"Slice.PutNotifyNB": {put: func(c nonblocking, v []int64) pgas.LocalCompletion { return c.data.PutNotifyNB(1, v, noteTag) }, notes: true},
}

// A getForm gets element 0 of PE 1 into got.
type getForm struct {
	get   func(c nonblocking, got *result)
	notes bool
}

// result is what a get fills, of one kind or the other.
type result struct {
	words  [2]int64
	floats [2]float64
	float  bool
}

const unfilled = 70

func (r *result) value() int64 {
	if r.float {
		return int64(r.floats[0])
	}
	return r.words[0]
}

func word(f func(a pgas.Atomic[int64], dst *int64)) getForm {
	return getForm{get: func(c nonblocking, got *result) { f(pgas.AtomicOf(c.mem, 0), &got.words[0]) }}
}

func float(f func(a pgas.AtomicFloat[float64], dst *float64)) getForm {
	return getForm{get: func(c nonblocking, got *result) {
		got.float = true
		f(pgas.AtomicFloatOf(c.floats, 0), &got.floats[0])
	}}
}

// gets are all forms with a destination.
var gets = map[string]getForm{
	"Ref.GetNB":           {get: func(c nonblocking, got *result) { c.data.At(0).GetNB(1, &got.words[0]) }},
	"Slice.GetNB":         {get: func(c nonblocking, got *result) { c.data.GetNB(1, got.words[:]) }},
	"Slice.IGetNB":        {get: func(c nonblocking, got *result) { c.data.IGetNB(1, got.words[:], 1, 2, 2) }},
	"Slice.IBGetNB":       {get: func(c nonblocking, got *result) { c.data.IBGetNB(1, got.words[:], 1, 2, 1, 2) }},
	"Slice.GetNotifyNB":   {func(c nonblocking, got *result) { c.data.GetNotifyNB(1, got.words[:], noteTag) }, true},
	"AtomicSlice.FetchNB": {get: func(c nonblocking, got *result) { pgas.AtomicsOf(c.data).FetchNB(1, got.words[:]) }},

	"Atomic.FetchNB":       word(func(a pgas.Atomic[int64], dst *int64) { a.FetchNB(1, dst) }),
	"Atomic.SwapNB":        word(func(a pgas.Atomic[int64], dst *int64) { a.SwapNB(1, 3, dst) }),
	"Atomic.CompareSwapNB": word(func(a pgas.Atomic[int64], dst *int64) { a.CompareSwapNB(1, 9, 3, dst) }),
	"Atomic.FetchAddNB":    word(func(a pgas.Atomic[int64], dst *int64) { a.FetchAddNB(1, 3, dst) }),
	"Atomic.FetchIncNB":    word(func(a pgas.Atomic[int64], dst *int64) { a.FetchIncNB(1, dst) }),
	"Atomic.FetchAndNB":    word(func(a pgas.Atomic[int64], dst *int64) { a.FetchAndNB(1, 3, dst) }),
	"Atomic.FetchOrNB":     word(func(a pgas.Atomic[int64], dst *int64) { a.FetchOrNB(1, 3, dst) }),
	"Atomic.FetchXorNB":    word(func(a pgas.Atomic[int64], dst *int64) { a.FetchXorNB(1, 3, dst) }),
	"Atomic.FetchMinNB":    word(func(a pgas.Atomic[int64], dst *int64) { a.FetchMinNB(1, 3, dst) }),
	"Atomic.FetchMaxNB":    word(func(a pgas.Atomic[int64], dst *int64) { a.FetchMaxNB(1, 3, dst) }),

	"AtomicFloat.FetchNB":       float(func(a pgas.AtomicFloat[float64], dst *float64) { a.FetchNB(1, dst) }),
	"AtomicFloat.SwapNB":        float(func(a pgas.AtomicFloat[float64], dst *float64) { a.SwapNB(1, 3, dst) }),
	"AtomicFloat.CompareSwapNB": float(func(a pgas.AtomicFloat[float64], dst *float64) { a.CompareSwapNB(1, 9, 3, dst) }),
	"AtomicFloat.FetchAddNB":    float(func(a pgas.AtomicFloat[float64], dst *float64) { a.FetchAddNB(1, 3, dst) }),
	"AtomicFloat.FetchMinNB":    float(func(a pgas.AtomicFloat[float64], dst *float64) { a.FetchMinNB(1, 3, dst) }),
	"AtomicFloat.FetchMaxNB":    float(func(a pgas.AtomicFloat[float64], dst *float64) { a.FetchMaxNB(1, 3, dst) }),
}

// A collective is a call of both PEs, whose results depend on what PE 0 has in src. Both ranges have two elements.
type collective func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64]) *pgas.Request

// one is a collective of one element.
func one(f func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], opts ...pgas.CollectiveOption) *pgas.Request) collective {
	return func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64]) *pgas.Request {
		return f(ctx, t, dst.Range(0, 1), src.Range(0, 1))
	}
}

func sum(a, b int64) int64 { return a + b }

// byMember are blocks of one element for each of two members.
var byMember = pgas.Blocks{Displs: []int{0, 1}, Counts: []int{1, 1}}

// collectives are all forms with a Request.
var collectives = map[string]collective{
	"AndReduceNB": one(pgas.AndReduceNB[int64]), "OrReduceNB": one(pgas.OrReduceNB[int64]), "XorReduceNB": one(pgas.XorReduceNB[int64]),
	"MinReduceNB": one(pgas.MinReduceNB[int64]), "MaxReduceNB": one(pgas.MaxReduceNB[int64]),
	"SumReduceNB": one(pgas.SumReduceNB[int64]), "ProdReduceNB": one(pgas.ProdReduceNB[int64]),
	"SumInscanNB": one(pgas.SumInscanNB[int64]), "SumExscanNB": one(pgas.SumExscanNB[int64]),
	"FCollectNB": func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64]) *pgas.Request {
		return pgas.FCollectNB(ctx, t, dst, src.Range(0, 1))
	},
	"CollectNB": func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64]) *pgas.Request {
		return pgas.CollectNB(ctx, t, dst, src.Range(0, 1), new(int))
	},
	"AllToAllNB": func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64]) *pgas.Request {
		return pgas.AllToAllNB(ctx, t, dst, src)
	},
	"AllToAllSNB": func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64]) *pgas.Request {
		return pgas.AllToAllSNB(ctx, t, dst, src, 1, 1, 1)
	},
	"AllToAllVNB": func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64]) *pgas.Request {
		return pgas.AllToAllVNB(ctx, t, dst, byMember, src, byMember)
	},
	"BroadcastNB": one(func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], opts ...pgas.CollectiveOption) *pgas.Request {
		return pgas.BroadcastNB(ctx, t, dst, src, 0, opts...)
	}),
	"FuncReduceNB": one(func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], opts ...pgas.CollectiveOption) *pgas.Request {
		return pgas.FuncReduceNB(ctx, t, dst, src, sum, opts...)
	}),
	"FuncInscanNB": one(func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], opts ...pgas.CollectiveOption) *pgas.Request {
		return pgas.FuncInscanNB(ctx, t, dst, src, sum, opts...)
	}),
	"FuncExscanNB": one(func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], opts ...pgas.CollectiveOption) *pgas.Request {
		return pgas.FuncExscanNB(ctx, t, dst, src, sum, opts...)
	}),
}

// formsOf returns the exported functions and methods of package pgas that do not wait: those named so, and those that
// return what is to be waited for.
func formsOf(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../../pgas/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("package pgas has no files", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || !strings.HasSuffix(fn.Name.Name, "NB") && !awaited(fn) {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				on := typeName(fn.Recv.List[0].Type)
				if !ast.IsExported(on) {
					continue
				}
				name = on + "." + name
			}
			names = append(names, name)
		}
	}
	return names
}

// awaited reports whether fn returns a LocalCompletion or a Request.
func awaited(fn *ast.FuncDecl) bool {
	return fn.Type.Results != nil && slices.ContainsFunc(fn.Type.Results.List, func(f *ast.Field) bool {
		name := typeName(f.Type)
		return name == "LocalCompletion" || name == "Request"
	})
}

// typeName returns the name of a type, a pointer to it or an instance of it.
func typeName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.IndexExpr:
		return typeName(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// A runner runs body with a seed.
type runner func(ctx context.Context, seed uint64, body pgastest.Body) error

// networks are those that this test runs over.
var networks = map[string]runner{
	"late": func(ctx context.Context, seed uint64, body pgastest.Body) error {
		return pgastest.Late(ctx, 2, 2, pgastest.Options{Seed: seed}, body)
	},
	"sim": func(ctx context.Context, seed uint64, body pgastest.Body) error {
		_, err := sim.Run(ctx, sim.Config{Adversary: true, Seed: seed, HeapMax: 1 << 20}, 2, body)
		return err
	},
}

// The seeds with which all is as late, and as early, as the rules allow.
const (
	latest   = 0
	earliest = 1
)

// TestNonblocking: each non-blocking form of package pgas reads its source and fills its destination as late as the
// rules allow with one seed, and as early with another one.
func TestNonblocking(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many jobs")
	}
	for _, name := range formsOf(t) {
		t.Run(name, func(t *testing.T) {
			for network, run := range networks {
				switch p, g, c := puts[name], gets[name], collectives[name]; {
				case p.put != nil:
					observed(t, network, run, p)
				case g.get != nil:
					observed(t, network, run, g)
				case c != nil:
					c.observed(t, network, run)
				default:
					t.Fatal("this form has no row in this file: add one to puts, gets or collectives")
				}
			}
		})
	}
}

// expect fails unless a run with the seed lets the program observe what is wanted. A busy machine may keep a PE of a
// late network from its wait for long.
func expect(t *testing.T, network string, seed uint64, want string, observe func() (string, error)) {
	t.Helper()
	var got string
	for range lateTries {
		var err error
		if got, err = observe(); err != nil {
			t.Fatalf("%s, seed %d: %v", network, seed, err)
		}
		if got == want || network == "sim" {
			break
		}
	}
	if got != want {
		t.Errorf("%s, seed %d: observed %s, want %s", network, seed, got, want)
	}
}

// A pointToPoint is a put or a get that does not wait. Some values show its effects.
type pointToPoint interface {
	// wants returns the values that PEs see with the latest and the earliest seed.
	wants() (late, early string)
	// play is the body of a PE. What it sees it hands to see.
	play(ctx context.Context, c nonblocking, seed uint64, see func(int64)) error
}

// observed fails unless PEs see with each seed what f wants.
func observed(t *testing.T, network string, run runner, f pointToPoint) {
	t.Helper()
	late, early := f.wants()
	for seed, want := range map[uint64]string{latest: late, earliest: early} {
		expect(t, network, seed, want, func() (string, error) {
			var seen []int64
			err := run(t.Context(), seed, withMemory(func(ctx context.Context, c nonblocking) error {
				return f.play(ctx, c, seed, func(v int64) { seen = append(seen, v) })
			}))
			return fmt.Sprint(seen), err
		})
	}
}

// withMemory returns the body of PEs that play with memory of their own.
func withMemory(play func(ctx context.Context, c nonblocking) error) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		c, err := newNonblocking(ctx, w)
		if err != nil {
			return err
		}
		return play(ctx, c)
	}
}

// newNonblocking returns the memory of a PE of such a program.
func newNonblocking(ctx context.Context, w *pgas.World) (nonblocking, error) {
	mem, err := pgas.Alloc[int64](ctx, w, 16)
	if err != nil {
		return nonblocking{}, err
	}
	floats, err := pgas.Alloc[float64](ctx, w, 1)
	if err != nil {
		return nonblocking{}, err
	}
	flags, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return nonblocking{}, err
	}
	signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err != nil {
		return nonblocking{}, err
	}
	return nonblocking{w, mem.All(), mem, floats, pgas.AtomicOf(flags, 0), pgas.SignalOf(signals, 0)}, nil
}

// notified waits for n notifications on PE 1.
func (c nonblocking) notified(ctx context.Context, n int) error {
	if c.PE() == 0 {
		return nil
	}
	r := notify.New(c.World, notify.Any, noteTag, n)
	defer r.Free()
	r.Start()
	_, err := r.Wait(ctx)
	return err
}

func (p putForm) wants() (late, early string) {
	if p.copied {
		return "[1 1 3 5]", "[1 3 5]"
	}
	return "[2 2 3 5]", "[1 3 5]"
}

// play shows what the target, PE 1, gets from puts while the initiator, PE 0, changes their sources: at once, and after
// a wait for the source in one way or the other. With the latest seed a put is not there after a meeting of the PEs,
// although the initiator has waited for its source.
func (p putForm) play(ctx context.Context, c nonblocking, seed uint64, see func(int64)) error {
	look := func() {
		if c.PE() == 1 {
			see(*c.data.At(0).Local())
		}
	}
	change := func(v int64, before func(local pgas.LocalCompletion) error) error {
		if c.PE() == 0 {
			src := []int64{v, v}
			if err := before(p.put(c, src)); err != nil {
				return err
			}
			src[0] = v + 1
		}
		return nil
	}
	err := change(1, func(pgas.LocalCompletion) error { return nil })
	err = errors.Join(err, c.Barrier(ctx))
	look()
	err = errors.Join(err, c.Barrier(ctx), change(3, func(local pgas.LocalCompletion) error { return local.Wait(ctx) }))
	if seed == latest {
		err = errors.Join(err, c.Sync(ctx))
		look()
	}
	err = errors.Join(err, c.Barrier(ctx))
	look()
	quiet := func(pgas.LocalCompletion) error { return c.Context().QuietLocal(ctx) }
	err = errors.Join(err, c.Barrier(ctx), change(5, quiet), c.Barrier(ctx))
	look()
	if p.notes {
		err = errors.Join(err, c.notified(ctx, 3))
	}
	return err
}

func (getForm) wants() (late, early string) { return "[70 70 1 4]", "[1 1 1 1]" }

// play shows what PE 0 finds where a get is to fill: after the call, after a wait for sources, after the quiet. It also
// shows what PE 0 gets in the end if PE 1 stores to what is got, after the call and before the quiet.
func (g getForm) play(ctx context.Context, c nonblocking, _ uint64, see func(int64)) error {
	set := func(v int64) { *c.data.At(0).Local(), c.floats.Local()[0] = v, float64(v) }
	set(1)
	err := c.Barrier(ctx)
	if c.PE() == 0 {
		got := g.start(c)
		see(got.value())
		err = errors.Join(err, c.Context().QuietLocal(ctx))
		see(got.value())
		err = errors.Join(err, c.Quiet(ctx))
		see(got.value())
	}
	err = errors.Join(err, c.Barrier(ctx))
	set(1)
	err = errors.Join(err, c.Barrier(ctx))
	if c.PE() == 0 {
		got := g.start(c)
		c.flag.Set(1, 1)
		_, waited := c.flag.WaitUntil(ctx, pgas.EQ, 1)
		err = errors.Join(err, waited, c.Quiet(ctx))
		see(got.value())
	} else {
		_, waited := c.flag.WaitUntil(ctx, pgas.EQ, 1)
		set(4)
		c.flag.Set(0, 1)
		err = errors.Join(err, waited)
	}
	if g.notes {
		err = errors.Join(err, c.notified(ctx, 2))
	}
	return errors.Join(err, c.Barrier(ctx))
}

// start issues g and returns what it is to fill.
func (g getForm) start(c nonblocking) *result {
	got := &result{words: [2]int64{unfilled, unfilled}, floats: [2]float64{unfilled, unfilled}}
	g.get(c, got)
	return got
}

// observed checks a collective of which PE 0 changes the source after the call: with the latest seed the results are
// others, and no destination has changed at the end of the call. With the earliest one the results are those of the
// program without that change, and destinations have changed.
func (f collective) observed(t *testing.T, network string, run runner) {
	t.Helper()
	results := func(seed uint64, change bool) (filled bool, all [2][2]int64, err error) {
		var early [2]bool
		err = run(t.Context(), seed, withMemory(func(ctx context.Context, c nonblocking) error {
			src, dst := c.data.Range(8, 10), c.data.Range(10, 12)
			copy(src.Local(), [][]int64{{3, 3}, {5, 5}}[c.PE()])
			copy(dst.Local(), []int64{unfilled, unfilled})
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			r := f(ctx, c.Team(), dst, src)
			early[c.PE()] = peek(dst) != [2]int64{unfilled, unfilled}
			if change && c.PE() == 0 {
				poke(src, [2]int64{100, 100})
			}
			err := r.Wait(ctx)
			all[c.PE()] = [2]int64(dst.Local())
			return errors.Join(err, c.Barrier(ctx))
		}))
		return early[0] || early[1], all, err
	}
	_, clean, err := results(latest, false)
	if err != nil {
		t.Fatal(err)
	}
	for seed, want := range map[uint64]string{latest: "filled false, read false", earliest: "filled true, read true"} {
		expect(t, network, seed, want, func() (string, error) {
			filled, all, err := results(seed, true)
			return fmt.Sprintf("filled %v, read %v", filled, all == clean), err
		})
	}
}

// peek returns the two elements of s here. It may be called before the operation that writes them is complete, which is
// a race: the test wants to see when they change, and so hides the loads from Go's detector.
//
//go:norace
func peek(s pgas.Slice[int64]) [2]int64 {
	here := s.Local()
	return [2]int64{here[0], here[1]}
}

// poke stores the two elements of s here. It may be called before the operation that reads them is complete, which is a
// race as well.
//
//go:norace
func poke(s pgas.Slice[int64], v [2]int64) {
	here := s.Local()
	here[0], here[1] = v[0], v[1]
}
