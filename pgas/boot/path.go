package boot

// The connection to the exchange is all that a PE knows about the job's network: an address of its own host, and
// an address of the first host, that reach each other.

import (
	"context"
	"net"
	"net/netip"
)

// Pathfinder is an Exchange that knows the addresses of its connection.
type Pathfinder interface {
	// Path returns the addresses of the local end and of the server's, as seen from this host. It returns an error if
	// the server cannot be reached or ctx ends.
	Path(ctx context.Context) (local, remote netip.Addr, err error)
}

func (c *client) Path(ctx context.Context) (local, remote netip.Addr, err error) {
	l, err := c.connect(ctx)
	if err != nil {
		return local, remote, wrapError(err, "connecting")
	}
	return addressOf(l.conn.LocalAddr()), addressOf(l.conn.RemoteAddr()), nil
}

func addressOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}
