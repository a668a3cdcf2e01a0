package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestBesideLoad: a PE whose CPU another program wants, too, does not give up a time slice for every wait. It notices what its
// yields cost, and sleeps. Slices are what the kernel counts: a thread that yields to another program, or is interrupted,
// is switched against its will, and a thread that sleeps is not.
func TestBesideLoad(t *testing.T) {
	for _, program := range []struct {
		name string
		run  func(context.Context, *pgas.World, pgas.Sym[uint64]) (waits int, err error)
	}{
		{"ping-pong", pingPong},
		{"barriers", barriers},
		{"a goroutine that serves and one that calls", serveAndCall},
	} {
		t.Run(program.name, func(t *testing.T) {
			body := func(ctx context.Context, w *pgas.World) error {
				s, err := pgas.Alloc[uint64](ctx, w, 2)
				if err != nil {
					return err
				}
				load, err := compete()
				if err != nil {
					return err
				}
				defer load.end()
				if err := w.Barrier(ctx); err != nil {
					return err
				}
				before := switches()
				waits, err := program.run(ctx, w, s)
				if err != nil {
					return err
				}
				lost := switches() - before
				if lost > waits/4 {
					return fmt.Errorf("PE %d has lost its CPU %d times in %d waits", w.PE(), lost, waits)
				}
				return w.Barrier(ctx)
			}
			pgastest.RunProcesses(t, 2, body)
		})
	}
}

const besideRounds = 1000

// pingPong is besideRounds round trips of a signal.
func pingPong(ctx context.Context, w *pgas.World, s pgas.Sym[uint64]) (int, error) {
	ball, other := pgas.AtomicOf(s, 0), 1-w.PE()
	for i := range uint64(besideRounds) {
		if w.PE() == 0 {
			ball.Set(other, i+1)
		}
		if _, err := ball.WaitUntil(ctx, pgas.GE, i+1); err != nil {
			return 0, err
		}
		if w.PE() != 0 {
			ball.Set(other, i+1)
		}
	}
	return besideRounds, nil
}

// barriers is as many barriers.
func barriers(ctx context.Context, w *pgas.World, _ pgas.Sym[uint64]) (int, error) {
	for range besideRounds {
		if err := w.Barrier(ctx); err != nil {
			return 0, err
		}
	}
	return besideRounds, nil
}

// serveAndCall is as many calls of each PE, which a goroutine of the other PE answers.
func serveAndCall(ctx context.Context, w *pgas.World, s pgas.Sym[uint64]) (int, error) {
	asked, answered, other := pgas.AtomicOf(s, 0), pgas.AtomicOf(s, 1), 1-w.PE()
	served := make(chan error, 1)
	go func() {
		for i := range uint64(besideRounds) {
			if _, err := asked.WaitUntil(ctx, pgas.GE, i+1); err != nil {
				served <- err
				return
			}
			answered.Set(other, i+1)
		}
		served <- nil
	}()
	var err error
	for i := range uint64(besideRounds) {
		asked.Set(other, i+1)
		if _, err = answered.WaitUntil(ctx, pgas.GE, i+1); err != nil {
			break
		}
	}
	return 2 * besideRounds, errors.Join(err, <-served)
}

// competitor is a program that computes on this PE's CPUs, in its session, until end is called or this process dies.
type competitor struct{ cmd *exec.Cmd }

func compete() (competitor, error) {
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return competitor{cmd}, cmd.Start()
}

func (c competitor) end() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

// switches returns how often the threads of this process were switched against their will.
func switches() (n int) {
	threads, _ := filepath.Glob("/proc/self/task/*/status")
	for _, name := range threads {
		status, _ := os.ReadFile(name) // of a thread that has just ended there is none
		_, after, _ := bytes.Cut(status, []byte("nonvoluntary_ctxt_switches:"))
		line, _, _ := bytes.Cut(after, []byte("\n"))
		v, _ := strconv.Atoi(string(bytes.TrimSpace(line)))
		n += v
	}
	return n
}
