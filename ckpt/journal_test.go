package ckpt_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/internal/cuts/vault"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// heaps are the areas for journals in the heaps of the PEs of a term.
type heaps struct {
	mu    sync.Mutex
	areas map[int][]byte // by PE
	count int
}

// share returns the Option that has them.
func (h *heaps) share(pe int) ckpt.Option {
	return ckpt.WithShare(func(areas []byte, n int) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.areas[pe], h.count = areas, n
	})
}

// keep does what the agents of all hosts do when their PEs have ended.
func (h *heaps) keep(c *cluster) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for pe, areas := range h.areas {
		host := c.hostOf(pe)
		v, err := vault.Open(c.files[host], c.hosts[host].PEs)
		must(c.t, err)
		bytes1 := len(areas) / h.count
		for k := range h.count {
			from := io.NewSectionReader(bytes.NewReader(areas), int64(k*bytes1), int64(bytes1))
			must(c.t, v.KeepJournal(pe-c.hosts[host].First, 1+k/2, from))
		}
	}
}

// opsJob is a job of PEs that each execute operations, log them, and acknowledge them now and then.
type opsJob struct {
	rounds, every int
	next          uint64          // the next operation: each has its own number
	acked         map[uint64]bool // after Sync
	done          [][]uint64      // by PE
	restored      []int           // by PE: as dealJob's
	ackedAt       []ack
	replayed      int
}

// ack is when a PE acknowledges operations.
type ack struct {
	pe int
	at time.Duration
}

func (j *opsJob) run(ctx context.Context, w *pgas.World, set *ckpt.Set, mu *sync.Mutex) error {
	me, round := w.PE(), 0
	var done []uint64
	set.Add("round", ckpt.Shared(&round))
	set.Add("done", ckpt.Values(&done))
	log := ckpt.NewJournal(set, "ops", 1<<12, func(op uint64) error {
		done = append(done, op)
		mu.Lock()
		j.replayed++
		mu.Unlock()
		return nil
	})
	_, ok, err := set.Restore(ctx)
	if err != nil {
		return err
	}
	if j.restored[me] = 0; ok {
		j.restored[me] = 1
	}
	for first := true; round < j.rounds; first = false {
		round++
		if first && !ok || round%j.every == 0 {
			if err := set.Save(ctx); err != nil {
				return err
			}
		}
		for range 1 + (me+round)%3 {
			mu.Lock()
			op := j.next
			j.next++
			mu.Unlock()
			if err := log.Append(op); err != nil {
				return err
			}
			done = append(done, op)
		}
		if (me+round)%2 == 0 {
			all := slices.Clone(done)
			if err := log.Sync(ctx); err != nil {
				return err
			}
			mu.Lock()
			for _, op := range all {
				j.acked[op] = true
			}
			j.ackedAt = append(j.ackedAt, ack{me, w.Now()})
			mu.Unlock()
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	j.done[me] = done
	return nil
}

// check reports an error unless each acknowledged operation was executed, and none was twice.
func (j *opsJob) check() error {
	times := map[uint64]int{}
	for _, op := range slices.Concat(j.done...) {
		times[op]++
		if times[op] > 1 {
			return fmt.Errorf("operation %d is there twice", op)
		}
	}
	for op := range j.acked {
		if times[op] == 0 {
			return fmt.Errorf("operation %d was acknowledged, and is lost", op)
		}
	}
	return nil
}

// TestJournal: PEs and hosts die at random moments, and hosts are replaced or dropped. No acknowledged operation is
// lost, and none is executed twice. No host is lost before all images and journals are on two.
func TestJournal(t *testing.T) {
	seeds := 30
	switch {
	case *long:
		seeds = 500
	case testing.Short():
		seeds = 10
	}
	replayed, lostHosts := 0, 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 47))
		var pes []int
		for range 1 + r.IntN(4) {
			pes = append(pes, 1+r.IntN(3))
		}
		c := newCluster(t, pes...)
		j := &opsJob{rounds: 12, every: 2 + r.IntN(4)}
		schedule := r.Uint64() // of the undisturbed run and the first term
		once := func(deaths []sim.Death) (sim.Report, []error) {
			j.restored, j.done = slices.Repeat([]int{-1}, c.pes()), make([][]uint64, c.pes())
			var mu sync.Mutex
			h := &heaps{areas: map[int][]byte{}}
			cfg := sim.Config{Seed: schedule, Adversary: seed%3 > 0, Deaths: deaths}
			return c.simulate(cfg, func(ctx context.Context, w *pgas.World) error {
				defer h.keep(c)
				return j.run(ctx, w, c.set(w, h.share(w.PE())), &mu)
			})
		}
		begin := func() { j.acked, j.next, j.replayed = map[uint64]bool{}, 0, 0 }
		begin()
		whole, errs := once(nil)
		if err := errors.Join(errors.Join(errs...), j.check()); err != nil {
			t.Fatalf("seed %d: undisturbed: %v", seed, err)
		}
		acks := j.ackedAt
		for h := range c.hosts {
			c.lose(h)
		}
		begin()
		mended := true
		for term := 0; ; term++ {
			n, lost, at := c.pes(), -1, time.Duration(r.Int64N(int64(whole.Time)))
			var deaths []sim.Death
			switch x := r.IntN(6); {
			case term > 12 || term > 3 && x == 0:
			case (x < 3 || term == 0) && mended && len(c.hosts) > 1:
				lost = r.IntN(len(c.hosts))
				if last := acks[r.IntN(len(acks))]; term == 0 { // just when it acknowledges operations
					lost, at = c.hostOf(last.pe), last.at+1
				}
				deaths = c.deaths(lost, at)
			default:
				deaths = append(deaths, sim.Death{PE: r.IntN(n), At: at})
			}
			_, errs := once(deaths)
			schedule = r.Uint64()
			if errors.Join(errs...) == nil {
				break
			}
			mustBeDeaths(t, errs, "seed %d, term %d, deaths %v", seed, term, deaths)
			mended = mended && lost < 0 || slices.Min(j.restored) >= 0
			switch {
			case lost < 0:
				continue
			case r.IntN(2) == 0:
				c.lose(lost)
				mended = false
			default:
				c.drop(lost)
				mended = len(c.hosts) == 1
			}
			lostHosts++
		}
		if err := j.check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		replayed += j.replayed
	}
	if t.Logf("%d operations replayed, %d hosts lost", replayed, lostHosts); replayed == 0 || lostHosts == 0 {
		t.Error("nothing was replayed, or no host was lost")
	}
}

// logJob is a job of one term: it restores, saves if it begins anew, and calls then.
func (c *cluster) logJob(then func(ctx context.Context, set *ckpt.Set, log *ckpt.Journal[string]) error, opts ...ckpt.Option) (replayed [][]string, err error) {
	c.term++
	replayed = make([][]string, c.pes())
	h := &heaps{areas: map[int][]byte{}}
	err = pgastest.Goroutines(c.t.Context(), c.pes(), pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		defer h.keep(c)
		set, step := c.set(w, append([]ckpt.Option{h.share(w.PE())}, opts...)...), 0
		set.Add("step", ckpt.Shared(&step))
		if c.more != nil {
			set.Add("more", ckpt.Value(&c.more[w.PE()]))
		}
		ckpt.NewJournal(set, "numbers", 100, func(x [3]int32) error {
			replayed[w.PE()] = append(replayed[w.PE()], fmt.Sprint(x))
			return nil
		})
		log := ckpt.NewJournal(set, "words", 400, func(s string) error {
			replayed[w.PE()] = append(replayed[w.PE()], s)
			return nil
		})
		_, ok, err := set.Restore(ctx)
		if err != nil {
			return err
		}
		if !ok {
			if err := set.Save(ctx); err != nil {
				return err
			}
		}
		if err := then(ctx, set, log); err != nil {
			return err
		}
		return w.Sync(ctx)
	})
	return replayed, err
}

// say returns what logs that many words and brings them to the buddy.
func say(words ...string) func(context.Context, *ckpt.Set, *ckpt.Journal[string]) error {
	return func(ctx context.Context, _ *ckpt.Set, log *ckpt.Journal[string]) error {
		for _, x := range words {
			if err := log.Append(x); err != nil {
				return err
			}
		}
		return log.Sync(ctx)
	}
}

// TestJournalReplays: what was appended is replayed in its order, once, and not after the next cut.
func TestJournalReplays(t *testing.T) {
	c := newCluster(t, 1, 1)
	expect := func(replayed [][]string, err error, want ...string) {
		t.Helper()
		if err != nil || !slices.Equal(replayed[0], want) {
			t.Errorf("%v replayed, want %v: %v", replayed, want, err)
		}
	}
	replayed, err := c.logJob(say("a", "bcd", "", "e"))
	expect(replayed, err)
	c.lose(1)
	replayed, err = c.logJob(say("f"))
	expect(replayed, err, "a", "bcd", "", "e")
	replayed, err = c.logJob(func(ctx context.Context, set *ckpt.Set, log *ckpt.Journal[string]) error {
		if err := say("g", "h")(ctx, set, log); err != nil {
			return err
		}
		if err := set.Save(ctx); err != nil {
			return err
		}
		return say("i")(ctx, set, log)
	})
	expect(replayed, err, "f")
	c.drop(1)
	replayed, err = c.logJob(say())
	if err != nil || !slices.Equal(slices.Concat(replayed...), []string{"i", "i"}) {
		t.Errorf("%v replayed on one host, want what two PEs have said: %v", replayed, err)
	}
}

// TestJournalIsThere: when Sync has returned, the buddy has the record, over a network that brings it as late as it
// may.
func TestJournalIsThere(t *testing.T) {
	c := newCluster(t, 1, 1)
	h := &heaps{areas: map[int][]byte{}}
	err := pgastest.Late(t.Context(), 2, 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		set := c.set(w, h.share(w.PE()))
		log := ckpt.NewJournal(set, "log", 100, func(int) error { return nil })
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		if err := set.Save(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			if err := cmp.Or(log.Append(7), log.Sync(ctx)); err != nil {
				return err
			}
			area := h.areas[1][len(h.areas[1])/2:] // since version 1
			m, ok := vault.ReadHead(area)
			if end := vault.EndOf(area[vault.HeadBytes:], vault.Tag(m)); !ok || end == 0 {
				return fmt.Errorf("PE 1 has a journal of %d bytes since %+v, %v", end, m, ok)
			}
		}
		return w.Sync(ctx)
	})
	must(t, err)
}

// TestJournalLost: when the hosts are lost that had a journal, Restore says so, in a job with a Store, too.
func TestJournalLost(t *testing.T) {
	for name, store := range map[string]ckpt.Store{"memory": nil, "store": &memory{}} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 1, 1, 1, 1)
			_, err := c.logJob(say("a"), ckpt.In(store))
			must(t, err)
			c.lose(1)
			c.lose(3)
			if _, err := c.logJob(say(), ckpt.In(store)); err == nil || !strings.Contains(err.Error(), "lost") {
				t.Errorf("both hosts at once: %v", err)
			}
		})
	}
	for name, store := range map[string]*memory{"with a cut": {}, "without": {refuse: "c00000"}} {
		c := newCluster(t, 1)
		_, err := c.logJob(say("a"), ckpt.In(store))
		if name == "with a cut" {
			must(t, err)
		}
		c.lose(0)
		if _, err := c.logJob(say(), ckpt.In(store)); err == nil || !strings.Contains(err.Error(), "all hosts were lost at once, and with them the journals") {
			t.Errorf("all hosts, a Store %s: %v", name, err)
		}
	}
	c := newCluster(t, 1, 1)
	_, err := c.logJob(say("a"))
	must(t, err)
	c.lose(0)
	c.term++
	h := &heaps{areas: map[int][]byte{}}
	err = pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		set, step := c.set(w, h.share(w.PE())), 0
		set.Add("step", ckpt.Shared(&step))
		ckpt.NewJournal(set, "numbers", 100, func([3]int32) error { return nil })
		ckpt.NewJournal(set, "words", 400, func(string) error { return errors.New("a word cannot be replayed") })
		_, _, err := set.Restore(ctx)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "a word cannot be replayed") {
		t.Errorf("replay fails: %v", err)
	}
	c.lose(1)
	if replayed, err := c.logJob(say()); err == nil || !strings.Contains(err.Error(), "lost") {
		t.Errorf("one host, and then the other before a cut was safe: %v, %v", replayed, err)
	}
}

// TestJournalWithStore: a job that is started again goes on from its Store, and replays nothing: its hosts have another
// memory. One that has lost no host replays what came after the cut that the Store has.
func TestJournalWithStore(t *testing.T) {
	store := &memory{}
	c := newCluster(t, 1, 1)
	_, err := c.logJob(say("a"), ckpt.In(store))
	must(t, err)
	c.files, c.term = []*os.File{memoryFile(t), memoryFile(t)}, 0
	replayed, err := c.logJob(say("b"), ckpt.In(store))
	if err != nil || len(slices.Concat(replayed...)) != 0 {
		t.Errorf("it was started again: %v replayed, %v", replayed, err)
	}
	replayed, err = c.logJob(say(), ckpt.In(store))
	if err != nil || !slices.Equal(slices.Concat(replayed...), []string{"b", "b"}) {
		t.Errorf("it has lost no host: %v replayed, %v", replayed, err)
	}
}

// TestJournalRefuses: Append says what is wrong.
func TestJournalRefuses(t *testing.T) {
	c := newCluster(t, 2)
	_, err := c.logJob(func(ctx context.Context, set *ckpt.Set, log *ckpt.Journal[string]) error {
		for {
			if err := log.Append("0123456789"); err != nil {
				if !strings.Contains(err.Error(), `journal "words"`) || !strings.Contains(err.Error(), "save more often") {
					return fmt.Errorf("a full journal: %w", err)
				}
				break
			}
		}
		if saved, err := set.SaveIfDue(ctx); !saved || err != nil {
			return fmt.Errorf("no Save is due with a full journal: %w", err)
		}
		return log.Append("0123456789")
	})
	must(t, err)
	err = pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		set := ckpt.New(w)
		log := ckpt.NewJournal(set, "words", 400, func(string) error { return nil })
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		return cmp.Or(log.Append("in a job that keeps nothing"), log.Sync(ctx))
	})
	must(t, err)
}

// TestJournalAfterFailure: after a Save for which a host has no memory nothing is logged that a later term would not
// replay, and everything is after one that succeeds.
func TestJournalAfterFailure(t *testing.T) {
	for _, mends := range []bool{false, true} {
		c := newCluster(t, 1, 1)
		file := c.files[1]
		c.more = make([]string, 2)
		fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		must(t, err)
		c.files[1] = os.NewFile(uintptr(fd), "images")
		var grow, shrink sync.Once
		_, err = c.logJob(func(ctx context.Context, set *ckpt.Set, log *ckpt.Journal[string]) error {
			for i := range 3 {
				if _, err := set.Wait(ctx); i == 1 && err == nil {
					// from now on host 1 has no memory for a copy of what PE 0 saves
					grow.Do(func() {
						c.files[1].Close()
						c.files[1], c.more[0] = file, strings.Repeat("x", 100<<10)
					})
				}
				if err := log.Append(fmt.Sprint("before ", i)); err != nil {
					return err
				}
				// the second fails while the program goes on, and the third in Save
				if err := set.Save(ctx); (err != nil) != (i > 1) {
					return fmt.Errorf("Save %d: %w", i, err)
				}
			}
			if err := log.Append("after"); err == nil || !strings.Contains(err.Error(), "a Save is under way or has failed") {
				return fmt.Errorf("after a Save that has failed: %w", err)
			}
			if !mends {
				return nil
			}
			shrink.Do(func() { c.more[0] = "" })
			if err := set.Save(ctx); err != nil {
				return err
			}
			return say("then")(ctx, set, log)
		})
		must(t, err)
		replayed, err := c.logJob(say())
		want := []string{"before 1", "before 2"}
		if mends {
			want = []string{"then"}
		}
		for pe, got := range replayed {
			if !slices.Equal(got, want) {
				t.Errorf("PE %d replays %q, not %q: %v", pe, got, want, err)
			}
		}
	}
}

// TestJournalStoreFails: journals go on from a cut that is in memory alone, since the Store does not work.
func TestJournalStoreFails(t *testing.T) {
	store := &memory{refuse: "c00000"}
	c := newCluster(t, 1, 1)
	for term := range 2 {
		want := []string{"after 2"}
		if term == 0 {
			want = nil
		}
		replayed, err := c.logJob(func(ctx context.Context, set *ckpt.Set, log *ckpt.Journal[string]) error {
			if _, err := set.Wait(ctx); err == nil {
				return errors.New("the Store works")
			}
			for i := range 3 {
				if err := errors.Join(set.Save(ctx), log.Append(fmt.Sprint("after ", i)), log.Sync(ctx)); err != nil {
					return err
				}
				if _, err := set.Wait(ctx); err == nil {
					return errors.New("the Store works")
				}
			}
			return nil
		}, ckpt.In(store))
		must(t, err)
		for pe, got := range replayed {
			if !slices.Equal(got, want) {
				t.Errorf("term %d: PE %d replays %q, not %q", term, pe, got, want)
			}
		}
	}
}

// TestAppendAllocatesNothing: a record of a value without pointers.
func TestAppendAllocatesNothing(t *testing.T) {
	c := newCluster(t, 1)
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		set := c.set(w)
		log := ckpt.NewJournal(set, "log", 1<<16, func([2]uint64) error { return nil })
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		if err := set.Save(ctx); err != nil {
			return err
		}
		var err error
		n := testing.AllocsPerRun(1000, func() { err = cmp.Or(err, log.Append([2]uint64{1, 2})) })
		if n > 0 && err == nil {
			err = fmt.Errorf("Append makes %v allocations", n)
		}
		return err
	})
	must(t, err)
}
