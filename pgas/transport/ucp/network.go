//go:build cgo

package ucp

// UCX lists the network interfaces once, when it starts: those that run at that moment. One
// that was brought up just now (a container's, a namespace's) may take a while to; a job that started
// without it would find that its hosts cannot reach each other.

import (
	"context"
	"net"
	"os"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// networkPatience is how long an interface that is up may take to run.
const networkPatience = 3 * time.Second

// waitForNetwork returns when an interface that other hosts could reach is running, or none will be in
// time: whether what there is will do, loopback for hosts that are one machine, is UCX's to say.
func waitForNetwork(ctx context.Context, job *boot.Job) error {
	if len(job.Hosts) == 1 || hasRDMA() {
		return nil
	}
	for deadline := time.Now().Add(networkPatience); time.Now().Before(deadline); {
		if up, running := interfaces(); running || !up {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// interfaces reports whether an interface with an address is up besides loopback, and whether one runs.
func interfaces() (up, running bool) {
	all, err := net.Interfaces()
	if err != nil {
		return true, true // let UCX look
	}
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		if addrs, err := i.Addrs(); err != nil || len(addrs) == 0 {
			continue
		}
		up = true
		running = running || i.Flags&net.FlagRunning != 0
	}
	return up, running
}

// hasRDMA reports whether there is a network device that needs no interface.
func hasRDMA() bool {
	devices, err := os.ReadDir("/sys/class/infiniband")
	return err == nil && len(devices) > 0
}
