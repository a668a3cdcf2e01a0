// Command profiled computes, waits for a mutex, and leaves its job. With a number as argument, that PE is killed
// instead; with "before" or "inside" it profiles itself, from before Main or in the body.
package main

import (
	"context"
	"io"
	"os"
	"runtime/pprof"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

func main() {
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	if mode == "before" && pprof.StartCPUProfile(io.Discard) != nil {
		os.Exit(3)
	}
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		if mode == "inside" {
			return pprof.StartCPUProfile(io.Discard)
		}
		if mode == strconv.Itoa(w.PE()) {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		var mu sync.Mutex
		mu.Lock()
		waited := make(chan struct{})
		go func() {
			mu.Lock() // the profile of mutexes has where it is unlocked
			close(waited)
		}()
		compute(300 * time.Millisecond)
		mu.Unlock()
		<-waited
		return w.Barrier(ctx)
	})
}

var sum uint64

// compute takes so much time of this process's CPU.
func compute(d time.Duration) {
	for used() < d {
		for i := range uint64(1 << 16) {
			sum = sum*6364136223846793005 + i
		}
	}
}

func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return time.Hour
	}
	return time.Duration(u.Utime.Nano())
}
