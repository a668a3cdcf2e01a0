package arena_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/arena"
	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// kept is a record of a saved arena, and what it must hold.
type kept struct {
	H      arena.Bytes
	Number uint64
	Len    int
}

// loads compares the record.
func (k kept) loads(a *arena.Arena) error {
	return check(a, stored{k.H, content(k.Number, k.Len)})
}

// savedArena restores an arena of so many bytes and the records that this PE has stored, calls f, and saves.
func savedArena(t *testing.T, store ckpt.Store, pes, bytes int, f func(w *pgas.World, a *arena.Arena, all *[]kept) error) error {
	return pgastest.Goroutines(t.Context(), pes, pgastest.Options{Check: true}, func(ctx context.Context, w *pgas.World) error {
		a, err := arena.New(ctx, w, bytes)
		if err != nil {
			return err
		}
		if _, err := a.StoreString((w.PE()+1)%pes, "from before Restore"); err != nil {
			return err
		}
		if err := a.Reset(ctx); err != nil {
			return err
		}
		var all []kept
		set := ckpt.New(w, ckpt.In(store))
		set.Add("records", a)
		set.Add("handles", ckpt.Value(&all))
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		if err := f(w, a, &all); err != nil {
			return err
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		return set.Save(ctx)
	})
}

// TestSaved: records are restored under their handles, also in a larger arena and one that was reset, and are stored
// and freed beside others.
func TestSaved(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	for job := range 4 {
		err := savedArena(t, store, 3, 1<<18<<job, func(w *pgas.World, a *arena.Arena, all *[]kept) error {
			r := rand.New(rand.NewPCG(uint64(job), uint64(w.PE())))
			if job > 0 != (len(*all) > 0) {
				return fmt.Errorf("%d records", len(*all))
			}
			for range 300 {
				if n := len(*all); n > 0 && r.IntN(5) < 2 {
					i := r.IntN(n)
					if err := (*all)[i].loads(a); err != nil {
						return err
					}
					arena.Free(a, (*all)[i].H)
					*all = slices.Delete(*all, i, i+1)
					continue
				}
				k := kept{Number: r.Uint64(), Len: lengths[r.IntN(len(lengths)-5)]}
				var err error
				if k.H, err = arena.Store(a, r.IntN(w.NPEs()), content(k.Number, k.Len)); err != nil {
					return err
				}
				*all = append(*all, k)
			}
			for _, k := range *all {
				if err := k.loads(a); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("job %d: %v", job, err)
		}
	}
}

// TestNotRestored: an arena of other PEs, and one without room, is refused in one line.
func TestNotRestored(t *testing.T) {
	for want, on := range map[string]struct{ pes, bytes int }{
		"it is restored on as many PEs as have saved it: start the job with 3 PEs, and not with 2":        {2, 1 << 16},
		"it has 1024 bytes for each PE, and was saved with 10240 in use: give arena.New as many at least": {3, 1024},
	} {
		store := ckpt.Dir(t.TempDir())
		err := savedArena(t, store, 3, 1<<16, func(w *pgas.World, a *arena.Arena, _ *[]kept) error {
			_, err := arena.Store(a, w.PE(), content(1, 9000))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = savedArena(t, store, on.pes, on.bytes, func(*pgas.World, *arena.Arena, *[]kept) error {
			return errors.New("it was restored")
		})
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want one line with %q", err, want)
		}
	}
}
