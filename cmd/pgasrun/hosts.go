package main

// The hosts of the job and their PEs: -n, -hosts and -hostfile. For -netns see netns.go.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
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
	if err := launch.CheckHosts(hosts); err != nil {
		return nil, err
	}
	return hosts, o.checkSlots(hosts)
}

// placeByItself returns the hosts of a job whose command line names none: those of the allocation that pgasrun runs in,
// or this host.
func (o *options) placeByItself() ([]boot.Host, error) {
	env := boot.NewEnvironment(os.Environ())
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

func parseHosts(list string) ([]boot.Host, error) {
	var hosts []boot.Host
	for entry := range strings.SplitSeq(list, ",") {
		h, err := parseHost(strings.TrimSpace(entry))
		if err != nil {
			return nil, fmt.Errorf("-hosts %s: %w", list, err)
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// parseHost reads "name" or "name:PEs".
func parseHost(entry string) (boot.Host, error) {
	name, count, given := strings.Cut(entry, ":")
	h := boot.Host{Name: name, PEs: 1}
	if err := launch.CheckHost(name); err != nil {
		return h, err
	}
	if given {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > boot.MaxPEs {
			return h, fmt.Errorf("%q is not a number of PEs for host %s: write %s:2", count, name, name)
		}
		h.PEs = n
	}
	return h, nil
}

func readHostfile(path string) ([]boot.Host, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("-hostfile: %w", err)
	}
	defer f.Close()
	return parseHostfile(path, f)
}

// parseHostfile reads one host a line. A # begins a comment.
func parseHostfile(path string, r io.Reader) ([]boot.Host, error) {
	var hosts []boot.Host
	seen := map[string]int{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		h, err := parseHost(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if first := seen[h.Name]; first != 0 {
			return nil, fmt.Errorf("%s:%d: host %s is on line %d already: give it one line with all of its PEs", path, n, h.Name, first)
		}
		seen[h.Name] = n
		hosts = append(hosts, h)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("%s: it names no host: write one a line, as name:PEs", path)
	}
	return hosts, nil
}
