package agent

// The exchange in a job of several hosts: each host's agent serves its PEs, and calls the agent of its parent host for
// what it does not know (package boot). The hosts are a tree in the order of their numbers: host 0 is the root, and
// the children of host i are hosts F*i+1 to F*i+F, with the fan-out F of the agents' own tree. So in a job of up to
// F+1 hosts every agent calls host 0, and in a larger one no agent has more than F callers beside its PEs.

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// ExchangeParent returns the host whose server the server of host i calls. The root's is itself.
func ExchangeParent(i, fanOut int) int {
	if i == 0 {
		return 0
	}
	return (i - 1) / fanOut
}

// exchangePart returns how many of n hosts are children of host i, and how many PEs are in its subtree, its own
// included.
func exchangePart(hosts []boot.Host, i, fanOut int) (children, pes int) {
	n := len(hosts)
	for lo, hi := i, i+1; lo < n; lo, hi = fanOut*lo+1, fanOut*hi+1 { // one level of the subtree after the other
		last := hosts[min(hi, n)-1]
		pes += last.First + last.PEs - hosts[lo].First
		if lo == fanOut*i+1 && lo != i {
			children = min(hi, n) - lo
		}
	}
	return children, pes
}

// exchange is the server of one host, and where it listens.
type exchange struct {
	network   join.Network
	listeners []net.Listener
	addrs     []string // for other hosts; none if they do not call it
	local     string   // the addresses for the PEs of this host; empty on host 0, whose PEs use addrs
	children  int
	pes       int // the PEs of its subtree
	server    *join.Server
}

// hasOthers reports whether servers of other hosts call this one.
func (x *exchange) hasOthers() bool { return x.children > 0 }

// listenForExchange makes the listeners of this host's server.
func listenForExchange(c frame.Config, network join.Network) (*exchange, error) {
	x := &exchange{network: network}
	x.children, x.pes = exchangePart(c.Hosts, c.Host, c.FanOut)
	if c.Host > 0 {
		x.local = "@pgas-exchange-" + rand.Text() // no network is needed, and no port taken
		ln, err := network.Listen("unix", x.local)
		if err != nil {
			return nil, fmt.Errorf("listening for the PEs of this host: %w", err)
		}
		x.listeners = append(x.listeners, ln)
	}
	if c.Host > 0 && !x.hasOthers() {
		return x, nil
	}
	if err := x.listenForHosts(c.Serve, join.NewEnvironment(inherited(&c))[join.EnvNetDevices]); err != nil {
		return nil, err
	}
	return x, nil
}

// listenForHosts listens at addr, or on the interfaces that devices names, a value of UCX_NET_DEVICES, if there is
// none.
func (x *exchange) listenForHosts(addr, devices string) error {
	if addr == "" {
		lns, at, err := join.ListenOn(x.network, devices)
		x.listeners, x.addrs = append(x.listeners, lns...), at
		return err
	}
	addr = strings.TrimSuffix(strings.TrimPrefix(addr, "["), "]") // as people write addresses of IPv6
	ln, err := x.network.Listen("tcp", net.JoinHostPort(addr, "0"))
	if err != nil {
		return fmt.Errorf("listening for the other hosts on %s: %w: -boot-addr must be an address of the job's first host", addr, err)
	}
	x.listeners = append(x.listeners, ln)
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	x.addrs = []string{net.JoinHostPort(addr, port)}
	return nil
}

// close ends the server, or what was to become it.
func (x *exchange) close() {
	if x.server != nil {
		x.server.Close()
		return
	}
	for _, l := range x.listeners {
		l.Close()
	}
}

// serve starts the server, and returns the addresses at which the PEs of this host call it. parent has those of the
// parent host's server. lost is called with the first PE of another host when the connection to that host's agent ends.
func (x *exchange) serve(c frame.Config, parent []string, lost func(pe int), logf func(string, ...any)) []string {
	own, last := c.Hosts[c.Host], c.Hosts[len(c.Hosts)-1]
	s := join.ServerConfig{
		ID: c.ID, Secret: c.Secret, NPEs: last.First + last.PEs, FirstPE: own.First,
		Callers: own.PEs + x.children, PEs: x.pes, Network: x.network, Silence: peerTimeout(&c),
	}
	if c.Host > 0 {
		s.Parent, s.ParentPE = parent, c.Hosts[ExchangeParent(c.Host, c.FanOut)].First
	}
	s.Lost = func(pe int) {
		if pe < own.First || pe >= own.First+own.PEs {
			lost(pe)
		}
	}
	x.server = join.Serve(x.listeners, s, logf)
	if x.local != "" {
		return []string{x.local}
	}
	return x.addrs
}

// inherited returns the variables that every PE of this host gets; those of one PE are not among them.
func inherited(c *frame.Config) []string {
	return Once(append(boot.StripEnv(os.Environ()), c.Env...))
}

// Once returns environ with the last assignment to each variable alone. A program would take the first one.
func Once(environ []string) []string { return (&exec.Cmd{Env: environ}).Environ() }

// peerTimeout returns the PGAS_PEER_TIMEOUT of the PEs, 0 for the default. A value that is wrong is reported by the
// PEs.
func peerTimeout(c *frame.Config) time.Duration {
	set, err := boot.ParseSettings(inherited(c))
	if err != nil {
		return 0
	}
	return set.PeerTimeout
}
