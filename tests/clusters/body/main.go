// Command body is the program that the tests of package clusters start with each launcher. Its argument says what it
// does.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// rounds is how often each PE takes the lock.
const rounds = 50

func main() {
	if len(os.Args) > 1 && os.Args[1] == "races" {
		os.Setenv("PGAS_CHECK", "race") // here, since launchers differ in how they set a variable
	}
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		mode := "hello"
		if len(os.Args) > 1 {
			mode = os.Args[1]
		}
		body, ok := bodies[mode]
		if !ok {
			return fmt.Errorf("there is no body %s", mode)
		}
		return body(ctx, w)
	})
}

var bodies = map[string]func(context.Context, *pgas.World) error{
	"hello":  hello,
	"locks":  locks,
	"races":  races,
	"killed": killed,
	"fails":  fails,
	"waits":  waits,
	"deaf":   deaf,
	"exits":  exits,
	"cpus":   cpus,
	"where":  where,
	"silent": silent,
}

// where has every PE print the name of its host.
func where(ctx context.Context, w *pgas.World) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	fmt.Printf("PE %d runs on host %s\n", w.PE(), name)
	return w.Barrier(ctx)
}

// cpus has every PE print on which CPUs its threads may run, those of the transport as well.
func cpus(ctx context.Context, w *pgas.World) error {
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, thread := range threads {
		status, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/status")
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(status), "Cpus_allowed_list:")
		list, _, _ := strings.Cut(rest, "\n")
		seen[strings.TrimSpace(list)] = true
	}
	fmt.Printf("PE %d runs on CPUs %s\n", w.PE(), strings.Join(slices.Sorted(maps.Keys(seen)), " and "))
	return w.Barrier(ctx)
}

// hello has every PE count on PE 0, and print which it is.
func hello(ctx context.Context, w *pgas.World) error {
	count, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	counter := pgas.AtomicOf(count, 0)
	counter.Add(0, int64(w.PE())+1)
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	fmt.Printf("hello from PE %d of %d, sum %d\n", w.PE(), w.NPEs(), counter.Fetch(0))
	return nil
}

// locks has every PE increment a word of PE 0 that only the lock protects.
func locks(ctx context.Context, w *pgas.World) error {
	lock, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
	if err != nil {
		return err
	}
	count, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	l, word := pgas.LockOf(lock, 0), count.At(0)
	for range rounds {
		if err := l.Lock(ctx); err != nil {
			return err
		}
		word.Put(0, word.Get(0)+1)
		if err := l.Unlock(); err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if got, want := word.Get(0), int64(rounds*w.NPEs()); got != want {
		return fmt.Errorf("the lock has let %d of %d increments through", got, want)
	}
	if w.PE() == 0 {
		fmt.Println("the lock holds")
	}
	return nil
}

// races has the PEs increment a word as locks does, and then put to a word of PE 0 with nothing between them.
func races(ctx context.Context, w *pgas.World) error {
	if err := locks(ctx, w); err != nil {
		return err
	}
	data, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	data.At(0).Put(0, int64(w.PE()))
	return w.Barrier(ctx)
}

// killed has PE 1 kill itself while the others wait for it, and print how long the news took.
func killed(ctx context.Context, w *pgas.World) error {
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == 1 {
		time.Sleep(100 * time.Millisecond) // the others wait by then
		fmt.Printf("killed at %d\n", time.Now().UnixMilli())
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	err := w.Barrier(ctx) //pgasvet:ok the other PE has killed itself
	var lost *pgas.PeerError
	if errors.As(err, &lost) {
		fmt.Printf("PE %d told of PE %d at %d\n", w.PE(), lost.PE, time.Now().UnixMilli())
	}
	return err
}

// fails has the last PE return an error.
func fails(ctx context.Context, w *pgas.World) error {
	if w.PE() == w.NPEs()-1 {
		return errors.New("an error of the program")
	}
	return w.Barrier(ctx)
}

// waits prints that it is ready, waits for the end of its context, and prints the cause. It appends that to the file of
// its second argument, too, as a launcher that is told to end may drop what a PE prints then.
func waits(ctx context.Context, w *pgas.World) error {
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	fmt.Printf("PE %d is ready in process %d\n", w.PE(), os.Getpid())
	<-ctx.Done()
	end := fmt.Sprintf("PE %d: %v\n", w.PE(), context.Cause(ctx))
	if len(os.Args) > 2 {
		if err := appendTo(os.Args[2], end); err != nil {
			return err
		}
		awaitEnds(os.Args[2], w.NPEs())
	}
	fmt.Print(end)
	return context.Cause(ctx)
}

// awaitEnds waits until every PE has appended its line to the file, but not for ever. The first PE to end has the
// launcher end the others, and kill those that get no CPU for a second.
func awaitEnds(path string, npes int) {
	for range 200 { // 10 s, and Slurm kills after 15
		text, err := os.ReadFile(path)
		if err != nil || bytes.Count(text, []byte("\n")) >= npes {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// deaf has PE 1 kill itself while the others never look at the job.
func deaf(ctx context.Context, w *pgas.World) error {
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == 1 {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	select {}
}

// exits has PE 1 end the job with a status while the others wait.
func exits(ctx context.Context, w *pgas.World) error {
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == 1 {
		w.GlobalExit(7)
	}
	return w.Barrier(ctx)
}
