//go:build cgo

package ucx

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// apply is what an atomic does, said once more.
func apply(op AtomicOp, word, operand, compare uint64) uint64 {
	switch op {
	case AtomicAdd:
		return word + operand
	case AtomicAnd:
		return word & operand
	case AtomicOr:
		return word | operand
	case AtomicXor:
		return word ^ operand
	case AtomicCompareSwap:
		if word != compare {
			return word
		}
	}
	return operand
}

func TestAtomics(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 4096)
		for op := range numAtomicOps {
			for _, bytes := range []int{4, 8} {
				for _, fetch := range []bool{true, false} {
					for _, hit := range []bool{true, false} {
						name := fmt.Sprintf("%v/%d/fetch=%v/hit=%v", op, bytes, fetch, hit)
						t.Run(name, func(t *testing.T) { oneAtomic(t, p, op, bytes, fetch, hit) })
					}
				}
			}
		}
	})
}

// oneAtomic applies op to a word between two others, at each offset of a cache line that a word of its
// size can have.
func oneAtomic(t *testing.T, p *pair, op AtomicOp, bytes int, fetch, hit bool) {
	mask := ^uint64(0) >> (64 - 8*bytes)
	for off := 64; off < 128; off += bytes {
		word, operand := uint64(0xfedcba9876543210)&mask, uint64(0xf0f0f0f0f1f2f3f4)&mask
		compare := word
		if !hit {
			compare = word - 1
		}
		heap := p.mem.Bytes()
		for i := range heap[:192] {
			heap[i] = 0xa5
		}
		store(heap[off:], bytes, word)
		remote := p.mem.Addr() + uint64(off)
		if fetch {
			r, err := p.ep.FetchAtomic(op, bytes, operand, compare, remote, p.key)
			if old := p.wait(t, r, err); old != word {
				t.Fatalf("old value is %#x, want %#x", old, word)
			}
		} else if err := p.ep.PostAtomic(op, bytes, operand, compare, remote, p.key); err != nil {
			t.Fatal(err)
		}
		p.flush(t)
		want := apply(op, word, operand, compare) & mask
		if got := load(heap[off:], bytes); got != want {
			t.Fatalf("word at %d is %#x, want %#x", off, got, want)
		}
		if heap[off-1] != 0xa5 || heap[off+bytes] != 0xa5 {
			t.Fatal("a neighbour of the word changed")
		}
	}
}

func store(b []byte, bytes int, v uint64) {
	if bytes == 4 {
		binary.NativeEndian.PutUint32(b, uint32(v))
	} else {
		binary.NativeEndian.PutUint64(b, v)
	}
}

func load(b []byte, bytes int) uint64 {
	if bytes == 4 {
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

// Every fetching add of several workers gets a value of its own.
func TestFetchAddIsAtomic(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		const workers, adds = 2, 300
		p := newPair(t, tls, 64)
		got := make(chan uint64, workers*adds)
		failed := make(chan error, workers)
		for range workers {
			w := openWorker(t, p.origin.Context(), WorkerParams{})
			ep := openEndpoint(t, w, p.target, p.params)
			key, err := ep.UnpackKey(mustKey(t, p.mem))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(key.Close)
			go func() { failed <- fetchAdds(p, ep, key, adds, got) }()
		}
		for range workers {
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
		}
		seen := map[uint64]bool{}
		for range workers * adds {
			seen[<-got] = true
		}
		if len(seen) != workers*adds || !seen[0] || !seen[workers*adds-1] {
			t.Fatalf("%d different values of %d", len(seen), workers*adds)
		}
	})
}

func fetchAdds(p *pair, ep *Endpoint, key *RKey, n int, got chan<- uint64) error {
	for range n {
		r, err := ep.FetchAtomic(AtomicAdd, 8, 1, 0, p.mem.Addr(), key)
		if err == nil {
			err = r.Wait(p.ctx)
		}
		if err != nil {
			return err
		}
		got <- r.Value()
	}
	return nil
}
