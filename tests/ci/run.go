package main

// Running programs. Each has a process group of its own, so that Ctrl-C reaches it once, by way of this process, and
// so that its descendants can be ended with it.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// command returns a program that ends when ctx does: it gets a signal first, and is then killed with its group.
func command(ctx context.Context, argv ...string) *exec.Cmd {
	if laneOf(ctx).low {
		argv = append([]string{"chrt", "-i", "0"}, argv...) // of util-linux, which no Debian is without
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// finish runs cmd, counts its CPU time and kills what is left of its group.
func finish(ctx context.Context, cmd *exec.Cmd) error {
	err := cmd.Run()
	countCPU(ctx, cmd)
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}

type cpuKey struct{}

// countCPU adds the CPU time of a program that has ended, and of its descendants whose parents have waited for them, to
// the sum of the step.
func countCPU(ctx context.Context, cmd *exec.Cmd) {
	if sum, ok := ctx.Value(cpuKey{}).(*atomic.Int64); ok && cmd.ProcessState != nil {
		sum.Add(int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()))
	}
}

// show runs a program that writes to its lane's output, after a line with the command.
func show(ctx context.Context, env []string, argv ...string) error {
	l := laneOf(ctx)
	fmt.Fprintln(l.stdout(), "$ "+shellLine(env, argv))
	cmd := command(ctx, argv...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = l.stdout(), l.stderr()
	return finish(ctx, cmd)
}

// output runs a program and returns what it prints.
func output(ctx context.Context, argv ...string) (string, error) {
	var out strings.Builder
	cmd := command(ctx, argv...)
	cmd.Stdout, cmd.Stderr = &out, laneOf(ctx).stderr()
	err := finish(ctx, cmd)
	return out.String(), err
}

// shellLine returns a command line that a shell reads back, quoted where needed.
func shellLine(env, argv []string) string {
	var words []string
	for _, w := range append(append([]string{}, env...), argv...) {
		if w == "" || strings.ContainsAny(w, " \t'\"$*?|&;<>(){}\\") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// usageError is an error in the command line.
type usageError struct{ error }
