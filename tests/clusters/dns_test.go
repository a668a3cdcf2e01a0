package clusters

// The resolver that a pod has: a server of DNS on its own loopback, which answers for the pods that a headless Service
// lists, as CoreDNS does.

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// domain is that of a Service in the namespace default.
const domain = ".default.svc.cluster.local."

// clusterDNS is what all resolvers of a cluster answer.
type clusterDNS struct {
	mu    sync.Mutex
	pods  map[string]string // by name, without the domain: the address
	delay time.Duration     // of each answer
	asked map[string]int    // by name
}

func (c *clusterDNS) publish(name, address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pods[name] = address
}

// resolve makes the hosts of the tests ask c. /etc/netns/NAME/resolv.conf is what `ip netns exec NAME` shows as
// /etc/resolv.conf.
func resolve(t *testing.T, c *clusterDNS) {
	t.Helper()
	for _, host := range hosts.Names {
		conn, err := listenIn(host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		go c.serve(conn)
		etc := filepath.Join("/etc/netns", host)
		if err := os.MkdirAll(etc, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(etc) })
		conf := "nameserver 127.0.0.1\nsearch default.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n"
		if err := os.WriteFile(filepath.Join(etc, "resolv.conf"), []byte(conf), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// listenIn returns a socket at the port of DNS on the loopback of a host.
func listenIn(host string) (conn net.PacketConn, err error) {
	done := make(chan struct{})
	go func() { // its thread ends with it, and with that its network
		defer close(done)
		runtime.LockOSThread()
		var ns *os.File
		if ns, err = os.Open("/run/netns/" + host); err != nil {
			return
		}
		defer ns.Close()
		if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return
		}
		conn, err = net.ListenPacket("udp", "127.0.0.1:53")
	}()
	<-done
	return conn, err
}

func (c *clusterDNS) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if answer, err := c.answer(buf[:n]); err == nil {
			time.AfterFunc(c.delay, func() { conn.WriteTo(answer, from) })
		}
	}
}

// answer returns the answer to a query: addresses of IPv4 for pods, and NXDOMAIN for other names.
func (c *clusterDNS) answer(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil, fmt.Errorf("not a query: %v", err)
	}
	q := m.Questions[0]
	pod, ours := strings.CutSuffix(q.Name.String(), domain)
	c.mu.Lock()
	address, published := c.pods[pod]
	c.asked[pod]++
	c.mu.Unlock()
	m.Response, m.Authoritative, m.RecursionAvailable = true, true, true
	m.Additionals = nil
	switch {
	case !ours || !published:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 5},
			Body:   &dnsmessage.AResource{A: [4]byte(net.ParseIP(address).To4())},
		}}
	}
	return m.Pack()
}
