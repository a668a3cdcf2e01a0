package carriage

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// FuzzInbox reads a ring in which another process has written anything: as bytes of the ring, and as messages in frames
// that are whole. The reader ends, and what it takes is in the heap and of PEs that there are.
func FuzzInbox(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		var e encoder
		var b []byte
		for range 5 {
			m := e.record(nil, drawn(r, 1, 4, minRing))
			b = append(binary.AppendUvarint(b, uint64(len(m))), m...)
		}
		q := appendQuestion(nil, 7, &racecheck.Question{Word: 8, Bytes: 8})
		b = append(binary.AppendUvarint(b, uint64(len(q))), q...)
		a := appendAnswer(nil, 7, clockOf(1, 5))
		b = append(binary.AppendUvarint(b, uint64(len(a))), a...)
		f.Add(b, true, uint64(0))
		f.Add(b, false, uint64(len(b))&^7)
	}
	f.Fuzz(func(t *testing.T, b []byte, framed bool, tail uint64) {
		const heap = minRing
		in := &inbox{decoder: decoder{from: 1, npes: 4, heap: heap}, ring: make([]byte, minRing), tail: new(atomic.Uint64), head: new(atomic.Uint64), max: minRing / 2}
		b = b[:min(len(b), minRing/2)]
		copy(in.ring, b)
		if framed {
			binary.LittleEndian.PutUint32(in.ring, uint32(len(b)))
			binary.LittleEndian.PutUint32(in.ring[4:], sumOf(0, b))
			copy(in.ring[frameHead:], b)
			tail = frameSize(uint64(len(b)))
		}
		in.tail.Store(tail)
		in.read(func(in *inbox, message []byte) error {
			switch message[0] {
			case kindRecord:
				rec, err := in.record(message[1:])
				if err == nil && (rec.To >= 4 || rec.To < -1 || rec.From != 1 || rec.Count > 1 && (rec.Count > heap || rec.Stride < rec.Bytes || rec.Off+(rec.Count-1)*rec.Stride+rec.Bytes > heap) || rec.Off > heap) {
					t.Errorf("%+v", rec)
				}
				return err
			case kindQuestion:
				_, _, err := in.question(message[1:])
				return err
			case kindAnswer:
				_, _, err := in.answer(message[1:])
				return err
			}
			return errTorn
		})
		if len(in.messages) > minRing {
			t.Errorf("%d bytes are kept", len(in.messages))
		}
	})
}
