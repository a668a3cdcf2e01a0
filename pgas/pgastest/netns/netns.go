// Package netns makes hosts out of network namespaces of this machine: each with an address of its own on one
// bridge, so that traffic between them crosses a real TCP stack. `pgasrun -netns` runs jobs on them, and tests do.
//
// The bridge lives in a namespace of its own, so the machine's own network is never touched, and any number of
// processes can have hosts at once: their names differ, and equal addresses are on different bridges.
//
// Hosts end with their owner's Close. An owner that was killed leaves them behind, and the next New of any process
// removes them: see stale.go.
package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/gopgas/gopgas/internal/plural"
)

// Template is the launch template that runs a command on one of the hosts. Each host's agent has a session of its own,
// as it has behind sshd, under systemd and in a pod. Linux then schedules each host as a group of its own.
const Template = "setsid -w ip netns exec {host}"

// MaxHosts is the most hosts that one New makes.
const MaxHosts = 200

// Hosts are namespaces that stand in for hosts.
type Hosts struct {
	Names     []string
	Addresses []string // of each, reachable from the others
	Bridge    string   // the namespace of the bridge; port0, port1, … are the bridge's ends of the hosts' links

	lock *os.File // on the bridge's namespace: it says that these hosts have an owner
}

// Usable returns why hosts cannot be made on this machine, with the remedy, or nil.
func Usable() error {
	h, err := claim(context.Background())
	if err != nil {
		return err
	}
	return h.Close()
}

// New makes n hosts. Close removes them. The error says which step failed: what Usable finds, the ip command, or a
// number of hosts that is not from 1 to MaxHosts; no host is left then.
func New(n int) (*Hosts, error) { return NewContext(context.Background(), n) }

// NewContext is New until ctx ends: then it removes what it has made and returns the cause.
func NewContext(ctx context.Context, n int) (*Hosts, error) {
	if n < 1 || n > MaxHosts {
		return nil, fmt.Errorf("cannot make %s: from 1 to %d are possible", plural.Count(n, "host"), MaxHosts)
	}
	sweep()
	h, err := claim(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.make(ctx, n); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// make gives few ip commands much to do: to start one costs as much as what it does.
func (h *Hosts) make(ctx context.Context, n int) error {
	group := strings.TrimSuffix(h.Bridge, bridgeSuffix)
	var add []string
	links := []string{"link add br0 up type bridge"}
	for i := range n {
		name := fmt.Sprintf("%s-%d", group, i)
		h.Names, h.Addresses = append(h.Names, name), append(h.Addresses, fmt.Sprintf("10.77.1.%d", i+1))
		add = append(add, "netns add "+name)
		links = append(links, fmt.Sprintf("link add port%d up master br0 type veth peer name eth0 netns %s", i, name))
	}
	if err := ipBatch(ctx, add); err != nil {
		return err
	}
	if err := ipBatch(ctx, links, "-n", h.Bridge); err != nil {
		return err
	}
	for i, name := range h.Names {
		own := []string{"addr add " + h.Addresses[i] + "/24 dev eth0", "link set eth0 up", "link set lo up"}
		if err := ipBatch(ctx, own, "-n", name); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the hosts. The error lists those that could not be removed. The bridge goes last: what has no bridge
// has no owner.
func (h *Hosts) Close() error {
	defer h.lock.Close()
	return remove(append(h.Names, h.Bridge))
}

func remove(names []string) error {
	var del []string
	for _, name := range names {
		if exists(name) {
			del = append(del, "netns del "+name)
		}
	}
	if len(del) == 0 {
		return nil
	}
	return ipBatch(context.Background(), del, "-force") // goes on after one that fails
}

// ip runs the ip command. It is in a process group of its own: Ctrl-C is for its caller, which undoes what was done.
func ip(args ...string) error { return runIP(nil, args...) }

// ipBatch gives one ip command the lines. The first line that fails ends it, and the error names that line. When ctx
// has ended, ipBatch returns the cause.
func ipBatch(ctx context.Context, lines []string, args ...string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return runIP(lines, append(args, strings.Fields(batch)...)...)
}

// batch is the argument that makes ip read its commands.
const batch = "-batch -"

func runIP(lines []string, args ...string) error {
	cmd := exec.Command("ip", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if lines != nil {
		cmd.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		command := "ip " + strings.Join(args, " ")
		if _, failed, ok := strings.Cut(string(out), "Command failed -:"); ok {
			var n int
			if fmt.Sscan(failed, &n); n > 0 && n <= len(lines) { // the command that the line alone would be
				command = strings.TrimSuffix(command, batch) + lines[n-1]
			}
		}
		return fmt.Errorf("`%s` failed (%w): %s", command, err, said)
	}
	return nil
}
