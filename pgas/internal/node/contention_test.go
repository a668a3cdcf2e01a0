package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestBesideLoad: a PE whose CPU another program wants, too, does not give up a time slice for every wait. It notices
// what its yields cost, and polls for a while or sleeps. Slices are what the kernel counts: a thread that yields to
// another program, or is interrupted, is switched against its will, and a thread that sleeps is not. Where PEs share
// CPUs, PEs that wake up interrupt others as well, so there only sleeps count.
func TestBesideLoad(t *testing.T) {
	many := 2 * runtime.NumCPU()
	for _, program := range []struct {
		name       string
		pes, hosts int
		mostLost   int // slices in 100 waits; 0: any number
		leastSlept int // of 100 waits: a PE that yields until its wait is over sleeps in none
		run        func(context.Context, *pgas.World, pgas.Sym[uint64]) (waits int, err error)
	}{
		{"ping-pong", 2, 1, 25, 0, ring},
		{"barriers", 2, 1, 25, 0, barriers},
		{"a goroutine that serves and one that calls", 2, 1, 25, 0, serveAndCall},
		{"a ring of more PEs than CPUs", many, 1, 0, 10, ring},
		{"barriers of more PEs than CPUs", many, 1, 0, 10, barriers},
		{"a ring between hosts", many, 2, 0, 10, ring},
		{"barriers between hosts", many, 2, 0, 10, barriers},
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
				lost, slept := -switches(), -int(private.Node(w).Slept())
				waits, err := program.run(ctx, w, s)
				if err != nil {
					return err
				}
				lost, slept = lost+switches(), slept+int(private.Node(w).Slept())
				tooMany := program.mostLost > 0 && lost > waits*program.mostLost/100
				if tooMany || slept < waits*program.leastSlept/100 {
					return fmt.Errorf("PE %d has lost its CPU %d times in %d waits, and has slept in %d", w.PE(), lost, waits, slept)
				}
				return w.Barrier(ctx)
			}
			if program.hosts > 1 {
				skipWithAutogroups(t)
				pgastest.RunHosts(t, program.pes, program.hosts, body)
			} else {
				pgastest.RunProcesses(t, program.pes, body)
			}
		})
	}
}

// skipWithAutogroups skips a test of hosts beside load where the kernel divides CPUs among sessions. The load of a host
// is in the host's session. It has used the session's share of the CPU before a PE of the session wakes up.
func skipWithAutogroups(t *testing.T) {
	on, err := os.ReadFile("/proc/sys/kernel/sched_autogroup_enabled")
	if err == nil && string(bytes.TrimSpace(on)) != "0" {
		t.Skip("each host is a session, and the kernel divides CPUs among sessions: sysctl kernel.sched_autogroup_enabled=0")
	}
}

const besideRounds = 1000

// ring is besideRounds rounds of a signal by all PEs.
func ring(ctx context.Context, w *pgas.World, s pgas.Sym[uint64]) (int, error) {
	ball, next := pgas.AtomicOf(s, 0), (w.PE()+1)%w.NPEs()
	for i := range uint64(besideRounds) {
		if w.PE() == 0 {
			ball.Set(next, i+1)
		}
		if _, err := ball.WaitUntil(ctx, pgas.GE, i+1); err != nil {
			return 0, err
		}
		if w.PE() != 0 {
			ball.Set(next, i+1)
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
