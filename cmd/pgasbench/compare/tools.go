package compare

// What the comparison needs: our binaries and the peers', built into a directory of its own, and two
// hosts. What cannot be had takes its rows with it and says why.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

type tools struct {
	dir     string   // the folder of the binaries
	peers   string   // the folder tests/peers
	hosts   []string // network namespaces; fewer than wanted if missing says why
	cores   int
	missing map[string]error // what cannot be had: a program, or "hosts"
	made    *netns.Hosts     // hosts of our own, to be removed
}

const module = "github.com/gopgas/gopgas"

// places is where the user says that things are.
type places struct {
	hosts   []string // network namespaces
	source  string   // the top directory of the module
	argodsm string   // the directory that ArgoDSM was installed in
}

// newTools builds what is wanted. The binaries of the launcher and of pgasbench are needed in any
// case; anything else may be missing.
func newTools(ctx context.Context, want needs, at places, news io.Writer) (*tools, error) {
	dir, err := os.MkdirTemp("", "pgasbench")
	if err != nil {
		return nil, fmt.Errorf("a place for the binaries: %w", err)
	}
	t := &tools{dir: dir, cores: runtime.NumCPU(), missing: map[string]error{}}
	fmt.Fprintln(news, "pgasbench: building")
	if err := t.buildOurs(ctx, at.source); err != nil {
		return nil, errors.Join(err, t.close())
	}
	t.buildRest(ctx, want)
	if want.argo {
		t.miss("argo", t.buildArgo(ctx, at.argodsm))
	}
	if want.hosts > 0 {
		t.findHosts(at.hosts, want.hosts)
	}
	return t, nil
}

func (n needs) and(m needs) needs {
	return needs{n.osh || m.osh, n.mpi || m.mpi, n.mpich || m.mpich, n.ucp || m.ucp, n.hello || m.hello, n.samples || m.samples, n.kernels || m.kernels, n.argo || m.argo, max(n.hosts, m.hosts)}
}

func (t *tools) bin(name string) string { return filepath.Join(t.dir, name) }

// close removes what newTools made.
func (t *tools) close() error {
	var err error
	if t.made != nil {
		err = t.made.Close()
	}
	return errors.Join(err, os.RemoveAll(t.dir))
}

// lacks says why a suite cannot run, or nil.
func (t *tools) lacks(n needs) error {
	for _, need := range []struct {
		wanted bool
		name   string
	}{
		{n.hosts > len(t.hosts), "hosts"}, {n.osh, "osh"}, {n.mpi, "mpi"}, {n.mpich, "mpich"}, {n.ucp, "ucp"}, {n.hello, "hello"},
		{n.samples, "samples"}, {n.kernels, "kernels"}, {n.argo, "argo"},
	} {
		if err := t.missing[need.name]; need.wanted && err != nil {
			return err
		}
	}
	return nil
}

func (t *tools) buildOurs(ctx context.Context, source string) error {
	if source == "" {
		out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			return fmt.Errorf("the module's source cannot be found: run this in it, or say -source DIR")
		}
		source = strings.TrimSpace(string(out))
	}
	t.peers = filepath.Join(source, "tests", "peers")
	if _, err := os.Stat(filepath.Join(t.peers, "measure.h")); err != nil {
		return fmt.Errorf("-source %s: no tests/peers there: it must be the top of the module %s", source, module)
	}
	if _, err := os.Stat(filepath.Join(source, "cmd", "pgasbench", "go.mod")); err != nil {
		return fmt.Errorf("-source %s: no cmd/pgasbench there, which a published version of the module does not have: it must be a checkout of the repository", source)
	}
	if err := t.goBuild(ctx, "./cmd/pgasrun"); err != nil {
		return err
	}
	return t.goBuild(ctx, "./cmd/pgasbench")
}

func (t *tools) goBuild(ctx context.Context, pkg string) error {
	c := exec.CommandContext(ctx, "go", "build", "-o", t.dir+"/", pkg)
	c.Dir = filepath.Dir(filepath.Dir(t.peers))
	return build(c)
}

// build runs a compiler and makes its first line of complaint the error.
func build(c *exec.Cmd) error {
	out, err := c.CombinedOutput()
	if err == nil {
		return nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed", c.Args[0])
	}
	return fmt.Errorf("%s: %s", strings.Join(c.Args, " "), firstLine(string(out), err.Error()))
}

func firstLine(text, otherwise string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return otherwise
}

func (t *tools) buildRest(ctx context.Context, want needs) {
	if want.hello {
		t.missing["hello"] = t.goBuild(ctx, "./samples/hello")
	}
	if want.samples {
		for _, program := range kernelPrograms() {
			t.miss("samples", t.goBuild(ctx, "./samples/"+program))
		}
	}
	if want.osh {
		t.miss("osh", t.buildPeer(ctx, "osh", "osh", debianMPI, "oshcc"))
	}
	if want.mpi {
		t.miss("mpi", t.buildPeer(ctx, "mpi", "mpi", debianMPI, "mpicc"))
	}
	if want.mpich {
		t.miss("mpich", t.buildPeer(ctx, "mpi", "mpich", "mpich libmpich-dev", "mpicc.mpich"))
	}
	if want.ucp {
		t.miss("ucp", t.buildPeer(ctx, "ucp", "ucp", "gcc libucx-dev", "gcc", "-lucp", "-lucs"))
	}
	if want.kernels {
		for _, program := range kernelPrograms() {
			t.miss("kernels", t.buildPeer(ctx, program, "osh-"+program, debianMPI, "oshcc", "-lm"))
		}
	}
}

// miss notes the first reason why something cannot be had.
func (t *tools) miss(what string, err error) {
	if t.missing[what] == nil && err != nil {
		t.missing[what] = err
	}
}

const debianMPI = "openmpi-bin libopenmpi-dev"

// buildPeer compiles a program of tests/peers. install is what Debian needs for that.
func (t *tools) buildPeer(ctx context.Context, name, binary, install, compiler string, libraries ...string) error {
	argv := append([]string{"-O3", "-o", t.bin(binary), filepath.Join(t.peers, name+".c")}, libraries...)
	if err := build(exec.CommandContext(ctx, compiler, argv...)); err != nil {
		return fmt.Errorf("%w (Debian: apt-get install %s)", err, install)
	}
	return nil
}

// findHosts takes the namespaces named by the user, or makes n.
func (t *tools) findHosts(names []string, n int) {
	if len(names) > 0 {
		for _, name := range names {
			if _, err := os.Stat("/run/netns/" + name); err != nil {
				t.missing["hosts"] = fmt.Errorf("no network namespace %s: ip netns list shows those there are", name)
				return
			}
		}
		t.hosts = names
		t.missing["hosts"] = fmt.Errorf("-hosts names %d hosts, and this needs more", len(names))
		return
	}
	if err := netns.Usable(); err != nil {
		t.missing["hosts"] = err
		return
	}
	made, err := netns.New(n)
	if err != nil {
		t.missing["hosts"] = err
		return
	}
	t.made, t.hosts = made, made.Names
}

// needs is what a suite's program is built from, or where it runs.
type needs struct {
	osh, mpi, mpich, ucp, hello, samples, kernels, argo bool
	hosts                                               int // network namespaces
}

// buildArgo compiles tests/peers/argo.c with the ArgoDSM that is installed in dir.
func (t *tools) buildArgo(ctx context.Context, dir string) error {
	if dir == "" {
		return errors.New("ArgoDSM is not in Debian: build it with cmake from its repository, and say -argodsm DIR, where it is installed")
	}
	if _, err := os.Stat(filepath.Join(dir, "include", "argo", "argo.h")); err != nil {
		return fmt.Errorf("-argodsm %s: no include/argo/argo.h there: it must be the directory that ArgoDSM was installed in", dir)
	}
	lib := filepath.Join(dir, "lib")
	argv := strings.Fields("-O3 -largo -largobackend-mpi")
	argv = append([]string{"-I" + filepath.Join(dir, "include", "argo"), filepath.Join(t.peers, "argo.c"), "-o", t.bin("argo"), "-L" + lib, "-Wl,-rpath," + lib}, argv...)
	return build(exec.CommandContext(ctx, "mpicc", argv...))
}
