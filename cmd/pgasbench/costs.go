package main

// What operations cost besides time: with -costs, the CPU time and the context switches of all PEs, the bytes that
// hosts send to each other, and the memory of a PE. They are read before and after all operations of a point, and
// divided by their number.

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/pgas/sim"
)

// startCosts reads what has been spent so far. A barrier of the measurement follows.
func (r *runner) startCosts() (err error) {
	if r.costs == nil {
		return nil
	}
	board := r.board.Local()
	board.CPU, board.Switches, board.Wire, board.PSS = 0, 0, 0, 0
	r.costs.inBatches = 0
	r.costs.before, err = r.spent()
	return err
}

// watched returns batch, during which a simulated PE 0 counts what is sent: of the few operations there, PEs would
// agree on their number with more bytes than they take.
func (r *runner) watched(batch func(first, n int) error) func(first, n int) error {
	if r.costs == nil || !r.costs.simulated || r.w.PE() != 0 {
		return batch
	}
	return func(first, n int) error {
		before, err := r.spent()
		if err != nil {
			return err
		}
		if err := batch(first, n); err != nil {
			return err
		}
		after, err := r.spent()
		r.costs.inBatches += after.wire - before.wire
		return err
	}
}

// addCosts adds to PE 0's result what done operations have cost. It is collective.
func (r *runner) addCosts(res *result.Result, done int) error {
	now, err := r.spent()
	if err != nil {
		return err
	}
	memory, err := r.memory()
	if err != nil {
		return err
	}
	sent := now.wire - r.costs.before.wire
	if r.costs.inBatches > 0 {
		sent = r.costs.inBatches
	}
	r.board.AddCPU(0, now.cpu-r.costs.before.cpu)
	r.board.AddSwitches(0, now.switches-r.costs.before.switches)
	r.board.AddWire(0, sent)
	r.board.AddPSS(0, memory)
	if err := r.w.Barrier(r.ctx); err != nil || r.w.PE() != 0 {
		return err
	}
	n := float64(max(done, 1))
	res.CPUns, res.Switches, res.WireBytes = float64(r.board.FetchCPU(0))/n, float64(r.board.FetchSwitches(0))/n, float64(r.board.FetchWire(0))/n
	res.PssKB = float64(r.board.FetchPSS(0)) / float64(r.w.NPEs())
	return nil
}

// spent returns what this PE has spent. The simulator has no CPU time and no context switches.
func (r *runner) spent() (s spending, err error) {
	if r.costs.simulated {
		if r.w.PE() != 0 {
			return s, nil
		}
		sent, err := sim.Sent(r.ctx)
		return spending{wire: sent.Bytes}, err
	}
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return s, err
	}
	s.cpu = uint64(used.Utime.Nano() + used.Stime.Nano())
	s.switches = uint64(used.Nvcsw + used.Nivcsw)
	for pe := range r.w.PE() {
		if r.w.HostOf(pe) == r.w.Host() {
			return s, nil
		}
	}
	s.wire, err = hostHasSent()
	return s, err
}

// hostHasSent returns the bytes that have left this host, in Ethernet frames.
func hostHasSent() (bytes uint64, err error) {
	f, err := os.Open("/proc/self/net/dev")
	if err != nil {
		return 0, fmt.Errorf("bytes on the wire cannot be read: %w", err)
	}
	defer f.Close()
	const sent = 8 // the column of bytes sent, behind eight about bytes received
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, found := strings.Cut(lines.Text(), ":")
		columns := strings.Fields(rest)
		if !found || strings.TrimSpace(name) == "lo" || len(columns) <= sent {
			continue
		}
		var n uint64
		if _, err := fmt.Sscan(columns[sent], &n); err != nil {
			return 0, fmt.Errorf("bytes on the wire of %s: %w", strings.TrimSpace(name), err)
		}
		bytes += n
	}
	return bytes, nil
}

// memory returns the share of this PE, in kilobytes. Of simulated PEs, which are parts of one process, it is what Go
// has allocated for them and for the simulator.
func (r *runner) memory() (kb uint64, err error) {
	if !r.costs.simulated {
		_, kb, err = ownMemory()
		return kb, err
	}
	if r.w.PE() != 0 {
		return 0, nil
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return (m.HeapAlloc + m.StackInuse) >> 10, nil
}
