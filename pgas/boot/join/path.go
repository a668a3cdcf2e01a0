package join

// The connection to the exchange is all that a PE knows about the job's network: an address of its own host, and an
// address of another host, that reach each other. The other host is the first, or its host's parent in the tree of
// servers.

import (
	"context"
	"encoding/json"
	"net"
	"net/netip"
)

// Pathfinder is an Exchange that knows the addresses of its connection.
type Pathfinder interface {
	// Path returns the addresses of the local end and of the other end, as seen from this host, of the connection that
	// leads from this host to the exchange of another one; on the first host, of the PE's own connection. It returns an
	// error if the server cannot be reached or ctx ends.
	Path(ctx context.Context) (local, remote netip.Addr, err error)
}

// path is the value of the answer to a call of msgPath.
type path struct{ Local, Remote netip.Addr }

func (c *client) Path(ctx context.Context) (local, remote netip.Addr, err error) {
	l, err := c.connect(ctx)
	if err != nil {
		return local, remote, wrapError(err, "connecting")
	}
	if l.conn.RemoteAddr().Network() == "unix" {
		return c.pathOfServer(ctx)
	}
	return addressOf(l.conn.LocalAddr()), addressOf(l.conn.RemoteAddr()), nil
}

// pathOfServer asks the server of this host for its path to its parent.
func (c *client) pathOfServer(ctx context.Context) (local, remote netip.Addr, err error) {
	m, err := c.call(ctx, message{kind: msgPath})
	if err != nil {
		return local, remote, wrapError(err, "asking for the way to other hosts")
	}
	var p path
	err = json.Unmarshal(m.value, &p)
	return p.Local, p.Remote, wrapError(err, "asking for the way to other hosts")
}

func addressOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}
