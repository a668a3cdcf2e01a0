package floor

// TCP between the two processes: over loopback, or between two network namespaces that stand in for hosts.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

const (
	window = result.Window
	// up to which a receiver of a stream spins; one of larger messages blocks, and leaves the CPU to the sender's
	// packets
	spinBytes = 4096
	leastLine = 8
)

// namespaces is where the ip command keeps them.
const namespaces = "/run/netns/"

func noNamespace(name string) error {
	return fmt.Errorf("no network namespace %s: ip netns list shows those there are", name)
}

// enterHost moves this thread to a network namespace.
func enterHost(name string) error {
	if name == "" {
		return nil
	}
	f, err := os.Open(namespaces + name)
	if err != nil {
		return noNamespace(name)
	}
	defer f.Close()
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("cannot enter the network namespace %s: it needs root (%w)", name, err)
	}
	return nil
}

// ownAddress returns where the follower listens.
func (p *pair) ownAddress() (ip [4]byte, err error) {
	if p.host == "" {
		return [4]byte{127, 0, 0, 1}, nil
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return ip, err
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return [4]byte(n.IP.To4()), nil
		}
	}
	return ip, fmt.Errorf("the network namespace %s has no address", p.host)
}

// connect makes the connection of the two.
func (p *pair) connect() error {
	p.line = make([]byte, max(p.bytes, leastLine))
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if p.leads {
		p.fd, err = fd, p.dial(fd)
	} else {
		p.fd, err = p.accept(fd)
		unix.Close(fd)
	}
	if err != nil {
		return err
	}
	return unix.SetsockoptInt(p.fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
}

// accept listens at fd, and tells the leader where.
func (p *pair) accept(fd int) (int, error) {
	ip, err := p.ownAddress()
	if err != nil {
		return -1, err
	}
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: ip}), unix.Listen(fd, 1)); err != nil {
		return -1, fmt.Errorf("cannot listen: %w", err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		return -1, err
	}
	p.address.Store(int64(binary.BigEndian.Uint32(ip[:]))<<16 | int64(at.(*unix.SockaddrInet4).Port))
	connected, _, err := unix.Accept(fd)
	return connected, err
}

// dial connects fd to where the follower listens.
func (p *pair) dial(fd int) error {
	at := p.address.Load()
	for ; at == 0; at = p.address.Load() {
		yield()
	}
	if at < 0 {
		return errGone
	}
	to := &unix.SockaddrInet4{Port: int(at & 0xffff)}
	binary.BigEndian.PutUint32(to.Addr[:], uint32(at>>16))
	if err := unix.Connect(fd, to); err != nil {
		return fmt.Errorf("cannot connect: %w", err)
	}
	return nil
}

func (p *pair) send(b []byte) error {
	for len(b) > 0 {
		n, err := unix.SendmsgN(p.fd, b, nil, nil, unix.MSG_NOSIGNAL)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("send: %w", err)
		}
		b = b[max(n, 0):]
	}
	return nil
}

// spin receives all of b without giving the CPU away, which is the fastest answer.
func (p *pair) spin(b []byte) error { return p.receiveBy(unix.MSG_DONTWAIT, b) }

func (p *pair) receive(b []byte) error {
	if len(b) <= spinBytes {
		return p.spin(b)
	}
	return p.receiveBy(0, b)
}

func (p *pair) receiveBy(flags int, b []byte) error {
	for len(b) > 0 {
		n, _, err := unix.Recvfrom(p.fd, b, flags)
		switch {
		case err == unix.EAGAIN || err == unix.EINTR:
			continue
		case err != nil:
			return fmt.Errorf("receive: %w", err)
		case n == 0:
			return errGone
		}
		b = b[n:]
	}
	return nil
}

// roundTrips sends a message there and back, n times.
func (p *pair) roundTrips(_, n int) error {
	line := p.line[:p.bytes]
	for range n {
		if p.leads {
			if err := p.send(line); err != nil {
				return err
			}
		}
		if err := p.spin(line); err != nil {
			return err
		}
		if !p.leads {
			if err := p.send(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// stream sends windows; the follower answers each with eight bytes.
func (p *pair) stream(_, n int) error {
	out, in := p.send, p.receive
	if !p.leads {
		out, in = in, out
	}
	for ; n > 0; n -= window {
		for range window {
			if err := out(p.line[:p.bytes]); err != nil {
				return err
			}
		}
		if err := in(p.line[:leastLine]); err != nil {
			return err
		}
	}
	return nil
}
