//go:build cgo

package ucp_test

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
	"github.com/gopgas/gopgas/pgas/transport/transporttest"
	"github.com/gopgas/gopgas/pgas/transport/ucp"
	"github.com/gopgas/gopgas/ucx/engine"
)

func TestConformance(t *testing.T) {
	lanes := ucp.Lanes
	if testing.Short() {
		lanes = lanes[:1]
	} else {
		conformance(t, "native", "tcp", ucp.Settings{RMA: engine.Native})
	}
	for _, tls := range lanes {
		conformance(t, tls, tls, ucp.Settings{})
	}
	conformance(t, "few connections", "tcp", ucp.Settings{Connections: 2})
	for _, tls := range lanes {
		conformance(t, "nic "+tls, tls, ucp.Settings{NICAtomics: true})
	}
}

func conformance(t *testing.T, name, tls string, settings ucp.Settings) {
	t.Run(name, func(t *testing.T) {
		t.Setenv("UCX_TLS", tls)
		transporttest.Run(t, func(t *testing.T, npes int) *transporttest.Rig {
			r := &transporttest.Rig{Words: shm.Load}
			w := ucp.NewWorld(t, npes, settings)
			rings := make([]*shm.NoteQueue, npes)
			r.Take = func(pe int, n *transport.Note) bool {
				if rings[pe] == nil {
					rings[pe] = shm.NewNoteQueue(w.Heap(pe), w.Jobs[pe].Segment.States[0])
				}
				return rings[pe].TakeOne(n) || rings[pe].Overflowed() && refill(w.Transports[pe]) && rings[pe].TakeOne(n)
			}
			for pe, tr := range w.Transports {
				r.PEs = append(r.PEs, tr)
				r.Heaps = append(r.Heaps, w.Heap(pe))
			}
			return r
		})
	})
}

func refill(t *ucp.Transport) bool {
	t.Refill()
	return true
}

var (
	_ transport.Transport  = (*ucp.Transport)(nil)
	_ transport.Progresser = (*ucp.Transport)(nil)
)
