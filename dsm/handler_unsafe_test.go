//go:build linux

package dsm_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// action is the kernel's struct sigaction.
type action struct {
	handler         uintptr
	flags, restorer uint64
	mask            uint64
}

// setAction sets what a SIGBUS does, unless next is nil, and returns what it did before.
func setAction(next *action) (before action, err error) {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGBUS), uintptr(unsafe.Pointer(next)),
		uintptr(unsafe.Pointer(&before)), unsafe.Sizeof(before.mask), 0, 0)
	if errno != 0 {
		return before, errno
	}
	return before, nil
}

// TestHandlerReplaced: a fence says that the program has replaced the handler of page faults, and goes on when it is
// back.
func TestHandlerReplaced(t *testing.T) {
	needsPaging(t)
	const onStack = 0x08000000 // SA_ONSTACK
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Mode: dsm.Paged, Bytes: 1 << 16, Block: 1 << 12})
		if err != nil {
			return err
		}
		ours, err := setAction(nil)
		if err != nil {
			return err
		}
		plain := ours
		plain.flags &^= onStack
		fences := map[string]func() error{
			"Barrier": func() error { return r.Barrier(ctx) },
			"Release": func() error { _, err := r.Release(ctx); return err },
		}
		for name, fence := range fences {
			for what, other := range map[string]action{"none": {}, "one without SA_ONSTACK": plain} {
				if _, err := setAction(&other); err != nil {
					return err
				}
				lost := fence()
				if _, err := setAction(&ours); err != nil {
					return err
				}
				if lost == nil || !strings.Contains(lost.Error(), "SA_ONSTACK") {
					return fmt.Errorf("%s after the handler has been replaced by %s: %v", name, what, lost)
				}
				if err := fence(); err != nil {
					return fmt.Errorf("%s with the handler back: %w", name, err)
				}
			}
		}
		return r.Close(ctx)
	})
}
