// Command counted has each PE put seven words to the next one, and wait for all. With the argument "killed", the last
// PE gets a SIGKILL while it waits. With "input", all wait for PE 0 then, which waits for the end of its standard
// input.
package main

import (
	"context"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

func main() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 7)
		if err != nil {
			return err
		}
		for i := range 7 {
			words.At(i).Put((w.PE()+1)%w.NPEs(), int64(i))
		}
		if err := w.Barrier(ctx); err != nil || len(os.Args) == 1 {
			return err
		}
		if os.Args[1] == "input" {
			if w.PE() == 0 {
				io.Copy(io.Discard, os.Stdin)
			}
			return w.Barrier(ctx)
		}
		if w.PE() == w.NPEs()-1 {
			go killWhileItWaits()
			return w.Barrier(ctx)
		}
		return w.Sleep(ctx, time.Minute)
	})
}

// killWhileItWaits ends this process, which has no statistics of its own then.
func killWhileItWaits() {
	time.Sleep(20 * time.Millisecond)
	syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
}
