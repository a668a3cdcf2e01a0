package pgas_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// The collectives that move data, compared with the result of a loop over the members. Before each call a member fills
// its source anew and wipes its destination, with no barrier in between. So the tests detect a collective that writes
// to a member that has returned, or that returns while its source is still being read.

var seedFlag = flag.Uint64("seed", 0, "seed of the random tests of collectives")

// An arena is where the calls of one element type happen, on one team.
type arena[T comparable] struct {
	team     *pgas.Team
	dst, src pgas.Slice[T]
	make     func(seed uint64) T // an element
	calls    uint64              // so far: every call has other data
}

// A triple and a dozen have sizes that no word has.
type (
	triple [3]byte
	dozen  struct{ a, b, c uint32 }
)

func makeByte(seed uint64) byte     { return byte(seed) }
func makeInt64(seed uint64) int64   { return int64(seed) }
func makeTriple(seed uint64) triple { return triple{byte(seed), byte(seed >> 8), byte(seed >> 16)} }
func makeDozen(seed uint64) dozen {
	return dozen{uint32(seed), uint32(seed >> 16), uint32(seed >> 32)}
}

func newArena[T comparable](ctx context.Context, w *pgas.World, n int, mk func(uint64) T) (*arena[T], error) {
	dst, err := pgas.Alloc[T](ctx, w, n)
	if err != nil {
		return nil, err
	}
	src, err := pgas.Alloc[T](ctx, w, n)
	return &arena[T]{team: w.Team(), dst: dst.Range(0, n), src: src.Range(0, n), make: mk}, err
}

func digest(a, b, c uint64) uint64 {
	h := (a*0x9e3779b97f4a7c15+b)*0xbf58476d1ce4e5b9 ^ c*0x94d049bb133111eb
	h ^= h >> 29
	return h * 0x2545f4914f6cdd1d >> 3
}

// value is element i of the source of member pe in the call under way.
func (a *arena[T]) value(pe, i int) T { return a.make(digest(uint64(pe), uint64(i), a.calls)) }

// A deal is a collective with its arguments, but for the algorithm.
type deal struct {
	what   string
	n      int // elements of a block
	root   int
	ds, ss int // strides
}

func (d deal) String() string {
	return fmt.Sprintf("%s of %d elements, root %d, strides %d and %d", d.what, d.n, d.root, d.ds, d.ss)
}

// A way is how a collective runs.
type way struct {
	algorithm pgas.Algorithm
	flat, nb  bool
}

func (y way) String() string {
	return fmt.Sprintf("%s flat=%v nb=%v", y.algorithm, y.flat, y.nb)
}

func (y way) options() []pgas.CollectiveOption {
	var opts []pgas.CollectiveOption
	if y.algorithm != pgas.Auto {
		opts = append(opts, pgas.WithAlgorithm(y.algorithm))
	}
	if y.flat {
		opts = append(opts, pgas.NoHierarchy())
	}
	return opts
}

// algorithms are what each collective has.
var algorithms = map[string][]pgas.Algorithm{
	"broadcast": {pgas.Auto, pgas.Linear, pgas.Tree},
	"fcollect":  {pgas.Auto, pgas.Linear, pgas.Ring, pgas.RecursiveDoubling},
	"collect":   {pgas.Auto, pgas.Linear, pgas.Ring, pgas.RecursiveDoubling},
	"alltoall":  {pgas.Auto, pgas.Linear, pgas.Ring},
	"alltoalls": {pgas.Auto, pgas.Linear, pgas.Ring},
	"alltoallv": {pgas.Auto, pgas.Linear},
}

// length is how much member i sends to member j in this call where that differs.
func (a *arena[T]) length(d deal, i, j int) int {
	if d.n == 0 {
		return 0
	}
	return int(digest(uint64(i), uint64(j), a.calls) % uint64(d.n+1))
}

// blocks says where the blocks that length gives lie in a row, with a gap between two.
func blocks(n int, length func(i int) int) pgas.Blocks {
	var b pgas.Blocks
	at := 0
	for i := range n {
		b.Displs, b.Counts = append(b.Displs, at), append(b.Counts, length(i))
		at += length(i) + i%2
	}
	return b
}

// expect says what each element of dst must become; what it does not set stays as it is.
func (a *arena[T]) expect(d deal, set func(i int, v T)) {
	n, me := a.team.NPEs(), a.team.PE()
	switch d.what {
	case "broadcast":
		for i := range d.n {
			set(i, a.value(d.root, i))
		}
	case "collect":
		at := 0
		for pe := range n {
			for i := range a.length(d, pe, 0) {
				set(at, a.value(pe, i))
				at++
			}
		}
	case "alltoallv":
		to := blocks(n, func(i int) int { return a.length(d, i, me) })
		for pe := range n {
			from := blocks(n, func(j int) int { return a.length(d, pe, j) })
			for i := range to.Counts[pe] {
				set(to.Displs[pe]+i, a.value(pe, from.Displs[me]+i))
			}
		}
	default:
		for pe := range n {
			for i := range d.n {
				switch d.what {
				case "fcollect":
					set(pe*d.n+i, a.value(pe, i))
				case "alltoall":
					set(pe*d.n+i, a.value(pe, me*d.n+i))
				case "alltoalls":
					set((pe*d.n+i)*d.ds, a.value(pe, (me*d.n+i)*d.ss))
				}
			}
		}
	}
}

// call makes the call and returns what it needs to be over.
func (a *arena[T]) call(ctx context.Context, d deal, y way) (func() error, error) {
	n, me, opts := a.team.NPEs(), a.team.PE(), y.options()
	wait := func(r *pgas.Request) (func() error, error) { return func() error { return r.Wait(ctx) }, nil }
	over := func(err error) (func() error, error) { return func() error { return nil }, err }
	switch d.what {
	case "broadcast":
		if y.nb {
			return wait(pgas.BroadcastNB(ctx, a.team, a.dst, a.src.Range(0, d.n), d.root, opts...))
		}
		return over(pgas.Broadcast(ctx, a.team, a.dst, a.src.Range(0, d.n), d.root, opts...))
	case "fcollect":
		if y.nb {
			return wait(pgas.FCollectNB(ctx, a.team, a.dst, a.src.Range(0, d.n), opts...))
		}
		return over(pgas.FCollect(ctx, a.team, a.dst, a.src.Range(0, d.n), opts...))
	case "collect":
		want := 0
		for pe := range n {
			want += a.length(d, pe, 0)
		}
		var got int
		check := func(err error) error {
			if err == nil && got != want {
				return fmt.Errorf("collected %d elements, want %d", got, want)
			}
			return err
		}
		src := a.src.Range(0, a.length(d, me, 0))
		if y.nb {
			r := pgas.CollectNB(ctx, a.team, a.dst, src, &got, opts...)
			return func() error { return check(r.Wait(ctx)) }, nil
		}
		var err error
		got, err = pgas.Collect(ctx, a.team, a.dst, src, opts...)
		return over(check(err))
	case "alltoall":
		if y.nb {
			return wait(pgas.AllToAllNB(ctx, a.team, a.dst, a.src.Range(0, n*d.n), opts...))
		}
		return over(pgas.AllToAll(ctx, a.team, a.dst, a.src.Range(0, n*d.n), opts...))
	case "alltoalls":
		if y.nb {
			return wait(pgas.AllToAllSNB(ctx, a.team, a.dst, a.src, d.ds, d.ss, d.n, opts...))
		}
		return over(pgas.AllToAllS(ctx, a.team, a.dst, a.src, d.ds, d.ss, d.n, opts...))
	default:
		from := blocks(n, func(j int) int { return a.length(d, me, j) })
		to := blocks(n, func(i int) int { return a.length(d, i, me) })
		if y.nb {
			return wait(pgas.AllToAllVNB(ctx, a.team, a.dst, to, a.src, from, opts...))
		}
		return over(pgas.AllToAllV(ctx, a.team, a.dst, to, a.src, from, opts...))
	}
}

// run does one deal in one way and checks what has become of dst.
func (a *arena[T]) run(ctx context.Context, d deal, y way) error {
	finish, err := a.begin(ctx, d, y)
	if err != nil {
		return err
	}
	return finish()
}

// begin is the part of run up to the call; what it returns is the rest.
func (a *arena[T]) begin(ctx context.Context, d deal, y way) (finish func() error, err error) {
	a.calls++
	this := *a                                                     // as it is in this call, for what finish expects
	touched := a.team.NPEs()*(max(d.n*max(d.ds, d.ss), d.n+1)) + 8 // and something behind
	src, dst := a.src.Local(), a.dst.Local()
	src, dst = src[:min(touched, len(src))], dst[:min(touched, len(dst))]
	for i := range src {
		src[i] = a.value(a.team.PE(), i)
	}
	wiped := a.make(digest(1<<20, 0, a.calls))
	for i := range dst {
		dst[i] = wiped
	}
	fail := func(err error) error {
		return fmt.Errorf("call %d, member %d of %d: %s, %s: %w", this.calls, a.team.PE(), a.team.NPEs(), d, y, err)
	}
	over, err := a.call(ctx, d, y)
	if err != nil {
		return nil, fail(err)
	}
	return func() error {
		if err := over(); err != nil {
			return fail(err)
		}
		want := make([]T, len(dst))
		for i := range want {
			want[i] = wiped
		}
		this.expect(d, func(i int, v T) { want[i] = v })
		for i := range want {
			if dst[i] != want[i] {
				return fail(fmt.Errorf("dst[%d] is %v, want %v", i, dst[i], want[i]))
			}
		}
		return nil
	}, nil
}

// matrix runs every collective in every way with blocks of the given numbers of elements.
func (a *arena[T]) matrix(ctx context.Context, lengths ...int) error {
	root := 0
	for _, n := range lengths {
		for _, what := range []string{"broadcast", "fcollect", "collect", "alltoall", "alltoalls", "alltoallv"} {
			for _, algorithm := range algorithms[what] {
				for _, flat := range []bool{false, true} {
					root = (root + 1) % a.team.NPEs()
					d := deal{what: what, n: n, root: root, ds: 1 + root%3, ss: 1 + root%2}
					if err := a.run(ctx, d, way{algorithm: algorithm, flat: flat}); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// matrices runs a matrix for each of several element types. The lengths are around those at which the
// runtime changes its ways.
func matrices(ctx context.Context, w *pgas.World) error {
	n := w.NPEs()
	if a, err := newArena(ctx, w, 3*n*1200+1, makeByte); err != nil {
		return err
	} else if err := a.matrix(ctx, 0, 1, 928/n, 928/n+1, 928, 929, 1200); err != nil {
		return err
	}
	if a, err := newArena(ctx, w, 3*n*(8192/n+4), makeTriple); err != nil {
		return err
	} else if err := a.matrix(ctx, 1, 8192/3/n, 8192/3/n+1, 8192/n); err != nil {
		return err
	}
	if a, err := newArena(ctx, w, 3*n*800, makeDozen); err != nil {
		return err
	} else if err := a.matrix(ctx, 3, 700); err != nil {
		return err
	}
	a, err := newArena(ctx, w, 3*n*1100, makeInt64)
	if err != nil {
		return err
	}
	return a.matrix(ctx, 1, 124, 125, 1024, 1025)
}

// matrixOfWords is matrices with little to do.
func matrixOfWords(ctx context.Context, w *pgas.World) error {
	a, err := newArena(ctx, w, 3*w.NPEs()*1100, makeInt64)
	if err != nil {
		return err
	}
	return a.matrix(ctx, 1, 70, 1025)
}

func TestCollectivesOfManySizes(t *testing.T) {
	for npes := 1; npes <= 17; npes++ {
		if testing.Short() && npes != 3 {
			continue
		}
		body := matrices
		if npes > 5 && npes != 8 && npes != 16 {
			body = matrixOfWords
		}
		t.Run(fmt.Sprint(npes), func(t *testing.T) { pgastest.RunGoroutines(t, npes, body) })
	}
}

func TestCollectivesBetweenHosts(t *testing.T) {
	for _, c := range []struct{ npes, hosts int }{{2, 2}, {5, 2}, {8, 4}} {
		t.Run(fmt.Sprintf("%d on %d", c.npes, c.hosts), func(t *testing.T) {
			pgastest.RunLate(t, c.npes, c.hosts, matrices)
			pgastest.RunHosts(t, c.npes, c.hosts, matrices)
		})
	}
}

func TestCollectivesBetweenProcesses(t *testing.T) {
	for _, npes := range []int{2, 5} {
		t.Run(fmt.Sprint(npes), func(t *testing.T) { pgastest.RunProcesses(t, npes, matrices) })
	}
}

// TestLargeCollectives moves what goes in pieces, or around the caches.
func TestLargeCollectives(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		a, err := newArena(ctx, w, 3<<18+64, makeInt64)
		if err != nil {
			return err
		}
		for _, d := range []deal{
			{what: "broadcast", n: 3 << 18, root: 2}, {what: "fcollect", n: 1 << 18}, {what: "collect", n: 1 << 18},
			{what: "alltoall", n: 1 << 18}, {what: "alltoalls", n: 1 << 16, ds: 2, ss: 3}, {what: "alltoallv", n: 1 << 17},
		} {
			for _, flat := range []bool{false, true} {
				if err := a.run(ctx, d, way{flat: flat}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// TestCrowdedCollectives exposes blocks in place on hosts that are crowded and that are not, with and without a cache
// that holds them, whatever this machine has: members copy for each other, or past the cache.
func TestCrowdedCollectives(t *testing.T) {
	repeats := 20 // a member that leaves before all is copied rarely sees it
	if testing.Short() {
		repeats = 4
	}
	body := func(ctx context.Context, w *pgas.World) error {
		a, err := newArena(ctx, w, 2*4*18001, makeInt64)
		if err != nil {
			return err
		}
		defer pgas.SetCrowded(w, w.NPEs() > runtime.NumCPU())
		for _, crowded := range []bool{true, false} {
			for _, cache := range []int{1, 1 << 30} {
				pgas.SetCrowded(w, crowded)
				pgas.SetCacheBytes(w, cache)
				for _, n := range []int{5, 1000, 1024, 8191, 18001} {
					for _, d := range []deal{
						{what: "fcollect", n: n}, {what: "collect", n: n}, {what: "alltoall", n: n}, {what: "alltoalls", n: n / 2, ds: 2, ss: 1},
					} {
						for range repeats {
							if err := a.run(ctx, d, way{}); err != nil {
								return fmt.Errorf("crowded %v, a cache of %d bytes: %w", crowded, cache, err)
							}
						}
					}
				}
			}
		}
		return nil
	}
	for _, npes := range []int{1, 2, 4} {
		pgastest.RunGoroutines(t, npes, body)
		pgastest.RunProcesses(t, npes, body)
	}
}

// TestCollectivesWithLargeElements checks elements that are longer than a mailbox.
func TestCollectivesWithLargeElements(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		a, err := newArena(ctx, w, 40, func(seed uint64) [100]uint64 { return [100]uint64{0: seed, 57: seed * 3, 99: ^seed} })
		if err != nil {
			return err
		}
		return a.matrix(ctx, 1, 3)
	}
	pgastest.RunAll(t, 4, body)
	pgastest.RunLate(t, 4, 2, body)
}

// TestRandomCollectives makes hundreds of random calls in a row on three teams that overlap, some of them
// non-blocking.
func TestRandomCollectives(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = 20261121
	}
	pgastest.RunAll(t, 5, func(ctx context.Context, w *pgas.World) error {
		if err := randomCollectives(ctx, w, seed, 300); err != nil {
			return fmt.Errorf("replay with go test ./pgas -run TestRandomCollectives -seed %d: %w", seed, err)
		}
		return nil
	})
}

func randomCollectives(ctx context.Context, w *pgas.World, seed uint64, calls int) error {
	const longest = 400
	even, err := w.Team().SplitStrided(ctx, 0, 2, (w.NPEs()+1)/2)
	if err != nil {
		return err
	}
	backwards, err := w.Team().SplitStrided(ctx, w.NPEs()-1, -1, w.NPEs())
	if err != nil {
		return err
	}
	var arenas []*arena[dozen]
	for _, team := range []*pgas.Team{w.Team(), even, backwards} {
		a, err := newArena(ctx, w, 3*w.NPEs()*longest, makeDozen)
		if err != nil {
			return err
		}
		a.team = team
		arenas = append(arenas, a)
	}
	pending := make([]func() error, len(arenas))
	finish := func(k int) error {
		if pending[k] == nil {
			return nil
		}
		f := pending[k]
		pending[k] = nil
		return f()
	}
	r := rand.New(rand.NewPCG(seed, 0))
	names := []string{"broadcast", "fcollect", "collect", "alltoall", "alltoalls", "alltoallv"}
	for range calls {
		k := r.IntN(len(arenas))
		what := names[r.IntN(len(names))]
		d := deal{what: what, n: min(longest, int(r.ExpFloat64()*40)), root: r.IntN(100), ds: 1 + r.IntN(3), ss: 1 + r.IntN(3)}
		y := way{algorithm: algorithms[what][r.IntN(len(algorithms[what]))], flat: r.IntN(3) == 0, nb: r.IntN(3) == 0}
		a := arenas[k]
		if a.team == nil {
			continue
		}
		d.root %= a.team.NPEs()
		if err := finish(k); err != nil {
			return err
		}
		if pending[k], err = a.begin(ctx, d, y); err != nil {
			return err
		}
	}
	for k := range pending {
		if err := finish(k); err != nil {
			return err
		}
	}
	return nil
}

// TestNonBlockingCollectivesInARow: a request need not be waited for before the next call is made.
func TestNonBlockingCollectivesInARow(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		const n = 20
		src, err := pgas.Alloc[int64](ctx, w, n)
		if err != nil {
			return err
		}
		dst, err := pgas.Alloc[int64](ctx, w, n)
		if err != nil {
			return err
		}
		sum, err := pgas.Alloc[int64](ctx, w, 3)
		if err != nil {
			return err
		}
		for i := range src.Local() {
			src.Local()[i] = int64(100*w.PE() + i)
		}
		var requests []*pgas.Request
		for i := range n {
			requests = append(requests, pgas.BroadcastNB(ctx, w.Team(), dst.Range(i, i+1), src.Range(i, i+1), i%3))
		}
		if err := pgas.FCollect(ctx, w.Team(), sum.Range(0, 3), src.Range(7, 8)); err != nil {
			return err
		}
		for i, r := range requests {
			if over, err := r.Test(); !over || err != nil {
				return fmt.Errorf("the call after it is over, but request %d is %v, %v", i, over, err)
			}
			if got, want := dst.Local()[i], int64(100*(i%3)+i); got != want {
				return fmt.Errorf("dst[%d] is %d, want %d", i, got, want)
			}
		}
		for pe, got := range sum.Local() {
			if want := int64(100*pe + 7); got != want {
				return fmt.Errorf("collected %d from PE %d, want %d", got, pe, want)
			}
		}
		return nil
	})
}

// TestMismatchedCollectives: all members learn that they do not ask for the same.
func TestMismatchedCollectives(t *testing.T) {
	cases := []struct {
		name string
		call func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], odd bool) error
		want []string
	}{
		{"root", func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], odd bool) error {
			root := 0
			if odd {
				root = 1
			}
			if err := pgas.Broadcast(ctx, t, dst, src, root); err != nil {
				return err
			}
			return t.Sync(ctx) // a root does not wait for other members
		}, []string{"broadcast from PE 0 of 12 × 8 bytes", "broadcast from PE 1"}},
		{"count", func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], odd bool) error {
			if odd {
				src = src.Range(0, 2)
			}
			return pgas.FCollect(ctx, t, dst, src)
		}, []string{"fcollect of 12 × 8 bytes", "fcollect of 2 × 8 bytes"}},
		{"collective", func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], odd bool) error {
			if odd {
				_, err := pgas.Collect(ctx, t, dst, src)
				return err
			}
			return pgas.AllToAll(ctx, t, dst, src)
		}, []string{"alltoall of 3 × 8 bytes", "collect"}},
		{"algorithm", func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], odd bool) error {
			if odd {
				return pgas.FCollect(ctx, t, dst, src, pgas.NoHierarchy(), pgas.WithAlgorithm(pgas.Ring))
			}
			return pgas.FCollect(ctx, t, dst, src, pgas.NoHierarchy(), pgas.WithAlgorithm(pgas.RecursiveDoubling))
		}, []string{"PE 0,1,3: fcollect by doubling flat of", "PE 2: fcollect by ring flat"}},
		{"range", func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], odd bool) error {
			src = src.Range(0, 4)
			if odd {
				dst = dst.Range(4, 20)
			}
			return pgas.AllToAll(ctx, t, dst, src)
		}, []string{"PE 2: alltoall", "to offset"}},
		{"block", func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], odd bool) error {
			b := pgas.Blocks{Displs: []int{0, 3, 6, 9}, Counts: []int{3, 3, 3, 3}}
			if odd {
				b.Counts[1] = 2
			}
			if err := pgas.AllToAllV(ctx, t, dst, pgas.Blocks{Displs: b.Displs, Counts: []int{3, 3, 3, 3}}, src, b); err != nil {
				return err
			}
			return t.Sync(ctx) // for the members that are not concerned
		}, []string{"PE 2: sends 2 elements to PE 1", "PE 1: expects 3"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
				dst, err := pgas.Alloc[int64](ctx, w, 48)
				if err != nil {
					return err
				}
				src, err := pgas.Alloc[int64](ctx, w, 12)
				if err != nil {
					return err
				}
				team, err := w.Team().SplitStrided(ctx, 0, 1, 4)
				if err != nil {
					return err
				}
				err = c.call(ctx, team, dst.All(), src.All(), w.PE() == 2)
				var mismatch *pgas.MismatchError
				if !errors.As(err, &mismatch) {
					return fmt.Errorf("PE %d got %v", w.PE(), err)
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						return fmt.Errorf("PE %d: %q is missing in: %w", w.PE(), want, err)
					}
				}
				return nil
			})
		})
	}
}

// TestCollectivesDoNotAllocate: not on one host, and not between hosts. A wait that sleeps for long does, which is no
// rare thing on a loaded machine. So each try is a single call, and it is enough if one of many finds nothing.
func TestCollectivesDoNotAllocate(t *testing.T) {
	withoutRaces(t)
	const tries = 55
	body := func(ctx context.Context, w *pgas.World) error {
		const most = 3 * 4096
		src, err := pgas.Alloc[int64](ctx, w, most)
		if err != nil {
			return err
		}
		dst, err := pgas.Alloc[int64](ctx, w, most)
		if err != nil {
			return err
		}
		n, b := w.NPEs(), pgas.Blocks{}
		for pe := range n {
			b.Displs, b.Counts = append(b.Displs, 10*pe), append(b.Counts, 10)
		}
		for _, length := range []int{1, 1000, 4096} {
			for _, c := range []struct {
				name string
				call func() error
			}{
				{"broadcast", func() error { return pgas.Broadcast(ctx, w.Team(), dst.All(), src.Range(0, length), 0) }},
				{"fcollect", func() error { return pgas.FCollect(ctx, w.Team(), dst.All(), src.Range(0, length)) }},
				{"alltoall", func() error { return pgas.AllToAll(ctx, w.Team(), dst.All(), src.Range(0, length*n)) }},
				{"alltoalls", func() error { return pgas.AllToAllS(ctx, w.Team(), dst.All(), src.All(), 1, 2, length/2) }},
				{"alltoallv", func() error { return pgas.AllToAllV(ctx, w.Team(), dst.All(), b, src.All(), b) }},
				{"collect", func() error {
					_, err := pgas.Collect(ctx, w.Team(), dst.All(), src.Range(0, length))
					return err
				}},
			} {
				var failed error
				run := func() { failed = errors.Join(failed, c.call()) }
				least := 1.0
				for range tries {
					if w.PE() == 0 {
						least = min(least, testing.AllocsPerRun(1, run))
						continue
					}
					run() // AllocsPerRun calls it once before it counts
					run()
				}
				if w.PE() == 0 && least > 0 {
					return fmt.Errorf("%s of %d words allocates", c.name, length)
				}
				if failed != nil {
					return failed
				}
			}
		}
		return nil
	}
	pgastest.RunGoroutines(t, 1, body)
	pgastest.RunHosts(t, 3, 2, body, "PGAS_SPIN=20ms")
	pgastest.RunProcesses(t, 3, func(ctx context.Context, w *pgas.World) error {
		pgas.SetCrowded(w, true)
		return body(ctx, w)
	})
}

// TestCollectivesEndWithTheirContext checks that a collective waits for an absent member no longer than ctx lasts.
func TestCollectivesEndWithTheirContext(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		src, err := pgas.Alloc[int64](ctx, w, 3*2000)
		if err != nil {
			return err
		}
		dst, err := pgas.Alloc[int64](ctx, w, 3*2000)
		if err != nil {
			return err
		}
		for _, length := range []int{1, 2000} {
			for _, call := range []func(context.Context, *pgas.Team) error{
				func(ctx context.Context, t *pgas.Team) error {
					return pgas.Broadcast(ctx, t, dst.All(), src.Range(0, length), 2)
				},
				func(ctx context.Context, t *pgas.Team) error {
					return pgas.FCollect(ctx, t, dst.All(), src.Range(0, length))
				},
				func(ctx context.Context, t *pgas.Team) error {
					_, err := pgas.Collect(ctx, t, dst.All(), src.Range(0, length))
					return err
				},
				func(ctx context.Context, t *pgas.Team) error {
					return pgas.AllToAll(ctx, t, dst.All(), src.Range(0, 3*length))
				},
			} {
				team, err := w.Team().SplitStrided(ctx, 0, 1, 3)
				if err != nil {
					return err
				}
				if w.PE() != 2 {
					short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
					err := call(short, team)
					cancel()
					if !errors.Is(err, context.DeadlineExceeded) {
						return fmt.Errorf("PE %d got %v", w.PE(), err)
					}
				}
				if err := w.Barrier(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// TestMisusedCollectives checks that arguments that do not fit together panic before the PE waits for other members.
func TestMisusedCollectives(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		a, err := pgas.Alloc[int64](ctx, w, 8)
		if err != nil {
			return err
		}
		b, err := pgas.Alloc[int64](ctx, w, 8)
		if err != nil {
			return err
		}
		t, all, some := w.Team(), b.All(), b.Range(0, 3)
		one := pgas.Blocks{Displs: []int{0}, Counts: []int{8}}
		for want, call := range map[string]func() error{
			"8 elements do not fit a range of 3": func() error { return pgas.Broadcast(ctx, t, some, a.All(), 0) },
			"PE 1 is out of range":               func() error { return pgas.Broadcast(ctx, t, all, a.All(), 1) },
			"dst and src overlap":                func() error { return pgas.FCollect(ctx, t, all, b.Range(0, 1)) },
			"8 elements do not fit a range of 0": func() error { return pgas.AllToAll(ctx, t, pgas.Slice[int64]{}, a.All()) },
			"strides 0 and 1":                    func() error { return pgas.AllToAllS(ctx, t, all, a.All(), 0, 1, 1) },
			"9 elements do not fit a range of 8": func() error { return pgas.AllToAllS(ctx, t, all, a.All(), 4, 1, 3) },
			"block 0 of dst is [0:8]":            func() error { return pgas.AllToAllV(ctx, t, some, one, a.All(), one) },
			"0 offsets and 0 counts for src":     func() error { return pgas.AllToAllV(ctx, t, all, one, a.All(), pgas.Blocks{}) },
			"no member of the team":              func() error { return pgas.FCollect(ctx, nil, all, a.All()) },
			"no tree fcollect": func() error {
				return pgas.FCollect(ctx, t, all, a.All(), pgas.WithAlgorithm(pgas.Tree))
			},
			"no ring broadcast": func() error {
				return pgas.Broadcast(ctx, t, all, a.All(), 0, pgas.WithAlgorithm(pgas.Ring))
			},
			"4 elements or more together, and dst has 3": func() error {
				_, err := pgas.Collect(ctx, t, some, a.Range(0, 4))
				return err
			},
		} {
			if err := misused(call); err == nil || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%q: got %v", want, err)
			}
		}
		return nil
	})
}

// misused is the *UsageError that call panics with.
func misused(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(*pgas.UsageError)
		}
	}()
	if err := call(); err != nil {
		return fmt.Errorf("no panic, but %w", err)
	}
	return nil
}
