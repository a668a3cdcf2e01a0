package dsm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/capture"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/ucx"
)

// stoppedIn makes the test binary a PE of TestStoppedHome.
const stoppedIn = "DSM_TEST_STOPPED"

// asks is what PE 0 prints before the number of its process.
const asks = "PE 0 waits to be told, in process"

// stoppedHome has PE 2, on another host, stop when it has written a block, and PE 1 read the block: a page fault that
// does not end. PE 0 fails when it sees that PE 1 is in the fault.
func stoppedHome(ctx context.Context, w *pgas.World) error {
	r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 12, Block: 1 << 12, Mode: dsm.Paged})
	if err != nil {
		return err
	}
	a, err := dsm.Alloc[byte](ctx, r, 1<<12)
	if err != nil {
		return err
	}
	words, err := pgas.Alloc[uint64](ctx, w, 1)
	if err != nil {
		return err
	}
	pid := pgas.AtomicOf(words, 0)
	if w.PE() == 2 {
		a.Set(0, 1)
	}
	if err := r.Barrier(ctx); err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	switch w.PE() {
	case 1:
		home, err := pid.WaitUntil(ctx, pgas.NE, 0) // the barriers are behind PE 2
		if err != nil {
			return err
		}
		for !stopped(int(home)) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		pid.Set(0, uint64(os.Getpid()))
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		return fmt.Errorf("byte %d of a stopped home was read", a.At(0))
	case 2:
		pid.Set(1, uint64(os.Getpid()))
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	of, err := pid.WaitUntil(ctx, pgas.NE, 0)
	if err != nil {
		return err
	}
	for !inPageFault(int(of)) && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	told := make(chan os.Signal, 1) // by the test, when the pager has published what it waits for
	signal.Notify(told, syscall.SIGUSR1)
	fmt.Println(asks, os.Getpid())
	select {
	case <-told:
	case <-ctx.Done():
	}
	return errors.New("the test is over")
}

// stopped reports whether all threads of a process are stopped.
func stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, t := range threads {
		stat, err := os.ReadFile(t)
		if err != nil {
			return false
		}
		if _, state, _ := bytes.Cut(stat, []byte(") ")); !bytes.HasPrefix(state, []byte("T")) {
			return false
		}
	}
	return len(threads) > 0
}

// inPageFault reports whether a thread of a process is in a page fault: the kernel has it wait, or it serves the fault
// itself, with all signals blocked.
func inPageFault(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, t := range threads {
		at, _ := os.ReadFile(t + "/wchan")
		status, _ := os.ReadFile(t + "/status")
		if string(at) == "handle_userfault" || blocksAll.Match(status) {
			return true
		}
	}
	return false
}

// blocksAll matches the status of a thread that blocks every signal that can be blocked. Threads of C for which signals
// are blocked for ever leave out those of the C library.
var blocksAll = regexp.MustCompile(`(?m)^SigBlk:\s*fffffffffffbfeff$`)

// The report of a job shows a PE that is blocked in a page fault, and the home that it waits for.
func TestStoppedHome(t *testing.T) {
	if os.Getenv(stoppedIn) != "" {
		pgas.Main(stoppedHome)
		os.Exit(0)
	}
	needsPaging(t)
	if testing.Short() || !ucx.Available {
		t.Skip("PEs on two hosts, which need cgo")
	}
	if _, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/wchan", syscall.Gettid())); err != nil || runtime.GOOS != "linux" {
		t.Skip("this kernel does not tell where a thread is blocked")
	}
	if err := netns.Usable(); err != nil {
		t.Skip(err)
	}
	inBothForms(t, stopHome)
}

func stopHome(t *testing.T) {
	hosts, err := netns.New(2)
	if err != nil {
		t.Fatal(err)
	}
	defer hosts.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	var out, tables capture.Output
	signals := make(chan os.Signal)
	over := make(chan struct{})
	go askUntilBlocked(signals, over, &out, &tables)
	res, err := launch.Run(ctx, launch.Spec{
		Hosts:   []boot.Host{{Name: hosts.Names[0], PEs: 2}, {Name: hosts.Names[1], PEs: 1}},
		Program: self, Args: []string{"-test.run=^TestStoppedHome$"}, Signals: signals,
		Env:    []string{stoppedIn + "=1", "PGAS_HEAP_MAX=16m"},
		Stdout: &out, Stderr: &tables, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self},
	})
	close(over)
	report := fmt.Sprintf("%v\n%+v\n%s", err, res, &out)
	if !strings.Contains(report, blockedInFault) {
		t.Errorf("no report of PE 1 in a page fault for PE 2: %s\n%s", report, &tables)
	}
}

// blockedInFault is what a table says of PE 1.
const blockedInFault = "PE 1: in a page fault of coherent memory, waiting for PE 2"

// askUntilBlocked asks the launcher for tables until one shows that PE 1 is blocked. Then it tells PE 0, which has
// printed its process.
func askUntilBlocked(signals chan<- os.Signal, over <-chan struct{}, out, tables *capture.Output) {
	for ; ; time.Sleep(50 * time.Millisecond) {
		var pe int
		if _, line, found := strings.Cut(out.String(), asks); found {
			fmt.Sscan(line, &pe)
		}
		if pe != 0 && strings.Contains(tables.String(), blockedInFault) {
			syscall.Kill(pe, syscall.SIGUSR1)
			return
		}
		ask := signals
		if pe == 0 {
			ask = nil // it is not yet there
		}
		select {
		case ask <- syscall.SIGQUIT:
		case <-over:
			return
		case <-time.After(time.Second):
		}
	}
}
