package launch

// Sweeping: killing processes that a job's PEs have started and left. Every process of a job has the job's id in
// its environment, however deep it was started and whatever session it made for itself. Those that
// cleared their environment are found when they have become children of the agent or the guard.

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

// sweep kills every process that belongs to job id ("": none) or is a child of parent (0: no process), and
// returns how many there were.
func sweep(id string, parent int) int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	mark := []byte(boot.JobMark(id))
	killed := 0
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if (parent != 0 && parentOf(pid) == parent) || id != "" && belongsTo(pid, mark) {
			if unix.Kill(pid, unix.SIGKILL) == nil {
				killed++
			}
		}
	}
	return killed
}

func belongsTo(pid int, mark []byte) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(entry, mark) {
			return true
		}
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
