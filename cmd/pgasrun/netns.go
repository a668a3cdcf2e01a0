package main

// -netns: the hosts of the job are network namespaces of this machine, made for it and removed after it. So the code
// between hosts, UCX over TCP included, runs on one machine, with one flag.
//
// They are removed however the job ends, as long as pgasrun itself can: after a failure, -timeout, signals, a step of
// the making that failed, and when nobody reads its output any more, as in `pgasrun … | head`. What a killed pgasrun
// leaves, the next one removes (package netns).

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// placeNetns returns the hosts of -netns under names that stand for them until they are made. nSet says that n is the
// number of their PEs.
func placeNetns(text string, n int, nSet bool) ([]boot.Host, error) {
	nhosts, pes, err := parseNetns(text)
	if err != nil {
		return nil, err
	}
	all := nhosts * max(pes, 1)
	switch {
	case !nSet:
	case pes == 0:
		all = n
	case n != all:
		return nil, fmt.Errorf("-n %d, but -netns %s has %s: leave -n out, or write -netns %d", n, text, plural.Count(all, "PE"), nhosts)
	}
	if all < nhosts {
		return nil, fmt.Errorf("-n %d, but -netns %s has %s: each runs at least one PE", all, text, plural.Count(nhosts, "host"))
	}
	hosts := make([]boot.Host, nhosts)
	for i := range hosts {
		hosts[i] = boot.Host{Name: fmt.Sprintf("netns%d", i), PEs: all*(i+1)/nhosts - all*i/nhosts}
	}
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

// makeHosts makes the hosts of spec, unless a signal stops it, and gives them their names. text is the value of -netns.
// The caller must call remove after the job. An error leaves nothing behind.
func makeHosts(text string, spec *launch.Spec, signals <-chan os.Signal) (remove func(), err error) {
	ctx, settle := untilSignal(signals)
	made, err := netns.NewContext(ctx, len(spec.Hosts))
	stopped := settle()
	if err == nil && stopped != nil {
		err = errors.Join(stopped, made.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("-netns %s: %w", text, err)
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
	// A write to a closed standard output fails then, and does not end this process.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	spec.Stdout, spec.Stderr = unlessBroken{spec.Stdout, remove}, unlessBroken{spec.Stderr, remove}
	return remove, nil
}

// unlessBroken writes to what it has. If nobody reads that any more it ends this process, as SIGPIPE would have, after
// remove.
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
