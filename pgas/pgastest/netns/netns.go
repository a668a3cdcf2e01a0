// Package netns makes hosts for tests out of network namespaces: each with an address of its own on one
// bridge, so that traffic between them crosses a real TCP stack. They belong to this process: New removes
// those of processes that were killed.
//
// The bridge lives in a namespace of its own, so the machine's own network is never touched.
package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Template is the launch template that runs a command on one of the hosts. Each host's agent has a session of its own, as
// it has behind sshd, under systemd and in a pod. Linux then schedules each host as a group of its own.
const Template = "setsid -w ip netns exec {host}"

// Hosts are namespaces that stand in for hosts.
type Hosts struct {
	Names     []string
	Addresses []string // of each, reachable from the others
	Bridge    string   // the namespace of the bridge; port0, port1, … are the bridge's ends of the hosts' links
}

// prefix starts the name of every namespace. The process id of its owner follows.
const prefix = "pgas"

// Usable returns why hosts cannot be made on this machine, or nil.
func Usable() error {
	if os.Geteuid() != 0 {
		return errors.New("network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return errors.New("network namespaces need the ip command: install iproute2")
	}
	name := fmt.Sprintf("%s%dtry", prefix, os.Getpid())
	if err := ip("netns", "add", name); err != nil {
		return fmt.Errorf("network namespaces are not allowed here: %w", err)
	}
	return ip("netns", "del", name)
}

// New makes n hosts. Close removes them. The error says which step failed: the ip command, or a number of hosts that is
// not from 1 to 200.
func New(n int) (*Hosts, error) {
	if n < 1 || n > 200 {
		return nil, fmt.Errorf("cannot make %d hosts: from 1 to 200 are possible", n)
	}
	sweep()
	pid := os.Getpid()
	h := &Hosts{Bridge: fmt.Sprintf("%s%dw", prefix, pid)}
	if err := h.make(n, pid); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Hosts) make(n, pid int) error {
	steps := [][]string{
		{"netns", "add", h.Bridge},
		{"-n", h.Bridge, "link", "add", "br0", "type", "bridge"},
		{"-n", h.Bridge, "link", "set", "br0", "up"},
	}
	for i := range n {
		name, port, addr := fmt.Sprintf("%s%dh%d", prefix, pid, i), fmt.Sprintf("port%d", i), fmt.Sprintf("10.77.1.%d", i+1)
		h.Names, h.Addresses = append(h.Names, name), append(h.Addresses, addr)
		steps = append(steps,
			[]string{"netns", "add", name},
			[]string{"-n", h.Bridge, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name},
			[]string{"-n", h.Bridge, "link", "set", port, "master", "br0", "up"},
			[]string{"-n", name, "addr", "add", addr + "/24", "dev", "eth0"},
			[]string{"-n", name, "link", "set", "eth0", "up"},
			[]string{"-n", name, "link", "set", "lo", "up"})
	}
	for _, args := range steps {
		if err := ip(args...); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the hosts. The error lists those that could not be removed.
func (h *Hosts) Close() error {
	var errs []error
	for _, name := range append([]string{h.Bridge}, h.Names...) {
		if _, err := os.Stat("/run/netns/" + name); err == nil {
			errs = append(errs, ip("netns", "del", name))
		}
	}
	return errors.Join(errs...)
}

// sweep removes the namespaces of processes that are gone.
func sweep() {
	entries, err := os.ReadDir("/run/netns")
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), prefix)
		digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if !ours || digits <= 0 {
			continue
		}
		pid, err := strconv.Atoi(rest[:digits])
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			ip("netns", "del", e.Name())
		}
	}
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %s", strings.Join(args, " "), strings.TrimSpace(string(out)+" "+err.Error()))
	}
	return nil
}
