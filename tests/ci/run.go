package main

// Running programs. Each has a process group of its own, so that Ctrl-C reaches it once, by way of this process, and
// so that its descendants can be ended with it.

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A lane is how the programs of a step run. The zero value is for all that have no other.
type lane struct {
	out io.Writer // for what its programs print; nil: this process's own output
	low bool      // they get the CPU time that all others leave, also those that yield: nice -n 19 took some of theirs

	// held is a file that its programs keep open: a lock on it outlasts this process while one of them runs.
	held *os.File
}

type laneKey struct{}

func inLane(ctx context.Context, l lane) context.Context { return context.WithValue(ctx, laneKey{}, l) }

func laneOf(ctx context.Context) lane {
	l, _ := ctx.Value(laneKey{}).(lane)
	return l
}

func (l lane) stdout() io.Writer {
	if l.out == nil {
		return os.Stdout
	}
	return l.out
}

func (l lane) stderr() io.Writer {
	if l.out == nil {
		return os.Stderr
	}
	return l.out
}

// command returns a program that ends when ctx does: it gets a signal first, and is then killed with its group.
func command(ctx context.Context, argv ...string) *exec.Cmd {
	if laneOf(ctx).low {
		argv = append([]string{"chrt", "-i", "0"}, argv...) // of util-linux, which no Debian is without
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	if held := laneOf(ctx).held; held != nil {
		cmd.ExtraFiles = []*os.File{held}
	}
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
