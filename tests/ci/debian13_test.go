package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeDebootstrap puts a debootstrap first on PATH: it mounts a proc as the real one does, creates the file "mounted"
// beside its directory, and goes on as told. The test is skipped where no program may mount anything.
func fakeDebootstrap(t *testing.T, then string) {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\nset -e\nfor dir; do case $dir in /*) break; esac; done\nmkdir -p $dir/proc\n" +
		"mount -t proc proc $dir/proc\ntouch $dir/../mounted\n" + then + "\n"
	if err := os.WriteFile(filepath.Join(bin, "debootstrap"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	if err := rootUsable(t.Context()); err != nil {
		t.Skip(err)
	}
}

// mountedBelow lists what is mounted in dir.
func mountedBelow(t *testing.T, dir string) (found []string) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if at := strings.Fields(line)[4]; strings.HasPrefix(at, dir+"/") {
			found = append(found, at)
		}
	}
	return found
}

// TestDebootstrapLeavesNoMount: what a debootstrap mounts is gone when it ends, and when it is cancelled.
func TestDebootstrapLeavesNoMount(t *testing.T) {
	dir := t.TempDir()
	fakeDebootstrap(t, "")
	root, err := debootstrapped(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "proc")); err != nil {
		t.Error(err)
	}
	if found := mountedBelow(t, dir); found != nil {
		t.Errorf("after the end of debootstrap: %s", found)
	}

	dir = t.TempDir()
	fakeDebootstrap(t, "exec sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // no signal tells that the file is there
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, "mounted")); err == nil {
				cancel()
			}
		}
	}()
	if _, err := debootstrapped(ctx, dir, nil); err == nil {
		t.Error("a debootstrap that is cancelled has made a system")
	}
	if found := mountedBelow(t, dir); found != nil {
		t.Errorf("after a debootstrap that was cancelled: %s", found)
	}
}

// TestRemoveTreeUnmounts: a removal does not go on in what is mounted in the directory. Earlier releases left a proc,
// in which nothing can be removed.
func TestRemoveTreeUnmounts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b")
	kept := t.TempDir()
	for _, d := range []string{"proc", "bound/deep"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(kept, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount(kept, filepath.Join(dir, "bound"), "", syscall.MS_BIND, "")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("no mounts are allowed here")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("proc", filepath.Join(dir, "proc"), "proc", 0, ""); err != nil {
		t.Fatal(err)
	}
	if err := removeTree(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is there: %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("what was mounted is removed: %v", err)
	}
}

// TestHeldLock: a lock stays taken while a program that holds it runs, also without the process that took it.
func TestHeldLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := takeLock(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := command(inLane(ctx, lane{held: lock}), "sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lock.Close()
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	over, end := context.WithCancel(inLane(ctx, lane{out: new(strings.Builder)}))
	end()
	if err := takeLock(over, other); !errors.Is(err, context.Canceled) {
		t.Errorf("the lock of a program that runs: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if err := takeLock(ctx, other); err != nil {
		t.Errorf("the lock of a program that has ended: %v", err)
	}
}
