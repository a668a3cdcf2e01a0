package main

// The tests of what calls UCX, with the UCX of Debian 13 (1.18), while this machine has another, as Debian 12 has
// (1.13). Likewise those of mpirun, with Open MPI 5. debootstrap installs a Debian 13 into a directory, which the
// user's cache keeps, and the tests are compiled and run in it. root.go enters it. Making it and compiling is a step
// beside others. The tests have processes that wait for each other, and are a step of the first lane.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// debian13 are the packages that the tests need, beside the smallest system. Open MPI is 5.0 there.
const debian13 = "gcc,libc6-dev,pkgconf,libucx-dev,iproute2,openmpi-bin"

// peers13 are those that the comparison with the peers needs besides, which is no step: see make bench-peers-debian13.
// debootstrap cannot order their configuration, and apt can.
var peers13 = []string{"libopenmpi-dev", "mpich", "libmpich-dev"}

// ucxTests are tests of a package that run with the UCX of Debian 13: those with an attribute, or all, in short mode.
type ucxTests struct {
	pkg   string
	names map[string][]string // by the pattern of their subtests; "": whole tests
}

// underUCX finds what the step runs, below root. Of the locks, which all make the same calls, some are enough.
func underUCX(ctx context.Context, root string) (found []ucxTests, err error) {
	whole, err := having(ctx, with("ucx"))
	if err != nil {
		return nil, err
	}
	for _, pkg := range whole {
		found = append(found, ucxTests{pkg: pkg})
	}
	tests, err := markedFuncs(root, anyTest)
	if err != nil {
		return nil, err
	}
	for _, t := range tests {
		for _, word := range t.words {
			name, subtests, _ := strings.Cut(word, "=")
			if name != "ucx" {
				continue
			}
			if last := len(found) - 1; last < 0 || found[last].pkg != t.pkg {
				found = append(found, ucxTests{pkg: t.pkg, names: map[string][]string{}})
			}
			of := found[len(found)-1].names
			of[subtests] = append(of[subtests], t.name)
		}
	}
	return found, nil
}

// flags returns those of go test that choose the tests. The patterns with subtests come first: go test asks no
// other once one matches the beginning of a test's name, and then runs the test whole.
func (u ucxTests) flags() []string {
	if u.names == nil {
		return []string{"-short"}
	}
	var patterns []string
	for _, subtests := range slices.Backward(slices.Sorted(maps.Keys(u.names))) {
		pattern := "^(" + strings.Join(u.names[subtests], "|") + ")$"
		if subtests != "" {
			pattern += "/^(" + subtests + ")$"
		}
		patterns = append(patterns, pattern)
	}
	return []string{"-run=" + strings.Join(patterns, "|")}
}

// testsUnderDebian13 runs them.
func testsUnderDebian13(ctx context.Context) error {
	tests, err := underUCX(ctx, ".")
	if err != nil {
		return err
	}
	tests = turn(ctx, tests, few)
	return inDebian13(ctx, nil, func(enter func(argv ...string) []string) error {
		var failed []error
		for _, u := range tests {
			argv := append([]string{"go", "test", "-json", "-vet=off", "-timeout=0", "-count=1", "-p=1"}, u.flags()...)
			if err := runGoTest(ctx, laneOf(ctx).stdout(), nil, enter(append(argv, u.pkg)...), quietLimit); err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", u.pkg, err))
			}
		}
		return errors.Join(failed...)
	})
}

// compiledUnderDebian13 makes the system and compiles the tests, whose first packages are most of the work. go list
// does it without linking them, which the step ucx118 has to do.
func compiledUnderDebian13(ctx context.Context) error {
	tests, err := underUCX(ctx, ".")
	if err != nil {
		return err
	}
	return inDebian13(ctx, nil, func(enter func(argv ...string) []string) error {
		argv := []string{"go", "list", "-export", "-test", "-f={{with .Error}}{{.}}{{end}}"}
		for _, u := range turn(ctx, tests, few) {
			argv = append(argv, u.pkg)
		}
		return show(ctx, nil, enter(argv...)...)
	})
}

// debian13Command runs a command in a Debian 13 that has the peers.
func debian13Command(ctx context.Context, argv []string) error {
	if len(argv) == 0 {
		return usageError{errors.New("ci debian13 runs the command that follows it: use make bench-peers-debian13")}
	}
	if err := install(ctx, "ci debian13", forDebian13); err != nil {
		return err
	}
	return inDebian13(ctx, peers13, func(enter func(argv ...string) []string) error {
		return show(ctx, nil, enter(argv...)...)
	})
}

// inDebian13 calls f with a function that makes a command run in a Debian 13 that has these packages besides, or
// prints why there can be none.
func inDebian13(ctx context.Context, more []string, f func(enter func(argv ...string) []string) error) error {
	if err := rootUsable(ctx); err != nil {
		fmt.Fprintf(laneOf(ctx).stdout(), "skipped: %v; as root on a Debian machine of your own it runs\n", err)
		return nil
	}
	keep, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(filepath.Join(keep, "gopgas"), 0o755)
	}
	if err != nil {
		keep, err = os.MkdirTemp("", "gopgas-debian13-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(keep)
	}
	root, err := debootstrapped(ctx, filepath.Join(keep, "gopgas"), more)
	if err != nil {
		return err
	}
	caches, err := goDirectories(ctx)
	if err != nil {
		return err
	}
	return f(func(argv ...string) []string { return append(enterCommand(root, caches), argv...) })
}

// rootUsable returns why no other system can be entered on this machine, or nil.
func rootUsable(ctx context.Context) error {
	if err := netns.Usable(); err != nil {
		return err
	}
	if !onPath("debootstrap")(ctx) {
		return errors.New("there is no debootstrap")
	}
	if _, err := output(ctx, "unshare", "--mount", "--pid", "--fork", "true"); err != nil {
		return fmt.Errorf("mount and process namespaces are not allowed here (%w)", err)
	}
	return nil
}

// debootstrapped returns the directory below dir of a Debian 13 that has these packages besides, which it makes if it
// is not there. Of several processes one makes it, and the others wait for that.
func debootstrapped(ctx context.Context, dir string, more []string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(dir) // as the kernel names mounts
	if err != nil {
		return "", err
	}
	lock, err := os.Create(filepath.Join(dir, "debian13.lock"))
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := takeLock(ctx, lock); err != nil {
		return "", err
	}
	packages := strings.Join(append([]string{debian13}, more...), ",")
	root := filepath.Join(dir, fmt.Sprintf("debian13-%x", sha256.Sum256([]byte(packages)))[:len("debian13-")+8])
	if _, err := os.Stat(root); err == nil {
		return root, nil
	}
	part := root + ".part"
	if err := removeTree(part); err != nil {
		return "", err
	}
	l := laneOf(ctx)
	l.held = lock
	if err := bootstrap(inLane(ctx, l), part, more); err != nil {
		return "", errors.Join(err, removeTree(part))
	}
	os.RemoveAll(filepath.Join(part, "var/cache/apt/archives"))
	return root, os.Rename(part, root)
}

// takeLock waits until no process holds the lock, and takes it.
func takeLock(ctx context.Context, lock *os.File) error {
	for said := false; ; said = true {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("locking %s: %w", lock.Name(), err)
		}
		if !said {
			fmt.Fprintf(laneOf(ctx).stdout(), "waiting for another process that makes a Debian 13 (fuser %s names it)\n", lock.Name())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// removeTree removes a directory. What is mounted in it is unmounted first: a debootstrap that is killed leaves its
// proc, and a removal must not go on in another file system.
func removeTree(dir string) error {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for _, line := range slices.Backward(strings.Split(strings.TrimSpace(string(mounts)), "\n")) {
		at := strings.ReplaceAll(strings.Fields(line)[4], `\040`, " ")
		if !strings.HasPrefix(at, dir+"/") {
			continue
		}
		if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("unmounting %s: %w (umount does it by hand)", at, err)
		}
	}
	return os.RemoveAll(dir)
}

// bootstrap installs a Debian 13 into a directory, in namespaces that end with it and take its mounts with them.
func bootstrap(ctx context.Context, dir string, more []string) error {
	commands := [][]string{{"debootstrap", "--variant=minbase", "--include=" + debian13, "trixie", dir, "http://deb.debian.org/debian"}}
	if len(more) > 0 {
		apt := []string{"chroot", dir, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"}
		commands = append(commands, slices.Concat(apt, []string{"update"}), slices.Concat(apt, []string{"install", "-y", "--no-install-recommends"}, more))
	}
	for _, argv := range commands {
		if err := quietly(ctx, slices.Concat(inNamespaces, argv)...); err != nil {
			return err
		}
	}
	return nil
}

// quietly runs a program whose output is shown only if it fails.
func quietly(ctx context.Context, argv ...string) error {
	out, err := os.CreateTemp("", "run-tests-")
	if err != nil {
		return err
	}
	defer out.Close()
	os.Remove(out.Name())
	l := laneOf(ctx)
	l.out = out
	err = show(inLane(ctx, l), nil, argv...)
	to := laneOf(ctx).stdout()
	fmt.Fprintln(to, "$ "+shellLine(nil, argv))
	if err == nil {
		return nil
	}
	if _, seek := out.Seek(0, io.SeekStart); seek == nil {
		io.Copy(to, out)
	}
	return fmt.Errorf("%s: %w: see above, and run that line by hand", argv[0], err)
}

// goDirectories lists what the go command needs of this machine: the checkout, Go itself and its caches.
func goDirectories(ctx context.Context) ([]string, error) {
	out, err := output(ctx, "go", "env", "GOROOT", "GOMODCACHE", "GOCACHE")
	if err != nil {
		return nil, err
	}
	dirs := strings.Fields(out)
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil { // the caches, on a machine that has not built anything
			return nil, err
		}
	}
	here, err := os.Getwd()
	return append([]string{here}, dirs...), err
}
