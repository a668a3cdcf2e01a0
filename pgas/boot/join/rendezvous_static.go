package join

// Static start: nothing but variables says what the job is, as for systemd, docker compose, an Indexed Job of
// Kubernetes, or a hand. Every process gets the same list of hosts, the address at which PE 0 serves the exchange, a
// file with the secret, and its own number.

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
)

type staticRendezvous struct{}

func (staticRendezvous) Name() string { return "static" }

func (staticRendezvous) Offered(env Environment) string { return env.shown(boot.EnvPE) }

func (staticRendezvous) Join(ctx context.Context, env Environment, set boot.Settings) (*boot.Job, error) {
	m, err := staticMeeting(env)
	if err != nil {
		return nil, err
	}
	return assemble(ctx, m, set)
}

// StaticPlace returns the hosts of the static start that env describes, and which of them this one is, for a launcher
// that starts all PEs of a host: EnvironOf returns what each needs. It returns an error if a variable is missing or
// wrong, or the file with the secret cannot be used.
func StaticPlace(env Environment) (hosts []boot.Host, index int, err error) {
	if hosts, err = staticVariables(env, boot.EnvHost); err != nil {
		return nil, 0, err
	}
	if _, err := readSecretFile(env[boot.EnvSecretFile]); err != nil {
		return nil, 0, err
	}
	for i, h := range hosts {
		if h.Name == canonical(strings.Trim(env[boot.EnvHost], "[]")) {
			return hosts, i, nil
		}
	}
	if index, err = strconv.Atoi(env[boot.EnvHost]); err != nil || index < 0 || index >= len(hosts) {
		return nil, 0, fmt.Errorf("%s=%s is none of the %s of %s=%s: give the name of one, or its number from 0 on", boot.EnvHost, env[boot.EnvHost], plural.Count(len(hosts), "host"), boot.EnvHosts, env[boot.EnvHosts])
	}
	return hosts, index, nil
}

// EnvironOf returns the environment of PE pe of a static start: environ, in which StaticPlace has found the job,
// without what is only for its launcher.
func EnvironOf(environ []string, pe int) []string {
	own := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		return strings.HasPrefix(kv, boot.EnvHost+"=") || strings.HasPrefix(kv, boot.EnvPE+"=")
	})
	return append(own, boot.EnvPE+"="+strconv.Itoa(pe))
}

// staticVariables returns the hosts of a static start. It returns an error if a variable is not set; place is the one
// that says which part of the job this process is.
func staticVariables(env Environment, place string) ([]boot.Host, error) {
	for _, name := range []string{place, boot.EnvHosts, boot.EnvRendezvous, boot.EnvSecretFile} {
		if env[name] == "" {
			return nil, fmt.Errorf("%s is not set: a static start needs %s, %s, %s and %s on every process", name, place, boot.EnvHosts, boot.EnvRendezvous, boot.EnvSecretFile)
		}
	}
	return staticHosts(env[boot.EnvHosts])
}

func staticMeeting(env Environment) (*meeting, error) {
	hosts, err := staticVariables(env, boot.EnvPE)
	if err != nil {
		return nil, err
	}
	m := &meeting{strict: true}
	for _, h := range hosts {
		for range h.PEs {
			m.told = append(m.told, h.Name)
		}
	}
	m.size = len(m.told)
	if m.rank, err = strconv.Atoi(env[boot.EnvPE]); err != nil || m.rank < 0 || m.rank >= m.size {
		return nil, fmt.Errorf("%s=%s is not one of the %s of %s=%s: number them from 0", boot.EnvPE, env[boot.EnvPE], plural.Count(m.size, "PE"), boot.EnvHosts, env[boot.EnvHosts])
	}
	m.host = m.told[m.rank]
	key, err := readSecretFile(env[boot.EnvSecretFile])
	if err != nil {
		return nil, err
	}
	return m, m.fixed(key, "static "+env[boot.EnvRendezvous], []string{env[boot.EnvRendezvous]})
}

// fixed makes m one whose processes know the ticket from the start: at one of addrs, all with the same port or each
// with its own, rank 0 serves the exchange of the job that name describes, with a secret that comes from key. The error
// is about an address.
func (m *meeting) fixed(key []byte, name string, addrs []string) error {
	for _, addr := range addrs {
		if _, port, err := net.SplitHostPort(addr); err != nil || port == "" || port == "0" {
			return fmt.Errorf("%s=%s is not an address with a port, such as node1:7070 or [fd00::1]:7070", boot.EnvRendezvous, addr)
		}
	}
	derive := func(what string) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(what + name))
		return mac.Sum(nil)
	}
	t := &ticket{ID: hex.EncodeToString(derive("id ")[:8]), Secret: derive("secret "), Addrs: addrs}
	m.listen = func() ([]net.Listener, []string, error) { return listenOnFirst(addrs) }
	m.share = func(_ context.Context, mine *ticket) (*ticket, error) {
		if mine != nil {
			t.Addrs = mine.Addrs
		}
		return t, nil
	}
	return nil
}

// MaxHostFile is the most bytes that a file with the names of hosts has: some hundred thousand.
const MaxHostFile = 64 << 20

// staticHosts returns the hosts of a list, or of a file if the list is its name after an @. It returns an error for a
// host that comes again behind others: PEs have the numbers of their entries, and those of a host are consecutive.
func staticHosts(list string) ([]boot.Host, error) {
	entries, err := staticEntries(list)
	if err != nil {
		return nil, err
	}
	hosts, apart := MergeHosts(entries)
	if apart != "" {
		return nil, fmt.Errorf("%s=%s: host %s is listed again with others between, and PEs of a host have consecutive numbers: put its entries together", boot.EnvHosts, list, apart)
	}
	if last := hosts[len(hosts)-1]; last.PEs > boot.MaxPEs-last.First {
		return nil, fmt.Errorf("%s=%s: a job has at most %d PEs", boot.EnvHosts, list, boot.MaxPEs)
	}
	return hosts, nil
}

func staticEntries(list string) ([]boot.Host, error) {
	if path, isFile := strings.CutPrefix(list, "@"); isFile {
		content, err := boot.ReadRegular(path, MaxHostFile)
		if err != nil {
			return nil, fmt.Errorf("%s=%s: %w", boot.EnvHosts, list, err)
		}
		return ParseHostFile(path, content)
	}
	hosts, err := ParseHosts(list)
	if err != nil {
		return nil, fmt.Errorf("%s=%s: %w", boot.EnvHosts, list, err)
	}
	return hosts, nil
}

// minSecret is the least number of bytes of a secret in a file.
const minSecret = 32

// groupMayRead reports whether a file with a secret, of owner and with mode, may be readable by its group: root has
// given it to that group, of which this process of user is. Kubernetes does so with a Secret for a process that is not
// root's.
func groupMayRead(owner uint32, mode os.FileMode, user int) bool {
	return owner == 0 && user != 0 && mode.Perm()&0o037 == 0
}

// ownerOf returns the owner of a file. A file whose owner is not known is not root's.
func ownerOf(info os.FileInfo) uint32 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Uid
	}
	return math.MaxUint32
}

// readSecretFile returns what is in the file. It returns an error if users other than its owner may read it, unless
// root has given it to this group.
func readSecretFile(path string) ([]byte, error) {
	f, err := boot.OpenRegular(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: make one with `(umask 077; head -c 32 /dev/urandom >FILE)`, the same for every process", boot.EnvSecretFile, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", boot.EnvSecretFile, err)
	case info.Mode().Perm()&0o077 != 0 && !groupMayRead(ownerOf(info), info.Mode(), os.Getuid()):
		return nil, fmt.Errorf("%s=%s has mode %#o, so that other users may know the secret: make a new one with mode 0600", boot.EnvSecretFile, path, info.Mode().Perm())
	case info.Size() < minSecret || info.Size() > maxBody:
		return nil, fmt.Errorf("%s=%s has %d bytes: make one of %d or more with `(umask 077; head -c 32 /dev/urandom >FILE)`", boot.EnvSecretFile, path, info.Size(), minSecret)
	}
	secret := make([]byte, info.Size())
	if _, err := f.ReadAt(secret, 0); err != nil {
		return nil, fmt.Errorf("%s: %w", boot.EnvSecretFile, err)
	}
	return secret, nil
}
