package main

// Linux 6.18 with automatic groups of processes (sched_autogroup_enabled, one group a session) can leave every thread
// of one group runnable on a CPU for half a minute, while a thread of another group computes there. Hosts of the tests
// are sessions of one machine, so a PE that computes on one of them stops its neighbour on the other. While the tests
// run, the setting is off.

import (
	"fmt"
	"os"
	"strings"
)

// autogroupFile is the setting of the kernel. Only root can write it.
const autogroupFile = "/proc/sys/kernel/sched_autogroup_enabled"

// withoutAutogroups switches the setting off, if it is on and this process may, and returns what puts it back.
func withoutAutogroups(file string) (restore func()) {
	was, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(was)) == "0" {
		return func() {} // this kernel has none, or they are off
	}
	if err := os.WriteFile(file, []byte("0\n"), 0); err != nil {
		fmt.Printf("%s stays on (%v): some Linux kernels starve a PE while one of another session computes on its CPU\n", file, err)
		return func() {}
	}
	fmt.Printf("%s is off until the end of this run: some Linux kernels starve a PE while one of another session computes on its CPU\n", file)
	return func() {
		if err := os.WriteFile(file, was, 0); err != nil {
			fmt.Fprintf(os.Stderr, "%v: it was %s", err, was)
		}
	}
}
