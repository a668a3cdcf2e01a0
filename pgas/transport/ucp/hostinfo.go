//go:build cgo

package ucp

// What the hosts of a job tell each other before UCX starts, so that UCX listens only on the interfaces that
// the job uses and accepts only the job's hosts: a process that connects to a port of UCX's controls the PE.
//
// One PE of each host publishes the host's addresses and its way to the exchange. A host knows both
// addresses of that way, its own and that of the first host or of another one that passes its calls on, so that one learns
// its address from it. A host
// need not accept itself: its PEs share memory, unless the network executes atomics. PEs in one network
// namespace that count as different hosts reach each other by loopback.

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

	"github.com/gopgas/gopgas/pgas/boot"
)

const loopback = "lo"

// hostInfo is what a host publishes about itself.
type hostInfo struct {
	Net    string       // names its network namespace
	Addrs  []netip.Addr // its own, loopback left out
	Local  netip.Addr   // its own end of its way to the exchange
	Remote netip.Addr   // the other end
}

// maxSources is the most addresses that a listener's filter compares; more are covered by one range.
const maxSources = 300

// exchangeHosts publishes what this host is, and returns what each host of the job has published. It is collective. It fails
// if the exchange does, and if a host has published what is not understood.
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
		return nil, fmt.Errorf("PE 0 tells of %d hosts, and the job has %d", len(hosts), len(job.Hosts))
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

// gatherHosts collects what each host has published and publishes it again, many hosts in one value: so every other PE makes
// one call of the exchange for many hosts.
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
	if way, ok := job.Exchange.(boot.Pathfinder); ok && len(job.Hosts) > 1 {
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
}

func ownInterfaces() []iface {
	all, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var found []iface
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		own := iface{name: i.Name}
		for _, a := range addrs {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil && !prefix.Addr().IsLinkLocalUnicast() {
				own.addrs = append(own.addrs, prefix.Addr().Unmap())
			}
		}
		if len(own.addrs) > 0 {
			found = append(found, own)
		}
	}
	return found
}

// oneNetwork reports whether all hosts of the job are one network namespace, which is reached by loopback.
func oneNetwork(hosts []hostInfo) bool {
	return !slices.ContainsFunc(hosts, func(p hostInfo) bool { return p.Net == "" || p.Net != hosts[0].Net }) || len(hosts) == 1
}

// devices returns the interfaces over which UCX is to listen, separated by commas.
func devices(hosts []hostInfo, self int, own []iface) string {
	if oneNetwork(hosts) {
		return loopback
	}
	var used []netip.Addr
	if !slices.Contains(hosts[self].Addrs, hosts[self].Remote) { // otherwise the exchange is on this host
		used = append(used, hosts[self].Local)
	}
	for _, p := range hosts {
		if p.Net != hosts[self].Net { // its way may lead to this host
			used = append(used, p.Remote)
		}
	}
	var chosen, all []string
	for _, i := range own {
		all = append(all, i.name)
		if slices.ContainsFunc(used, func(a netip.Addr) bool { return slices.Contains(i.addrs, a) }) {
			chosen = append(chosen, i.name)
		}
	}
	if len(chosen) == 0 {
		chosen = all // the address is translated on its way and names no interface
	}
	return strings.Join(chosen, ",")
}

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
		for _, a := range append([]netip.Addr{p.Local}, p.Addrs...) {
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
