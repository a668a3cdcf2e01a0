package doctor

// Memory. The symmetric heaps of a host are one memfd, so neither /dev/shm nor a limit of System V counts; what counts
// is what the host and its control groups have, how much may be mapped, and how large a file may be.

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
	"golang.org/x/sys/unix"
)

func memory(s *System) finding {
	text := boot.BytesText(s.Memory)
	if total, ok := s.meminfo("MemTotal"); ok && total > s.Memory {
		text += ", which control groups leave of " + boot.BytesText(total)
	}
	if left, ok := s.meminfo("MemAvailable"); ok {
		text += fmt.Sprintf(", %s available", boot.BytesText(left))
	}
	return good(text)
}

// meminfo returns a line of /proc/meminfo, in bytes.
func (s *System) meminfo(name string) (uint64, bool) {
	for line := range strings.Lines(s.read("proc/meminfo")) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 54)
			return kib << 10, err == nil
		}
	}
	return 0, false
}

// addressSpace: every PE maps the heaps of all PEs of its host, each as large as the host's memory unless told
// otherwise.
func addressSpace(s *System) finding {
	return s.unlimited(unix.RLIMIT_AS, fewAddresses, "PEs map the heaps of all PEs of their host: `ulimit -v unlimited` in the shell, login script or unit that starts PEs, or a small PGAS_HEAP_MAX")
}

// fileSize: the limit counts for a memfd too.
func fileSize(s *System) finding {
	return s.unlimited(unix.RLIMIT_FSIZE, smallFile, "the heaps of a host are one file in memory: `ulimit -f unlimited` in the shell, login script or unit that starts PEs")
}

// Below these limits no job runs, or only one that uses little memory.
const (
	fewAddresses = 4 << 30
	smallFile    = 256 << 20
)

// unlimited finds a limit: it lessens the default size of heaps, and below tooLow it is a problem.
func (s *System) unlimited(resource int, tooLow uint64, remedy string) finding {
	switch l, err := s.Limit(resource); {
	case err != nil:
		return unknown
	case l < tooLow:
		return problem(boot.BytesText(l), remedy)
	case l != unix.RLIM_INFINITY:
		return note(boot.BytesText(l)+", which bounds the heaps of a host together", remedy)
	}
	return good("unlimited")
}

// enoughLocked is how much memory a card wants to register for a small job.
const enoughLocked = 1 << 30

// lockedMemory: cards register the heaps, and what is registered is locked. TCP and shared memory lock nothing.
func lockedMemory(s *System) finding {
	l, err := s.Limit(unix.RLIMIT_MEMLOCK)
	switch {
	case err != nil:
		return unknown
	case l == unix.RLIM_INFINITY:
		return good("unlimited")
	case len(s.Cards()) == 0:
		return good(boot.BytesText(l) + "; only RDMA cards need more, and this host has none")
	case l < enoughLocked:
		return problem(boot.BytesText(l)+", and an RDMA card registers the heaps, which locks them",
			"`* - memlock unlimited` in /etc/security/limits.conf, LimitMEMLOCK=infinity in the unit of sshd or slurmd, PropagateResourceLimitsExcept=MEMLOCK in slurm.conf")
	}
	return good(boot.BytesText(l))
}

// enoughShm is more than the tools need that put something into /dev/shm.
const enoughShm = 64 << 20

func devShm(s *System) finding {
	total, free, err := s.Space("/dev/shm")
	text := fmt.Sprintf("%s, %s free", boot.BytesText(total), boot.BytesText(free))
	switch {
	case err != nil:
		return note("there is none", "gopgas needs none, but PMIx and UCX's posix transport do: mount a tmpfs there")
	case free < enoughShm:
		return note(text, "gopgas needs none of it, but PMIx and UCX's posix transport do: `mount -o remount,size=1g /dev/shm`, --shm-size=1g of docker, or an emptyDir of medium Memory in a pod")
	}
	return good(text)
}

// hugePages: the heaps are shared memory, for which the kernel has a setting of its own.
func hugePages(s *System) finding {
	const dir = "sys/kernel/mm/transparent_hugepage/"
	shared, private := chosen(s.read(dir+"shmem_enabled")), chosen(s.read(dir+"enabled"))
	if shared == "" && private == "" {
		return note("this kernel has no transparent huge pages", "a kernel with CONFIG_TRANSPARENT_HUGEPAGE spares random access to large heaps most misses of the TLB")
	}
	text := fmt.Sprintf("shared memory (heaps): %s; private memory (Go's): %s", shared, private)
	switch shared {
	case "always", "within_size", "force":
		return good(text)
	}
	return note(text, "heaps have pages of 4 KiB: `echo within_size > /sys/kernel/mm/transparent_hugepage/shmem_enabled` spares random access to large heaps most misses of the TLB")
}

func userfaultfd(s *System) finding {
	if err := s.Pager(); err != nil {
		return note(err.Error(), "coherent regions (package dsm) on several hosts check each access in software instead: allow the system call userfaultfd in the container's seccomp profile, or set vm.unprivileged_userfaultfd=1; Linux 6.4 or later is needed too")
	}
	return good("serves page faults of shared memory, write protection too")
}
