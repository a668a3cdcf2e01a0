package main

// Jobs that are killed in each phase of their start. What the launcher and the agent of host b say passes through far,
// which stops at the phase. The PEs stop in their phases themselves. So a kill strikes the phase that the test names,
// however busy the machine is.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

const (
	envPhase = "TEST_PHASE" // where far, or a PE, stops
	envThere = "TEST_THERE" // the file that far makes then
	envHost  = "TEST_HOST"  // the host that a process belongs to
)

// farPhases are the phases in which host b is in the middle of its start, with the kind of the frame that far keeps.
var farPhases = map[string]byte{
	"command":       0, // the launch command runs, and no agent
	"greeting":      1, // the agent runs, and the launcher does not know
	"configuration": 'C',
	"readiness":     'r',
	"start":         'S', // the PEs of host a may run
	"started":       's', // all PEs may run, and the launcher does not know
}

// pePhases are the phases in which PEs stop, with the number of PEs of four that are there.
var pePhases = map[string]int{
	"process":  4, // it has not looked at its job
	"attached": 4, // it has the memory of the job
	"joined":   4,
	"left":     4,
	"ended":    2, // PEs with an odd number have
}

// far runs the agent of a host, as a remote shell does.
func far() {
	host, phase := os.Args[1], os.Getenv(envPhase)
	os.Setenv(envHost, host)
	kept, stops := farPhases[phase]
	stops = stops && host == "b"
	if stops && kept == farPhases["command"] {
		stopHere()
		io.Copy(io.Discard, os.Stdin) // until the launcher has ended, or ends this
		os.Exit(1)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		os.Exit(1)
	}
	if !stops {
		kept = 0 // which is no frame's
	}
	go func() {
		passOn(in, bufio.NewReader(os.Stdin), kept)
		in.Close()
	}()
	agent := bufio.NewReader(out)
	if stops && kept == farPhases["greeting"] {
		agent.Peek(1)
		stopHere()
		io.Copy(io.Discard, agent)
	}
	greeting, _ := agent.ReadString('\n')
	io.WriteString(os.Stdout, greeting)
	passOn(os.Stdout, agent, kept)
	cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode() & 0xff)
}

// passOn copies frames until they end. From the first of kind kept on it drops them.
func passOn(to io.Writer, from *bufio.Reader, kept byte) {
	for {
		head, err := from.Peek(5)
		if err != nil {
			return
		}
		if head[0] == kept {
			stopHere()
			io.Copy(io.Discard, from)
			return
		}
		if _, err := io.CopyN(to, from, 5+int64(binary.BigEndian.Uint32(head[1:]))); err != nil {
			return
		}
	}
}

// stopHere tells the test that far is at its phase.
func stopHere() { os.WriteFile(os.Getenv(envThere), nil, 0o600) }

// peInPhase is a PE that stops in its phase.
func peInPhase(phase string) error {
	stop := func(at string) {
		if phase == at {
			fmt.Println("ready", os.Getpid())
			time.Sleep(time.Hour)
		}
	}
	stop("process")
	job, err := join.FromEnv(context.Background(), join.Options{})
	if err != nil {
		return err
	}
	stop("attached")
	job.Join()
	stop("joined")
	if phase == "left" || job.PE%2 == 1 {
		job.Leave()
		stop("left")
		return nil
	}
	stop("ended")
	return block(job.State())
}

// agentOn returns the process of the agent of a host, or of its guard, or 0.
func (r *running) agentOn(host string) int {
	for _, pid := range r.agents() {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if bytes.Contains(env, []byte(envHost+"="+host+"\x00")) {
			return pid
		}
	}
	return 0
}

// TestKillInEachPhase kills the launcher, or an agent, in each phase of a job's start.
func TestKillInEachPhase(t *testing.T) {
	for phase := range farPhases {
		for _, victim := range []string{"launcher", "a", "b"} {
			if phase == "command" && victim == "b" {
				continue // it has no agent
			}
			t.Run(phase+"/"+victim, func(t *testing.T) {
				there := filepath.Join(t.TempDir(), "there")
				r := launchInPhase(t, phase, there)
				limit, cancel := hang.Context(t.Context())
				defer cancel()
				for {
					if _, err := os.Stat(there); err == nil {
						break
					}
					if limit.Err() != nil {
						t.Fatalf("the job does not come there: %s", &r.stderr)
					}
					time.Sleep(time.Millisecond)
				}
				r.killIn(victim)
			})
		}
	}
	for phase, pes := range pePhases {
		for _, victim := range []string{"launcher", "a", "b"} {
			t.Run(phase+"/"+victim, func(t *testing.T) {
				r := launchInPhase(t, phase, "")
				r.ready(pes)
				r.killIn(victim)
			})
		}
	}
}

// launchInPhase starts a job of two hosts, with two PEs each, that stops at a phase.
func launchInPhase(t *testing.T, phase, there string) *running {
	t.Setenv(envPhase, phase)
	t.Setenv(envThere, there)
	return launchJob(t, nil, "-hosts", "a:2,b:2", "-launch", "far {host}", "pe", "orphan", "stay")
}

// killIn kills the launcher, or the agent of a host. The job must fail, and leave nothing.
func (r *running) killIn(victim string) {
	r.t.Helper()
	pid := r.cmd.Process.Pid
	if victim != "launcher" {
		limit, cancel := hang.Context(r.t.Context())
		defer cancel()
		for pid = r.agentOn(victim); pid == 0; pid = r.agentOn(victim) { // the other host may be the first at its phase
			if limit.Err() != nil {
				r.t.Fatalf("host %s has no agent: %s", victim, &r.stderr)
			}
		}
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		r.t.Fatal(err)
	}
	if status, _ := r.end(); status == 0 || victim != "launcher" && !strings.Contains(r.stderr.String(), "host "+victim) {
		r.t.Errorf("status %d; it says %q", status, &r.stderr)
	}
	r.nothingLeft()
}
