//go:build cgo

package dsm_test

// Machines that refuse what mode Paged needs. A PE refuses it to itself: by a seccomp filter, as containers have it, or
// by a limit of its address space.

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// newDescriptor is the request of ioctl(2) on /dev/userfaultfd that makes a userfaultfd.
const newDescriptor = 0xaa00

// refuseUserfaultfd makes this process get EPERM where it asks for page faults, until it ends.
func refuseUserfaultfd() error {
	const number, secondArgument = 0, 24 // in struct seccomp_data
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_USERFAULTFD, Jt: 4},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_IOCTL, Jf: 2},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: secondArgument},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: newDescriptor, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return e
	}
	return nil
}

// refused is the error of a PE that cannot use page faults.
const refused = "userfaultfd: Operation not permitted (allow the system call userfaultfd in the container's seccomp profile, or set vm.unprivileged_userfaultfd=1)"

// refusing is the PE to which something is refused.
const refusing = 1

// Mode Paged fails on all PEs if one cannot have it: there with the remedy, elsewhere with that PE's name.
func TestRefusedPaged(t *testing.T) {
	needsPaging(t)
	pgastest.RunProcesses(t, 3, func(ctx context.Context, w *pgas.World) error {
		says := fmt.Sprintf("PE %d on %s cannot have it", refusing, w.HostOf(refusing))
		if w.PE() == refusing {
			if err := refuseUserfaultfd(); err != nil {
				return err
			}
			says = refused
		}
		_, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Mode: dsm.Paged})
		if err == nil || !strings.Contains(err.Error(), "dsm.Open: mode paged: "+says) || strings.Contains(err.Error(), "\n") {
			return fmt.Errorf("PE %d: %v", w.PE(), err)
		}
		return neighbours(dsm.Options{Mode: dsm.Soft})(ctx, w)
	})
}

// Auto takes mode Soft between hosts if a PE cannot use page faults. That PE says so in one line, and the others
// nothing.
func TestRefusedAuto(t *testing.T) {
	needsPaging(t)
	pgastest.RunHosts(t, 3, 2, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == refusing {
			if err := refuseUserfaultfd(); err != nil {
				return err
			}
		}
		var r *dsm.Region
		text, err := stderrOf(func() (err error) {
			r, err = dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16})
			return err
		})
		if err != nil {
			return err
		}
		if r.Mode() != dsm.Soft {
			return fmt.Errorf("mode %v", r.Mode())
		}
		if said := strings.Contains(text, "is checked by software") && strings.Contains(text, refused) && strings.Count(text, "\n") == 1; said != (w.PE() == refusing) {
			return fmt.Errorf("PE %d said %q", w.PE(), text)
		}
		if err := r.Close(ctx); err != nil {
			return err
		}
		_, err = stderrOf(func() error { return neighbours(dsm.Options{})(ctx, w) })
		return err
	})
}

// stderrOf returns what f writes to standard error, which is less than a pipe holds.
func stderrOf(f func() error) (string, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer func(saved *os.File) { os.Stderr = saved }(os.Stderr)
	os.Stderr = in
	err = f()
	in.Close()
	text, _ := io.ReadAll(out)
	out.Close()
	return string(text), err
}

// A PE whose address space is too small for the region says so, the others name it, and nothing is left of the region
// on any of them: the symmetric heap has room for one.
func TestRefusedMemory(t *testing.T) {
	needsPaging(t)
	const bytes = 1 << 30
	pgastest.RunProcesses(t, 2, func(ctx context.Context, w *pgas.World) error {
		open := func() (*dsm.Region, error) {
			return dsm.Open(ctx, w, dsm.Options{Bytes: bytes, Mode: dsm.Paged})
		}
		for range 3 {
			says := fmt.Sprintf("PE %d on %s could not open the region: see its error", refusing, w.HostOf(refusing))
			var limits unix.Rlimit
			if w.PE() == refusing {
				if err := limitMemory(bytes, &limits); err != nil {
					return err
				}
				says = "address space of the region: Cannot allocate memory: ask for fewer Options.Bytes"
			}
			_, err := open()
			if w.PE() == refusing {
				if err := unix.Setrlimit(unix.RLIMIT_AS, &limits); err != nil {
					return err
				}
			}
			if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
				return fmt.Errorf("PE %d: %v", w.PE(), err)
			}
		}
		r, err := open()
		if err != nil {
			return err
		}
		return r.Close(ctx)
	}, "PGAS_HEAP_MAX=1536m")
}

// limitMemory lets this process have room more bytes of address space than it has, and stores the limits of before.
func limitMemory(room uint64, before *unix.Rlimit) error {
	if err := unix.Getrlimit(unix.RLIMIT_AS, before); err != nil {
		return err
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		return err
	}
	return unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: pages*uint64(os.Getpagesize()) + room, Max: before.Max})
}

// A region may be much larger than memory: blocks take some when they are accessed.
func TestLargerThanMemory(t *testing.T) {
	needsPaging(t)
	pgastest.RunProcesses(t, 2, func(ctx context.Context, w *pgas.World) error {
		const bytes = 1 << 40
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: bytes, Block: 1 << 20, Mode: dsm.Paged})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[int64](ctx, r, bytes/8)
		if err != nil {
			return err
		}
		s := a.Slice()
		s[len(s)-1-w.PE()] = int64(w.PE() + 1)
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		if x, y := s[len(s)-1], s[len(s)-2]; x != 1 || y != 2 || s[len(s)/2] != 0 {
			return fmt.Errorf("PE %d reads %d and %d", w.PE(), x, y)
		}
		return r.Close(ctx)
	}, "PGAS_HEAP_MAX=1100g")
}
