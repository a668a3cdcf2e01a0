package main

// The floor of a put: copy between two mappings of shared memory, with nothing of pgas about it. A put
// to a PE of this host can be no faster, and should be no slower.

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// copyTask copies as putTask puts: a stamped source, a ring of targets.
func copyTask(r *runner, size int) task {
	t := task{step: 1, alone: true, ways: 1, via: "copy", batch: nothing, verify: func(int) error { return nil }}
	if r.w.PE() != 0 {
		return t
	}
	from, err := mapShared(mostBytes)
	if err != nil {
		t.batch = func(int, int) error { return err }
		return t
	}
	to, err := mapShared(mostBytes)
	if err != nil {
		t.batch = func(int, int) error { return err }
		return t
	}
	t.end = func() { unix.Munmap(from); unix.Munmap(to) }
	slots := result.Slots(size)
	fill(from[:size])
	t.batch = func(first, n int) error {
		source, mask := from[:size], slots-1
		for i := first; i < first+n; i++ {
			stamp(source, i)
			at := (i & mask) * size
			copy(to[at:at+size], source)
		}
		return nil
	}
	t.verify = func(done int) error {
		for slot := range min(slots, done) {
			if err := checkPayload(to[slot*size:(slot+1)*size], lastIn(slot, slots, done)); err != nil {
				return err
			}
		}
		return nil
	}
	return t
}

func nothing(int, int) error { return nil }

// mapShared maps n bytes of memory that other processes could map too, and touches all of it.
func mapShared(n int) ([]byte, error) {
	fd, err := unix.MemfdCreate("pgasbench", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory for the floor: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, int64(n)); err != nil {
		return nil, fmt.Errorf("memory for the floor: %w", err)
	}
	m, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("memory for the floor: %w", err)
	}
	fill(m)
	return m, nil
}
