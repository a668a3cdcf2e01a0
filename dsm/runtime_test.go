package dsm_test

// Page faults beside what else the Go runtime does with signals, stacks and processes. PE 0 writes an array, and PE 1
// reads it by page faults, round after round.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// faultsBeside returns a body in which PE 1 calls read for each round with a slice whose blocks it does not have. The
// elements are expect(round, i).
func faultsBeside(read func(s []int64, round int) error) pgastest.Body {
	const n, rounds = 1 << 14, 4
	return func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 8 * n, Block: os.Getpagesize(), Mode: dsm.Paged})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[int64](ctx, r, n)
		if err != nil {
			return err
		}
		for round := range rounds {
			if w.PE() == 0 {
				for i := range a.Slice() {
					a.Slice()[i] = expect(round, i)
				}
			}
			if err := r.Barrier(ctx); err != nil {
				return err
			}
			if w.PE() == 1 {
				if err := read(a.Slice(), round); err != nil {
					return fmt.Errorf("round %d: %w", round, err)
				}
			}
			if err := r.Barrier(ctx); err != nil {
				return err
			}
		}
		return r.Close(ctx)
	}
}

func expect(round, i int) int64 { return int64(i*(round+3) + 1) }

// sum adds up the elements of s and compares with what they must be.
func sum(s []int64, round int) error {
	var got, want int64
	for i, v := range s {
		got, want = got+v, want+expect(round, i)
	}
	if got != want {
		return fmt.Errorf("the sum is %d, want %d", got, want)
	}
	return nil
}

func TestRuntimeBesidePageFaults(t *testing.T) {
	needsPaging(t)
	for name, read := range map[string]func(s []int64, round int) error{
		"stacks that grow":         func(s []int64, round int) error { return readDeep(s, round, 0) },
		"panics of other accesses": readBetweenPanics,
		"a CPU profile":            readProfiled,
		"processes that start":     readBesideProcesses,
	} {
		t.Run(name, func(t *testing.T) {
			inBothForms(t, func(t *testing.T) { pgastest.RunProcesses(t, 2, faultsBeside(read)) })
		})
	}
}

// readDeep reads an element at each depth of a recursion.
func readDeep(s []int64, round, i int) error {
	var frame [128]byte
	if i == len(s) {
		return nil
	}
	frame[i%len(frame)] = byte(s[i])
	if err := readDeep(s, round, i+1); err != nil {
		return err
	}
	if want := expect(round, i); s[i] != want || frame[i%len(frame)] != byte(want) {
		return fmt.Errorf("element %d is %d, want %d", i, s[i], want)
	}
	return nil
}

// readBetweenPanics provokes the runtime's own panics, each of which must say what it says without a region.
func readBetweenPanics(s []int64, round int) error {
	var none *int64
	zero := len(s[:0])
	for says, wrong := range map[string]func(){
		"invalid memory address or nil pointer dereference": func() { *none++ },
		"integer divide by zero":                            func() { _ = s[0] / int64(zero) },
		"index out of range":                                func() { s[len(s)+zero]++ },
	} {
		err := panicking(wrong)
		if err == nil || !strings.Contains(err.Error(), says) {
			return fmt.Errorf("it panics with %v, want %q", err, says)
		}
		if err := sum(s[:len(s)/2], round); err != nil {
			return err
		}
	}
	return sum(s, round)
}

func panicking(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { err, _ = recover().(runtime.Error) }()
	f()
	return nil
}

func readProfiled(s []int64, round int) error {
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for range 20 { // so that the profile's signals come too
		if err := sum(s, round); err != nil {
			return err
		}
	}
	return nil
}

func readBesideProcesses(s []int64, round int) error {
	ended := make(chan error, 1)
	go func() {
		var err error
		for range 5 {
			err = errors.Join(err, exec.Command("true").Run())
		}
		ended <- err
	}()
	return errors.Join(sum(s, round), <-ended)
}

// overflows is set in the job whose PE 1 overflows its stack.
const overflows = "DSM_TEST_OVERFLOWS"

// A stack overflow beside a region says so and ends the job.
func TestStackOverflowBesidePageFaults(t *testing.T) {
	if os.Getenv(overflows) != "" {
		debug.SetMaxStack(1 << 20)
		pgas.Main(faultsBeside(func(s []int64, round int) error { return readForEver(s, round) }))
		os.Exit(0)
	}
	needsPaging(t)
	if testing.Short() {
		t.Skip("no PE is a goroutine")
	}
	inBothForms(t, overflowIn)
}

func overflowIn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	var out bytes.Buffer
	res, err := launch.Run(ctx, launch.Spec{
		Hosts: []boot.Host{{Name: launch.Local, PEs: 2}}, Program: self, Args: []string{"-test.run=^TestStackOverflowBesidePageFaults$"},
		Env: []string{overflows + "=1", "PGAS_HEAP_MAX=16m"}, Stdout: &out, Stderr: &out,
	})
	if err != nil || res.First == nil || res.First.PE != 1 || !strings.Contains(out.String(), "stack overflow") {
		t.Errorf("%v, first failure %v:\n%s", err, res.First, &out)
	}
}

func readForEver(s []int64, i int) error {
	if i < 0 {
		return nil
	}
	s[i%len(s)]++
	err := readForEver(s, i+1)
	s[i%len(s)]--
	return err
}
