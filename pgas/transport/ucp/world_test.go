//go:build cgo

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

// Lanes are the sets of UCX transports that the tests run over.
var Lanes = []string{"tcp", "posix,self", "sysv,self"}

// World is a job whose PEs are in this process, each on a host of its own.
type World struct {
	Jobs       []*boot.Job
	Transports []*Transport
}

// Heap is the memory behind a PE's heap.
func (w *World) Heap(pe int) []byte { return w.Jobs[pe].Segment.Heap(0) }

// NewWorld starts the transports of npes PEs in this process, and closes them with the test.
func NewWorld(t testing.TB, npes int, settings Settings) *World {
	t.Helper()
	w := &World{Transports: make([]*Transport, npes)}
	exchange := newTable(npes)
	var hosts []boot.Host
	for pe := range npes {
		hosts = append(hosts, boot.Host{Name: "h" + string(rune('0'+pe)), First: pe, PEs: 1})
	}
	for pe := range npes {
		seg := boot.NewSegment(1, 2, 8<<20)
		seg.Header.First = uint32(pe)
		w.Jobs = append(w.Jobs, &boot.Job{ID: "test", PE: pe, NPEs: npes, Hosts: hosts, HostIndex: pe, Segment: seg, Exchange: exchange, Secret: []byte("secret of a test"), Launched: true})
	}
	var wg sync.WaitGroup
	for pe := range npes {
		wg.Go(func() {
			tr, err := Open(context.Background(), w.Jobs[pe], settings)
			if err != nil {
				t.Error(err)
				return
			}
			w.Transports[pe] = tr
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, tr := range w.Transports {
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return w
}

func (w *World) channel(t testing.TB, pe int, private bool) transport.Channel {
	t.Helper()
	c, err := w.Transports[pe].Channel(private)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
