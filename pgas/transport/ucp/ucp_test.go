package ucp

import (
	"context"
	"sync"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// table is an Exchange for PEs of one process.
type table struct {
	mu      sync.Mutex
	cond    *sync.Cond
	npes    int
	arrived int
	values  map[string][]byte
}

func newTable(npes int) *table {
	t := &table{npes: npes, values: map[string][]byte{}}
	t.cond = sync.NewCond(&t.mu)
	return t
}

func (t *table) Put(_ context.Context, key string, value []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.values[key] = value
	t.cond.Broadcast()
	return nil
}

func (t *table) Fence(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arrived++
	t.cond.Broadcast()
	for round := (t.arrived + t.npes - 1) / t.npes; t.arrived < round*t.npes; {
		t.cond.Wait()
	}
	return nil
}

func (t *table) Get(_ context.Context, key string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.values[key] == nil {
		t.cond.Wait()
	}
	return t.values[key], nil
}

func (t *table) Close() error { return nil }

// world is a job whose PEs are in this process, each on a host of its own.
type world struct {
	jobs []*boot.Job
	ts   []*Transport
}

func (w *world) heap(pe int) []byte { return w.jobs[pe].Segment.Heap(0) }

func newWorld(t testing.TB, npes int, settings Settings) *world {
	t.Helper()
	w := &world{ts: make([]*Transport, npes)}
	exchange := newTable(npes)
	var hosts []boot.Host
	for pe := range npes {
		hosts = append(hosts, boot.Host{Name: "h" + string(rune('0'+pe)), First: pe, PEs: 1})
	}
	for pe := range npes {
		seg := boot.NewSegment(1, 2, 8<<20)
		seg.Header.First = uint32(pe)
		w.jobs = append(w.jobs, &boot.Job{ID: "test", PE: pe, NPEs: npes, Hosts: hosts, Here: pe, Segment: seg, Exchange: exchange, Launched: true})
	}
	var wg sync.WaitGroup
	for pe := range npes {
		wg.Go(func() {
			tr, err := Open(context.Background(), w.jobs[pe], settings)
			if err != nil {
				t.Error(err)
				return
			}
			w.ts[pe] = tr
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, tr := range w.ts {
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return w
}

func (w *world) channel(t testing.TB, pe int, private bool) transport.Channel {
	t.Helper()
	c, err := w.ts[pe].Channel(private)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFirst(t *testing.T) {
	t.Setenv("UCX_TLS", "tcp")
	w := newWorld(t, 2, Settings{})
	c := w.channel(t, 0, false)
	c.Put(1, 4096, []byte("hello, world"))
	if err := c.Quiet(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	if got := string(w.heap(1)[4096:4108]); got != "hello, world" {
		t.Fatal(got)
	}
	old, err := c.Atomic(t.Context(), 1, transport.Add, transport.Word{Off: 64, Bytes: 8}, 5, 0)
	if err != nil || old != 0 {
		t.Fatal(old, err)
	}
	old, err = c.Atomic(t.Context(), 1, transport.Add, transport.Word{Off: 64, Bytes: 8}, 5, 0)
	if err != nil || old != 5 {
		t.Fatal(old, err)
	}
	dst := make([]byte, 12)
	if err := c.Get(t.Context(), 1, dst, 4096); err != nil || string(dst) != "hello, world" {
		t.Fatal(string(dst), err)
	}
}
