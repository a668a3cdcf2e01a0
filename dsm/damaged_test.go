package dsm

// Notices that no fence has made: from a file, from a program's own message, or from a PE that is damaged.

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// FuzzNotice: what NoticeOf accepts can be acquired, and its Bytes are accepted again and stay what they are. Nothing panics.
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
	add(closed, 0)
	add(0, 1, 1<<63, 1)
	add(0, 1, 99<<32, 1)
	add(0, 1, 2, 1)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &Region{blocks: 8, n: 2, o: Options{Notices: 4}}
		n, err := r.NoticeOf(b)
		if err != nil {
			return
		}
		for _, one := range n.s.list {
			if one.b < 0 || one.b >= r.blocks || one.pe < 0 || int(one.pe) >= r.n || one.wts >= closed {
				t.Fatalf("%+v was accepted", one)
			}
		}
		again, err := r.NoticeOf(n.Bytes())
		if err != nil || !bytes.Equal(again.Bytes(), n.Bytes()) {
			t.Fatalf("%v became %v: %v", n, again, err)
		}
		r.cache = newSoft(64, int(r.blocks), r.n, make([]byte, 64*r.blocks), nil)
		r.acquireNotices(n.s)
	})
}

// A barrier whose message has blocks or PEs that there are not, or no end, ends with an error that names the sender.
func TestDamagedMessage(t *testing.T) {
	for name, message := range map[string][]uint64{
		"block": {0, 1, 99 << 32, 1}, "negative block": {0, 1, 1 << 63, 1}, "PE": {0, 1, 2, 1}, "count": {0, 1 << 40}, "time": {closed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
				r, err := Open(ctx, w, Options{Bytes: 1 << 12, Block: 1 << 9, Mode: Soft})
				if err != nil {
					return err
				}
				if w.PE() == 0 {
					x := &r.exchanger
					at := x.rounds // of round 0 of the first barrier
					x.slots.Range(at*x.words, at*x.words+len(message)).PutSignal(1, message, x.arrive.At(at), 1)
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
