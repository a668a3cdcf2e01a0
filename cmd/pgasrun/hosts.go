package main

// The hosts of the job and their PEs: -n, -hosts and -hostfile. For -netns see netns.go.

import (
	"errors"
	"fmt"
	"os"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// place returns the hosts of the job in PE order.
func (o *options) place() ([]boot.Host, error) {
	if o.static {
		return o.placeStatic()
	}
	if o.nSet && (o.n < 1 || o.n > boot.MaxPEs) {
		return nil, fmt.Errorf("-n %d: a job has at least one PE and at most %d", o.n, boot.MaxPEs)
	}
	var hosts []boot.Host
	var err error
	switch {
	case o.netns != "":
		return o.placeNetns()
	case o.hosts != "" && o.hostfile != "":
		return nil, errors.New("-hosts and -hostfile say the same thing: give one of them")
	case o.hosts != "":
		hosts, err = parseHosts(o.hosts)
	case o.hostfile != "":
		hosts, err = readHostfile(o.hostfile)
	default:
		return o.placeByItself()
	}
	if err != nil {
		return nil, err
	}
	hosts = o.merge(hosts)
	if err := launch.CheckHosts(hosts); err != nil {
		return nil, err
	}
	return hosts, o.checkSlots(hosts)
}

// placeByItself returns the hosts of a job whose command line names none: those of the allocation that pgasrun runs in,
// or this host.
func (o *options) placeByItself() ([]boot.Host, error) {
	env := join.NewEnvironment(os.Environ())
	tasks, err := allocation(env)
	if err != nil {
		return nil, err
	}
	if tasks == nil {
		n := o.n
		if !o.nSet {
			n = boot.HostCores()
		}
		return []boot.Host{{Name: launch.Local, PEs: n}}, nil
	}
	if o.nSet {
		if tasks, err = fit(tasks, o.n); err != nil {
			return nil, err
		}
	}
	hosts := hostsOf(tasks)
	if isRenumbered(hosts, tasks) {
		fmt.Fprintf(os.Stderr, "pgasrun: each node has the PEs that Slurm's distribution (%s) gives it, but PEs of a node have consecutive numbers: -dry-run lists them\n", distribution(env))
	}
	if !o.templateSet {
		o.template = stepTemplate
	}
	return hosts, launch.CheckHosts(hosts)
}

func (o *options) checkSlots(hosts []boot.Host) error {
	slots := 0
	for _, h := range hosts {
		slots += h.PEs
	}
	switch {
	case !o.nSet || o.n == slots:
		return nil
	case o.n > slots:
		return fmt.Errorf("-n %d, but the hosts have %d slots: raise the number after a host's colon, add a host, or leave -n out", o.n, slots)
	}
	return fmt.Errorf("-n %d, but the hosts have %d slots: lower the number after a host's colon, or leave -n out", o.n, slots)
}

// parseHosts reads the hosts of -hosts.
func parseHosts(list string) ([]boot.Host, error) {
	hosts, err := join.ParseHosts(list)
	if err != nil {
		return nil, fmt.Errorf("-hosts %s: %w", list, err)
	}
	return hosts, nil
}

func readHostfile(path string) ([]boot.Host, error) {
	f, err := os.Open(path) // may be a pipe, which the shell has made
	if err != nil {
		return nil, fmt.Errorf("-hostfile: %w", err)
	}
	defer f.Close()
	content, err := boot.ReadAtMost(f, path, join.MaxHostFile)
	if err != nil {
		return nil, fmt.Errorf("-hostfile: %w", err)
	}
	return join.ParseHostFile(path, content)
}

// merge adds up the entries of each host. All names of this host are the first one of them, so that its PEs share
// memory.
func (o *options) merge(entries []boot.Host) []boot.Host {
	here, isHere := "", launch.IsHere(o.template)
	for i := range entries {
		if !isHere(entries[i].Name) {
			continue
		}
		if here == "" {
			here = entries[i].Name
		}
		entries[i].Name = here
	}
	hosts, apart := join.MergeHosts(entries)
	if apart != "" {
		fmt.Fprintf(os.Stderr, "pgasrun: host %s is listed again with others between, but PEs of a host have consecutive numbers: -dry-run lists them\n", apart)
	}
	return hosts
}
