package join

import (
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// TestListenOn: an interface that UCX_NET_DEVICES names is the only one, and what names none leaves all.
func TestListenOn(t *testing.T) {
	for devices, every := range map[string]bool{
		"lo": false, "lo:1": false, "nonsense,lo": false, " lo": false,
		"": true, "all": true, "^lo": true, "nonsense": true, "mlx5_0:1": true, "../../net/lo": true,
	} {
		lns, at, err := Environment{EnvNetDevices: devices}.listen()
		if err != nil {
			t.Errorf("%q: %v", devices, err)
			continue
		}
		closeAll(lns)
		for _, ln := range lns {
			addr := netip.MustParseAddrPort(ln.Addr().String()).Addr()
			if addr.IsUnspecified() != every || !every && !addr.IsLoopback() {
				t.Errorf("%q: the server listens on %v", devices, ln.Addr())
			}
			if !every && !slices.Contains(at, ln.Addr().String()) {
				t.Errorf("%q: %v is not told: %v", devices, ln.Addr(), at)
			}
		}
		if len(lns) == 0 || len(at) == 0 {
			t.Errorf("%q: %d listeners, told are %v", devices, len(lns), at)
		}
	}
}

// TestListenOnFirst: an address of this host's is the only one, and another, or a name, leaves all.
func TestListenOnFirst(t *testing.T) {
	for host, want := range map[string]string{
		"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "127.0.0.7": "127.0.0.7", "": "::", "192.0.2.7": "::", "a-name": "::",
	} {
		_, port, _ := net.SplitHostPort(freeAddr(t))
		lns, at, err := listenOnFirst([]string{net.JoinHostPort(host, port)})
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		closeAll(lns)
		if addr := lns[0].Addr().(*net.TCPAddr); addr.IP.String() != want && !(addr.IP.IsUnspecified() && want == "::") {
			t.Errorf("%s: the server listens on %v, told are %v", host, addr, at)
		}
	}
}

// TestNarrow: when the job has assembled, a server that listened on every interface does so only where processes came:
// those of other hosts, and those that were sent to a fixed address.
func TestNarrow(t *testing.T) {
	for name, c := range map[string]struct {
		others, fixed bool // the second process is on another host; it was sent to a fixed address
		open          bool // where it came; nowhere else in any case
	}{
		"other hosts":       {others: true, open: true},
		"one host":          {},
		"one host, address": {fixed: true, open: true},
	} {
		t.Run(name, func(t *testing.T) {
			ln, err := net.Listen("tcp", ":0")
			if err != nil {
				t.Fatal(err)
			}
			_, port, _ := net.SplitHostPort(ln.Addr().String())
			first, second := net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("127.0.0.2", port)
			secret := newNonce()
			s := newServer([]net.Listener{ln}, ServerConfig{ID: "x", Secret: secret, NPEs: 2, Callers: 2, PEs: 2}, t.Logf)
			defer s.Close()
			s.assemble(nil, time.Minute)
			join := func(rank int, at string) error {
				m := newMember(&ticket{ID: "x", Secret: secret, Addrs: []string{at}}, rank, nil, time.Minute)
				t.Cleanup(func() { m.client.Close() })
				n := newcomer{Rank: rank, Size: 2, Host: "a", Memory: 1 << 30}
				if rank == 1 && c.others {
					n.Host = "b"
				}
				if c.fixed {
					n.Told, n.Place = digest([]string{"a", "a"}), "a"
				}
				_, err := m.join(bounded(t), n)
				return err
			}
			come := make(chan error, 1)
			go func() { come <- join(0, first) }()
			if err := join(1, second); err != nil {
				t.Fatal(err)
			}
			if err := <-come; err != nil {
				t.Fatal(err)
			}
			if isOpen(first) {
				t.Error("the server listens where only its own process came")
			}
			if got := isOpen(second); got != c.open {
				t.Errorf("the server listens where the second process came: %v, want %v", got, c.open)
			}
		})
	}
}

func isOpen(addr string) bool {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
