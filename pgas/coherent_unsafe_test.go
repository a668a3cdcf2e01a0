package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestCoherentMemory: puts and gets of memory that must not reach the transport, small and large, move the right data
// on every kind of PE. The pages of a source become inaccessible as soon as a put without a wait has returned, so that
// a transport which still read them would crash.
func TestCoherentMemory(t *testing.T) {
	pgastest.Run(t, 2, coherentTransfers)
}

// coherentWords is more than a put or a get copies at a time.
const coherentWords = 400_000

func coherentTransfers(ctx context.Context, w *pgas.World) error {
	data, err1 := pgas.Alloc[uint64](ctx, w, coherentWords)
	signals, err2 := pgas.Alloc[pgas.Signal](ctx, w, 1)
	pages, err3 := syscall.Mmap(-1, 0, 8*coherentWords, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	defer syscall.Munmap(pages)
	unregister := w.RegisterCoherent(pages)
	defer unregister()
	defer unregister()
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&pages[0])), coherentWords)
	to := 1 - w.PE()
	for round, n := range []int{1, 100, 3000, coherentWords} {
		for i, op := range coherentOps {
			for k := range n {
				words[k] = uint64(w.PE()+1)<<40 + uint64(100*round+i)<<24 + uint64(k)
			}
			if err := op(ctx, w, data.Range(0, n), words[:n], pages, signals, to); err != nil {
				return fmt.Errorf("operation %d with %d words: %w", i, n, err)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			got, from := data.Local()[:n], uint64(to+1)<<40+uint64(100*round+i)<<24
			for k, v := range got {
				if v != from+uint64(k) || words[k] != v {
					return fmt.Errorf("operation %d with %d words: word %d is %#x, and %#x got back, want %#x", i, n, k, v, words[k], from+uint64(k))
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

type coherentOp = func(ctx context.Context, w *pgas.World, s pgas.Slice[uint64], words []uint64, pages []byte, signals pgas.Sym[pgas.Signal], to int) error

// getBack fills words with what the other PE has put to this one, by a get from this PE's own heap by way of the other
// PE: each PE holds what the other has sent, so a get from the other returns the caller's own words.
func getBack(ctx context.Context, w *pgas.World, s pgas.Slice[uint64], words []uint64, get func()) error {
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	sent := slices.Clone(words)
	clear(words)
	get()
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	if !slices.Equal(words, sent) {
		return errors.New("the get did not bring what the put has sent")
	}
	copy(words, s.Local()) // for the caller, which compares the two
	return nil
}

// coherentOps put all words, and get them back in the same way.
var coherentOps = []coherentOp{
	func(ctx context.Context, w *pgas.World, s pgas.Slice[uint64], words []uint64, _ []byte, _ pgas.Sym[pgas.Signal], to int) error {
		s.Put(to, words)
		return getBack(ctx, w, s, words, func() { s.Get(to, words) })
	},
	func(ctx context.Context, w *pgas.World, s pgas.Slice[uint64], words []uint64, pages []byte, _ pgas.Sym[pgas.Signal], to int) error {
		done := s.PutNB(to, words)
		err1 := syscall.Mprotect(pages, syscall.PROT_NONE)
		err2 := errors.Join(done.Wait(ctx), w.Quiet(ctx))
		err3 := syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_WRITE)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		return getBack(ctx, w, s, words, func() { s.GetNB(to, words) })
	},
	func(ctx context.Context, w *pgas.World, s pgas.Slice[uint64], words []uint64, _ []byte, _ pgas.Sym[pgas.Signal], to int) error {
		n := len(words)
		s.IPut(to, words, 1, 1, n)
		half := (n + 1) / 2
		s.IPut(to, words, 2, 2, half)
		return getBack(ctx, w, s, words, func() {
			s.IGet(to, words, 2, 2, half)
			if n > 1 {
				s.Range(1, n).IGetNB(to, words[1:], 2, 2, n/2)
			}
		})
	},
	func(ctx context.Context, w *pgas.World, s pgas.Slice[uint64], words []uint64, _ []byte, signals pgas.Sym[pgas.Signal], to int) error {
		sig := pgas.SignalOf(signals, 0)
		before := sig.Fetch()
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		s.PutSignalAdd(to, words, sig, 1)
		if _, err := sig.WaitUntil(ctx, pgas.EQ, before+1); err != nil {
			return err
		}
		return getBack(ctx, w, s, words, func() { s.GetNotify(to, words, 0) })
	},
	func(ctx context.Context, w *pgas.World, s pgas.Slice[uint64], words []uint64, _ []byte, _ pgas.Sym[pgas.Signal], to int) error {
		s.PutNotify(to, words, 1)
		return getBack(ctx, w, s, words, func() { s.GetNotifyNB(to, words, 1) })
	},
}
