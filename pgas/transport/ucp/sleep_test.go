//go:build cgo

package ucp

// A wait for a PE that has stopped before it accepted the connection. UCX's event descriptor is ready all the time
// then, because the socket is writable. A waiter that trusts it polls without a pause. It may then keep the CPU from
// the very PE that is to accept, where that is in another group of the kernel's scheduler.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

func init() {
	roles["wait for a stopped PE"] = waitForStopped
}

// waitForStopped reports how much CPU time a wait for PE 1 takes, and how long the wait is. It begins at SIGUSR1.
func waitForStopped(ctx context.Context, t *Transport, _ *boot.Job, report func(string, ...any)) error {
	begin := make(chan os.Signal, 1)
	signal.Notify(begin, syscall.SIGUSR1)
	c, err := t.Channel(true)
	if err != nil {
		return err
	}
	report("ready")
	<-begin
	cpu, start := cpuTime(), time.Now()
	c.Put(1, dataOff, make([]byte, 8))
	err = c.Quiet(ctx, 1)
	report("waited %d %d", (cpuTime() - cpu).Milliseconds(), time.Since(start).Milliseconds())
	var lost *transport.PeerError
	if !errors.As(err, &lost) {
		return fmt.Errorf("the wait ended with %v", err)
	}
	return c.Close()
}

// cpuTime returns the CPU time that this process has taken.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestWaiterSleeps compares two times of one process. Where other work takes the CPUs, the wait gets less of them.
func TestWaiterSleeps(t *testing.T) {
	f := startFamily(t, [2]string{"wait for a stopped PE", "do nothing"}, false, "UCX_TLS=tcp", "PGAS_PEER_TIMEOUT=1s")
	f.expect(t, "0 ready") // both have opened their transports by then
	if err := f.cmds[1].Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := f.cmds[0].Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	var cpu, wall int
	if _, err := fmt.Sscanf(f.expect(t, "0 waited"), "%d %d", &cpu, &wall); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d ms of CPU time in a wait of %d ms", cpu, wall)
	if wall < 200 || 2*cpu > wall {
		t.Errorf("the waiter has taken %d ms of CPU time in a wait of %d ms", cpu, wall)
	}
}
