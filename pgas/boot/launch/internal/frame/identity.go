package frame

// Which machine this is, and which clock it has. Agents tell the launcher, which compares.

import (
	"os"
	"strings"
)

// MachineID returns what tells this machine from others: the identity of this boot of the kernel. It returns "" if
// the kernel does not say.
func MachineID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// ClockID names the clock of this process: clocks of machines that have run since other moments differ, and so may
// those of time namespaces. It returns "" if the kernel does not say.
func ClockID() string {
	space, err := os.Readlink("/proc/self/ns/time")
	if machine := MachineID(); err == nil && machine != "" {
		return machine + " " + space
	}
	return ""
}
