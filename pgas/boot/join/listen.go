package join

// Where the exchange of a job listens. It tells nothing to a process without the secret, but a stranger that cannot
// connect cannot even try. So it listens
//
//	at the address that the user has given for it, if that is this host's
//	else, on the interfaces that UCX_NET_DEVICES names: the data of the job takes them, so all its hosts reach them
//	else, on every interface until the job has assembled, and then only where its processes have come
//
// An address of the user's that is not this host's is translated on its way, and a name may mean something else on
// other hosts, so that either leaves every interface. Of listeners that are for what starts in a fixed place, and have
// no address of their own to tell, UCX_NET_DEVICES says nothing.

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gopgas/gopgas/pgas/boot"
)

// EnvNetDevices is UCX's own variable for the interfaces and cards that it may use.
const EnvNetDevices = "UCX_NET_DEVICES"

// listen is ListenOn for the process that serves the exchange.
func (env Environment) listen() ([]net.Listener, []string, error) {
	return ListenOn(Sockets, env[EnvNetDevices])
}

// ListenOn listens on a port of the network's choice on the interfaces of devices, which is a value of UCX_NET_DEVICES,
// or on every interface if it names none that has an address. It returns the listeners and the addresses by which other
// hosts reach them. The error says what the system refuses.
func ListenOn(network Network, devices string) ([]net.Listener, []string, error) {
	named := addressesOf(devices)
	if len(named) == 0 {
		named = []string{""}
	}
	var lns []net.Listener
	var at []string
	var none error // an address that cannot be had now: one of IPv6 is tentative for some seconds
	for _, host := range named {
		ln, err := network.Listen("tcp", net.JoinHostPort(host, "0"))
		if errors.Is(err, syscall.EADDRNOTAVAIL) {
			none = err
			continue
		}
		if err != nil {
			closeAll(lns)
			return nil, nil, fmt.Errorf("listening for the other processes of the job: %w", err)
		}
		lns = append(lns, ln)
		_, port, _ := net.SplitHostPort(ln.Addr().String())
		own := []string{net.JoinHostPort(host, port)}
		if host == "" {
			if own, err = network.Addrs(port); err != nil {
				closeAll(lns)
				return nil, nil, err
			}
		}
		at = append(at, own...)
	}
	if len(lns) == 0 {
		return nil, nil, fmt.Errorf("listening for the other processes of the job at the addresses of %s=%s: %w", EnvNetDevices, devices, none)
	}
	return lns, at, nil
}

// listenOnFirst listens on the first port of addrs that is free: at the address itself if it is one of this host's, and
// else on every interface.
func listenOnFirst(addrs []string) ([]net.Listener, []string, error) {
	var errs []error
	for _, addr := range addrs {
		host, port, _ := net.SplitHostPort(addr)
		if !isOwn(host) {
			host = ""
		}
		at := net.JoinHostPort(host, port)
		ln, err := net.Listen("tcp", at)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		own := []string{at}
		if host == "" {
			own, err = LocalAddrs(port)
		}
		return []net.Listener{ln}, own, err
	}
	return nil, nil, fmt.Errorf("serving the exchange of the job, as the process of PE 0 does: %w: end what uses the port, or choose another in %s", errors.Join(errs...), boot.EnvRendezvous)
}

// isOwn reports whether every host that knows host by this text means this one by it, and it is here: an address of an
// interface, or localhost, which is for a job on one host.
func isOwn(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	all, _ := net.InterfaceAddrs()
	return ip.IsLoopback() || hasAddress(all, ip)
}

// addressesOf returns the addresses of the interfaces that a value of UCX_NET_DEVICES names: eth0, or mlx5_0:1 for
// those of a card. A value with ^ says which not to use, and all is all: of these there are none here.
func addressesOf(devices string) []string {
	var found []string
	if strings.HasPrefix(devices, "^") {
		return nil
	}
	for device := range strings.SplitSeq(devices, ",") {
		device, _, _ = strings.Cut(strings.TrimSpace(device), ":")
		for _, name := range interfacesOf(device) {
			i, err := net.InterfaceByName(name)
			if err != nil || i.Flags&net.FlagUp == 0 {
				continue
			}
			global, link := addressesAt(*i)
			if len(global) == 0 {
				global = link
			}
			found = append(found, global...)
		}
	}
	return found
}

// interfacesOf returns the interfaces of a card, or device itself, which then is one.
func interfacesOf(device string) []string {
	if device == "" || strings.ContainsRune(device, '/') {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join("/sys/class/infiniband", device, "device/net"))
	if err != nil {
		return []string{device}
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func closeAll(lns []net.Listener) {
	for _, ln := range lns {
		ln.Close()
	}
}
