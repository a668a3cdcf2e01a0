package silence

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// stage is a running job that a fault strikes.
type stage struct {
	hosts *netns.Hosts
	pids  map[int]int // of the PEs
}

const struck = victim / perHost // the host whose link fails

// A fault falls on a job whose PEs are all blocked.
type fault struct {
	before func(s *stage) error // before the job starts, or nil
	strike func(s *stage) error
	right  func(pe, said int) bool // whether PE pe may say that PE said is lost
	only   func(c call) bool       // the calls that notice; nil: all
	short  []string                // the calls of a short run, which has each way to wait once
}

var faults = map[string]fault{
	"stopped": {
		strike: func(s *stage) error { return syscall.Kill(s.pids[victim], syscall.SIGSTOP) },
		right:  func(_, said int) bool { return said == victim },
		short:  []string{"wait", "dmcs lock"},
	},
	"link down": {
		strike: func(s *stage) error { return ip("-n", s.hosts.Bridge, "link", "set", port(struck), "down") },
		right:  cutOff,
		short:  []string{"barrier"},
	},
	"own link down": {
		strike: func(s *stage) error { return ip("-n", s.hosts.Names[struck], "link", "set", "eth0", "down") },
		right:  cutOff,
		short:  []string{"first put"},
	},
	"sends nothing": {
		strike: func(s *stage) error { return s.misdirect(struck, others()...) },
		right:  cutOff,
		short:  []string{"reduce"},
	},
	"receives nothing": {
		strike: func(s *stage) error {
			for _, h := range others() {
				if err := s.misdirect(h, struck); err != nil {
					return err
				}
			}
			return nil
		},
		right: cutOff,
		short: []string{"signal"},
	},
	"reset": {
		strike: func(s *stage) error { return s.reset() },
		right:  anyEnd,
		only:   func(c call) bool { return c.talks },
		short:  []string{"put"},
	},
	"small packets only": {
		before: func(s *stage) error {
			// A packet that the kernel has joined from many passes whatever its size.
			for _, name := range s.hosts.Names {
				if err := ip("-n", name, "link", "set", "eth0", "gso_max_segs", "1"); err != nil {
					return err
				}
			}
			return nil
		},
		strike: func(s *stage) error { return ip("-n", s.hosts.Bridge, "link", "set", port(struck), "mtu", "600") },
		right:  anyEnd,
		only:   func(c call) bool { return c.large },
		short:  []string{"large put", "large get"},
	},
}

// cutOff reports whether a report is right if one host is cut off. PEs of other hosts name one of that host. PEs on
// that host reach no other host. They may name any PE on another host, or one of their own that the launcher names.
func cutOff(pe, said int) bool { return pe/perHost == struck || said/perHost == struck }

// anyEnd reports whether a report is right if a connection failed: no PE can tell which of its ends is to blame.
func anyEnd(pe, said int) bool { return said >= 0 && said < npes }

func others() []int {
	var all []int
	for h := range npes / perHost {
		if h != struck {
			all = append(all, h)
		}
	}
	return all
}

func port(host int) string { return fmt.Sprintf("port%d", host) }

// misdirect makes a host send its packets for other hosts to an address that no host has: they are dropped, and
// packets from the others still arrive.
func (s *stage) misdirect(host int, to ...int) error {
	for _, h := range to {
		if err := ip("-n", s.hosts.Names[host], "neigh", "replace", s.hosts.Addresses[h], "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud", "permanent"); err != nil {
			return err
		}
	}
	return nil
}

// reset resets every connection of the victim's host.
func (s *stage) reset() error {
	out, err := exec.Command("ip", "netns", "exec", s.hosts.Names[struck], "ss", "-K", "-t", "-n", "-H", "state", "established", "src", s.hosts.Addresses[struck]).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ss -K: %w: %s", err, out)
	}
	if len(strings.TrimSpace(string(out))) == 0 {
		return errNoReset
	}
	return nil
}

var errNoReset = fmt.Errorf("this kernel does not let ss reset connections (CONFIG_INET_DIAG_DESTROY)")

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
