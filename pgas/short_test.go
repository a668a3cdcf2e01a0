package pgas_test

// Waits for words of 16 bits.

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestShortWaits: a token goes round with data before it, in signed and unsigned words that share 4 bytes.
func TestShortWaits(t *testing.T) {
	onEvery(t, 3, func(ctx context.Context, w *pgas.World) error {
		if err := passShorts[int16](ctx, w, -7); err != nil {
			return err
		}
		return passShorts[uint16](ctx, w, 0xfff0)
	})
}

func passShorts[W pgas.ShortWord](ctx context.Context, w *pgas.World, first W) error {
	words, err := pgas.Alloc[W](ctx, w, 3) // not all of the last 4 bytes
	if err != nil {
		return err
	}
	data, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	next := (w.PE() + 1) % w.NPEs()
	for i := range words.Len() {
		word := pgas.ShortOf(words, i)
		want := first + W(i)
		send := func() {
			data.At(0).Put(next, int64(want)+5)
			w.Fence()
			word.Put(next, want)
		}
		if w.PE() == 0 {
			send()
		}
		if got, err := word.WaitUntil(ctx, pgas.NE, 0); err != nil || got != want {
			return fmt.Errorf("word %d: got %d, want %d: %w", i, got, want, err)
		}
		if got := *data.At(0).Local(); got != int64(want)+5 {
			return fmt.Errorf("word %d has come before its data, which is %d", i, got)
		}
		if w.PE() != 0 {
			send()
		}
		if !word.Test(pgas.EQ, want) || word.Test(pgas.GT, want) || !word.Test(pgas.LT, want+1) {
			return fmt.Errorf("%d compares wrongly", want)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	var zero W
	if signed := zero-1 < zero; first+1 > first && signed != pgas.ShortOf(words, 0).Test(pgas.LT, 1) {
		return fmt.Errorf("%d is compared with the wrong sign", first)
	}
	return errors.Join(words.Free(ctx), data.Free(ctx))
}

// TestShortWaitNoticesPlainPuts: a sleeping waiter notices puts that ring no doorbell; and a wait ends with its
// context.
func TestShortWaitNoticesPlainPuts(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int16](ctx, w, 2)
		if err != nil {
			return err
		}
		word := pgas.ShortOf(words, 1)
		short, cancel := w.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		if _, err := word.WaitUntil(short, pgas.EQ, -3); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the wait ended with %v", err)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			if err := w.Sleep(ctx, 30*time.Millisecond); err != nil {
				return err
			}
			words.At(1).Put(1, -3)
			if err := w.Quiet(ctx); err != nil {
				return err
			}
		} else if got, err := word.WaitUntil(ctx, pgas.LT, 0); err != nil || got != -3 {
			return fmt.Errorf("woken with %d, %w", got, err)
		}
		return w.Barrier(ctx)
	}
	pgastest.RunProcesses(t, 2, body)
	pgastest.RunProcesses(t, 2, body, "PGAS_CHECK=0")
	pgastest.RunHosts(t, 2, 2, body)
	pgastest.RunSim(t, 2, body)
}
