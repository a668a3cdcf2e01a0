package join

// The network by which PEs and servers of the exchange reach each other: sockets, or what a simulation of many hosts in
// one process has in their place.

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// Network makes the connections of the exchange.
type Network interface {
	// Listen is net.Listen.
	Listen(network, addr string) (net.Listener, error)
	// Addrs returns the addresses of this host at which other hosts reach what listens on port.
	Addrs(port string) ([]string, error)
	// Dial connects to one of these addresses. One that begins with @ is the name of a socket of this host.
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// Sockets is the network of this machine.
var Sockets Network = sockets{}

type sockets struct{}

func (sockets) Listen(network, addr string) (net.Listener, error) { return net.Listen(network, addr) }

func (sockets) Addrs(port string) ([]string, error) { return LocalAddrs(port) }

func (sockets) Dial(ctx context.Context, addr string) (net.Conn, error) {
	dialer, network := net.Dialer{Timeout: handshakeTime}, "tcp"
	if len(addr) > 0 && addr[0] == '@' {
		network = "unix"
	}
	if host, port, err := net.SplitHostPort(addr); err == nil {
		if a, err := netip.ParseAddr(host); err == nil && a.Zone() != "" {
			return dialLink(ctx, &dialer, a, port)
		}
	}
	return dialer.DialContext(ctx, network, addr)
}

// dialLink connects to an address that is good on one link alone. Its zone is what the other host calls its interface
// of that link. If this host has no interface of that name, the link may be that of any: the first that answers is
// taken.
func dialLink(ctx context.Context, dialer *net.Dialer, a netip.Addr, port string) (net.Conn, error) {
	if _, err := net.InterfaceByName(a.Zone()); err == nil {
		return dialer.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port))
	}
	all, err := net.Interfaces()
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		var conn net.Conn
		if conn, err = dialer.DialContext(ctx, "tcp", net.JoinHostPort(a.WithZone(i.Name).String(), port)); err == nil {
			return conn, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%v: this host has no interface %s, and no other that is up", a, a.Zone())
	}
	return nil, err
}

// LocalAddrs lists the addresses of this host with a port, those that other hosts can use first. Hosts that are
// namespaces or containers sharing one network need the loopback addresses. Addresses that are good on one link alone
// are listed where the host has no others. It returns the system's error.
func LocalAddrs(port string) ([]string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("listing the addresses of this host: %w", err)
	}
	var global, link, loopback []string
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		routed, local := addressesAt(i)
		link = append(link, local...)
		for _, a := range routed {
			if net.ParseIP(a).IsLoopback() {
				loopback = append(loopback, a)
			} else {
				global = append(global, a)
			}
		}
	}
	if len(global) == 0 {
		global = link
	}
	var at []string
	for _, a := range append(global, loopback...) {
		at = append(at, net.JoinHostPort(a, port))
	}
	return at, nil
}

// addressesAt returns the addresses of an interface, those that are good on its own link alone apart.
func addressesAt(i net.Interface) (global, link []string) {
	addrs, _ := i.Addrs()
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		switch {
		case !ok:
		case !n.IP.IsLinkLocalUnicast():
			global = append(global, n.IP.String())
		case n.IP.To4() != nil:
			link = append(link, n.IP.String())
		default:
			link = append(link, n.IP.String()+"%"+i.Name)
		}
	}
	return global, link
}
