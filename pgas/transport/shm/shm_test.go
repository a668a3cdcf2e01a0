package shm_test

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
	"github.com/gopgas/gopgas/pgas/transport/transporttest"
)

var _ [transporttest.DataOff - shm.NoteQueueEnd]byte // the suite's data do not overlap the queue of notes

func TestConformance(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, npes int) *transporttest.Rig {
		seg := boot.NewSegment(npes, npes, transporttest.HeapBytes)
		r := &transporttest.Rig{Words: shm.Load}
		for i := range npes {
			r.PEs = append(r.PEs, shm.Open(seg))
			r.Heaps = append(r.Heaps, seg.Heap(i))
		}
		r.Take = func(pe int, n *transport.Note) bool { return r.PEs[pe].(*shm.Transport).NoteQueue(pe).TakeOne(n) }
		return r
	})
}

func TestHeapOfAnotherHost(t *testing.T) {
	tr := shm.Open(boot.NewSegment(2, 2, 1<<20))
	if tr.Heap(2) != nil || tr.Heap(-1) != nil {
		t.Fatal("the heap of a PE of another host is mapped")
	}
	ch, err := tr.Channel(true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Fatal("a put to another host was accepted")
		}
	}()
	ch.Put(2, 0, []byte{1})
}

var _ transport.Transport = (*shm.Transport)(nil)
