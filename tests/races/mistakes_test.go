package races

// The mistakes of the table in docs/use/pgastest.md: each with a program that notices its wrong data, and the same
// program without the mistake, which must never fail.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

const mistakesPage = "../../docs/use/pgastest.md"

// A mistake is a program of a row of the table.
type mistake struct {
	name string
	form string // the form of the operation, or ""
	pes  int
	body program
}

// A program is what the PEs of a mistake do.
type program = func(ctx context.Context, c mistaken) error

// mistaken is what such a program has on each PE.
type mistaken struct {
	*pgas.World
	right      bool // the program is without its mistake
	mem        pgas.Sym[int64]
	data       pgas.Slice[int64] // the whole of mem
	word, next pgas.Ref[int64]   // its first two elements
	flag       pgas.Atomic[int64]
	sig        pgas.SignalRef
	other      *pgas.Context // beside the default one
	lock       pgas.LockRef
}

// errFound is the error of a program that has noticed its own mistake.
var errFound = errors.New("found")

// fails returns errFound if got is not want.
func fails(got, want int64) error {
	if got != want {
		return fmt.Errorf("%w: %d, want %d", errFound, got, want)
	}
	return nil
}

// unless calls f in the program without the mistake.
func (c mistaken) unless(f func()) {
	if c.right {
		f()
	}
}

// hands is a program in which PE 0 passes data to the last PE, which then looks at what it got.
func hands(name string, pes int, send program, await program) mistake {
	return mistake{name, "", pes, func(ctx context.Context, c mistaken) error {
		last := c.NPEs() - 1
		if c.PE() != last {
			return send(ctx, c)
		}
		if err := await(ctx, c); err != nil {
			return err
		}
		return fails(c.word.Get(last), 1)
	}}
}

// flagged is hands with a flag: the last PE waits for it.
func flagged(name string, send func(c mistaken)) mistake {
	return hands(name, 2, func(_ context.Context, c mistaken) error {
		send(c)
		c.flag.Set(1, 1)
		return nil
	}, awaitFlag)
}

func awaitFlag(ctx context.Context, c mistaken) error {
	_, err := c.flag.WaitUntil(ctx, pgas.EQ, 1)
	return err
}

func awaitSignal(ctx context.Context, c mistaken) error {
	_, err := c.sig.WaitUntil(ctx, pgas.EQ, 1)
	return err
}

func awaitNote(ctx context.Context, c mistaken) error {
	r := notify.New(c.World, notify.Any, 1, 1)
	defer r.Free()
	r.Start()
	_, err := r.Wait(ctx)
	return err
}

// met is hands with a call that all PEs make, before which PE 0 sends.
func met(name string, pes int, send program, meet program) mistake {
	return mistake{name, "", pes, func(ctx context.Context, c mistaken) error {
		if c.PE() == 0 {
			if err := send(ctx, c); err != nil {
				return err
			}
		}
		if err := meet(ctx, c); err != nil || c.PE() == 0 {
			return err
		}
		return fails(c.word.Get(1), 1)
	}}
}

func put(_ context.Context, c mistaken) error {
	c.word.Put(1, 1)
	c.unless(c.MustQuiet)
	return nil
}

func sync(ctx context.Context, c mistaken) error { return c.Sync(ctx) }

// source is a program in which PE 0 puts, and stores to the source before what frees it.
func source(form string, put func(c mistaken, v []int64), await program) []mistake {
	late := func(name string, between program) mistake {
		return mistake{name, form, 2, func(ctx context.Context, c mistaken) error {
			if c.PE() == 0 {
				v := []int64{1, 1}
				put(c, v)
				c.unless(c.MustQuiet)
				if err := between(ctx, c); err != nil {
					return err
				}
				v[0] = 2
				return c.Barrier(ctx)
			}
			if err := await(ctx, c); err != nil {
				return err
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			return fails(c.word.Get(1), 1)
		}}
	}
	return []mistake{
		late("store to the source before a quiet", func(context.Context, mistaken) error { return nil }),
		late("fence, store to the source", func(_ context.Context, c mistaken) error { c.Fence(); return nil }),
		late("quiet of another context, store to the source", func(ctx context.Context, c mistaken) error { return c.other.Quiet(ctx) }),
		late("quiet of another PE, store to the source", func(ctx context.Context, c mistaken) error {
			return c.Context().QuietPE(ctx, 0)
		}),
		{"store to the source that is to be put", form, 2, func(ctx context.Context, c mistaken) error {
			if c.PE() == 0 {
				v := []int64{1, 1}
				if c.right {
					v[0] = 2
				}
				put(c, v)
				c.unless(c.MustQuiet)
				v[0] = 2
				return c.Barrier(ctx)
			}
			if err := await(ctx, c); err != nil {
				return err
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			return fails(c.word.Get(1), 2)
		}},
	}
}

// destination is a program in which PE 0 gets 1, and loads what it has got before a quiet.
func destination(form string, get func(c mistaken, got []int64), await program) []mistake {
	load := func(name string, between program) mistake {
		return mistake{name, form, 2, func(ctx context.Context, c mistaken) error {
			*c.word.Local() = int64(c.PE())
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			if c.PE() == 1 {
				return await(ctx, c)
			}
			got := []int64{7, 7}
			get(c, got)
			c.unless(c.MustQuiet)
			if err := between(ctx, c); err != nil {
				return err
			}
			loaded := got[0]
			c.MustQuiet()
			return fails(loaded, 1)
		}}
	}
	return []mistake{
		load("load of the destination before a quiet", func(context.Context, mistaken) error { return nil }),
		load("`QuietLocal`, load of the destination", func(ctx context.Context, c mistaken) error {
			return c.Context().QuietLocal(ctx)
		}),
		load("quiet of another context, load of the destination", func(ctx context.Context, c mistaken) error { return c.other.Quiet(ctx) }),
		load("quiet of another PE, load of the destination", func(ctx context.Context, c mistaken) error {
			return c.Context().QuietPE(ctx, 0)
		}),
		{"store to the destination before a quiet", form, 2, func(ctx context.Context, c mistaken) error {
			*c.word.Local() = int64(c.PE())
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			if c.PE() == 1 {
				return await(ctx, c)
			}
			got := []int64{7, 7}
			get(c, got)
			c.unless(c.MustQuiet)
			got[0] = 5
			c.MustQuiet()
			return fails(got[0], 5)
		}},
	}
}

// target is a program in which PE 1 stores to what PE 0 is getting.
func target(form string, get func(c mistaken, got []int64)) []mistake {
	return []mistake{
		{"atomic set: wait, store to what is got", form, 2, func(ctx context.Context, c mistaken) error {
			if c.PE() == 1 {
				_, err := c.flag.WaitUntil(ctx, pgas.EQ, 1)
				*c.word.Local() = 2
				return err
			}
			got := []int64{7, 7}
			get(c, got)
			c.unless(c.MustQuiet)
			c.flag.Set(1, 1)
			c.MustQuiet()
			return fails(got[0], 0)
		}},
		{"atomic set, wait, quiet: wait, store that is to be got, atomic set", form, 2, func(ctx context.Context, c mistaken) error {
			got := []int64{7, 7}
			if c.PE() == 1 {
				_, err := c.flag.WaitUntil(ctx, pgas.EQ, 1)
				*c.word.Local() = 2
				c.flag.Set(0, 1)
				return err
			}
			c.unless(func() { c.flag.Set(1, 1) })
			if !c.right {
				get(c, got)
				c.flag.Set(1, 1)
			}
			if _, err := c.flag.WaitUntil(ctx, pgas.EQ, 1); err != nil {
				return err
			}
			c.unless(func() { get(c, got) })
			c.MustQuiet()
			return fails(got[0], 2)
		}},
	}
}

// mistakes are all rows of the table, in its order.
var mistakes = slices.Concat([]mistake{
	// Order.
	flagged("put, atomic set, with no fence between", func(c mistaken) { c.word.Put(1, 1); c.unless(c.Fence) }),
	flagged("strided put, atomic set, with no fence between", func(c mistaken) {
		c.data.IPut(1, []int64{1, 1}, 2, 1, 2)
		c.unless(c.Fence)
	}),
	hands("`PutNB`, `QuietLocal`, atomic set, with no fence between", 2, func(ctx context.Context, c mistaken) error {
		c.data.PutNB(1, []int64{1})
		c.unless(c.Fence)
		err := c.Context().QuietLocal(ctx)
		c.flag.Set(1, 1)
		return err
	}, awaitFlag),
	flagged("put, fence of another context, atomic set", func(c mistaken) {
		c.word.Put(1, 1)
		c.other.Fence()
		c.unless(c.Fence)
	}),
	flagged("put on another context, fence, atomic set", func(c mistaken) {
		c.word.On(c.other).Put(1, 1)
		c.Fence()
		c.unless(c.other.MustQuiet)
	}),
	flagged("put on another context, quiet, atomic set", func(c mistaken) {
		c.word.On(c.other).Put(1, 1)
		c.MustQuiet()
		c.unless(c.other.MustQuiet)
	}),
	hands("put, fence to another PE, atomic set", 3, func(_ context.Context, c mistaken) error {
		if c.PE() == 0 {
			c.word.Put(2, 1)
			c.Context().FencePE(1)
			c.unless(func() { c.Context().FencePE(2) })
			c.flag.Set(2, 1)
		}
		return nil
	}, awaitFlag),
	hands("atomic add, atomic set, with no fence between", 2, func(_ context.Context, c mistaken) error {
		pgas.AtomicOf(c.mem, 0).Add(1, 1)
		c.unless(c.Fence)
		c.flag.Set(1, 1)
		return nil
	}, awaitFlag),
	hands("put, put with signal, with no fence between", 2, func(_ context.Context, c mistaken) error {
		v := int64(2)
		c.word.Put(1, 1)
		c.unless(c.Fence)
		c.next.PutSignal(1, &v, c.sig, 1)
		return nil
	}, awaitSignal),
	hands("put with signal, put: wait for the signal, get of the second", 2, func(_ context.Context, c mistaken) error {
		v := int64(2)
		c.unless(func() { c.word.Put(1, 1); c.Fence() })
		c.next.PutSignal(1, &v, c.sig, 1)
		if !c.right {
			c.word.Put(1, 1)
		}
		return nil
	}, awaitSignal),
	hands("put, notification, with no fence between", 2, func(_ context.Context, c mistaken) error {
		c.word.Put(1, 1)
		c.unless(c.Fence)
		c.Notify(1, 1)
		return nil
	}, awaitNote),
	hands("put, notified put, with no fence between", 2, func(_ context.Context, c mistaken) error {
		c.word.Put(1, 1)
		c.unless(c.Fence)
		c.data.Range(1, 2).PutNotify(1, []int64{2}, 1)
		return nil
	}, awaitNote),
	hands("put, fence, atomic set on a third PE: poll that PE, get", 3, func(_ context.Context, c mistaken) error {
		if c.PE() == 0 {
			c.word.Put(2, 1)
			c.Fence()
			c.unless(c.MustQuiet)
			c.flag.Set(1, 1)
		}
		return nil
	}, func(_ context.Context, c mistaken) error {
		for c.flag.Fetch(1) != 1 {
			c.Yield()
		}
		return nil
	}),
	hands("put, fence, atomic set on a third PE, which sets on: wait, get", 3, func(ctx context.Context, c mistaken) error {
		if c.PE() == 0 {
			c.word.Put(2, 1)
			c.Fence()
			c.unless(c.MustQuiet)
			c.flag.Set(1, 1)
			return nil
		}
		err := awaitFlag(ctx, c)
		c.flag.Set(2, 1)
		return err
	}, awaitFlag),

	// Completion.
	met("put, sync, with no quiet before: sync, get", 2, put, sync),
	met("put, sync, sync, with no quiet before: sync, sync, get", 2, put, func(ctx context.Context, c mistaken) error {
		if err := c.Sync(ctx); err != nil {
			return err
		}
		return c.Sync(ctx)
	}),
	met("put, sync of three PEs, with no quiet before: sync, get", 3, put, sync),
	met("put on another context, barrier: barrier, get", 2, func(_ context.Context, c mistaken) error {
		c.word.On(c.other).Put(1, 1)
		c.unless(c.other.MustQuiet)
		return nil
	}, func(ctx context.Context, c mistaken) error { return c.Barrier(ctx) }),
	met("put, quiet of another PE, sync: sync, get", 3, func(ctx context.Context, c mistaken) error {
		c.word.Put(1, 1)
		c.next.Put(2, 1)
		c.unless(c.MustQuiet)
		return c.Context().QuietPE(ctx, 2)
	}, sync),
	met("`PutNB`, `QuietLocal`, sync: sync, get", 2, func(ctx context.Context, c mistaken) error {
		c.data.PutNB(1, []int64{1})
		c.unless(c.MustQuiet)
		return c.Context().QuietLocal(ctx)
	}, sync),
	met("`PutNB`, wait of its `LocalCompletion`, sync: sync, get", 2, func(ctx context.Context, c mistaken) error {
		local := c.data.PutNB(1, []int64{1})
		c.unless(c.MustQuiet)
		return local.Wait(ctx)
	}, sync),
	met("put, broadcast, with no quiet before: broadcast, get", 2, put, func(ctx context.Context, c mistaken) error {
		return pgas.Broadcast(ctx, c.Team(), c.data.Range(8, 9), c.data.Range(9, 10), 0)
	}),
	met("put, sum, with no quiet before: sum, get", 2, put, func(ctx context.Context, c mistaken) error {
		return pgas.SumReduce(ctx, c.Team(), c.data.Range(8, 9), c.data.Range(9, 10))
	}),
	met("put on another context under a lock: get under the lock", 2, func(ctx context.Context, c mistaken) error {
		if err := c.lock.Lock(ctx); err != nil {
			return err
		}
		c.flag.Set(1, 1)
		c.word.On(c.other).Put(1, 1)
		c.unless(c.other.MustQuiet)
		return c.lock.Unlock()
	}, func(ctx context.Context, c mistaken) error {
		if c.PE() == 0 {
			return nil
		}
		if err := awaitFlag(ctx, c); err != nil {
			return err
		}
		if err := c.lock.Lock(ctx); err != nil {
			return err
		}
		return c.lock.Unlock()
	}),
},
	// Sources.
	source("`PutNB`", func(c mistaken, v []int64) { c.data.PutNB(1, v) }, nothing),
	source("`PutSignalNB`", func(c mistaken, v []int64) { c.data.PutSignalNB(1, v, c.sig, 1) }, nothing),
	source("`PutSignalAddNB`", func(c mistaken, v []int64) { c.data.PutSignalAddNB(1, v, c.sig, 1) }, nothing),
	source("`PutNotifyNB`", func(c mistaken, v []int64) { c.data.PutNotifyNB(1, v, 1) }, awaitNote),
	source("`IPutNB`", func(c mistaken, v []int64) { c.data.IPutNB(1, v, 2, 1, 2) }, nothing),
	source("`IBPutNB`", func(c mistaken, v []int64) { c.data.IBPutNB(1, v, 2, 1, 1, 2) }, nothing),

	// Destinations.
	destination("`GetNB`", func(c mistaken, got []int64) { c.data.GetNB(1, got) }, nothing),
	destination("`IGetNB`", func(c mistaken, got []int64) { c.data.IGetNB(1, got, 1, 2, 2) }, nothing),
	destination("`IBGetNB`", func(c mistaken, got []int64) { c.data.IBGetNB(1, got, 1, 2, 1, 2) }, nothing),
	destination("`GetNotifyNB`", func(c mistaken, got []int64) { c.data.GetNotifyNB(1, got, 1) }, awaitNote),
	destination("`FetchNB`", func(c mistaken, got []int64) { pgas.AtomicOf(c.mem, 0).FetchNB(1, &got[0]) }, nothing),
	destination("`FetchAddNB`", func(c mistaken, got []int64) { pgas.AtomicOf(c.mem, 0).FetchAddNB(1, 1, &got[0]) }, nothing),
	destination("`SwapNB`", func(c mistaken, got []int64) { pgas.AtomicOf(c.mem, 0).SwapNB(1, 4, &got[0]) }, nothing),
	destination("`CompareSwapNB`", func(c mistaken, got []int64) { pgas.AtomicOf(c.mem, 0).CompareSwapNB(1, 9, 4, &got[0]) }, nothing),

	// What gets read.
	target("`GetNB`", func(c mistaken, got []int64) { c.data.GetNB(1, got) }),
	target("`IGetNB`", func(c mistaken, got []int64) { c.data.IGetNB(1, got, 1, 2, 2) }),

	[]mistake{
		// Two operations under way.
		{"`GetNB`, `GetNB` into the same buffer", "", 2, func(ctx context.Context, c mistaken) error {
			*c.word.Local(), *c.next.Local() = 1, 2
			if err := c.Barrier(ctx); err != nil || c.PE() == 1 {
				return err
			}
			got := []int64{7}
			c.data.GetNB(1, got)
			c.unless(c.MustQuiet)
			c.data.Range(1, 2).GetNB(1, got)
			c.MustQuiet()
			return fails(got[0], 2)
		}},
		{"`FetchNB`, `FetchNB` into the same word", "", 2, func(ctx context.Context, c mistaken) error {
			*c.word.Local(), *c.next.Local() = 1, 2
			if err := c.Barrier(ctx); err != nil || c.PE() == 1 {
				return err
			}
			var got int64
			pgas.AtomicOf(c.mem, 0).FetchNB(1, &got)
			c.unless(c.MustQuiet)
			pgas.AtomicOf(c.mem, 1).FetchNB(1, &got)
			c.MustQuiet()
			return fails(got, 2)
		}},
		{"`FetchAddNB`, wait, load of the old value before a quiet: wait for the word, atomic set", "", 2, func(ctx context.Context, c mistaken) error {
			word := pgas.AtomicOf(c.mem, 0)
			if c.PE() == 1 {
				_, err := word.WaitUntil(ctx, pgas.EQ, 1)
				c.flag.Set(0, 1)
				return err
			}
			got := int64(7)
			word.FetchAddNB(1, 1, &got)
			c.unless(c.MustQuiet)
			if err := awaitFlag(ctx, c); err != nil {
				return err
			}
			loaded := got
			c.MustQuiet()
			return fails(loaded, 0)
		}},
		{"`GetNB`, `PutNB` from what it fills", "", 2, func(ctx context.Context, c mistaken) error {
			*c.word.Local() = 1
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			if c.PE() == 0 {
				got := []int64{7}
				c.data.GetNB(1, got)
				c.unless(c.MustQuiet)
				c.data.Range(1, 2).PutNB(1, got)
			}
			if err := c.Barrier(ctx); err != nil || c.PE() == 0 {
				return err
			}
			return fails(c.next.Get(1), 1)
		}},
		met("`IPutNB`, `IPutNB` of another context on some of the same bytes", 2, func(ctx context.Context, c mistaken) error {
			c.data.IPutNB(1, []int64{2, 2}, 2, 1, 2)
			c.unless(c.MustQuiet)
			c.data.On(c.other).IPutNB(1, []int64{1, 1}, 1, 1, 2)
			return c.other.Quiet(ctx)
		}, func(ctx context.Context, c mistaken) error { return c.Barrier(ctx) }),

		// Collectives that do not wait.
		{"`SumReduceNB`, load of its destination before its wait", "", 2, func(ctx context.Context, c mistaken) error {
			*c.word.Local() = 1
			r := pgas.SumReduceNB(ctx, c.Team(), c.data.Range(1, 2), c.data.Range(0, 1))
			var err error
			c.unless(func() { err = r.Wait(ctx) })
			loaded := *c.next.Local()
			if !c.right {
				err = r.Wait(ctx)
			}
			if err != nil {
				return err
			}
			return fails(loaded, 2)
		}},
		{"`BroadcastNB`, store to its source before its wait", "", 2, func(ctx context.Context, c mistaken) error {
			*c.word.Local() = 1
			r := pgas.BroadcastNB(ctx, c.Team(), c.data.Range(1, 2), c.data.Range(0, 1), 0)
			var err error
			c.unless(func() { err = r.Wait(ctx) })
			*c.word.Local() = 2
			if !c.right {
				err = r.Wait(ctx)
			}
			if err != nil {
				return err
			}
			return fails(*c.next.Local(), 1)
		}},

		// Order of PEs.
		{"put, fetch-add of a word: fetch-add of that word, put", "", 2, func(ctx context.Context, c mistaken) error {
			if c.PE() == 0 {
				c.word.Put(1, 1)
				c.unless(c.MustQuiet)
				c.flag.FetchAdd(0, 1)
			} else {
				c.flag.FetchAdd(0, 1)
				for c.right && c.flag.Fetch(0) != 2 {
					c.Yield()
				}
				c.word.Put(1, 2)
			}
			if err := c.Barrier(ctx); err != nil || c.PE() == 0 {
				return err
			}
			return fails(c.word.Get(1), 2)
		}},
	},
)

func nothing(context.Context, mistaken) error { return nil }

// play returns m's program as a body: without its mistake if right is set.
func (m mistake) play(right bool) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		c := mistaken{World: w, right: right}
		flags, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
		if err != nil {
			return err
		}
		if c.mem, err = pgas.Alloc[int64](ctx, w, 16); err != nil {
			return err
		}
		if c.other, err = w.NewContext(); err != nil {
			return err
		}
		c.data, c.word, c.next = c.mem.All(), c.mem.At(0), c.mem.At(1)
		c.flag, c.sig, c.lock = pgas.AtomicOf(flags, 0), pgas.SignalOf(signals, 0), pgas.LockOf(locks, 0)
		return m.body(ctx, c)
	}
}

// A claim is what a row of the page says: which runs find a mistake in all of its forms.
type claim struct{ late, simulated string }

// claimsOf returns the claims of the page, by mistake, and the forms of each.
func claimsOf(page string) (claims map[string]claim, forms map[string][]string) {
	claims, forms = map[string]claim{}, map[string][]string{}
	_, table, _ := strings.Cut(page, "\n| mistake | ")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 4 {
			if len(claims) > 0 {
				break
			}
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		claims[cells[0]] = claim{cells[2], cells[3]}
		forms[cells[0]] = strings.Split(cells[1], ", ")
	}
	return claims, forms
}

// runsThat are the seeds with which a claim says that a mistake is found: with the first that does.
var runsThat = map[string][]uint64{"1st": {0}, "2nd": {1}, "10 seeds": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "no": nil}

// TestMistakes: each mistake of the page is found by the runs that the page names, and nothing else is.
func TestMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many jobs")
	}
	text, err := os.ReadFile(mistakesPage)
	if err != nil {
		t.Fatal(err)
	}
	claims, forms := claimsOf(string(text))
	played := map[string][]string{}
	for _, m := range mistakes {
		played[m.name] = append(played[m.name], m.form)
		c, ok := claims[m.name]
		if !ok {
			t.Errorf("the page has no row %q", m.name)
			continue
		}
		t.Run(m.name+" "+m.form, func(t *testing.T) {
			m.lateFinds(t, c.late)
			m.simulatorFinds(t, c.simulated)
		})
	}
	for name := range claims {
		if !slices.Equal(played[name], forms[name]) {
			t.Errorf("the page says of %q that it has the forms %q: the programs have %q", name, forms[name], played[name])
		}
	}
}

// isFound reports whether a program has noticed its mistake.
func isFound(err error) bool {
	return errors.Is(err, errFound) || err != nil && strings.Contains(err.Error(), errFound.Error())
}

// lateTries is how often a late network is tried: a busy machine may keep a PE from its wait for long.
const lateTries = 10

// lateFinds fails unless a late network finds m as the page says, and nothing in the program without the mistake.
func (m mistake) lateFinds(t *testing.T, runs string) {
	seeds, ok := runsThat[runs]
	if !ok {
		t.Errorf("the page says %q of RunLate", runs)
	}
	var err error
	for range lateTries {
		for _, seed := range seeds {
			if !isFound(err) {
				err = pgastest.Late(t.Context(), m.pes, m.pes, pgastest.Options{Seed: seed}, m.play(false))
			}
		}
	}
	if len(seeds) > 0 && !isFound(err) {
		t.Errorf("RunLate does not find it: %v", err)
	}
	for seed := range uint64(3) {
		if err := pgastest.Late(t.Context(), m.pes, m.pes, pgastest.Options{Seed: seed}, m.play(true)); err != nil {
			t.Errorf("without the mistake, RunLate with seed %d: %v", seed, err)
		}
	}
}

// simulatorFinds does the same with the simulator. Each failure comes again with its seed.
func (m mistake) simulatorFinds(t *testing.T, runs string) {
	seeds, ok := runsThat[runs]
	if !ok || len(seeds) == 0 {
		t.Errorf("the page says %q of the simulator", runs)
	}
	run := func(seed uint64, right bool) error {
		_, err := sim.Run(t.Context(), sim.Config{Adversary: true, Seed: seed, HeapMax: 1 << 20}, m.pes, m.play(right))
		return err
	}
	found := false
	for _, seed := range seeds {
		err := run(seed, false)
		if !isFound(err) {
			continue
		}
		found = true
		if again := run(seed, false); again == nil || again.Error() != err.Error() {
			t.Errorf("the second run with seed %d fails with\n%v\nthe first one with\n%v", seed, again, err)
		}
	}
	if !found {
		t.Error("the simulator does not find it")
	}
	for seed := range uint64(10) {
		if err := run(seed, true); err != nil {
			t.Errorf("without the mistake, the simulator with seed %d: %v", seed, err)
		}
	}
}
