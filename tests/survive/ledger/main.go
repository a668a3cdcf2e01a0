// Ledger executes operations, and prints the number of each when it is on two hosts. In the end it prints the numbers
// of all operations that it has executed, and still knows of.
package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
)

func main() {
	syncs := flag.Int("bench", 0, "how many Syncs to time, instead of the rounds")
	flag.Parse()
	pgas.Survive(func(ctx context.Context, w *pgas.World) error {
		if *syncs > 0 {
			return bench(ctx, w, *syncs)
		}
		return run(ctx, w)
	})
}

func run(ctx context.Context, w *pgas.World) error {
	const rounds = 1500
	set, round := ckpt.New(w), 0
	var done []string
	set.Add("round", ckpt.Shared(&round))
	set.Add("done", ckpt.Values(&done))
	log := ckpt.NewJournal(set, "operations", 4<<10, func(op string) error {
		done = append(done, op)
		return nil
	})
	_, ok, err := set.Restore(ctx)
	if err == nil && !ok {
		err = set.Save(ctx)
	}
	for ; err == nil && round < rounds; round++ {
		first := len(done)
		for i := range 1 + (round+w.PE())%3 {
			op := fmt.Sprintf("%d.%d.%d.%d", set.Term(), w.PE(), round, i)
			if err := log.Append(op); err != nil {
				return err
			}
			done = append(done, op)
		}
		if err := log.Sync(ctx); err != nil {
			return err
		}
		fmt.Println("kept", done[first:])
		_, err = set.SaveIfDue(ctx)
	}
	if err != nil {
		return err
	}
	all, err := pgas.AllGather(ctx, w.Team(), []byte(strings.Join(done, " ")+" "))
	if err != nil || w.PE() != 0 {
		return err
	}
	fmt.Println("the end")
	for ops := range slices.Chunk(strings.Fields(string(slices.Concat(all...))), 100) {
		fmt.Println("has", ops)
	}
	return nil
}
