package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// patience is how long a child may take to end when it is told to.
const patience = 2 * time.Second

// runChild runs a command to its end, in a process group of its own that does not outlive this call.
func runChild(ctx context.Context, limit time.Duration, argv []string) (stdout []byte, took time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("did not end within %v", limit))
	defer cancel()
	var out, complaint bytes.Buffer
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stdout, c.Stderr = &out, &complaint
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = patience
	start := time.Now()
	err = c.Run()
	took = time.Since(start)
	if c.Process != nil {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
	if err == nil {
		return out.Bytes(), took, nil
	}
	return nil, took, describe(ctx, err, complaint.String())
}

// describe makes one line of a child's failure.
func describe(ctx context.Context, err error, complaint string) error {
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("is not installed")
	}
	return fmt.Errorf("%v: %s", err, saying(complaint))
}

// saying returns the most useful line of a program's complaints: Open MPI draws boxes around it.
func saying(complaint string) string {
	for line := range strings.Lines(complaint) {
		line = strings.TrimSpace(line)
		if line != "" && strings.Trim(line, "-") != "" {
			return line
		}
	}
	return "it said nothing"
}
