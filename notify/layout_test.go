package notify

import (
	"context"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestLayout: what the target of a notification reads is one line of the request and one of the matcher,
// which begin where lines do.
func TestLayout(t *testing.T) {
	const line = 64
	if n := unsafe.Sizeof(Request{}); n != line {
		t.Errorf("a Request has %d bytes, not %d", n, line)
	}
	if n := unsafe.Offsetof(matcher{}.more); n != line {
		t.Errorf("what a notification needs of the matcher has %d bytes, not %d", n, line)
	}
	if n := unsafe.Sizeof(matcher{}); n != 2*line {
		t.Errorf("the matcher has %d bytes, not %d", n, 2*line)
	}
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(_ context.Context, w *pgas.World) error {
		for range 100 {
			r := New(w, Any, Any, 1)
			if at := uintptr(unsafe.Pointer(r)); at%line != 0 {
				t.Fatalf("a request begins %d bytes into a line", at%line)
			}
			if at := uintptr(unsafe.Pointer(r.m)); at%line != 0 {
				t.Fatalf("the matcher begins %d bytes into a line", at%line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoAllocations: nothing allocates once a request is made.
func TestNoAllocations(t *testing.T) {
	t.Setenv("PGAS_RACE", "plain") // strands allocate
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 64)
		if err != nil || w.PE() > 0 {
			return err
		}
		r, all, buf := New(w, 0, 1, 1), mem.All(), make([]int64, 64)
		other := New(w, Any, 2, 3)
		word := pgas.AtomicOf(mem, 0)
		var one int64
		for _, op := range []struct {
			name string
			run  func()
		}{
			{"put inside of its note", func() { mem.At(1).PutNotify(0, &one, 1) }},
			{"put", func() { all.PutNotify(0, buf, 1) }},
			{"put, non-blocking", func() { all.PutNotifyNB(0, buf, 1).Done() }},
			{"get", func() { all.GetNotify(0, buf, 1) }},
			{"get, non-blocking", func() { all.GetNotifyNB(0, buf, 1) }},
			{"get of an element", func() { mem.At(1).GetNotify(0, 1) }},
			{"no data", func() { w.Notify(0, 1) }},
			{"atomic", func() { word.Notify(1).Inc(0) }},
			{"atomic that fetches", func() { word.Notify(1).FetchAdd(0, 1) }},
			{"started first", func() { r.Start(); w.Notify(0, 1); r.Test(); r.Start(); w.Notify(0, 1) }},
			{"probe", func() { w.Notify(0, 1); Probe(w, 0, 1) }},
			{"any of two", func() { w.Notify(0, 1); r.Start(); TestAny(r, other); r.Start(); w.Notify(0, 1) }},
		} {
			n := testing.AllocsPerRun(100, func() {
				op.run()
				if r.state != active {
					r.Start()
				}
				if _, err := r.Wait(ctx); err != nil {
					t.Error(err)
				}
			})
			if n != 0 {
				t.Errorf("%s: %v allocations", op.name, n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzKey: a key fits what it was made of, and with Any whatever else has the same other half.
func FuzzKey(f *testing.F) {
	f.Add(uint32(3), uint32(7), uint32(3), uint32(8))
	f.Add(uint32(0), uint32(MaxTag), uint32(1<<31-1), uint32(0))
	f.Fuzz(func(t *testing.T, source, tag, source2, tag2 uint32) {
		source, tag, source2, tag2 = source>>1, tag>>1, source2>>1, tag2>>1 // PEs and tags are not negative
		s := stampOf(int(source2), int(tag2))
		if s.Source() != int(source2) || s.Tag() != tag2 {
			t.Fatalf("the stamp of %d, %d is that of %d, %d", source2, tag2, s.Source(), s.Tag())
		}
		for _, c := range []struct {
			key  key
			fits bool
		}{
			{keyOf(int(source), int(tag)), source == source2 && tag == tag2},
			{keyOf(Any, int(tag)), tag == tag2},
			{keyOf(int(source), Any), source == source2},
			{keyOf(Any, Any), true},
		} {
			if got := c.key.fits(s); got != c.fits {
				t.Fatalf("key %#x and the stamp of source %d, tag %d: fits is %v", c.key, source2, tag2, got)
			}
		}
	})
}

// stampOf returns a stamp as an access makes it.
func stampOf(source, tag int) pgas.NoteID { return pgas.NoteID(keyOf(source, tag)) }

// TestManyRequests: requests beyond those in the matcher's first line keep their order when any goes.
func TestManyRequests(t *testing.T) {
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(_ context.Context, w *pgas.World) error {
		rng := rand.New(rand.NewPCG(1, 1))
		var want []*Request
		m := matcherOf(w)
		for range 5000 {
			if len(want) < 10 && rng.IntN(2) == 0 || len(want) == 0 {
				r := New(w, Any, Any, 1)
				r.Start()
				want = append(want, r)
			} else {
				i := rng.IntN(len(want))
				want[i].Cancel()
				want = append(want[:i:i], want[i+1:]...)
			}
			if int(m.active) != len(want) {
				t.Fatalf("%d requests are active, want %d", m.active, len(want))
			}
			for i, r := range want {
				if m.at(int32(i)) != r || i < inLine && m.oldestOnes[i].key != r.key {
					t.Fatalf("request %d of %d is another", i, len(want))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
