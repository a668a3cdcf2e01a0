// Command keeper loses its last PE in each term. The processes of the other PEs outlive all terms, with a connection
// that each has made before the first one. They print what they have of files, threads and memory.
package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
)

var (
	kills = flag.Int("kills", 3, "in how many terms the last PE is killed")
	every = flag.Int("every", 10, "after how many terms processes print what they have")
	does  = flag.String("does", "", "what PE 0 does besides: computes (in its first term, and looks at no context), keeps (a reference of its first term, and uses it), spawns (a process that is to live as long), fails (with an error)")
)

func main() {
	flag.Parse()
	k := new(keeper)
	if err := k.connect(); err != nil {
		fmt.Fprintln(os.Stderr, "keeper:", err)
		os.Exit(1)
	}
	pgas.Survive(func(ctx context.Context, w *pgas.World) error {
		if *does == "fails" { // the others are to learn of the failure, and not to be asked to end before
			ctx = context.WithoutCancel(ctx)
		}
		return k.body(ctx, w)
	})
}

// keeper is what outlives terms.
type keeper struct {
	terms   int             // how many terms this process has taken part in
	client  net.Conn        // a connection to this process
	answers *bufio.Reader   // what it has answered
	word    pgas.Sym[int64] // of the first term
	child   *exec.Cmd
}

// connect makes the connection. Its other end answers each line with the same.
func (k *keeper) connect() error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer ln.Close()
	if k.client, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		return err
	}
	k.answers = bufio.NewReader(k.client)
	c, err := ln.Accept()
	if err != nil {
		return err
	}
	go func() {
		for in := bufio.NewScanner(c); in.Scan(); {
			fmt.Fprintln(c, in.Text())
		}
	}()
	return nil
}

// ask asks over the connection for the number of the term.
func (k *keeper) ask() error {
	var n int
	fmt.Fprintln(k.client, k.terms)
	if _, err := fmt.Fscanln(k.answers, &n); err != nil || n != k.terms {
		return fmt.Errorf("the connection answers %d in term %d: %w", n, k.terms, err)
	}
	return nil
}

// state says what this process has: open files, threads, goroutines, mappings, and the bytes that are resident.
func (k *keeper) state() string {
	runtime.GC()
	count := func(dir string) int {
		names, _ := os.ReadDir(dir)
		return len(names)
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	statm, _ := os.ReadFile("/proc/self/statm")
	var resident int
	fmt.Sscan(string(statm), new(int), &resident)
	return fmt.Sprintf("files %d threads %d goroutines %d maps %d resident %d",
		count("/proc/self/fd"), count("/proc/self/task"), runtime.NumGoroutine(), bytes.Count(maps, []byte("\n")), resident*os.Getpagesize())
}

// do does what -does says, after word was allocated.
func (k *keeper) do(w *pgas.World, word pgas.Sym[int64]) error {
	if k.terms == 1 {
		k.word = word //pgasvet:ok -does keeps uses it in the next term
	}
	switch {
	case w.PE() != 0:
	case *does == "keeps" && k.terms == 2:
		k.word.Local()[0]++
	case *does == "spawns" && k.terms == 1:
		k.child = exec.Command("sleep", "1000")
		return k.child.Start()
	case *does == "fails":
		return fmt.Errorf("PE 0 was told to fail")
	case *does == "spawns":
		return k.child.Process.Signal(syscall.Signal(0))
	}
	return nil
}

// end ends the term after a step, unless it is the last.
func (k *keeper) end(w *pgas.World, step int64) {
	if w.PE() == w.NPEs()-1 && step <= int64(*kills) {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	for *does == "computes" && w.PE() == 0 && step == 1 { // until it is killed
	}
}

// body makes one step in each term, in which each PE adds one to the word of the next. The last PE is killed in the
// middle of a step.
func (k *keeper) body(ctx context.Context, w *pgas.World) error {
	k.terms++
	if err := k.ask(); err != nil {
		return err
	}
	word, err := pgas.Alloc[int64](ctx, w, 1024)
	if err != nil {
		return err
	}
	if err := k.do(w, word); err != nil {
		return err
	}
	step := int64(0)
	set := ckpt.New(w)
	set.Add("word", ckpt.Sym(word))
	set.Add("step", ckpt.Shared(&step))
	if _, _, err := set.Restore(ctx); err != nil {
		return err
	}
	for step <= int64(*kills) {
		if got := word.Local()[0]; got != step {
			return fmt.Errorf("after %d steps the word is %d", step, got)
		}
		if w.PE() < w.NPEs()-1 && (k.terms%*every == 0 || step == int64(*kills)) {
			fmt.Printf("PE %d term %d %s\n", w.PE(), k.terms, k.state())
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		next := (w.PE() + 1) % w.NPEs()
		word.At(0).Put(next, step+1)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		step++
		if err := set.Save(ctx); err != nil {
			return err
		}
		if _, err := set.Wait(ctx); err != nil {
			return err
		}
		k.end(w, step)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	if w.PE() == 0 {
		fmt.Printf("%d steps\n", step)
	}
	return nil
}
