//go:build cgo

package engine

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// ownSockets returns the inodes of the sockets of this process.
func ownSockets(t *testing.T) map[string]bool {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	inodes := map[string]bool{}
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil {
			if inode, ok := strings.CutPrefix(to, "socket:["); ok {
				inodes[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	return inodes
}

// listening returns the addresses of IPv4 at which this process listens.
func listening(t *testing.T) map[string]bool {
	t.Helper()
	own := ownSockets(t)
	table, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != "0A" || !own[f[9]] {
			continue
		}
		b, err := hex.DecodeString(strings.Replace(f[1], ":", "", 1))
		if err != nil || len(b) != 6 {
			continue
		}
		ip := netip.AddrFrom4([4]byte{b[3], b[2], b[1], b[0]})
		all[netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[4:])).String()] = true
	}
	return all
}

// accepting makes an engine that accepts connections from sources alone, and returns where it listens.
func accepting(t *testing.T, sources ...string) (at []string) {
	t.Helper()
	t.Setenv("UCX_TLS", "tcp")
	before := listening(t)
	newNode(t, 1, false, 0, func(c *Config) {
		for _, s := range sources {
			c.Sources = append(c.Sources, netip.MustParsePrefix(s))
		}
	})
	for a := range listening(t) {
		if !before[a] {
			at = append(at, strings.Replace(a, "0.0.0.0:", "127.0.0.1:", 1))
		}
	}
	if len(at) == 0 {
		t.Fatal("the engine listens nowhere: the test does not look right")
	}
	return at
}

// nowhere are addresses that no machine has.
const nowhere = "240.0.0.0/4"

// glance is how long a visit waits for what must not happen: a machine that is slower does not find all mistakes, and
// finds none that is not there.
const glance = 300 * time.Millisecond

// turnedAway reports whether an engine ends a stranger's connection, or makes none. The stranger sends nothing: UCX
// itself ends a connection on which it reads what it does not understand, and keeps one on which nothing comes.
func turnedAway(t *testing.T, at string) bool {
	t.Helper()
	conn, err := net.DialTimeout("tcp", at, glance)
	if err != nil {
		return true
	}
	defer conn.Close()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	context.AfterFunc(limit, func() { conn.Close() })
	n, err := conn.Read(make([]byte, 64))
	return n == 0 && err != nil && limit.Err() == nil
}

// keeps reports whether an engine keeps a connection on which nothing comes.
func keeps(t *testing.T, at string) bool {
	t.Helper()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	conn, err := new(net.Dialer).DialContext(limit, "tcp", at)
	if err != nil {
		t.Error(err)
		return false
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(glance))
	_, err = conn.Read(make([]byte, 64))
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// TestAdmission: the engine hears connections of its sources alone, whether the kernel filters or UCX's accept does.
func TestAdmission(t *testing.T) {
	for name, filters := range map[string]bool{"by the kernel, if it may": true, "by accept": false} {
		t.Run(name, func(t *testing.T) {
			kernelFilters = filters
			defer func() { kernelFilters = true }()
			for _, at := range accepting(t, nowhere, "2001:db8::/32") {
				for range 3 {
					if !turnedAway(t, at) {
						t.Errorf("%s keeps the connection of a stranger", at)
					}
				}
			}
			for _, at := range accepting(t, "0.0.0.0/1", "128.0.0.0/1") {
				if !keeps(t, at) {
					t.Errorf("%s does not keep the connection of an admitted address", at)
				}
			}
			TestGatheredPutLeavesByItself(t)
		})
	}
}

// TestAdmissionEnds: an engine that accepts everybody does so, even if its listeners have descriptors that those of
// another had.
func TestAdmissionEnds(t *testing.T) {
	kernelFilters = false
	defer func() { kernelFilters = true }()
	for range 3 {
		t.Run("strict", func(t *testing.T) { accepting(t, nowhere) })
		t.Run("open", func(t *testing.T) {
			for _, at := range accepting(t) {
				if !keeps(t, at) {
					t.Errorf("%s does not keep a connection", at)
				}
			}
		})
	}
}
