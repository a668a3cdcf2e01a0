//go:build cgo

package ucp

// What the hosts of a job tell each other before UCX starts, so that UCX listens only on the interfaces that
// the job uses and accepts only the job's hosts: a process that connects to a port of UCX's controls the PE.
//
// One PE of each host publishes the host's addresses and its way to the exchange. A host knows both
// addresses of that way, its own and that of the first host or of another one that passes its calls on, so that one
// learns its address from it. A host need not accept itself: its PEs share memory, unless the network executes atomics.
// PEs in one network namespace that count as different hosts reach each other by loopback.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
)

const loopback = "lo"

// hostInfo is what a host publishes about itself.
type hostInfo struct {
	Net    string       // name of the host's network namespace
	Addrs  []netip.Addr // the host's own addresses, loopback left out
	Local  netip.Addr   // this host's end of its connection to the exchange
	Remote netip.Addr   // the other end of that connection
}

// maxSources is the most addresses that a listener's filter compares; more are covered by one range.
const maxSources = 300

// exchangeHosts publishes what this host is, and returns what each host of the job has published. It is collective. It
// fails if the exchange does, and if a host has published what is not understood.
func exchangeHosts(ctx context.Context, job *boot.Job) ([]hostInfo, error) {
	own, err := hostInfoOf(ctx, job)
	if err != nil {
		return nil, err
	}
	hosts := make([]hostInfo, len(job.Hosts))
	hosts[job.HostIndex] = own
	if job.Exchange == nil || len(job.Hosts) == 1 {
		return hosts, nil
	}
	if job.PE == job.Host().First {
		if err := putJSON(ctx, job.Exchange, hostKey(job.HostIndex), own); err != nil {
			return nil, err
		}
	}
	if job.PE == 0 {
		return hosts, gatherHosts(ctx, job, hosts)
	}
	hosts, err = toldHosts(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("waiting for the other hosts' PEs to start: %w", err)
	}
	if len(hosts) != len(job.Hosts) {
		return nil, fmt.Errorf("PE 0 tells of %s, and the job has %d", plural.Count(len(hosts), "host"), len(job.Hosts))
	}
	return hosts, nil
}

// toldHosts returns what PE 0 tells of all hosts. It asks for all values at once, so it waits as long as for one.
func toldHosts(ctx context.Context, job *boot.Job) ([]hostInfo, error) {
	told := make([][]hostInfo, (len(job.Hosts)+hostsInValue-1)/hostsInValue)
	errs := make([]error, len(told))
	var asked sync.WaitGroup
	for i := range told {
		asked.Go(func() { errs[i] = getJSON(ctx, job.Exchange, hostsKey(i*hostsInValue), &told[i]) })
	}
	asked.Wait()
	return slices.Concat(told...), errors.Join(errs...)
}

// gatherHosts collects what each host has published and publishes it again, many hosts in one value: so every other PE
// makes one call of the exchange for many hosts.
func gatherHosts(ctx context.Context, job *boot.Job, hosts []hostInfo) error {
	for host := range hosts {
		if err := getJSON(ctx, job.Exchange, hostKey(host), &hosts[host]); err != nil {
			return fmt.Errorf("waiting for a PE of host %s to start: %w", job.Hosts[host].Name, err)
		}
	}
	for first := 0; first < len(hosts); first += hostsInValue {
		part := hosts[first:min(first+hostsInValue, len(hosts))]
		if err := putJSON(ctx, job.Exchange, hostsKey(first), part); err != nil {
			return err
		}
	}
	return nil
}

// hostsInValue is how many hosts one value tells of: as many as a value of the exchange holds if they have a dozen
// interfaces.
const hostsInValue = 512

// hostsKey is the key of what PE 0 tells of the hosts from the given one on.
func hostsKey(first int) string { return "ucp/hosts/" + strconv.Itoa(first) }

func putJSON(ctx context.Context, x boot.Exchange, key string, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return x.Put(ctx, key, value)
}

func getJSON(ctx context.Context, x boot.Exchange, key string, v any) error {
	value, err := x.Get(ctx, key)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(value, v); err != nil {
		return fmt.Errorf("the exchange has %.40q under %s: %w", value, key, err)
	}
	return nil
}

func hostKey(host int) string { return "ucp/host/" + strconv.Itoa(host) }

func hostInfoOf(ctx context.Context, job *boot.Job) (hostInfo, error) {
	p := hostInfo{Net: namespace()}
	for _, i := range ownInterfaces() {
		p.Addrs = append(p.Addrs, i.addrs...)
	}
	if way, ok := job.Exchange.(join.Pathfinder); ok && len(job.Hosts) > 1 {
		var err error
		if p.Local, p.Remote, err = way.Path(ctx); err != nil {
			return p, err
		}
	}
	return p, nil
}

// namespace names the network namespace of this process among those of all machines.
func namespace() string {
	machine, err1 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	inode, err2 := os.Readlink("/proc/self/ns/net")
	if errors.Join(err1, err2) != nil {
		return ""
	}
	return strings.TrimSpace(string(machine)) + " " + inode
}

// iface is an interface of this host that other hosts may reach.
type iface struct {
	name  string
	addrs []netip.Addr
	near  bool // all addresses are good on the host's own link alone
}

// ownInterfaces lists the interfaces with the addresses that UCX may take. Loopback has those that routers announce,
// where hosts have no others. An address that is good on one link alone counts where the interface has no others, and
// if it is one of IPv4: the kernel may connect from it.
func ownInterfaces() []iface {
	all, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var found []iface
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 {
			continue
		}
		if own := interfaceOf(i.Name, addrs); len(own.addrs) > 0 {
			found = append(found, own)
		}
	}
	return found
}

func interfaceOf(name string, addrs []net.Addr) iface {
	own := iface{name: name}
	var link, kernels []netip.Addr
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || prefix.Addr().IsLoopback() {
			continue
		}
		addr := prefix.Addr().Unmap()
		switch {
		case !addr.IsLinkLocalUnicast():
			own.addrs = append(own.addrs, addr)
		case addr.Is4():
			kernels = append(kernels, addr)
			link = append(link, addr)
		default:
			link = append(link, addr)
		}
	}
	if own.near = len(own.addrs) == 0; own.near {
		kernels = link
	}
	own.addrs = append(own.addrs, kernels...)
	return own
}

// oneNetwork reports whether all hosts of the job are one network namespace, which is reached by loopback.
func oneNetwork(hosts []hostInfo) bool {
	return !slices.ContainsFunc(hosts, func(p hostInfo) bool { return p.Net == "" || p.Net != hosts[0].Net }) || len(hosts) == 1
}

// devices returns the interfaces over which UCX is to listen, separated by commas, and the address that it is to take
// on each.
func devices(hosts []hostInfo, self int, own []iface) (names string, addrs []netip.Addr) {
	if oneNetwork(hosts) {
		return loopback, nil
	}
	used := waysTo(hosts, self)
	var chosen, all, near []string
	for _, i := range own {
		switch {
		case i.name == loopback:
		case i.near:
			near = append(near, i.name)
		default:
			all = append(all, i.name)
		}
		if a := mostUsed(used, i.addrs); a.IsValid() {
			chosen, addrs = append(chosen, i.name), append(addrs, a)
		}
	}
	if len(chosen) == 0 {
		chosen = all // the address is translated on its way and names no interface
	}
	if len(chosen) == 0 {
		chosen = near
	}
	return strings.Join(chosen, ","), addrs
}

// waysTo returns the addresses of this host by which it reaches others, or they reach it, once for each way.
func waysTo(hosts []hostInfo, self int) []netip.Addr {
	var used []netip.Addr
	if !slices.Contains(hosts[self].Addrs, hosts[self].Remote.WithZone("")) { // otherwise the exchange is on this host
		used = append(used, hosts[self].Local.WithZone(""))
	}
	for _, p := range hosts {
		if p.Net != hosts[self].Net { // its way may lead to this host
			used = append(used, p.Remote.WithZone(""))
		}
	}
	return used
}

// mostUsed returns the one of addrs that is most often in used, or none. UCX_TCP_AF_PRIO chooses the family.
func mostUsed(used, addrs []netip.Addr) (best netip.Addr) {
	family, _, _ := strings.Cut(os.Getenv(familyEnv), ",")
	most := 0
	for _, a := range addrs {
		if family != "" && (family == "inet6") != a.Is6() {
			continue
		}
		n := 0
		for _, u := range used {
			if u == a {
				n++
			}
		}
		if n > most {
			best, most = a, n
		}
	}
	return best
}

// familyEnv is UCX's variable for the families of addresses that its TCP takes, the first one it can first.
const familyEnv = "UCX_TCP_AF_PRIO"

// sources returns the addresses from which PEs of the job may connect to this one.
func sources(hosts []hostInfo, self int, network bool) []netip.Prefix {
	if oneNetwork(hosts) {
		return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	}
	var from []netip.Prefix
	for host, p := range hosts {
		if host == self && !network {
			continue
		}
		for _, a := range append([]netip.Addr{p.Local.WithZone("")}, p.Addrs...) {
			if prefix := netip.PrefixFrom(a, a.BitLen()); a.IsValid() && !slices.Contains(from, prefix) {
				from = append(from, prefix)
			}
		}
	}
	if len(from) > maxSources {
		from = covering(from)
	}
	return from
}

// covering returns one range for each family that holds all of from.
func covering(from []netip.Prefix) []netip.Prefix {
	var ranges []netip.Prefix
	for _, p := range from {
		i := slices.IndexFunc(ranges, func(r netip.Prefix) bool { return r.Addr().Is4() == p.Addr().Is4() })
		if i < 0 {
			ranges = append(ranges, p)
			continue
		}
		for !ranges[i].Contains(p.Addr()) {
			ranges[i] = netip.PrefixFrom(ranges[i].Addr(), ranges[i].Bits()-1).Masked()
		}
	}
	return ranges
}

// wayOf says which addresses of this host UCX has taken, and how the exchange reached another host: what a user needs
// to know where UCX does not reach one. A way of a job whose exchange knows none is empty.
func wayOf(self hostInfo, taken []netip.Addr) string {
	if !self.Local.IsValid() {
		return ""
	}
	took := "the first address of each interface"
	if len(taken) > 0 {
		took = strings.Trim(fmt.Sprint(taken), "[]")
	}
	say := fmt.Sprintf("here it takes %s, and the exchange of the job goes from %v to %v", took, self.Local, self.Remote)
	if slices.ContainsFunc(taken, func(a netip.Addr) bool { return a.Is6() && a.IsLinkLocalUnicast() }) {
		return say + ": it does not reach addresses of a link alone: give the interfaces others"
	}
	return say + ": if these do not reach the other hosts, UCX_NET_DEVICES names other interfaces and UCX_TCP_AF_PRIO=inet6 takes IPv6; firewalls must let all ports pass between the job's hosts"
}
