package main

// -netns: the hosts of the job are network namespaces of this machine, made for it and removed after it. So the code between
// hosts, UCX over TCP included, runs on one machine, with one flag.
//
// They are removed however the job ends, as long as pgasrun itself can: after a failure, -timeout, signals, a step of the
// making that failed, and when nobody reads its output any more, as in `pgasrun … | head`. What a killed pgasrun leaves, the next one removes
// (package netns).

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// besideNetns are the flags that say what -netns says, or mean nothing for hosts that share this one's files.
var besideNetns = []string{"hosts", "hostfile", "launch", "boot-addr", "stage", "static", k8sPrefix}

// checkNetns returns an error if -netns is given with flags that mean nothing beside it.
func (o *options) checkNetns() error {
	if o.netns == "" {
		return nil
	}
	for _, name := range o.given {
		if slices.Contains(besideNetns, name) {
			return fmt.Errorf("-netns with -%s: -netns makes the hosts itself, on this machine; give one of them", name)
		}
	}
	return nil
}

// placeNetns returns the hosts of -netns under names that stand for them until they are made.
func (o *options) placeNetns() ([]boot.Host, error) {
	nhosts, pes, err := parseNetns(o.netns)
	if err != nil {
		return nil, err
	}
	n := nhosts * max(pes, 1)
	switch {
	case !o.nSet:
	case pes == 0:
		n = o.n
	case o.n != n:
		return nil, fmt.Errorf("-n %d, but -netns %s has %s: leave -n out, or write -netns %d", o.n, o.netns, plural.Count(n, "PE"), nhosts)
	}
	if n < nhosts {
		return nil, fmt.Errorf("-n %d, but -netns %s has %s: each runs at least one PE", n, o.netns, plural.Count(nhosts, "host"))
	}
	hosts := make([]boot.Host, nhosts)
	for i := range hosts {
		hosts[i] = boot.Host{Name: fmt.Sprintf("netns%d", i), PEs: n*(i+1)/nhosts - n*i/nhosts}
	}
	o.template = netns.Template
	return hosts, launch.CheckHosts(hosts)
}

// parseNetns reads HOSTSxPEs, or HOSTS: pes is 0 then.
func parseNetns(text string) (nhosts, pes int, err error) {
	left, right, both := strings.Cut(text, "x")
	nhosts, err = strconv.Atoi(left)
	if err == nil && both {
		pes, err = strconv.Atoi(right)
	}
	switch {
	case err != nil || both && pes < 1 || nhosts < 1:
		return 0, 0, fmt.Errorf("-netns %s: write HOSTSxPEs, such as -netns 2x4 for two hosts with four PEs each, or -netns 2 -n 8", text)
	case nhosts > netns.MaxHosts:
		return 0, 0, fmt.Errorf("-netns %s: at most %d hosts can be made", text, netns.MaxHosts)
	case pes > boot.MaxPEs/nhosts:
		return 0, 0, fmt.Errorf("-netns %s: a job has at most %d PEs", text, boot.MaxPEs)
	}
	return nhosts, pes, nil
}

// makeHosts makes the hosts of spec, unless a signal stops it, and gives them their names. The caller must call remove after the
// job. An error leaves nothing behind.
func (o *options) makeHosts(spec *launch.Spec, signals <-chan os.Signal) (remove func(), err error) {
	ctx, settle := untilSignal(signals)
	made, err := netns.NewContext(ctx, len(spec.Hosts))
	stopped := settle()
	if err == nil && stopped != nil {
		err = errors.Join(stopped, made.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("-netns %s: %w", o.netns, err)
	}
	for i := range spec.Hosts {
		spec.Hosts[i].Name = made.Names[i]
	}
	if spec.Logf != nil {
		spec.Logf("made the network namespaces %s, joined by a bridge in %s", strings.Join(made.Names, ", "), made.Bridge)
	}
	remove = sync.OnceFunc(func() {
		if err := made.Close(); err != nil {
			complain(fmt.Errorf("-netns: a network namespace is left (%w): `ip netns del` removes it", err), 0)
		}
	})
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) // a write to a closed standard output fails then, and does not end us
	spec.Stdout, spec.Stderr = unlessBroken{spec.Stdout, remove}, unlessBroken{spec.Stderr, remove}
	return remove, nil
}

// unlessBroken writes to what it has. If nobody reads that any more it ends this process, as SIGPIPE would have, after remove.
type unlessBroken struct {
	io.Writer
	remove func()
}

func (w unlessBroken) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, unix.EPIPE) {
		w.remove()
		os.Exit(128 + int(unix.SIGPIPE))
	}
	return n, err
}
