package main

// The floor of a put, beside it in the same process: package floor copies, and a put to a PE of this host can be no
// faster.

import "github.com/gopgas/gopgas/cmd/pgasbench/floor"

// copyTask copies as putTask puts.
func copyTask(r *runner, size int) task {
	t := task{step: 1, alone: true, ways: 1, via: "copy", batch: nothing, verify: func(int) error { return nil }}
	if r.w.PE() != 0 {
		return t
	}
	c, err := floor.NewCopies(size)
	if err != nil {
		return failed(err)
	}
	t.batch, t.verify, t.end = c.Batch, c.Check, c.Close
	return t
}

func nothing(int, int) error { return nil }
