package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
)

// bench prints how long an Append of a small record and a Sync take on PE 0, beside a put of as many bytes to the same
// PE and a Quiet. The two take turns.
func bench(ctx context.Context, w *pgas.World, n int) error {
	type record [2]uint64
	set := ckpt.New(w)
	log := ckpt.NewJournal(set, "records", 64*n, func(record) error { return nil })
	plain, err := pgas.Alloc[byte](ctx, w, 64)
	if err != nil {
		return err
	}
	if _, _, err := set.Restore(ctx); err != nil {
		return err
	}
	if err := set.Save(ctx); err != nil {
		return err
	}
	var syncs, puts []time.Duration
	buddy, bytes := w.NPEs()/2, make([]byte, 40) // as many as a record takes
	for i := 0; i < n && w.PE() == 0; i++ {
		start := time.Now()
		if err := log.Append(record{uint64(i)}); err != nil {
			return err
		}
		if err := log.Sync(ctx); err != nil {
			return err
		}
		between := time.Now()
		plain.Range(0, len(bytes)).Put(buddy, bytes)
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		syncs, puts = append(syncs, between.Sub(start)), append(puts, time.Since(between))
	}
	if w.PE() == 0 {
		slices.Sort(syncs)
		slices.Sort(puts)
		fmt.Printf("Append and Sync %v, put and Quiet %v: %.2f\n", syncs[n/2], puts[n/2], float64(syncs[n/2])/float64(puts[n/2]))
	}
	return w.Barrier(ctx)
}
