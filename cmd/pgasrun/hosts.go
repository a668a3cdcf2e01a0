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

	nSet        bool // -n is given
	templateSet bool // -launch is given
}

func (o *placement) flags(s *flagSet) {
	o.template, o.fanOut = launch.DefaultTemplate, launch.DefaultFanOut
	s.number(flagsToStart, &o.n, "n", "run `N` PEs (default: all slots of the hosts or of Slurm's allocation, or one for each CPU of this host)")
	s.text(flagsForHosts, &o.netns, "netns", "make hosts of network namespaces on this machine, run on them and remove them: `HOSTSxPEs` is 2x4 for two hosts with four PEs each; needs root")
	s.text(flagsForHosts, &o.hosts, "hosts", "run on these `hosts`: name:PEs,name:PEs; localhost is this one. @FILE reads them from a file with lines of name:PEs")
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
	job.Template, job.Stage, job.FanOut, job.BootAddr = o.template, o.stage, o.fanOut, o.bootAddr
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
	hosts, err := parseHosts(o.hosts)
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

// parseHosts reads the hosts of -hosts: a list, or @FILE.
func parseHosts(list string) ([]boot.Host, error) {
	if path, isFile := strings.CutPrefix(list, "@"); isFile {
		return readHosts(path)
	}
	hosts, err := join.ParseHosts(list)
	if err != nil {
		return nil, fmt.Errorf("-hosts %s: %w", list, err)
	}
	return hosts, nil
}

func readHosts(path string) ([]boot.Host, error) {
	f, err := os.Open(path) // may be a pipe, which the shell has made
	if err != nil {
		return nil, fmt.Errorf("-hosts @%s: %w", path, err)
	}
	defer f.Close()
	content, err := boot.ReadAtMost(f, path, join.MaxHostFile)
	if err != nil {
		return nil, fmt.Errorf("-hosts @%s: %w", path, err)
	}
	return join.ParseHostFile(path, content)
}

// merge adds up the entries of each host. All names of this host are the first one of them, so that its PEs share
// memory.
func (o *placement) merge(entries []boot.Host) []boot.Host {
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
		fmt.Fprintf(os.Stderr, "pgasrun: host %s is listed again with others between, but PEs of a host have consecutive numbers: `pgasrun plan` lists them\n", apart)
	}
	return hosts
}
