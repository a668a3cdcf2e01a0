package main

// The hosts of the job and their PEs: -n and -hosts. netns.go makes those of -netns.

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// placement is the flags that say on which hosts a job runs, and how they are reached.
type placement struct {
	n        int
	hosts    string
	netns    string
	template string
	bootAddr string
	stage    bool
	fanOut   int

	spares      []boot.Host // place finds them
	nSet        bool        // -n is given
	templateSet bool        // -launch is given
}

func (o *placement) flags(s *flagSet) {
	o.template, o.fanOut = launch.DefaultTemplate, launch.DefaultFanOut
	s.number(flagsToStart, &o.n, "n", "run `N` PEs (default: all slots of the hosts or of Slurm's allocation, or one for each CPU of this host)")
	s.text(flagsForHosts, &o.netns, "netns", "make hosts of network namespaces on this machine, run on them and remove them: `HOSTSxPEs` is 2x4 for two hosts with four PEs each; needs root")
	s.text(flagsForHosts, &o.hosts, "hosts", "run on these `hosts`: name:PEs,name:PEs; localhost is this one. @FILE reads them from a file with lines of name:PEs. +name:PEs is a spare, which takes the place of a host that is lost, with -survive")
	s.text(flagsForHosts, &o.template, "launch", usageLaunch)
	s.truth(flagsForHosts, &o.stage, "stage", "copy pgasrun and the program to the cache directory of each host, unless they are there")
	s.number(flagsForHosts, &o.fanOut, "fan-out", "start at most `N` agents from one host; of more hosts, some start the others")
	s.text(flagsForHosts, &o.bootAddr, "boot-addr", usageBootAddr)
}

// The usage of flags that pgasrun doctor has, too.
const (
	usageLaunch   = "`command` that runs a command on {host}"
	usageBootAddr = "`address` of the first host at which the others find it (default: try all)"
)

// besideNetns are the flags that say what -netns says, or mean nothing for hosts that share this one's files.
var besideNetns = []string{"hosts", "launch", "boot-addr", "stage"}

// check notes which flags are given. It returns an error if they contradict each other.
func (o *placement) check(s *flagSet) error {
	o.nSet, o.templateSet = s.given("n"), s.given("launch")
	if o.fanOut < 1 {
		return fmt.Errorf("-fan-out %d: it must be 1 or more", o.fanOut)
	}
	if i := slices.IndexFunc(besideNetns, s.given); o.netns != "" && i >= 0 {
		return fmt.Errorf("-netns with -%s: -netns makes the hosts itself, on this machine; give one of them", besideNetns[i])
	}
	return nil
}

// reach says in a job how its hosts are reached.
func (o *placement) reach(job *launch.Spec) {
	job.Template, job.Stage, job.FanOut, job.BootAddr, job.Spares = o.template, o.stage, o.fanOut, o.bootAddr, o.spares
}

// place returns the hosts of the job in PE order.
func (o *placement) place() ([]boot.Host, error) {
	if o.nSet && (o.n < 1 || o.n > boot.MaxPEs) {
		return nil, fmt.Errorf("-n %d: a job has at least one PE and at most %d", o.n, boot.MaxPEs)
	}
	switch {
	case o.netns != "":
		o.template = netns.Template
		return placeNetns(o.netns, o.n, o.nSet)
	case o.hosts == "":
		return o.placeByItself()
	}
	hosts, spares, err := parseHosts(o.hosts)
	if err != nil {
		return nil, err
	}
	hosts, o.spares = o.merge(hosts, spares)
	if err := launch.CheckHosts(hosts); err != nil {
		return nil, err
	}
	return hosts, o.checkSlots(hosts)
}

// placeByItself returns the hosts of a job whose command line names none: those of the allocation that pgasrun runs in,
// or this host.
func (o *placement) placeByItself() ([]boot.Host, error) {
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
		fmt.Fprintf(os.Stderr, "pgasrun: each node has the PEs that Slurm's distribution (%s) gives it, but PEs of a node have consecutive numbers: `pgasrun plan` lists them\n", distribution(env))
	}
	if !o.templateSet {
		o.template = stepTemplate
	}
	return hosts, launch.CheckHosts(hosts)
}

func (o *placement) checkSlots(hosts []boot.Host) error {
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

// parseHosts reads the hosts and the spares of -hosts: a list, or @FILE.
func parseHosts(list string) (hosts, spares []boot.Host, err error) {
	if path, isFile := strings.CutPrefix(list, "@"); isFile {
		return readHosts(path)
	}
	if hosts, spares, err = join.ParseHostsAndSpares(list); err != nil {
		return nil, nil, fmt.Errorf("-hosts %s: %w", list, err)
	}
	if len(hosts) == 0 {
		return nil, nil, fmt.Errorf("-hosts %s: all of its hosts are spares, and none runs PEs: write one without the +", list)
	}
	return hosts, spares, nil
}

func readHosts(path string) (hosts, spares []boot.Host, err error) {
	f, err := os.Open(path) // may be a pipe, which the shell has made
	if err != nil {
		return nil, nil, fmt.Errorf("-hosts @%s: %w", path, err)
	}
	defer f.Close()
	content, err := boot.ReadAtMost(f, path, join.MaxHostFile)
	if err != nil {
		return nil, nil, fmt.Errorf("-hosts @%s: %w", path, err)
	}
	return join.ParseHostFileAndSpares(path, content)
}

// merge adds up the entries of each host and of each spare. All names of this host are the first one of them, so that
// its PEs share memory.
func (o *placement) merge(entries, spareEntries []boot.Host) (hosts, spares []boot.Host) {
	here, isHere := "", launch.IsHere(o.template)
	for _, list := range [][]boot.Host{entries, spareEntries} {
		for i := range list {
			if !isHere(list[i].Name) {
				continue
			}
			if here == "" {
				here = list[i].Name
			}
			list[i].Name = here
		}
	}
	spares, _ = join.MergeHosts(spareEntries)
	hosts, apart := join.MergeHosts(entries)
	if apart != "" {
		fmt.Fprintf(os.Stderr, "pgasrun: host %s is listed again with others between, but PEs of a host have consecutive numbers: `pgasrun plan` lists them\n", apart)
	}
	return hosts, spares
}
