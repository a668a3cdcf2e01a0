package ssh

// The cluster: three namespaces, and in two of them an sshd. The launcher runs in the first, login. alpha has an sshd
// as most have it. On beta another user logs in, at another port, through alpha only, and the user's shell prints a
// welcome: nothing of that is the launcher's business, and the user's ssh configuration says it.
//
// The namespaces share this machine's files, but for one directory, opt, of which each host has its own.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/tests/built"
)

// betaUser is the number of beta's user, which this machine need not know.
const betaUser = 64042

type cluster struct {
	t     testing.TB
	hosts *netns.Hosts
	dir   string // readable by every user
}

// run is how a command of the launcher has ended.
type run struct {
	status int
	out    string
	errs   string
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs and runs jobs on several hosts")
	}
	for _, tool := range []string{"ssh", "ssh-keygen", sshd} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%v: install openssh-server and openssh-client", err)
		}
	}
	c := &cluster{t: t, hosts: pgastest.NewHosts(t, 3)}
	var err error
	if c.dir, err = os.MkdirTemp("", "pgas-ssh"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(c.dir) })
	must(t, os.Chmod(c.dir, 0o755))
	for _, name := range []string{"bin", "opt", "opt.alpha", "opt.beta", "home", "small"} {
		must(t, os.Mkdir(c.path(name), 0o755))
	}
	must(t, os.Chmod(c.path("home"), 0o777|os.ModeSticky)) // -stage refuses a cache in what another user could change
	c.build()
	c.makeKeys()
	c.configure()
	c.serve(1, "alpha", "Port 22\n")
	c.serve(2, "beta", fmt.Sprintf("Port 2222\nAllowUsers guest@%s\n", c.hosts.Addresses[1]))
	return c
}

const sshd = "/usr/sbin/sshd"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *cluster) write(name, text string, mode os.FileMode) {
	c.t.Helper()
	must(c.t, os.WriteFile(c.path(name), []byte(text), mode))
	must(c.t, os.Chmod(c.path(name), mode))
}

// build puts the launcher, the samples and this program where all hosts and users find them.
func (c *cluster) build() {
	c.t.Helper()
	root, err := built.Root()
	must(c.t, err)
	must(c.t, built.Commands(root, c.path("bin")))
	build := exec.Command("go", "build", "-o", c.path("bin")+"/", "./samples/hello", "./samples/wordcount", "./samples/gups", "./tests/clusters/body")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		c.t.Fatalf("%v\n%s", err, out)
	}
	self, err := os.Executable()
	must(c.t, err)
	program, err := os.ReadFile(self)
	must(c.t, err)
	c.write("bin/pe", string(program), 0o755)
}

func (c *cluster) makeKeys() {
	c.t.Helper()
	for _, name := range []string{"host", "other", "user", "stranger"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", c.path(name)).CombinedOutput(); err != nil {
			c.t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	user, err := os.ReadFile(c.path("user.pub"))
	must(c.t, err)
	c.write("authorized", string(user), 0o644)
}

// configure writes the user's ssh configuration, and what the hosts know of beta's user.
func (c *cluster) configure() {
	c.t.Helper()
	known := ""
	for alias, key := range map[string]string{"cluster": "host", "changed": "other"} {
		text, err := os.ReadFile(c.path(key + ".pub"))
		must(c.t, err)
		known += alias + " " + string(text)
	}
	c.write("known", known, 0o644)
	alpha, beta := c.hosts.Addresses[1], c.hosts.Addresses[2]
	c.write("config", fmt.Sprintf(`
Host beta
	HostName %[2]s
	Port 2222
	User guest
	ProxyJump alpha
Host alpha unknown changed refused closed
	HostName %[1]s
	User root
Host unknown
	HostKeyAlias unknown
Host changed
	HostKeyAlias changed
Host refused
	IdentityFile %[3]s/stranger
Host closed
	Port 2
Host !refused *
	IdentityFile %[3]s/user
Host *
	IdentitiesOnly yes
	HostKeyAlias cluster
	UserKnownHostsFile %[3]s/known
	GlobalKnownHostsFile none
	LogLevel INFO
`, alpha, beta, c.dir), 0o644)
	passwd, err := os.ReadFile("/etc/passwd")
	must(c.t, err)
	c.write("passwd", fmt.Sprintf("%sguest:*:%d:%d::%s:%s\n", passwd, betaUser, betaUser, c.path("home"), c.path("noisy")), 0o644)
	c.write("noisy", "#!/bin/sh\necho Welcome to beta.\necho It is quiet. >&2\nexec /bin/sh \"$@\"\n", 0o755)
}

// serve starts the sshd of a host, in a mount namespace with the host's own files.
func (c *cluster) serve(host int, name, settings string) {
	c.t.Helper()
	address := c.hosts.Addresses[host]
	c.write("sshd."+name, fmt.Sprintf("%sListenAddress %s\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUseDNS no\nSetEnv XDG_CACHE_HOME=%s\n",
		settings, address, c.path("host"), c.path("authorized"), c.path("home/cache."+name)), 0o644)
	script := fmt.Sprintf("mount -t tmpfs none /run && mkdir -m 755 /run/sshd && mount --bind %[1]s/passwd /etc/passwd && mount --bind %[1]s/opt.%[2]s %[1]s/opt && exec %[3]s -D -e -f %[1]s/sshd.%[2]s",
		c.dir, name, sshd)
	daemon := exec.Command("ip", "netns", "exec", c.hosts.Names[host], "sh", "-c", script)
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(c.path("log." + name))
	must(c.t, err)
	defer log.Close()
	daemon.Stdout, daemon.Stderr = log, log
	must(c.t, daemon.Start())
	ended := make(chan struct{})
	go func() { daemon.Wait(); close(ended) }()
	c.t.Cleanup(func() { daemon.Process.Kill(); <-ended })
	c.await(name+" listens", ended, func() bool {
		text, _ := os.ReadFile(log.Name())
		return bytes.Contains(text, []byte("Server listening"))
	})
}

// await waits until done, and fails if ended is closed before.
func (c *cluster) await(what string, ended <-chan struct{}, done func() bool) {
	c.t.Helper()
	ctx, cancel := hang.Context(c.t.Context())
	defer cancel()
	for !done() {
		select {
		case <-ended:
			if !done() {
				c.t.Fatalf("%s: it has ended before", what)
			}
			return
		case <-ctx.Done():
			c.t.Fatalf("%s: %v", what, context.Cause(ctx))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// command returns a command of login's user.
func (c *cluster) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", c.hosts.Names[0]}, argv...)...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "PGAS_PEER_TIMEOUT=2m", "PGAS_HEAP_MAX=64m", "SSH_AUTH_SOCK=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// template is the launch template of a user with the test's ssh configuration.
func (c *cluster) template(options string) string {
	return "ssh -F " + c.path("config") + " -o BatchMode=yes " + options + "{host}"
}

// pgasrun runs a job with a launcher until its end.
func (c *cluster) pgasrun(launcher string, args ...string) run {
	c.t.Helper()
	ctx, cancel := hang.Context(c.t.Context())
	defer cancel()
	cmd := c.command(ctx, append([]string{launcher}, args...)...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		c.t.Fatalf("%v: %v\n%s%s", err, context.Cause(ctx), &out, &errs)
	}
	return run{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// processesIn lists the processes that run a file of the cluster's directory.
func (c *cluster) processesIn() (found []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, c.dir+"/") {
			found = append(found, filepath.Base(filepath.Dir(link))+" "+target)
		}
	}
	return found
}

// nothingLeft waits until no process of the launcher, its agents and its PEs is left.
func (c *cluster) nothingLeft() {
	c.t.Helper()
	c.await("all processes of the job end", nil, func() bool { return len(c.processesIn()) == 0 })
}

// reachable reports whether an address can be reached from login, past ssh.
func (c *cluster) reachable(address string) bool {
	_, port, _ := net.SplitHostPort(address)
	host := strings.TrimSuffix(address, ":"+port)
	ctx, cancel := hang.Context(c.t.Context())
	defer cancel()
	return c.command(ctx, "bash", "-c", "exec 3<>/dev/tcp/"+host+"/"+port).Run() == nil
}
