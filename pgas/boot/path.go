package boot

// The connection to the exchange is all that a PE knows about the job's network: an address of this host, and
// one of the first host, that reach each other.

import (
	"context"
	"net"
	"net/netip"
)

// Pathfinder is an Exchange that knows the addresses of its connection.
type Pathfinder interface {
	// Path returns the addresses of this end and of the server's, as seen from this host.
	Path(ctx context.Context) (here, there netip.Addr, err error)
}

func (c *client) Path(ctx context.Context) (here, there netip.Addr, err error) {
	l, err := c.connect(ctx)
	if err != nil {
		return here, there, wrapError(err, "connecting")
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
