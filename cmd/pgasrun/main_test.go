package main

// The test binary is pgasrun, and it is the program that pgasrun runs: pe does on request what a PE may
// do, good or bad. Scripts under testdata/script show what a user sees.

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// raceOptions: under the race detector, every process would sleep for a second before it exits.
const raceOptions = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	os.Setenv("GORACE", raceOptions)
	testscript.Main(m, map[string]func(){"pgasrun": main, "pe": pe, "far": far})
}

func TestScripts(t *testing.T) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := doctorProgram(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", env.Getenv("PATH")+string(filepath.ListSeparator)+dir)
			env.Setenv("GORACE", raceOptions)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "netns":
				return netns.Usable() == nil, nil
			case "raced": // the race detector maps more than the limits of a script leave
				info, _ := debug.ReadBuildInfo()
				return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}), nil
			}
			return false, fmt.Errorf("there is no condition %s", cond)
		},
	})
}

// pe runs one PE: its first argument names the action.
func pe() {
	if phase := os.Getenv(envPhase); pePhases[phase] > 0 {
		if err := peInPhase(phase); err != nil {
			fmt.Fprintln(os.Stderr, "pe:", err)
			os.Exit(1)
		}
		return
	}
	secret := inheritedSecret()
	job, err := join.FromEnv(context.Background(), join.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "pe:", err)
		os.Exit(1)
	}
	if err := act(job, secret, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "pe %d: %v\n", job.PE, err)
		os.Exit(1)
	}
}

func act(job *boot.Job, secret []byte, verb string, args []string) error {
	state := job.Segment.States[job.PE-job.Host().First]
	switch verb {
	case "hello":
		fmt.Printf("PE %d of %d on %s\n", job.PE, job.NPEs, job.Host().Name)
	case "topo":
		fmt.Println(job.Settings.Topo)
	case "exit": // exit STATUS...: PE i with the i-th, the others with 0
		if job.PE < len(args) {
			status, _ := strconv.Atoi(args[job.PE])
			os.Exit(status)
		}
	case "global-exit": // global-exit PE STATUS: that PE ends the job, while the others are in a barrier
		job.Join()
		fmt.Printf("PE %d was here\n", job.PE)
		if args[0] == strconv.Itoa(job.PE) {
			status, _ := strconv.Atoi(args[1])
			job.GlobalExit(status)
		}
		return block(state)
	case "die": // die PE SIGNAL: that PE by that signal, while the others are in a barrier
		if args[0] == strconv.Itoa(job.PE) {
			awaitBlocked(job)
			fmt.Fprintln(os.Stderr, "these are my last words")
			sig, _ := strconv.Atoi(args[1])
			syscall.Kill(os.Getpid(), syscall.Signal(sig))
		}
		return block(state)
	case "child": // the program starts itself, with its environment and without its files
		if job.PE == 0 {
			cmd := exec.Command(os.Args[0], "hello")
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			return cmd.Run()
		}
	case "eat": // eat PE: that PE takes memory until it is ended, while the others are in a barrier
		if args[0] == strconv.Itoa(job.PE) {
			for eaten := [][]byte{}; ; eaten = append(eaten, bytes.Repeat([]byte{1}, 1<<20)) {
			}
		}
		return block(state)
	case "limit": // Go's limit of this PE's memory
		fmt.Println("memory limit", debug.SetMemoryLimit(-1))
	case "panic":
		if job.PE == 1 {
			panic("out of ideas")
		}
		return block(state)
	case "hang":
		fmt.Println("ready", os.Getpid())
		return block(state)
	case "abandon": // PE 0 ends well, but does not say so
		job.Join()
		if job.PE != 0 {
			return block(state)
		}
	case "leave":
		job.Join()
		job.Leave()
	case "burst": // burst LINES
		n, _ := strconv.Atoi(args[0])
		for i := range n {
			fmt.Printf("<%d %d %s>\n", job.PE, i, strings.Repeat(strconv.Itoa(job.PE%10), i%200))
		}
	case "cat":
		n, err := io.Copy(os.Stdout, os.Stdin)
		if job.PE != 0 && n != 0 {
			return fmt.Errorf("has %d bytes of input", n)
		}
		return err
	case "late": // PE 0 publishes and ends; PE 1 asks after it is told that PE 0 has ended
		return late(job)
	case "exchange":
		return exchange(job)
	case "exchange-stalled": // the same while the agent that serves the exchange is stopped for a time
		if job.PE == 0 {
			if err := stallAgent(); err != nil {
				return err
			}
		}
		return exchange(job)
	case "secret":
		return lookForSecret(job, secret)
	case "orphan": // leaves a process in a session of its own behind
		cmd := exec.Command("sleep", "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if len(args) > 1 { // and without the environment that shows its job, except the test's mark
			cmd.Env = []string{"TEST_JOB_MARK=" + os.Getenv("TEST_JOB_MARK")}
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		fmt.Println("ready", os.Getpid())
		if len(args) > 0 {
			return block(state)
		}
	default:
		return fmt.Errorf("cannot %s", verb)
	}
	return nil
}

// awaitBlocked returns when the other PEs of this host are blocked.
func awaitBlocked(job *boot.Job) {
	for i, st := range job.Segment.States {
		for i != job.PE-job.Host().First && boot.BlockedOp(st.Blocked.Op.Load()) == boot.NotBlocked {
			time.Sleep(time.Millisecond)
		}
	}
}

// block enters a barrier that never ends.
func block(state *boot.State) error {
	state.Blocked.Peer.Store(-1)
	state.Blocked.Seq.Store(7)
	state.Blocked.Since.Store(time.Now().UnixNano())
	state.Blocked.Op.Store(uint32(boot.InBarrier))
	time.Sleep(time.Hour)
	return nil
}

func exchange(job *boot.Job) error {
	ctx, cancel := hang.Context(context.Background())
	defer cancel()
	if job.Exchange == nil {
		return fmt.Errorf("has no exchange")
	}
	if err := job.Exchange.Put(ctx, fmt.Sprint("key", job.PE), fmt.Append(nil, "value", job.PE)); err != nil {
		return err
	}
	if err := job.Exchange.Fence(ctx); err != nil {
		return err
	}
	next := (job.PE + 1) % job.NPEs
	v, err := job.Exchange.Get(ctx, fmt.Sprint("key", next))
	if err != nil {
		return err
	}
	fmt.Printf("PE %d got %s\n", job.PE, v)
	return job.Exchange.Close()
}

// stallAgent stops this PE's agent for as long as PEs need to dial all of its addresses.
func stallAgent() error {
	wake := exec.Command("sh", "-c", fmt.Sprintf("sleep 0.7; kill -CONT %d", os.Getppid()))
	if err := wake.Start(); err != nil {
		return err
	}
	return syscall.Kill(os.Getppid(), syscall.SIGSTOP)
}

func late(job *boot.Job) error {
	ctx, cancel := hang.Context(context.Background())
	defer cancel()
	if job.PE == 0 {
		return job.Exchange.Put(ctx, "key", []byte("value"))
	}
	fmt.Println("ready")
	for signal := os.TempDir() + "/go"; ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(signal); err == nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	v, err := job.Exchange.Get(ctx, "key")
	fmt.Printf("got %s\n", v)
	return err
}

// inheritedSecret reads the secret before FromEnv takes it.
func inheritedSecret() []byte {
	fd, err := strconv.Atoi(os.Getenv("PGAS_SECRET_FD"))
	if err != nil {
		return nil
	}
	secret := make([]byte, boot.SecretBytes)
	if n, err := unix.Pread(fd, secret, 0); err != nil || n != len(secret) {
		return nil
	}
	return secret
}

// lookForSecret looks for the secret of the job in every command line and environment of the machine.
func lookForSecret(job *boot.Job, secret []byte) error {
	if len(secret) == 0 || bytes.Count(secret, secret[:1]) == len(secret) {
		return fmt.Errorf("%x is no secret", secret)
	}
	if open, _ := filepath.Glob("/proc/self/fd/*"); slices.ContainsFunc(open, func(fd string) bool {
		to, _ := os.Readlink(fd)
		return strings.Contains(to, "pgas-secret")
	}) {
		return fmt.Errorf("the secret is still open after FromEnv")
	}
	forms := []string{string(secret), hex.EncodeToString(secret), base64.StdEncoding.EncodeToString(secret), base64.RawURLEncoding.EncodeToString(secret)}
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	seen := 0
	for _, p := range procs {
		for _, file := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile("/proc/" + p.Name() + "/" + file)
			if err != nil {
				continue
			}
			seen++
			for _, form := range forms {
				if strings.Contains(string(text), form) {
					return fmt.Errorf("the secret is in %s of process %s", file, p.Name())
				}
			}
		}
	}
	fmt.Printf("PE %d: no secret in %t places\n", job.PE, seen > 2)
	return nil
}

// fullLine reports whether a line of burst is whole.
func fullLine(line []byte) bool {
	var pe, i int
	var text string
	if n, _ := fmt.Sscanf(string(line), "<%d %d %s", &pe, &i, &text); n < 2 {
		return false
	}
	want := fmt.Sprintf("<%d %d %s>", pe, i, strings.Repeat(strconv.Itoa(pe%10), i%200))
	return bytes.Equal(line, []byte(want))
}
