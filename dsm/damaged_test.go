package dsm

// Notices that no fence has made: from a file, from a program's own message, or from a PE that is damaged.

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// FuzzNotice: what NoticeOf accepts can be acquired, and its Bytes are accepted again and stay what they are. Nothing
// panics.
func FuzzNotice(f *testing.F) {
	add := func(words ...uint64) {
		var b []byte
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		f.Add(b)
	}
	add()
	add(0, 0)
	add(3, 1, 2<<32|1, 7)
	add(3, 2, 2<<32|1, 7, 2<<32, 9) // a block twice
	add(3, 2, 2<<32|1, 7)           // one is missing
	add(3, 1<<63, 0, 0)
	add(protocol.Closed, 0)
	add(0, 1, 1<<63, 1)
	add(0, 1, 99<<32, 1)
	add(0, 1, 2, 1)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &Region{o: Options{Notices: 4}, n: 2}
		r.fences.N, r.fences.Blocks = r.n, 8
		n, err := r.NoticeOf(b)
		if err != nil {
			return
		}
		for _, one := range n.s.List {
			if one.Block < 0 || one.Block >= r.fences.Blocks || one.PE < 0 || int(one.PE) >= r.n || one.WTS >= protocol.Closed {
				t.Fatalf("%+v was accepted", one)
			}
		}
		again, err := r.NoticeOf(n.Bytes())
		if err != nil || !bytes.Equal(again.Bytes(), n.Bytes()) {
			t.Fatalf("%v became %v: %v", n, again, err)
		}
		r.fences.SetCache(newSoft(64, int(r.fences.Blocks), r.n, plainTwins{64, make([]byte, 64*r.fences.Blocks)}))
		r.fences.AcquireNotices(n.s)
	})
}

// A barrier whose message has blocks or PEs that there are not, or no end, ends with an error that names the sender.
func TestDamagedMessage(t *testing.T) {
	for name, message := range map[string][]uint64{
		"block": {0, 1, 99 << 32, 1}, "negative block": {0, 1, 1 << 63, 1}, "PE": {0, 1, 2, 1}, "count": {0, 1 << 40}, "time": {protocol.Closed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
				r, err := Open(ctx, w, Options{Bytes: 1 << 12, Block: 1 << 9, Mode: Soft})
				if err != nil {
					return err
				}
				if w.PE() == 0 {
					x := r.fences.Exchanger.(*protocol.Dissemination)
					at := x.Rounds // of round 0 of the first barrier
					x.Slots.Range(at*x.Length, at*x.Length+len(message)).PutSignal(1, message, x.Arrive.At(at), 1)
					return w.Quiet(ctx)
				}
				err = r.Barrier(ctx)
				if err == nil || !strings.Contains(err.Error(), "no write notices") || !strings.Contains(err.Error(), "PE 0 has sent them") {
					return fmt.Errorf("the barrier ended with %v", err)
				}
				return nil
			})
		})
	}
}
