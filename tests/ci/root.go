package main

// Running a program in another system's files, as a container does: with mounts and processes of its own, on this
// machine's kernel and network. `unshare` of util-linux makes the namespaces, and this command, started again in them,
// does the rest.
//
// The mounts are private to the namespace, so that nothing of them is left when its processes have ended, and all of
// these end with the first. pivot_root instead of chroot, because `ip netns exec` makes mounts itself.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// enterCommand returns the beginning of a command line: what follows runs in the system whose files are at root. It
// sees the directories of shared at their own paths, and works in the first of them.
func enterCommand(root string, shared []string) []string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return slices.Concat(inNamespaces, []string{self, "enter", root}, shared, []string{"--"})
}

// inNamespaces is the beginning of a command line: what follows has mounts and processes of its own, which end with it.
var inNamespaces = []string{"unshare", "--mount", "--pid", "--fork", "--kill-child"}

// enter is the command that enterCommand starts: process 1 of a namespace.
func enter(args []string) error {
	dirs, argv := args, []string(nil)
	for i, a := range args {
		if a == "--" {
			dirs, argv = args[:i], args[i+1:]
			break
		}
	}
	if os.Getpid() != 1 || len(dirs) < 2 || len(argv) == 0 {
		return usageError{errors.New("ci enter is run by ./run-tests in a namespace of its own: use that")}
	}
	if err := changeRoot(dirs[0], dirs[1:]); err != nil {
		return err
	}
	os.Setenv("PATH", strings.Join(append(bins(dirs[1:]), "/usr/sbin", "/usr/bin", "/sbin", "/bin"), ":"))
	return reap(argv)
}

// bins lists the directories of programs in dirs, such as Go's.
func bins(dirs []string) (found []string) {
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "bin", "go")); err == nil {
			found = append(found, filepath.Join(dir, "bin"))
		}
	}
	return found
}

// A mount is one call of mount(2) below the new root.
type mount struct {
	source, target, kind string
	flags                uintptr
}

func changeRoot(root string, shared []string) error {
	mounts := []mount{
		{"proc", "proc", "proc", 0},
		{"sysfs", "sys", "sysfs", 0},
		{"/dev", "dev", "", syscall.MS_BIND | syscall.MS_REC},
		{"tmpfs", "run", "tmpfs", 0},
		{"tmpfs", "tmp", "tmpfs", 0},
	}
	for _, dir := range shared {
		mounts = append(mounts, mount{dir, dir, "", syscall.MS_BIND})
	}
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	if err := syscall.Mount(root, root, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", root, err)
	}
	for _, m := range mounts {
		at := filepath.Join(root, m.target)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount(m.source, at, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mounting %s in %s: %w", m.target, root, err)
		}
	}
	return pivot(root, shared[0])
}

// pivot makes root the root of this process, and dir its directory.
func pivot(root, dir string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := syscall.PivotRoot(".", "."); err != nil { // the old root is on top of the new one
		return fmt.Errorf("making %s the root: %w", root, err)
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the old root: %w", err)
	}
	return os.Chdir(dir)
}

// reap runs argv and exits as it does. As process 1 it waits for every process that has lost its parent.
func reap(argv []string) error {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM) // the child gets them too
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	child, err := syscall.ForkExec(program, argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return fmt.Errorf("starting %s: %w", strings.Join(argv, " "), err)
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return err
		case pid == child && status.Signaled():
			os.Exit(128 + int(status.Signal()))
		case pid == child:
			os.Exit(status.ExitStatus())
		}
	}
}
