//go:build cgo

package ucp

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
)

func addrs(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

// TestDevices: UCX listens on the interfaces of the ways between hosts, and takes the address of a way on each.
func TestDevices(t *testing.T) {
	path := func(net, local, remote string, own ...string) hostInfo {
		return hostInfo{Net: net, Local: netip.MustParseAddr(local), Remote: netip.MustParseAddr(remote), Addrs: addrs(own...)}
	}
	eth := iface{name: "eth0", addrs: addrs("10.5.0.1", "10.6.0.1", "fd00::1")}
	lo := iface{name: "lo", addrs: addrs("10.7.0.1")}
	near := iface{name: "eth1", addrs: addrs("169.254.7.1"), near: true}
	// the exchange is here
	first := path("a", "10.5.0.1", "10.5.0.1", "10.5.0.1", "10.6.0.1", "fd00::1", "10.7.0.1", "169.254.7.1")
	tests := map[string]struct {
		family string
		own    []iface
		hosts  []hostInfo
		self   int
		want   string
	}{
		"IPv6":                     {"", []iface{eth, lo}, []hostInfo{first, path("b", "fd00::2", "fd00::1")}, 0, "eth0 [fd00::1]"},
		"the second address":       {"", []iface{eth}, []hostInfo{first, path("b", "10.6.0.2", "10.6.0.1")}, 0, "eth0 [10.6.0.1]"},
		"its own end":              {"", []iface{eth}, []hostInfo{path("b", "fd00::9", "fd00::9"), path("a", "fd00::1", "fd00::9")}, 1, "eth0 [fd00::1]"},
		"most of the ways":         {"", []iface{eth}, []hostInfo{first, path("b", "10.5.0.2", "10.5.0.1"), path("c", "fd00::3", "fd00::1"), path("d", "fd00::4", "fd00::1")}, 0, "eth0 [fd00::1]"},
		"the user's family":        {"inet,inet6", []iface{eth}, []hostInfo{first, path("b", "fd00::2", "fd00::1")}, 0, "eth0 []"},
		"routers announce it":      {"", []iface{lo, near}, []hostInfo{first, path("b", "10.7.0.2", "10.7.0.1")}, 0, "lo [10.7.0.1]"},
		"of the link alone":        {"", []iface{near}, []hostInfo{first, path("b", "169.254.7.2", "169.254.7.1")}, 0, "eth1 [169.254.7.1]"},
		"translated on its way":    {"", []iface{lo, eth, near}, []hostInfo{first, path("b", "192.0.2.2", "192.0.2.1")}, 0, "eth0 []"},
		"translated, no other one": {"", []iface{lo, near}, []hostInfo{first, path("b", "192.0.2.2", "192.0.2.1")}, 0, "eth1 []"},
		"one machine":              {"", []iface{eth}, []hostInfo{first, path("a", "127.0.0.1", "127.0.0.1")}, 1, "lo []"},
	}
	for name, tt := range tests {
		t.Setenv(familyEnv, tt.family)
		names, taken := devices(tt.hosts, tt.self, tt.own)
		if got := fmt.Sprint(names, " ", taken); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestInterfaceOf: which addresses of an interface hosts tell each other.
func TestInterfaceOf(t *testing.T) {
	for name, tt := range map[string]struct {
		addrs []string
		want  string
	}{
		"IPv6's own link is left out": {[]string{"10.1.0.1/24", "fe80::1/64"}, "{x [10.1.0.1] false}"},
		"the kernel may take IPv4's":  {[]string{"169.254.1.1/16", "10.1.0.1/24"}, "{x [10.1.0.1 169.254.1.1] false}"},
		"nothing else":                {[]string{"169.254.1.1/16", "fe80::1/64"}, "{x [169.254.1.1 fe80::1] true}"},
		"loopback":                    {[]string{"127.0.0.1/8", "::1/128"}, "{x [] true}"},
		"beside loopback":             {[]string{"127.0.0.1/8", "10.7.0.1/32"}, "{x [10.7.0.1] false}"},
	} {
		var all []net.Addr
		for _, text := range tt.addrs {
			ip, n, err := net.ParseCIDR(text)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, &net.IPNet{IP: ip, Mask: n.Mask})
		}
		own := interfaceOf("x", all)
		if got := fmt.Sprintf("{%s %v %t}", own.name, own.addrs, own.near); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
