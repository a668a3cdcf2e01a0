package agent

// Sweeping: killing processes that a job's PEs have started and left. Every process of a job has the mark of the job
// and its host in its environment, however deep it was started and whatever session it made for itself. Those that
// cleared their environment are found when they have become children of the agent or the guard.

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
	"golang.org/x/sys/unix"
)

// sweep kills every process that has mark in its environment ("": none) or is a child of parent (0: no process), and
// returns how many there were. It spares the processes in spared, with their children.
func sweep(mark string, parent int, spared map[int]bool) int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	killed := 0
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if (parent != 0 && parentOf(pid) == parent || mark != "" && hasEntry(pid, mark)) && !comesOf(pid, spared) {
			if unix.Kill(pid, unix.SIGKILL) == nil {
				killed++
			}
		}
	}
	return killed
}

// hasEntry reports whether the environment of process pid has an entry.
func hasEntry(pid int, entry string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && slices.Contains(strings.Split(string(env), "\x00"), entry)
}

// comesOf reports whether process pid or one that it comes of is in set.
func comesOf(pid int, set map[int]bool) bool {
	for len(set) > 0 && pid > 1 {
		if set[pid] {
			return true
		}
		pid = parentOf(pid)
	}
	return false
}

// parentOf reads the fourth field of stat; the second is a name in parentheses that may hold anything.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// killTime is how long a killed process may take to go.
const killTime = 5 * time.Second

// OrphanTime is how long an agent may live on when its launcher is gone: it kills and sweeps in less, unless it
// is stopped.
const OrphanTime = killTime + spawn.DrainTime + 5*time.Second
