package netns

// Which hosts have an owner.
//
// The namespaces of one New have names of one group: pgas-PID-net, which has the bridge, pgas-PID-0, pgas-PID-1, …
// The owner holds a lock (flock) on the bridge's namespace. The kernel releases it when the owner ends, however it
// ends, so a bridge that another process can lock belongs to nobody. The number in the name only helps a reader:
// numbers of processes are used again, and mean different processes in different containers.
//
// Invariant: a group has its bridge before it has a host, and until its last host is gone. So hosts without a bridge
// belong to nobody, too.
//
// Between a bridge's name and the lock on it a sweep may take it for abandoned, and remove it. The owner sees that when
// it has the lock: the name no longer leads to the namespace that it has locked. It takes another name then. And ip
// makes the name as an empty file before it mounts the namespace there: a lock on that file would say nothing, so a
// sweep leaves it alone.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"
)

// directory has a file for each namespace that has a name; iproute2 defines it.
const directory = "/run/netns"

const bridgeSuffix = "-net"

// ours matches the names of namespaces that New makes: their group, and which of it they are.
var ours = regexp.MustCompile(`^(pgas-\d+(?:\.\d+)?)-(?:net|\d+)$`)

// mostGroups is how many groups one process may have at once.
const mostGroups = 1000

// claim makes the bridge's namespace of a new group, and locks it. The error says why this machine cannot have any.
func claim(ctx context.Context) (*Hosts, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("network namespaces need root: run this command as root, with sudo for example")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return nil, errors.New("network namespaces need the ip command: install iproute2 (on Fedora: iproute)")
	}
	for k := range mostGroups {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		name := groupName(os.Getpid(), k) + bridgeSuffix
		if exists(name) {
			continue
		}
		if err := ip("netns", "add", name); err != nil {
			if exists(name) { // another has been faster
				continue
			}
			return nil, fmt.Errorf("network namespaces are not allowed here: %w; a container needs CAP_SYS_ADMIN and CAP_NET_ADMIN (docker run --privileged)", err)
		}
		lock, err := lockNamespace(name, 0)
		if err != nil {
			return nil, errors.Join(err, ip("netns", "del", name))
		}
		if lock != nil {
			return &Hosts{Bridge: name, lock: lock}, nil
		}
	}
	return nil, fmt.Errorf("this process has made hosts %d times: close some", mostGroups)
}

// groupName returns the k-th name that a process may give to a group.
func groupName(pid, k int) string {
	if k == 0 {
		return fmt.Sprintf("pgas-%d", pid)
	}
	return fmt.Sprintf("pgas-%d.%d", pid, k)
}

// lockNamespace locks a namespace by its name, and returns nil if that name leads to none any more, or not yet. With
// unix.LOCK_NB it does not wait, and returns the error unix.EWOULDBLOCK if another process has the lock.
func lockNamespace(name string, how int) (*os.File, error) {
	path := filepath.Join(directory, name)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("locking network namespace %s: %w", name, err)
	}
	for {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|how); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("locking network namespace %s: %w", name, err)
	}
	if !isNamespace(f) || !isNamed(f, path) {
		f.Close()
		return nil, nil
	}
	return f, nil
}

// isNamed reports whether path leads to the open file.
func isNamed(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

func isNamespace(f *os.File) bool {
	var fs unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &fs) == nil && fs.Type == unix.NSFS_MAGIC
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(directory, name))
	return err == nil
}

// sweep removes the namespaces that belong to nobody. What it cannot remove stays for the next one.
func sweep() {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return
	}
	groups := map[string][]string{} // their hosts
	for _, e := range entries {
		m := ours.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		hosts := groups[m[1]]
		if e.Name() != m[1]+bridgeSuffix {
			hosts = append(hosts, e.Name())
		}
		groups[m[1]] = hosts
	}
	for group, hosts := range groups {
		sweepGroup(group+bridgeSuffix, hosts)
	}
}

// sweepGroup removes a bridge and its hosts if they belong to nobody. The names are those of a moment ago.
func sweepGroup(bridge string, hosts []string) {
	lock, err := lockNamespace(bridge, unix.LOCK_NB)
	if err != nil {
		return // it has an owner
	}
	if lock != nil {
		defer lock.Close()
	} else if exists(bridge) {
		return // it is being made
	}
	remove(append(hosts, bridge))
}
