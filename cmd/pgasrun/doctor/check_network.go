package doctor

// The network of one host. Whether hosts reach each other, the pairs say.

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// infiniband is where the kernel lists RDMA cards, of RoCE and iWARP too.
const infiniband = "sys/class/infiniband"

func networkInterfaces(s *System) finding {
	all, err := s.Interfaces()
	var texts []string
	others := 0
	for _, i := range all {
		text := fmt.Sprintf("%s %s mtu %d", i.Name, strings.Join(i.Addrs, " "), i.MTU)
		if mbits, ok := s.number("sys/class/net/" + i.Name + "/speed"); ok && mbits > 0 {
			text += fmt.Sprintf(", %d Mbit/s", mbits)
		}
		texts = append(texts, text)
		if !i.Loopback {
			others++
		}
	}
	text := strings.Join(texts, "; ")
	switch {
	case err != nil:
		return unknown
	case others == 0:
		return note("none but loopback: "+text, "a job on this host alone needs none; other hosts are reached by an interface that is up and has an address: `ip addr`")
	}
	return good(text)
}

// Cards returns the names of the host's RDMA cards.
func (s *System) Cards() []string { return s.list(infiniband) }

func cards(s *System) finding {
	names := s.Cards()
	if len(names) == 0 {
		return good("none: other hosts are reached by TCP")
	}
	var texts, down []string
	for _, card := range names {
		for _, port := range s.list(infiniband + "/" + card + "/ports") {
			at := infiniband + "/" + card + "/ports/" + port + "/"
			state, layer, rate := s.read(at+"state"), s.read(at+"link_layer"), s.read(at+"rate")
			name := card + ":" + port
			texts = append(texts, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", name, layer, state, rate)), " "))
			if !strings.Contains(state, "ACTIVE") {
				down = append(down, name)
			}
		}
	}
	text := strings.Join(texts, "; ")
	switch {
	case len(s.list("dev/infiniband")) == 0:
		return problem(text+"; /dev/infiniband is empty", "load ib_uverbs (`modprobe ib_uverbs`), or give the container the devices (--device /dev/infiniband of docker, the device plugin of Kubernetes)")
	case len(down) == len(texts):
		return problem(text, "no port is active: check the cable, and the subnet manager (opensm) of InfiniBand; `ibstat`")
	case len(down) > 0:
		return note(text, "not active: "+strings.Join(down, ", ")+"; name those that are in UCX_NET_DEVICES")
	}
	return good(text)
}

// A connection between PEs takes an ephemeral port at one of its ends.
const (
	manyPorts = 16384
	fewPorts  = 1024
)

func ephemeralPorts(s *System) finding {
	var low, high int
	if n, _ := fmt.Sscan(s.read("proc/sys/net/ipv4/ip_local_port_range"), &low, &high); n != 2 {
		return unknown
	}
	ports := high - low + 1
	text := fmt.Sprintf("%d (%d to %d)", ports, low, high)
	const remedy = "the connections of PEs to other hosts take one each: `sysctl net.ipv4.ip_local_port_range='32768 60999'`; PGAS_CONNECTIONS bounds those of a PE"
	switch {
	case ports < fewPorts:
		return problem(text, remedy)
	case ports < manyPorts:
		return note(text, remedy)
	}
	return good(text)
}

// A PE has descriptors for its connections: PGAS_CONNECTIONS of them by default.
const (
	manyFiles = 4096
	fewFiles  = 256
)

func openFiles(s *System) finding {
	l, err := s.Limit(unix.RLIMIT_NOFILE)
	const remedy = "a connection to a PE of another host takes a descriptor: `ulimit -n 65536` in what starts PEs (LimitNOFILE of systemd), or a smaller PGAS_CONNECTIONS"
	switch {
	case err != nil:
		return unknown
	case l == unix.RLIM_INFINITY:
		return good("unlimited")
	case l < fewFiles:
		return problem(fmt.Sprintf("%d a process", l), remedy)
	case l < manyFiles:
		return note(fmt.Sprintf("%d a process", l), remedy)
	}
	return good(fmt.Sprintf("%d a process", l))
}
