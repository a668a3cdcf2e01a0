package doctor

// Whether userfaultfd can serve the faults of coherent memory: it is opened and asked for what package dsm/pager wants.

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Of linux/userfaultfd.h, which package unix does not have.
const (
	uffdUserModeOnly = 1
	uffdAPI          = 0xaa
	uffdioAPI        = 0xc018aa3f // _IOWR(0xaa, 0x3f, struct uffdio_api)

	featurePagefaultFlagWP = 1 << 0
	featureMissingShmem    = 1 << 5
	featureSigbus          = 1 << 7
	featureMinorShmem      = 1 << 10
	featureWPShmem         = 1 << 12
)

// uffdioAPIArgs is struct uffdio_api.
type uffdioAPIArgs struct{ api, features, ioctls uint64 }

// pager returns why userfaultfd cannot serve coherent memory, or nil.
func pager() error {
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		return fmt.Errorf("not permitted or not there (%w)", errno)
	}
	defer unix.Close(int(fd))
	args := uffdioAPIArgs{
		api:      uffdAPI,
		features: featurePagefaultFlagWP | featureMissingShmem | featureSigbus | featureMinorShmem | featureWPShmem,
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, uffdioAPI, uintptr(unsafe.Pointer(&args))); errno != 0 {
		return errors.New("cannot write-protect shared memory")
	}
	return nil
}
