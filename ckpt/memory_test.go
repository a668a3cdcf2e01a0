package ckpt_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/internal/cuts/vault"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// memoryFile returns the memory of a host.
func memoryFile(t *testing.T) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("images", unix.MFD_CLOEXEC)
	must(t, err)
	f := os.NewFile(uintptr(fd), "images")
	t.Cleanup(func() { f.Close() })
	return f
}

// cluster is hosts with memory, on which a job runs term after term.
type cluster struct {
	t     *testing.T
	hosts []boot.Host
	files []*os.File
	term  int      // of the launcher; 0: it counts none
	since []int    // by host: the term in which its memory was made
	more  []string // what the PEs of logJob save, too; nil: nothing
}

func newCluster(t *testing.T, pes ...int) *cluster {
	c := &cluster{t: t}
	first := 0
	for i, n := range pes {
		c.hosts = append(c.hosts, boot.Host{Name: fmt.Sprint("host", i), First: first, PEs: n})
		first += n
		c.files, c.since = append(c.files, memoryFile(t)), append(c.since, 1)
	}
	return c
}

func (c *cluster) pes() int { return c.hosts[len(c.hosts)-1].First + c.hosts[len(c.hosts)-1].PEs }

func (c *cluster) hostOf(pe int) int {
	return slices.IndexFunc(c.hosts, func(h boot.Host) bool { return pe < h.First+h.PEs })
}

// lose takes the memory of a host.
func (c *cluster) lose(host int) {
	c.files[host].Close()
	c.files[host], c.since[host] = memoryFile(c.t), c.term+1
}

// drop goes on without a host: the PEs of those that are left are numbered anew.
func (c *cluster) drop(host int) {
	c.files[host].Close()
	c.files, c.hosts = slices.Delete(c.files, host, host+1), slices.Delete(slices.Clone(c.hosts), host, host+1)
	c.since = slices.Delete(c.since, host, host+1)
	first := 0
	for i := range c.hosts {
		c.hosts[i].First = first
		first += c.hosts[i].PEs
	}
}

// set returns the Set of a PE that keeps its cuts in memory.
func (c *cluster) set(w *pgas.World, opts ...ckpt.Option) *ckpt.Set {
	host := c.hostOf(w.PE())
	return ckpt.New(w, append([]ckpt.Option{ckpt.InTerm(c.since[host], c.term, c.files[host], c.hosts)}, opts...)...)
}

// errNotRun is the error of a PE that has died, or that another one did not join.
var errNotRun = errors.New("the PE has not run to its end")

// simulate runs a term in the simulator, and returns how long it takes and the errors of its PEs. PEs that neither end
// nor notice a death are an error.
func (c *cluster) simulate(cfg sim.Config, body func(ctx context.Context, w *pgas.World) error) (sim.Report, []error) {
	errs := slices.Repeat([]error{errNotRun}, c.pes())
	cfg.HeapMax, cfg.Topology = cmp.Or(cfg.HeapMax, 32<<20), "host:2"
	report, err := sim.Run(c.t.Context(), cfg, c.pes(), func(ctx context.Context, w *pgas.World) error {
		errs[w.PE()] = body(ctx, w)
		return nil
	})
	if _, isPeer := errors.AsType[*pgas.PeerError](err); err != nil && (!isPeer || len(cfg.Deaths) == 0) {
		errs[0] = err
	}
	return report, errs
}

// deaths are those of all PEs of a host.
func (c *cluster) deaths(host int, at time.Duration) (all []sim.Death) {
	for i := range c.hosts[host].PEs {
		all = append(all, sim.Death{PE: c.hosts[host].First + i, At: at})
	}
	return all
}

// mustBeDeaths fails if one of the errors of a term says something else than that PEs have died.
func mustBeDeaths(t *testing.T, errs []error, format string, args ...any) {
	t.Helper()
	for pe, err := range errs {
		if _, isPeer := errors.AsType[*pgas.PeerError](err); err != nil && !isPeer && err != errNotRun {
			t.Fatalf("%s: PE %d of %d: %v", fmt.Sprintf(format, args...), pe, len(errs), err)
		}
	}
}

// ringJob is a job with a state that depends on each step: each PE mixes its words with those of its neighbour.
type ringJob struct {
	words, steps, every int
	restored            []int // by PE: the step from which it goes on; -1: it has not come so far
	sums                []uint64
}

func (j *ringJob) run(ctx context.Context, w *pgas.World, set *ckpt.Set) error {
	me, n := w.PE(), w.NPEs()
	mem, err := pgas.Alloc[uint64](ctx, w, j.words)
	if err != nil {
		return err
	}
	from, err := pgas.Alloc[uint64](ctx, w, j.words)
	if err != nil {
		return err
	}
	step, local := 0, mem.Local()
	for i := range local {
		local[i] = uint64(me*1000 + i)
	}
	deal := []int{me} // with Values, which read the images of other PEs
	set.Add("words", ckpt.Sym(mem))
	set.Add("step", ckpt.Shared(&step))
	set.Add("deal", ckpt.Values(&deal))
	if _, _, err := set.Restore(ctx); err != nil {
		return err
	}
	if len(deal) != 1 || deal[0] != me+n*step {
		return fmt.Errorf("at step %d PE %d has %v", step, me, deal)
	}
	j.restored[me] = step
	for ; step < j.steps; step++ {
		if step%j.every == 0 {
			deal[0] = me + n*step
			if err := set.Save(ctx); err != nil {
				return err
			}
		}
		from.All().Put((me+1)%n, local)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for i, x := range from.Local() {
			if i%8 == step%8 || i < 3 { // most pieces stay
				local[i] = local[i]*31 + x + uint64(step)
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	for _, x := range local {
		j.sums[me] = j.sums[me]*17 + x
	}
	return nil
}

// TestTerms: PEs and hosts of a job die at random moments, and it ends with the result of the undisturbed one, out of
// memory alone. No host dies before its buddies have what they had lost.
func TestTerms(t *testing.T) {
	seeds := 24
	switch {
	case *long:
		seeds = 200
	case testing.Short():
		seeds = 6
	}
	restarts, back, hostsLost := 0, 0, 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 9))
		var pes []int
		for range 1 + seed%4 {
			pes = append(pes, 1+r.IntN(3))
		}
		if len(pes) == 1 {
			pes[0] += 2
		}
		c := newCluster(t, pes...)
		n := c.pes()
		j := &ringJob{words: 30_000, steps: 9, every: 1 + r.IntN(3), restored: make([]int, n), sums: make([]uint64, n)}
		once := func(deaths []sim.Death) (sim.Report, []error) {
			for pe := range n {
				j.restored[pe], j.sums[pe] = -1, 0
			}
			cfg := sim.Config{Seed: r.Uint64(), Adversary: seed%3 > 0, Deaths: deaths}
			return c.simulate(cfg, func(ctx context.Context, w *pgas.World) error { return j.run(ctx, w, c.set(w)) })
		}
		whole, errs := once(nil)
		if err := errors.Join(errs...); err != nil {
			t.Fatalf("seed %d: undisturbed: %v", seed, err)
		}
		want := slices.Clone(j.sums)
		for h := range c.hosts {
			c.lose(h)
		}
		mended := true // each image is where it belongs
		for term := 0; ; term++ {
			var deaths []sim.Death
			lost := -1
			at := time.Duration(r.Int64N(int64(whole.Time)))
			switch x := r.IntN(4); {
			case term > 6 || x == 0:
			case x == 1 && mended && len(c.hosts) > 1:
				lost = r.IntN(len(c.hosts))
				deaths = c.deaths(lost, at)
			default:
				deaths = append(deaths, sim.Death{PE: r.IntN(n), At: at})
			}
			_, errs := once(deaths)
			if slices.Max(j.restored) > 0 {
				back++
			}
			if errors.Join(errs...) == nil {
				break
			}
			restarts++
			mustBeDeaths(t, errs, "seed %d, term %d, deaths %v", seed, term, deaths)
			mended = slices.Min(j.restored) >= 0 || lost < 0 && mended
			if lost >= 0 {
				c.lose(lost)
				hostsLost++
				mended = false
			}
			if slices.Min(j.restored) >= 0 && lost < 0 {
				mended = true
			}
		}
		if !slices.Equal(j.sums, want) {
			t.Fatalf("seed %d: the result differs from that of the undisturbed job", seed)
		}
	}
	if t.Logf("%d terms ended by deaths, %d hosts lost, %d terms began from a cut", restarts, hostsLost, back); back == 0 || hostsLost == 0 && !testing.Short() {
		t.Error("no term began from a cut, or no host was lost")
	}
}

// dealJob is a job with values that belong to no PE: each step changes all of them.
type dealJob struct {
	steps, every int
	restored     []int // by PE: the step from which it goes on, when its images are on two hosts; -1: it has not
	values       [][]uint64
	saved        []bool // by PE: a cut of these PEs is on two hosts
}

const dealt = 500

func dealtBefore(steps int) (all []uint64) {
	for i := range uint64(dealt) {
		for step := range uint64(steps) {
			i = i*31 + step
		}
		all = append(all, i)
	}
	return all
}

func (j *dealJob) run(ctx context.Context, w *pgas.World, set *ckpt.Set) error {
	me, step := w.PE(), 0
	lo, hi := w.Team().Share(dealt)
	mine := dealtBefore(0)[lo:hi]
	ballast := make([]byte, 20_000*(1+me%2)) // so that copies take a while, and images have different sizes
	set.Add("step", ckpt.Shared(&step))
	set.Add("values", ckpt.Values(&mine))
	set.Add("ballast", ckpt.Values(&ballast))
	if _, _, err := set.Restore(ctx); err != nil {
		return err
	}
	if want := dealtBefore(step)[lo:hi]; !slices.Equal(mine, want) {
		return fmt.Errorf("step %d: PE %d of %d has other values than those of this step", step, me, w.NPEs())
	}
	if _, err := set.Wait(ctx); err != nil {
		return err
	}
	for j.restored[me], j.saved[me] = step, step > 0; step < j.steps; step++ {
		if step%j.every == 0 && (step == 0 || step > j.restored[me]) {
			if err := set.Save(ctx); err != nil {
				return err
			}
			j.saved[me] = step > j.restored[me] // this Save has waited for the one before
		}
		for i, x := range mine {
			mine[i] = x*31 + uint64(step)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	j.values[me] = mine
	return nil
}

// TestFewerHosts: hosts of a job are lost at random moments, and the job goes on without them, out of memory alone. In
// between PEs die, also while the first cut of the fewer hosts is made. No host is lost before all images are on two.
func TestFewerHosts(t *testing.T) {
	seeds := 20
	switch {
	case *long:
		seeds = 300
	case testing.Short():
		seeds = 8
	}
	dropped, other, back := 0, 0, 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 31))
		var pes []int
		for range 2 + r.IntN(5) {
			pes = append(pes, 1+r.IntN(3))
		}
		c := newCluster(t, pes...)
		j := &dealJob{steps: 7, every: 1 + r.IntN(3)}
		once := func(deaths []sim.Death) (sim.Report, []error) {
			n := c.pes()
			j.restored, j.values, j.saved = slices.Repeat([]int{-1}, n), make([][]uint64, n), make([]bool, n)
			cfg := sim.Config{Seed: r.Uint64(), Adversary: seed%3 > 0, Deaths: deaths}
			return c.simulate(cfg, func(ctx context.Context, w *pgas.World) error { return j.run(ctx, w, c.set(w)) })
		}
		whole, errs := once(nil)
		if err := errors.Join(errs...); err != nil {
			t.Fatalf("seed %d: undisturbed: %v", seed, err)
		}
		for h := range c.hosts {
			c.lose(h)
		}
		mended, saved := true, 0 // each image is on two hosts; how many PEs have saved the newest cut
		for term := 0; ; term++ {
			n, lost, at := c.pes(), -1, time.Duration(r.Int64N(int64(whole.Time)))
			if r.IntN(2) == 0 {
				at /= 2 // in Restore
			}
			var deaths []sim.Death
			switch x := r.IntN(6); {
			case term > 12 || term > 3 && x == 0:
			case x < 4 && mended && len(c.hosts) > 1:
				lost = r.IntN(len(c.hosts))
				deaths = c.deaths(lost, at)
			default:
				deaths = append(deaths, sim.Death{PE: r.IntN(n), At: at})
			}
			_, errs := once(deaths)
			if slices.Max(j.restored) > 0 {
				back++
			}
			if errors.Join(errs...) == nil {
				break
			}
			mustBeDeaths(t, errs, "seed %d, term %d, deaths %v", seed, term, deaths)
			mended = mended && lost < 0 || slices.Min(j.restored) >= 0
			switch {
			case !slices.Contains(j.saved, false):
				saved = n
			case saved > 0 && n != saved:
				other++ // it died with the images of another number of PEs
			}
			switch {
			case lost < 0:
			case r.IntN(4) == 0:
				c.lose(lost) // a spare takes its place
				mended = false
			default:
				c.drop(lost)
				dropped++
				mended = len(c.hosts) == 1
			}
		}
		if !slices.Equal(slices.Concat(j.values...), dealtBefore(j.steps)) {
			t.Fatalf("seed %d: the result differs from that of the undisturbed job", seed)
		}
	}
	if t.Logf("%d hosts dropped, %d terms ended in the Restore of a cut of more hosts, %d terms began from a cut", dropped, other, back); dropped == 0 || back == 0 || other == 0 {
		t.Error("no host was dropped, no term began from a cut, or none ended in the Restore of one of more hosts")
	}
}

// twoSteps runs a term that goes on to step 2 and saves each step, and returns the step from which it goes on. If it
// fails PE 1 cannot save.
func (c *cluster) twoSteps(fails, logs bool) (from int, err error) {
	h := &heaps{areas: map[int][]byte{}}
	err = pgastest.Goroutines(c.t.Context(), c.pes(), pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		set, step := c.set(w, h.share(w.PE())), 0
		set.Add("step", ckpt.Shared(&step))
		set.Add("item", broken{w: w, fails: fails})
		if logs {
			ckpt.NewJournal(set, "log", 100, func(int) error { return nil })
		}
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			from = step
		}
		for step < 2 {
			step++
			if err := set.Save(ctx); err != nil {
				return err
			}
		}
		_, err := set.Wait(ctx)
		return err
	})
	return from, err
}

// TestUnsafeCut: a cut that is whole and not on two hosts everywhere does not cost the one before, which is: where
// images are not copied before the next Save, the one before is restored.
func TestUnsafeCut(t *testing.T) {
	for _, fewer := range []bool{false, true} {
		c := newCluster(t, 1, 1, 1, 1)
		once := func(fails bool) (from int, err error) { return c.twoSteps(fails, !fewer) }
		_, err := once(false)
		must(t, err)
		for host, f := range c.files { // as if the copies of the second cut had not been made
			v, err := vault.Open(f, 1)
			must(t, err)
			for row := range 2 {
				s, err := v.Slot(0, row, 0)
				must(t, err)
				hasDropped := fewer && host == 1 // the image of the host that is dropped
				if s.Safe().Store(0); row == 1 && !hasDropped {
					s.Clear()
				}
				s.Close()
			}
		}
		if fewer {
			c.drop(3)
		}
		if _, err := once(true); err == nil || !strings.Contains(err.Error(), "it is broken") {
			t.Errorf("the new cut fails: %v", err)
		}
		c.drop(0)
		if from, err := once(false); err != nil || from != 1 {
			t.Errorf("fewer hosts %v: it goes on from step %d: %v", fewer, from, err)
		}
	}
}

// TestCutOfMore: a cut of more PEs is on two hosts when Restore has restored it. Where it cannot be kept anew it stays
// where it is.
func TestCutOfMore(t *testing.T) {
	c := newCluster(t, 2, 2, 2)
	once := func(fails bool) (from int, err error) { return c.twoSteps(fails, false) }
	_, err := once(false)
	must(t, err)
	c.drop(1)
	if _, err := once(true); err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Errorf("the new cut fails: %v", err)
	}
	for range 2 {
		if from, err := once(false); err != nil || from != 2 {
			t.Errorf("%d hosts go on from step %d: %v", len(c.hosts), from, err)
		}
		c.drop(0)
	}
}

// TestStaleIsFreed: a host gives back the memory of images that a job of more PEs had there, when a cut of the fewer is
// safe, and not before.
func TestStaleIsFreed(t *testing.T) {
	c := newCluster(t, 1, 1)
	rows := func() (n int) {
		v, err := vault.Open(c.files[0], 1)
		must(t, err)
		used, err := v.Used(0)
		must(t, err)
		for _, u := range used {
			if u[0] > 0 {
				n++
			}
		}
		return n
	}
	once := func(steps int) {
		t.Helper()
		n := c.pes()
		j := &dealJob{steps: steps, every: 1, restored: make([]int, n), values: make([][]uint64, n), saved: make([]bool, n)}
		must(t, pgastest.Goroutines(t.Context(), n, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			return j.run(ctx, w, c.set(w))
		}))
	}
	once(3)
	if n := rows(); n != 2 {
		t.Fatalf("host 0 has %d images of its buddy", n)
	}
	c.drop(1)
	once(3)
	if n := rows(); n != 0 {
		t.Errorf("host 0 still has %d images of a PE of the dropped host", n)
	}
}

// TestBothHostsLost: when both hosts that had images of a cut are lost, the job ends and says so, or goes on from the
// Store.
func TestBothHostsLost(t *testing.T) {
	for _, store := range []ckpt.Store{nil, &memory{}} {
		c := newCluster(t, 1, 1, 1, 1)
		j := &ringJob{words: 100, steps: 4, every: 2, restored: make([]int, 4), sums: make([]uint64, 4)}
		once := func() error {
			return pgastest.Goroutines(t.Context(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				set := c.set(w, ckpt.In(store))
				if err := j.run(ctx, w, set); err != nil {
					return err
				}
				_, err := set.Wait(ctx)
				return err
			})
		}
		must(t, once())
		want := slices.Clone(j.sums)
		c.lose(1)
		c.lose(3)
		clear(j.sums)
		err := once()
		switch {
		case store == nil && (err == nil || !strings.Contains(err.Error(), "is lost with the hosts that had the images of 2 PEs in memory")):
			t.Errorf("without a Store: %v", err)
		case store != nil && (err != nil || j.restored[0] != 2 || !slices.Equal(j.sums, want)):
			t.Errorf("with a Store: from step %d: %v", j.restored[0], err)
		}
	}
}

// TestDamageInMemory: an image that is damaged in memory is passed over, for that of the Store.
func TestDamageInMemory(t *testing.T) {
	c := newCluster(t, 2)
	store := &memory{}
	j := &ringJob{words: 100, steps: 3, every: 2, restored: make([]int, 2), sums: make([]uint64, 2)}
	once := func() error {
		return pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			return j.run(ctx, w, c.set(w, ckpt.In(store)))
		})
	}
	must(t, once())
	b := make([]byte, 8)
	const data = 4096 + 512 // in the image of PE 0 of version 2
	if _, err := c.files[0].ReadAt(b, data); err != nil {
		t.Fatal(err)
	}
	b[0]++
	if _, err := c.files[0].WriteAt(b, data); err != nil {
		t.Fatal(err)
	}
	must(t, once())
	if j.restored[0] != 2 {
		t.Errorf("the job has gone on from step %d", j.restored[0])
	}
}

// TestStoreFailsBesideMemory: a cut that could not be written to the Store is in memory. The next one takes its place,
// and that of no other cut. A term that goes on from memory writes the cut to the Store.
func TestStoreFailsBesideMemory(t *testing.T) {
	store := &memory{refuse: "c000002-"}
	c := newCluster(t, 2)
	once := func(steps int) (from, next ckpt.Cut) {
		err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			step := 0
			set := c.set(w, ckpt.In(store))
			set.Add("step", ckpt.Shared(&step))
			cut, _, err := set.Restore(ctx)
			if err != nil {
				return err
			}
			for range steps {
				step++
				if err := set.Save(ctx); err != nil {
					return err
				}
				if _, err := set.Wait(ctx); err != nil && step != 2 {
					return err
				}
			}
			last, err := set.Wait(ctx)
			if w.PE() == 0 {
				from, next = cut, last
			}
			return err
		})
		must(t, err)
		return from, next
	}
	if _, last := once(2); last.Version != 1 {
		t.Errorf("the Store has cut %v, and memory has the next", last)
	}
	store.refuse = ""
	if from, last := once(0); from.Version != 2 || last != from {
		t.Errorf("goes on from %v, and the Store has %v", from, last)
	}
	c.lose(0)
	if from, _ := once(0); from.Version != 2 {
		t.Errorf("the Store had %v", from)
	}
	store.refuse = "c000004-"
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		step := 0
		set := c.set(w, ckpt.In(store))
		set.Add("step", ckpt.Shared(&step))
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		for i, want := range []uint64{3, 3, 5} { // the second Save is cut 4, which is in memory alone
			step++
			if err := set.Save(ctx); err != nil {
				return err
			}
			if cut, err := set.Wait(ctx); cut.Version != want || (err == nil) != (i != 1) {
				return fmt.Errorf("Save %d: cut %v, %v", i, cut, err)
			}
		}
		return nil
	})
	must(t, err)
}

// TestRestoredCutStays: a cut that is restored from memory, and cannot be written to the Store, keeps its place in
// memory when the next one is saved.
func TestRestoredCutStays(t *testing.T) {
	store := &memory{refuse: "c000002-"}
	c := newCluster(t, 2)
	for term := range 2 {
		err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			step := 0
			set := c.set(w, ckpt.In(store))
			set.Add("step", ckpt.Shared(&step))
			from, _, err := set.Restore(ctx)
			if err != nil {
				return err
			}
			if _, err := set.Wait(ctx); term == 1 && (err == nil || from.Version != 2) {
				return fmt.Errorf("cut %v is written: %v", from, err)
			}
			for range 2 - term {
				if err := set.Save(ctx); err != nil {
					return err
				}
				if cut, err := set.Wait(ctx); term == 1 && (err != nil || cut.Version != 3) {
					return fmt.Errorf("the next is cut %v: %v", cut, err)
				}
			}
			return nil
		})
		must(t, err)
	}
}

// TestBadCutInMemory: a cut in memory from which two terms have begun that saved nothing is passed over for an older
// one. A newer one that takes its place is not.
func TestBadCutInMemory(t *testing.T) {
	c := newCluster(t, 2)
	var from []int
	for term := range 7 {
		err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			step := 0
			set := c.set(w)
			set.Add("step", ckpt.Shared(&step))
			_, ok, err := set.Restore(ctx)
			if err != nil {
				return err
			}
			if w.PE() == 0 {
				from = append(from, step)
			}
			for i := 0; i < 2 && (!ok || term == 3); i++ {
				step++
				if err := set.Save(ctx); err != nil {
					return err
				}
			}
			_, err = set.Wait(ctx)
			return err
		})
		must(t, err)
	}
	if want := []int{0, 2, 2, 1, 3, 3, 2}; !slices.Equal(from, want) {
		t.Errorf("the terms began from %v, want %v", from, want)
	}
}

// TestSecondSet: one Set of a job keeps its cuts in memory, and a second one says that it cannot.
func TestSecondSet(t *testing.T) {
	res, out, errs := startJob(t, "two sets", "")
	if res.Status == 0 || !strings.Contains(errs, "give this one a Store") {
		t.Errorf("status %d\n%s%s", res.Status, out, errs)
	}
}

// TestAllHostsLost: when all hosts of a job were lost at once, Restore says so, whether or not the job had saved, or
// the job goes on from the Store. If not all were lost, the job goes on from what it has saved, or begins anew if that
// is nothing.
func TestAllHostsLost(t *testing.T) {
	for name, test := range map[string]struct {
		since [][2]int // by term: the terms in which the memory of the hosts was made
		saves bool     // the first term
		store ckpt.Store
		err   bool // the later terms fail
	}{
		"all":                       {[][2]int{{1, 1}, {2, 2}}, true, nil, true},
		"all, and a PE then":        {[][2]int{{1, 1}, {2, 2}, {2, 2}}, true, nil, true},
		"all, nothing was saved":    {[][2]int{{1, 1}, {2, 2}}, false, nil, true},
		"all, with a Store":         {[][2]int{{1, 1}, {2, 2}, {2, 2}}, true, &memory{}, false},
		"one after the other":       {[][2]int{{1, 1}, {1, 2}, {3, 2}}, true, nil, false},
		"one by one, nothing there": {[][2]int{{1, 1}, {1, 2}, {3, 2}}, false, nil, false},
		"none, nothing there":       {[][2]int{{1, 1}, {1, 1}}, false, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 1, 1)
			for i, since := range test.since {
				for host, term := range since {
					if term == i+1 && i > 0 {
						c.lose(host)
					}
				}
				err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
					set := ckpt.New(w, ckpt.In(test.store), ckpt.InTerm(since[w.PE()], i+1, c.files[w.PE()], c.hosts))
					step := 0
					set.Add("step", ckpt.Shared(&step))
					_, ok, err := set.Restore(ctx)
					switch {
					case err != nil:
						return err
					case i > 0 && (ok != test.saves || ok && step != 7):
						return fmt.Errorf("it goes on from step %d, %v", step, ok)
					case i > 0 || !test.saves:
						return nil
					}
					step = 7
					return set.Save(ctx)
				})
				if fails := i > 0 && test.err; fails == (err == nil) || fails && !strings.Contains(err.Error(), "all hosts were lost at once") {
					t.Errorf("term %d: %v", i+1, err)
				}
			}
		})
	}
}
