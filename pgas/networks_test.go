package pgas_test

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/ucx"
)

// network is how two hosts with one interface each, eth0, reach each other. In the steps HOST and OTHER are the hosts'
// numbers.
type network struct {
	steps  []string // arguments of ip in each host, whose eth0 has no address before
	bridge []string // and in the namespace of the bridge
	env    []string
	want   string // in the report of a job that cannot run; empty: it runs
}

var networks = map[string]network{
	"IPv6 beside an IPv4 that leads nowhere": {steps: []string{
		"addr add 10.5.HOST.1/32 dev eth0",
		"addr add fd00::HOST/64 dev eth0 nodad",
	}},
	"a first address that leads nowhere": {steps: []string{
		"addr add 10.5.HOST.1/24 dev eth0",
		"addr add 10.6.0.HOST/24 dev eth0",
	}},
	"an address on lo, routed": {steps: []string{
		"addr add 169.254.7.HOST/16 dev eth0",
		"addr add 10.7.0.HOST/32 dev lo",
		"route add 10.7.0.OTHER/32 via 169.254.7.OTHER dev eth0 src 10.7.0.HOST",
	}},
	"an address on lo, and the kernel connects from the link's": {steps: []string{
		"addr add 169.254.7.HOST/16 dev eth0",
		"addr add 10.7.0.HOST/32 dev lo",
		"route add 10.7.0.OTHER/32 via 169.254.7.OTHER dev eth0",
	}},
	"addresses of the link alone": {steps: []string{"addr add 169.254.7.HOST/16 dev eth0"}},
	"large packets are lost between switches": {
		steps: small, bridge: narrow("1280"), env: []string{"PGAS_PEER_TIMEOUT=5s"},
		want: "small packets reach its host, and large ones do not: give every interface and switch on the way the same MTU",
	},
	"addresses of the link alone, of IPv6": {
		steps: []string{"addr add fe80::HOST/64 dev eth0 nodad"},
		want:  "it does not reach addresses of a link alone: give the interfaces others",
	},
	"no address": {
		env:  []string{"PGAS_PEER_TIMEOUT=5s"},
		want: "answered as the exchange of this job within 5s: the process that serves it must run, and the hosts must reach each other",
	},
	"packets of the start are lost between switches": {
		steps: small, bridge: narrow("150"), env: []string{"PGAS_PEER_TIMEOUT=2s"},
		want: "does not acknowledge what is sent: the network between is down, or loses large packets: give every",
	},
	// The exchange comes by IPv6. What UCX sends by IPv4 has a receiver that is not there.
	"a black hole": {steps: blackHole, env: []string{"PGAS_PEER_TIMEOUT=2s", "UCX_TCP_AF_PRIO=inet"}, want: blackHoleReport},
	"a black hole, and all addresses are accepted": {
		steps: blackHole, env: []string{"PGAS_PEER_TIMEOUT=2s", "UCX_TCP_AF_PRIO=inet", "PGAS_ACCEPT_FROM=any"}, want: blackHoleReport,
	},
}

// small has each packet leave as it is on the wire: one that the kernel has joined from many passes whatever its size.
var small = []string{"addr add 10.5.0.HOST/24 dev eth0", "link set eth0 gso_max_segs 1"}

// narrow puts a second switch between the hosts, and drops what is larger than an MTU on the way to it, without a word.
func narrow(mtu string) []string {
	return []string{
		"link add br1 type bridge", "link set br1 up",
		"link add way0 type veth peer name way1",
		"link set way0 master br0 up mtu " + mtu, "link set way1 master br1 up mtu " + mtu,
		"link set port1 master br1",
	}
}

var blackHole = []string{
	"addr add 10.5.0.HOST/24 dev eth0",
	"neigh add 10.5.0.OTHER lladdr 02:00:00:00:00:99 dev eth0 nud permanent",
	"addr add fd00::HOST/64 dev eth0 nodad",
}

const blackHoleReport = "UCX has no transport that reaches it: unset UCX_TLS, UCX_NET_DEVICES and UCX_TCP_AF_PRIO, or let them name one that does, such as tcp; " +
	"here it takes the first address of each interface, and the exchange of the job goes from fd00::"

// TestNetworks: UCX takes the addresses by which the job has assembled, whatever others the hosts have, and a network
// that it cannot use ends the job with a line that says which addresses those are.
func TestNetworks(t *testing.T) {
	if !ucx.Available {
		t.Skip("this test binary was built without cgo, and its transport takes the exchange's way")
	}
	asPE(t, meets)
	for name, n := range networks {
		t.Run(name, func(t *testing.T) {
			hosts := pgastest.NewHosts(t, 2)
			for i, host := range hosts.Names {
				ip(t, host, "addr flush dev eth0")
				for _, step := range n.steps {
					ip(t, host, strings.NewReplacer("HOST", fmt.Sprint(i+1), "OTHER", fmt.Sprint(2-i)).Replace(step))
				}
			}
			for _, step := range n.bridge {
				ip(t, hosts.Bridge, step)
			}
			res, out, errs := startJob(t, "TestNetworks", []boot.Host{{Name: hosts.Names[0], PEs: 2}, {Name: hosts.Names[1], PEs: 2}}, n.env...)
			switch {
			case n.want == "" && (res.Status != 0 || strings.Count(out, "met\n") != 4):
				t.Errorf("status %d: %s%s", res.Status, out, errs)
			case n.want != "" && (res.Status == 0 || !strings.Contains(errs, n.want)):
				t.Errorf("status %d: %s%s, want %s", res.Status, out, errs, n.want)
			}
		})
	}
}

func ip(t *testing.T, host, args string) {
	t.Helper()
	if out, err := exec.Command("ip", append([]string{"-n", host}, strings.Fields(args)...)...).CombinedOutput(); err != nil {
		t.Fatalf("ip -n %s %s: %v: %s", host, args, err, out)
	}
}

// meets has each PE put words to every other one, more than a packet has.
func meets(ctx context.Context, w *pgas.World) error {
	const n = 1000
	words, err := pgas.Alloc[int64](ctx, w, n*w.NPEs())
	if err != nil {
		return err
	}
	for pe := range w.NPEs() {
		words.Range(n*w.PE(), n*(w.PE()+1)).Put(pe, slices.Repeat([]int64{int64(w.PE() + 1)}, n))
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	for i := range n * w.NPEs() {
		if got := words.At(i).Get(w.PE()); got != int64(i/n+1) {
			return fmt.Errorf("PE %d has put %d", i/n, got)
		}
	}
	fmt.Println("met")
	return nil
}
