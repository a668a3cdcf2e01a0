package races

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

// errFound is the error of a program that has noticed its own mistake.
var errFound = errors.New("found")

// A detector looks for a mistake that the race detector does not see, by runs of a program that notices it by itself.
// The page names it in the fourth cell of such a row.
type detector struct {
	name string
	find func(ctx context.Context, npes int, body pgastest.Body) error
}

// lateTries is how often a late network is tried: a busy machine may keep a PE from its wait for long.
const lateTries = 10

var detectors = []detector{
	{"`RunLate`", late(0, 1)},
	{"`RunLateSeeds`", late(1, 20)},
	{"the simulator", simulated(10)}, // as many as RunAll has
}

// late returns a search over a late network, with so many seeds from the first one on.
func late(first, seeds uint64) func(ctx context.Context, npes int, body pgastest.Body) error {
	return func(ctx context.Context, npes int, body pgastest.Body) (err error) {
		for range lateTries {
			for seed := range seeds {
				if err = pgastest.Late(ctx, npes, npes, pgastest.Options{Seed: first + seed}, body); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// simulated returns a search with the first seeds of the simulator.
func simulated(seeds uint64) func(ctx context.Context, npes int, body pgastest.Body) error {
	return func(ctx context.Context, npes int, body pgastest.Body) error {
		var errs []error
		for seed := range seeds {
			_, err := sim.Run(ctx, sim.Config{Adversary: true, Seed: seed, HeapMax: 1 << 20}, npes, body)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
}

// named returns the names of the detectors that a cell of the page has, without regard to the case of the first letter.
func named(cell string) (names []string) {
	cell = strings.ToLower(cell)
	for _, d := range slices.Backward(detectors) { // a name that is a part of another one comes after that
		if name := strings.ToLower(d.name); strings.Contains(cell, name) {
			names, cell = append(names, d.name), strings.ReplaceAll(cell, name, "")
		}
	}
	return names
}

// fails returns errFound if got is not want.
func fails(got, want int64) error {
	if got != want {
		return fmt.Errorf("%w: %d, want %d", errFound, got, want)
	}
	return nil
}

// A cell is the memory of the programs below.
type cell struct {
	*pgas.World
	word, next pgas.Ref[int64]
	flag       pgas.Atomic[int64]
	sig        pgas.SignalRef
	data       pgas.Slice[int64]
	mem        pgas.Sym[int64]
}

// found are the programs of the rows that another detector finds, each with what its PEs do.
var found = map[string]struct {
	pes  int
	body func(ctx context.Context, c cell) error
}{
	"put, atomic set, with no fence between | wait, get": {2, func(ctx context.Context, c cell) error {
		if c.PE() == 0 {
			c.word.Put(1, 1)
			c.flag.Set(1, 1)
			return nil
		}
		if _, err := c.flag.WaitUntil(ctx, pgas.EQ, 1); err != nil {
			return err
		}
		return fails(c.word.Get(1), 1)
	}},
	"put, put with signal, with no fence between | wait for the signal, get of the first data": {2, func(ctx context.Context, c cell) error {
		if c.PE() == 0 {
			v := int64(2)
			c.word.Put(1, 1)
			c.next.PutSignal(1, &v, c.sig, 1)
			return nil
		}
		if _, err := c.sig.WaitUntil(ctx, pgas.EQ, 1); err != nil {
			return err
		}
		return fails(c.word.Get(1), 1)
	}},
	"put, fence, atomic set on a third PE | poll that PE, get": {3, func(ctx context.Context, c cell) error {
		switch c.PE() {
		case 0:
			c.word.Put(2, 1)
			c.Fence()
			c.flag.Set(1, 1)
		case 2:
			for c.flag.Fetch(1) != 1 {
				c.Yield()
			}
			return fails(c.word.Get(2), 1)
		}
		return nil
	}},
	"put, sync, with no quiet before | sync, get": {2, func(ctx context.Context, c cell) error {
		if c.PE() == 0 {
			c.word.Put(1, 1)
		}
		if err := c.Sync(ctx); err != nil || c.PE() == 0 {
			return err
		}
		return fails(c.word.Get(1), 1)
	}},
	"put, notification, with no fence between | wait for the notification, get": {2, func(ctx context.Context, c cell) error {
		if c.PE() == 0 {
			c.word.Put(1, 1)
			c.Notify(1, 1)
			return nil
		}
		r := notify.New(c.World, notify.Any, 1, 1)
		defer r.Free()
		r.Start()
		if _, err := r.Wait(ctx); err != nil {
			return err
		}
		return fails(c.word.Get(1), 1)
	}},
	"put on one context, quiet of another, atomic set | wait, get": {2, func(ctx context.Context, c cell) error {
		other, err := c.NewContext()
		if err != nil {
			return err
		}
		if c.PE() == 0 {
			c.word.On(other).Put(1, 1)
			c.MustQuiet()
			c.flag.Set(1, 1)
			return nil
		}
		if _, err := c.flag.WaitUntil(ctx, pgas.EQ, 1); err != nil {
			return err
		}
		return fails(c.word.Get(1), 1)
	}},
	"`GetNB`, load of what it fills, before a quiet | nothing": {2, func(ctx context.Context, c cell) error {
		*c.word.Local() = int64(c.PE())
		if err := c.Barrier(ctx); err != nil || c.PE() == 1 {
			return err
		}
		got := []int64{7}
		c.data.GetNB(1, got)
		loaded := got[0]
		c.MustQuiet()
		return fails(loaded, 1)
	}},
	"`PutNB`, store to its source, before a quiet | nothing": {2, func(ctx context.Context, c cell) error {
		if c.PE() == 0 {
			v := []int64{1}
			c.data.PutNB(1, v)
			v[0] = 2
		}
		if err := c.Barrier(ctx); err != nil || c.PE() == 0 {
			return err
		}
		return fails(c.word.Get(1), 1)
	}},
	"`GetNB`, atomic set, with no quiet between | wait, local store": {2, func(ctx context.Context, c cell) error {
		if c.PE() == 1 {
			_, err := c.flag.WaitUntil(ctx, pgas.EQ, 1)
			*c.word.Local() = 2
			return err
		}
		got := []int64{7}
		c.data.GetNB(1, got)
		c.flag.Set(1, 1)
		c.MustQuiet()
		return fails(got[0], 0)
	}},
	"`PutNotifyNB`, store to its source, before a quiet | nothing": {2, func(ctx context.Context, c cell) error {
		if c.PE() == 0 {
			v := []int64{1}
			c.data.PutNotifyNB(1, v, 1)
			v[0] = 2
			return nil
		}
		r := notify.New(c.World, notify.Any, 1, 1)
		defer r.Free()
		r.Start()
		if _, err := r.Wait(ctx); err != nil {
			return err
		}
		return fails(c.word.Get(1), 1)
	}},
	"`PutSignalNB`, store to its source, before a quiet | nothing": {2, sourceStored(func(c cell, v []int64) {
		c.data.PutSignalNB(1, v[:1], c.sig, 1)
	})},
	"`IPutNB`, store to its source, before a quiet | nothing": {2, sourceStored(func(c cell, v []int64) {
		c.data.IPutNB(1, v, 2, 1, 2)
	})},
	"`PutNB`, store to its source that it is to put | nothing": {2, func(ctx context.Context, c cell) error {
		if c.PE() == 0 {
			v := []int64{1}
			c.data.PutNB(1, v)
			v[0] = 2
		}
		if err := c.Barrier(ctx); err != nil || c.PE() == 0 {
			return err
		}
		return fails(c.word.Get(1), 2)
	}},
	"`GetNB`, atomic set, wait, quiet | wait, local store that it is to get, atomic set": {2, func(ctx context.Context, c cell) error {
		if c.PE() == 1 {
			_, err := c.flag.WaitUntil(ctx, pgas.EQ, 1)
			*c.word.Local() = 2
			c.flag.Set(0, 1)
			return err
		}
		got := []int64{7}
		c.data.GetNB(1, got)
		c.flag.Set(1, 1)
		if _, err := c.flag.WaitUntil(ctx, pgas.EQ, 1); err != nil {
			return err
		}
		c.MustQuiet()
		return fails(got[0], 2)
	}},
	"put, fetch-add of a word | fetch-add of that word, put": {2, func(ctx context.Context, c cell) error {
		if c.PE() == 0 {
			c.word.Put(1, 1)
			c.flag.FetchAdd(0, 1)
		} else {
			c.flag.FetchAdd(0, 1)
			c.word.Put(1, 2)
		}
		if err := c.Barrier(ctx); err != nil || c.PE() == 0 {
			return err
		}
		return fails(c.word.Get(1), 2)
	}},
}

// sourceStored is a program in which PE 0 puts, and stores to the source before a quiet.
func sourceStored(put func(c cell, v []int64)) func(ctx context.Context, c cell) error {
	return func(ctx context.Context, c cell) error {
		if c.PE() == 0 {
			v := []int64{1, 1}
			put(c, v)
			v[0] = 2
		}
		if err := c.Barrier(ctx); err != nil || c.PE() == 0 {
			return err
		}
		return fails(c.word.Get(1), 1)
	}
}

// TestFound runs the program of each row that names another detector, and the detector finds it.
func TestFound(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many jobs")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := rowsOf(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		names := named(row.because)
		p, ok := found[row.name]
		if !ok {
			if len(names) > 0 {
				t.Errorf("the page says that %v find %q: there is no program of it", names, row.name)
			}
			continue
		}
		for _, d := range detectors {
			if !slices.Contains(names, d.name) {
				continue
			}
			t.Run(row.name+" "+d.name, func(t *testing.T) {
				err := d.find(t.Context(), p.pes, func(ctx context.Context, w *pgas.World) error {
					c, err := newCell(ctx, w)
					if err != nil {
						return err
					}
					return p.body(ctx, c)
				})
				if !errors.Is(err, errFound) && (err == nil || !strings.Contains(err.Error(), errFound.Error())) {
					t.Errorf("not found: %v", err)
				}
			})
		}
	}
}

func newCell(ctx context.Context, w *pgas.World) (cell, error) {
	data, err := pgas.Alloc[int64](ctx, w, 16)
	if err != nil {
		return cell{}, err
	}
	flags, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return cell{}, err
	}
	signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	return cell{w, data.At(0), data.At(1), pgas.AtomicOf(flags, 0), pgas.SignalOf(signals, 0), data.All(), data}, err
}
