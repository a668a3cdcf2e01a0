package main

// The tests of what calls UCX, with the UCX of Debian 13 (1.18), while this machine has another, as Debian 12 has (1.13).
// debootstrap installs a Debian 13 into a directory, which the user's cache keeps, and the tests are compiled and run in
// it. root.go enters it. To make it and to compile are steps of the second lane; the tests wait for each other, and are a
// step of the first.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// debian13 are the packages that the tests need, beside the smallest system.
const debian13 = "gcc,libc6-dev,pkgconf,libucx-dev,iproute2"

// underUCX are the tests that depend on the release of UCX: all of a package, or those that a pattern matches.
// TestUnderUCXIsComplete finds the tests of other packages whose atomics or puts are UCX's own.
var underUCX = []struct{ pkg, run string }{
	{"./ucx/...", ""},
	{"./pgas/transport/ucp", ""},
	{"./pgas", "^Test(FreedReferencesPanic|ByCPU|LockChaos|LockDeadline|LockExcludes|LockOrder|WaitUntilPred)$/^nic$|" +
		"^Test(AtomicsOfTheNIC|NotifiedPutsAreAccesses|SourcesAreReturned|Strided|TrapFenceOrdersOverMemoryAndNIC)$"},
	{"./notify", "^TestAtomicNotify$"},
	{"./locks", "^Test(ALock|DMCS|DQNL|Spin|SpinRW|NCoSED|NCoSEDThatCountsAgain|RMAMCS|RMARW|ServiceIsALock|SRSL|TableLocks)$/^nic$"},
}

// testsUnderDebian13 runs them.
func testsUnderDebian13(ctx context.Context) error {
	return inDebian13(ctx, func(enter func(argv ...string) []string) error {
		var failed []error
		for _, t := range underUCX {
			argv := []string{"go", "test", "-json", "-vet=off", "-timeout=0", "-count=1", "-p=1"}
			if t.run != "" {
				argv = append(argv, "-run="+t.run)
			}
			if err := runGoTest(ctx, laneOf(ctx).stdout(), nil, enter(append(argv, t.pkg)...), quietLimit); err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", t.pkg, err))
			}
		}
		return errors.Join(failed...)
	})
}

// compiledUnderDebian13 makes the system and compiles the tests, whose first packages are most of the work.
func compiledUnderDebian13(ctx context.Context) error {
	return inDebian13(ctx, func(enter func(argv ...string) []string) error {
		argv := []string{"go", "test", "-vet=off", "-exec=true", "-count=1"}
		for _, t := range underUCX {
			argv = append(argv, t.pkg)
		}
		return show(ctx, nil, enter(argv...)...)
	})
}

// inDebian13 calls f with a function that makes a command run in a Debian 13, or prints why there can be none.
func inDebian13(ctx context.Context, f func(enter func(argv ...string) []string) error) error {
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
	root, err := debootstrapped(ctx, filepath.Join(keep, "gopgas"))
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

// debootstrapped returns the directory of a Debian 13 below dir, which it makes if it is not there. Of several processes
// one makes it, and the others wait for that.
func debootstrapped(ctx context.Context, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.Create(filepath.Join(dir, "debian13.lock"))
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	root := filepath.Join(dir, fmt.Sprintf("debian13-%x", sha256.Sum256([]byte(debian13)))[:len("debian13-")+8])
	if _, err := os.Stat(root); err == nil {
		return root, nil
	}
	part := root + ".part"
	if err := os.RemoveAll(part); err != nil {
		return "", err
	}
	argv := []string{"debootstrap", "--variant=minbase", "--include=" + debian13, "trixie", part, "http://deb.debian.org/debian"}
	if err := quietly(ctx, argv...); err != nil {
		os.RemoveAll(part)
		return "", err
	}
	os.RemoveAll(filepath.Join(part, "var/cache/apt/archives"))
	return root, os.Rename(part, root)
}

// quietly runs a program whose output is shown only if it fails.
func quietly(ctx context.Context, argv ...string) error {
	out, err := os.CreateTemp("", "run-tests-")
	if err != nil {
		return err
	}
	defer out.Close()
	os.Remove(out.Name())
	err = show(inLane(ctx, lane{out: out, low: laneOf(ctx).low}), nil, argv...)
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
