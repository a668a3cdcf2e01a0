package containers_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
)

// savedThing is a value that is no whole number of words.
type savedThing struct {
	A int32
	B [9]byte
}

// TestDistObjectSaved: each PE has the value and the version that it had, also of a team, and publishes others. A PE
// that has published none has none.
func TestDistObjectSaved(t *testing.T) {
	for _, j := range []savedOn{{pes: 3}, {5, true}} {
		store := ckpt.Dir(t.TempDir())
		for i := range 3 {
			err := j.run(t, store, func(ctx context.Context, p *savedPE) error {
				d, err := containers.NewDistObject[savedThing](ctx, p.World, p.over...)
				if err != nil {
					return err
				}
				if p.team != nil && i > 0 {
					d.Publish(savedThing{A: -1}) // what is restored takes its place
				}
				if err := p.restore(ctx, d, i > 0); err != nil {
					return err
				}
				if p.team == nil {
					return p.save(ctx)
				}
				me := p.team.PE()
				if i == 2 {
					d.Publish(savedThing{A: int32(100 + me)})
				}
				for pe := range p.team.NPEs() {
					if i == 0 || i == 1 && pe == 1 {
						continue
					}
					want, after := savedThing{int32(pe), [9]byte{8: byte(pe)}}, uint64(pe+1)
					if i == 2 {
						want, after = savedThing{A: int32(100 + pe)}, uint64(pe+2)
						if pe == 1 {
							after = 1
						}
					}
					v, version, err := d.FetchAfter(ctx, pe, after-1)
					if err != nil || v != want || version != after {
						return fmt.Errorf("value %d is %v with version %d, want %v with %d: %v", pe, v, version, want, after, err)
					}
				}
				if i == 0 && me != 1 {
					for range me + 1 {
						d.Publish(savedThing{int32(me), [9]byte{8: byte(me)}})
					}
				}
				return p.save(ctx)
			})
			if err != nil {
				t.Fatalf("%v, job %d: %v", j, i, err)
			}
		}
	}
}

// TestDistObjectNotRestored: other numbers of PEs, other members and other types are refused.
func TestDistObjectNotRestored(t *testing.T) {
	for _, c := range []struct {
		run  func(*testing.T, ckpt.Store, savedOn, bool) error
		on   savedOn
		want string
	}{
		{savedDist[savedThing], savedOn{4, true}, "it is restored on as many PEs as have saved it: start the job with 3 PEs, and not with 4"},
		{savedDist[savedThing], savedOn{pes: 3}, "PE 1 has saved no value: its members were others"},
		{savedDist[[13]byte], savedOn{3, true}, "were saved as another type, of 16 bytes"},
	} {
		store := ckpt.Dir(t.TempDir())
		if err := savedDist[savedThing](t, store, savedOn{3, true}, false); err != nil {
			t.Fatal(err)
		}
		mustRefuse(t, c.run(t, store, c.on, true), c.want)
	}
}

// savedDist restores a DistObject, and saves it.
func savedDist[T any](t *testing.T, store ckpt.Store, j savedOn, saved bool) error {
	return j.run(t, store, func(ctx context.Context, p *savedPE) error {
		d, err := containers.NewDistObject[T](ctx, p.World, p.over...)
		if err != nil {
			return err
		}
		if err := p.restore(ctx, d, saved); err != nil {
			return err
		}
		return p.save(ctx)
	})
}
