package main

// How the PEs of a job run, by whatever they are started: pgasrun with its agents, or pgasrun static.

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// The headings of -h, in their order.
const (
	flagsToStart  = "flags to start a job"
	flagsForHosts = "flags for hosts"
	flagsToSee    = "flags to see what it does"
	flagsForEnd   = "flags for limits and failures"
)

// peOptions are the flags that say how PEs run.
type peOptions struct {
	exported  assignments
	wdir      string
	unbound   bool
	tag       bool
	output    string
	verbose   bool
	timeout   time.Duration
	grace     time.Duration
	keepGoing bool

	checkpoint string
}

// usageTimeout and usageGrace are the usage of two flags that Kubernetes' jobs have, too.
const (
	usageCheckpoint = "where the program keeps what it saves (package ckpt), and finds it when the job is started again: a `directory` that all hosts have in common. SIGTERM then has the job save and end with status 75"

	usageTag     = "start each line of output with the number of its PE"
	usageTimeout = "end a job that runs longer than `time`, and say what it hung in"
	usageGrace   = "`time` between asking the PEs to end and killing them"
)

func (o *peOptions) flags(s *flagSet) {
	o.grace = time.Second
	s.value(flagsToStart, &o.exported, "x", usageX)
	s.text(flagsToStart, &o.wdir, "wdir", "`directory` in which the PEs start, on every host (default: this one)")
	s.truth(flagsToStart, &o.unbound, "unbound", "let PEs run on any CPU; without it each has CPUs of its own if there are enough")
	s.truth(flagsToSee, &o.tag, "tag", usageTag)
	s.text(flagsToSee, &o.output, "output", "write what each PE prints to a file in this `directory`, too: pe.0.out and so on, on this host")
	s.truth(flagsToSee, &o.verbose, "v", "say each step")
	s.period(flagsForEnd, &o.timeout, "timeout", usageTimeout)
	s.period(flagsForEnd, &o.grace, "grace", usageGrace)
	s.text(flagsForEnd, &o.checkpoint, "checkpoint", usageCheckpoint)
	s.truth(flagsForEnd, &o.keepGoing, "keep-going", "end no other PE when one fails: the others compute on, and access memory of those that are left, but whatever has to wait returns the error, so only PEs that do without each other go on")
}

// check completes what the flags say.
func (o *peOptions) check() error {
	for name, path := range map[string]*string{"wdir": &o.wdir, "checkpoint": &o.checkpoint} {
		if *path == "" {
			continue
		}
		dir, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("-%s %s: %w", name, *path, err)
		}
		*path = dir
	}
	if o.checkpoint != "" {
		o.exported = append(o.exported, boot.EnvCheckpoint+"="+o.checkpoint)
	}
	return nil
}

// spec returns the job that runs a program on hosts.
func (o *peOptions) spec(hosts []boot.Host, program string, args []string) launch.Spec {
	spec := launch.Spec{
		Hosts: hosts, Program: program, Args: args, Dir: o.wdir, Env: o.exported, Tag: o.tag,
		Stdin: stdin(), Stdout: os.Stdout, Stderr: os.Stderr, Terminal: launch.IsTerminal(os.Stderr),
		Grace: o.grace, KeepGoing: o.keepGoing, Unbound: o.unbound,
	}
	if o.verbose {
		began := time.Now()
		spec.Logf = func(format string, args ...any) {
			fmt.Fprintf(os.Stderr, "pgasrun: %6.3fs %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		}
	}
	return spec
}

// context returns a context that ends when -timeout says.
func (o *peOptions) context() (context.Context, context.CancelFunc) {
	if o.timeout <= 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeoutCause(context.Background(), o.timeout, errTimeout{o.timeout})
}

// errTimeout is the error of a job that -timeout has ended.
type errTimeout struct{ after time.Duration }

func (e errTimeout) Error() string {
	return fmt.Sprintf("the job has run for %v, the most that -timeout allows; ended it", e.after)
}

// stdin returns standard input, or nil if reading it would stop pgasrun: a terminal whose foreground is another job.
func stdin() io.Reader {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	if err == nil && group != syscall.Getpgrp() {
		return nil
	}
	return os.Stdin
}

func npes(hosts []boot.Host) (n int) {
	for _, h := range hosts {
		n += h.PEs
	}
	return n
}
