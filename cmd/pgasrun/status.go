package main

// What every subcommand has: exit statuses, and errors in a line of standard error.

import (
	"cmp"
	"fmt"
	"io"
	"os"
)

// Exit statuses of pgasrun itself. Otherwise it exits with the worst one of the job.
const (
	statusFailed  = 1
	statusUsage   = 2
	statusTimeout = 124 // as timeout(1)
)

// complain prints an error and returns status.
func complain(err error, status int) int {
	fmt.Fprintln(os.Stderr, "pgasrun:", err)
	return status
}

// checked is a writer that keeps the error of the first write that fails.
type checked struct {
	w   io.Writer
	err error
}

func (c *checked) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.err = cmp.Or(c.err, err)
	return n, err
}
