package launch

// Which machine this is, and which clock it has. Agents tell the launcher, which compares.

import (
	"os"
	"strings"
)

// machineID returns what tells this machine from others: the identity of this boot of the kernel. It returns "" if
// the kernel does not say.
func machineID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// clockID names the clock of this process: clocks of machines that have run since other moments differ, and so may those of time
// namespaces. It returns "" if the kernel does not say.
func clockID() string {
	space, err := os.Readlink("/proc/self/ns/time")
	if machine := machineID(); err == nil && machine != "" {
		return machine + " " + space
	}
	return ""
}
