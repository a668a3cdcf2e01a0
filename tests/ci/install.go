package main

// Installing what is missing. Each tool is tried first: a machine that has the tools from another source needs no
// Debian packages, and apt is not called if nothing is missing.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// need is a tool or library, and the Debian packages that have it.
type need struct {
	what     string
	packages []string
	present  func(ctx context.Context) bool
}

var forMainJob = []need{
	{"a C compiler", []string{"gcc", "libc6-dev"}, compiles("#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n", "gcc")},
	{"pkg-config", []string{"pkg-config"}, onPath("pkg-config")},
	{"UCX for programs in C", []string{"libucx-dev"}, succeeds("pkg-config", "--exists", "ucx")},
	{"ip, to make network namespaces", []string{"iproute2"}, func(ctx context.Context) bool {
		return os.Geteuid() != 0 || onPath("ip")(ctx) // without root it would be of no use
	}},
}

var forTests = []need{
	{"Open MPI, to compile the programs that ours is compared with", []string{"openmpi-bin", "libopenmpi-dev"}, func(ctx context.Context) bool {
		return onPath("oshcc")(ctx) && onPath("oshrun")(ctx) && compiles("#include <shmem.h>\nint main(void) { return 0; }\n", "oshcc")(ctx)
	}},
	{"Slurm and munge, which start jobs in tests", []string{"slurmctld", "slurmd", "slurm-client", "munge"}, func(ctx context.Context) bool {
		return onPath("slurmctld")(ctx) && onPath("slurmd")(ctx) && onPath("srun")(ctx) && onPath("munged")(ctx)
	}},
	{"PMIx for programs in C", []string{"libpmix-dev"}, succeeds("pkg-config", "--exists", "pmix")},
	{"spin, which checks the models of the locks", []string{"spin"}, onPath("spin")},
	{"an ssh server, which the tests of launches by ssh run", []string{"openssh-server", "openssh-client"}, func(ctx context.Context) bool {
		// without root it would be of no use
		return os.Geteuid() != 0 || onPath("/usr/sbin/sshd")(ctx) && onPath("ssh-keygen")(ctx)
	}},
	{"Chromium, in which the page of pgasrun -ui is looked at", []string{"chromium"}, func(ctx context.Context) bool {
		return onPath("chromium")(ctx) || onPath("chromium-browser")(ctx) || onPath("google-chrome")(ctx)
	}},
	{"NumPy, which reads and writes the files of arrays", []string{"python3-numpy"}, func(ctx context.Context) bool {
		return succeeds("python3", "-c", "import numpy")(ctx) || succeeds("/usr/bin/python3", "-c", "import numpy")(ctx)
	}},
	{"valgrind, which counts cache misses", []string{"valgrind"}, onPath("valgrind")},
}

// forDebian13 is missing only where it would be of use: without root, another system cannot be entered.
var forDebian13 = []need{
	{"debootstrap, to test with the UCX of Debian 13", []string{"debootstrap"}, func(ctx context.Context) bool {
		return os.Geteuid() != 0 || onPath("debootstrap")(ctx)
	}},
}

func onPath(name string) func(context.Context) bool {
	return func(context.Context) bool {
		_, err := exec.LookPath(name)
		return err == nil
	}
}

func succeeds(argv ...string) func(context.Context) bool {
	return func(ctx context.Context) bool { return command(ctx, argv...).Run() == nil }
}

func compiles(program, compiler string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		cmd := command(ctx, compiler, "-x", "c", "-fsyntax-only", "-")
		cmd.Stdin = strings.NewReader(program)
		return cmd.Run() == nil
	}
}

// install installs those of needs that are missing, and prints which.
func install(ctx context.Context, name string, needs []need) error {
	missing := lacking(ctx, needs)
	if len(missing) == 0 {
		return nil
	}
	var packages []string
	for _, n := range missing {
		fmt.Printf("%s: missing: %s (%s)\n", name, n.what, strings.Join(n.packages, " "))
		packages = append(packages, n.packages...)
	}
	byHand := "apt-get install " + strings.Join(packages, " ")
	apt, err := aptGet(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w: run `%s` as root first, or its like", name, err, byHand)
	}
	options := []string{"-q", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=120"}
	commands := [][]string{
		slices.Concat(apt, options, []string{"update"}),
		slices.Concat(apt, options, []string{"install", "-y", "--no-install-recommends"}, packages),
	}
	for _, argv := range commands {
		if err := show(ctx, []string{"DEBIAN_FRONTEND=noninteractive"}, argv...); err != nil {
			return fmt.Errorf("%s: apt-get failed (%w): run `%s` as root, and see why", name, err, byHand)
		}
	}
	if still := lacking(ctx, missing); len(still) > 0 {
		return fmt.Errorf("%s: after installing %s this is still missing: %s; is another one in the way on PATH?", name, strings.Join(still[0].packages, " "), still[0].what)
	}
	return nil
}

func lacking(ctx context.Context, needs []need) []need {
	return slices.DeleteFunc(slices.Clone(needs), func(n need) bool { return n.present(ctx) })
}

// aptGet returns the command that runs apt-get as root.
func aptGet(ctx context.Context) ([]string, error) {
	switch {
	case !onPath("apt-get")(ctx):
		return nil, errors.New("this system has no apt-get")
	case os.Geteuid() == 0:
		return []string{"apt-get"}, nil
	case onPath("sudo")(ctx):
		return []string{"sudo", "apt-get"}, nil
	}
	return nil, errors.New("this is not root, and there is no sudo")
}
