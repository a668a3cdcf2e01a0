package boot

// The network by which PEs and servers of the exchange reach each other: sockets, or what a simulation of many hosts in one
// process has in their place.

import (
	"context"
	"net"
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
	return dialer.DialContext(ctx, network, addr)
}
