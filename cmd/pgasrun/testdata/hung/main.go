// Command hung never ends. Its argument says why:
//
//	late    the last PE computes for ever, the others wait for it in a barrier
//	asleep  the same, but it sleeps
//	locks   each PE has a lock and waits for that of the next
//	held    the last PE waits for a lock that PE 0 has, which waits with the others in a barrier
//	word    the last PE waits for a word that nobody sets, the others wait for it in a barrier
//	helped  each PE waits for a word that nobody sets; goroutines of all have served each other meanwhile, and have ended
//
// Or it ends, after the last PE has kept the others waiting in many ways. Each lasts until there is a file of its
// number in a directory:
//
//	slow DIR
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

func main() { pgas.Main(body) }

// table has a lock for each PE, all of them on PE 0.
const table = 64

func body(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[uint64](ctx, w, 2)
	if err != nil {
		return err
	}
	locks, err := pgas.Alloc[pgas.Lock](ctx, w, table)
	if err != nil {
		return err
	}
	if len(os.Args) < 2 {
		return fmt.Errorf("say how: late, asleep, locks, held, word, helped or slow")
	}
	fmt.Printf("PE %d has begun <b>%s</b>\n", w.PE(), os.Args[1])
	last := w.PE() == w.NPEs()-1
	switch {
	case os.Args[1] == "late" && last:
		for ctx.Err() == nil {
		}
	case os.Args[1] == "asleep" && last:
		<-ctx.Done()
	case os.Args[1] == "word" && last:
		_, err = pgas.AtomicOf(words, 0).WaitUntil(ctx, pgas.EQ, 1)
	case os.Args[1] == "locks":
		err = cross(ctx, w, locks)
	case os.Args[1] == "held":
		err = hold(ctx, w, locks)
	case os.Args[1] == "helped":
		err = helped(ctx, w, words)
	case os.Args[1] == "slow":
		err = slow(ctx, w, words)
	}
	if err != nil {
		return err
	}
	return w.Barrier(ctx)
}

// cross takes this PE's lock, and when all have theirs, that of the next PE.
func cross(ctx context.Context, w *pgas.World, locks pgas.Sym[pgas.Lock]) error {
	if err := pgas.LockOf(locks, w.PE()%table).Lock(ctx); err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	return pgas.LockOf(locks, (w.PE()+1)%w.NPEs()%table).Lock(ctx)
}

// hold has PE 0 take a lock, and the last PE wait for it.
func hold(ctx context.Context, w *pgas.World, locks pgas.Sym[pgas.Lock]) error {
	if w.PE() == 0 {
		if err := pgas.LockOf(locks, 0).Lock(ctx); err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == w.NPEs()-1 {
		return pgas.LockOf(locks, 0).Lock(ctx)
	}
	return nil
}

// helped has a goroutine of each PE wait some times for the PE before it, while another one waits for a word that
// nobody sets.
func helped(ctx context.Context, w *pgas.World, words pgas.Sym[uint64]) error {
	const rounds = 2
	turn := pgas.AtomicOf(words, 1)
	g := w.Go(ctx, func(ctx context.Context) error {
		for r := uint64(1); ; r++ {
			if _, err := turn.WaitUntil(ctx, pgas.GE, r); err != nil || r == rounds {
				return err
			}
		}
	})
	g.Go(func(ctx context.Context) error {
		for range rounds {
			time.Sleep(400 * time.Millisecond)
			turn.Add((w.PE()+1)%w.NPEs(), 1)
		}
		return nil
	})
	_, err := pgas.AtomicOf(words, 0).WaitUntil(ctx, pgas.EQ, 1)
	return err
}

// slow has the last PE keep the others waiting: it sleeps, computes, waits for a channel, a process of its own, and for
// what ends by itself, and it waits in vain itself while another of its goroutines sleeps.
func slow(ctx context.Context, w *pgas.World, words pgas.Sym[uint64]) error {
	const moment = 10 * time.Millisecond
	never := pgas.AtomicOf(words, 0)
	for i, wait := range []func(over func() bool, file string){
		func(over func() bool, _ string) {
			for !over() {
				time.Sleep(moment)
			}
		},
		func(over func() bool, _ string) {
			for !over() {
				w.Sleep(ctx, moment)
			}
		},
		func(over func() bool, _ string) {
			for !over() {
				<-time.After(moment)
			}
		},
		func(_ func() bool, file string) {
			exec.Command("sh", "-c", `until [ -e "$0" ]; do sleep 0.01; done`, file).Run()
		},
		func(over func() bool, _ string) {
			for !over() {
			}
		},
		func(over func() bool, _ string) {
			for !over() {
				const second = time.Second // a report takes less
				ctx, cancel := context.WithTimeout(ctx, second)
				never.WaitUntil(ctx, pgas.EQ, 1)
				cancel()
			}
		},
		func(over func() bool, _ string) {
			ctx, cancel := context.WithCancel(ctx)
			go func() {
				for !over() {
					time.Sleep(moment)
				}
				cancel()
			}()
			never.WaitUntil(ctx, pgas.EQ, 1)
		},
	} {
		if w.PE() == w.NPEs()-1 {
			file := filepath.Join(os.Args[2], fmt.Sprint(i))
			fmt.Println("ready", i)
			wait(func() bool { _, err := os.Stat(file); return err == nil }, file)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}
