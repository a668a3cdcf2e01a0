package spawn

// A link: the running command of an agent, its standard streams, and what it takes until the agent greets.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// Link is the command of an agent: one of this machine, or one that a relay runs on another host (tree.go).
type Link struct {
	In     io.WriteCloser
	Out    io.Reader
	Errs   io.Reader
	Signal func(unix.Signal) // sends to the command and the local processes that it has started
	Wait   func() error      // waits for its end; to be called when out and errs have ended
}

// StartCommand runs the command of an agent. It has a process group of its own, so that the terminal's signals reach
// the launcher alone.
func StartCommand(c Line) (*Link, error) {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Env = append(boot.StripEnv(os.Environ()), boot.EnvAgent+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	l := &Link{Wait: cmd.Wait}
	var err error
	if l.In, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	l.Out, l.Errs = out, errs
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w: check -launch", c.Argv[0], err)
	}
	l.Signal = func(sig unix.Signal) {
		unix.Kill(-cmd.Process.Pid, sig)
		// an agent that the signal does not reach, in a session of its own, may hold the streams open
		if sig == unix.SIGKILL {
			time.AfterFunc(DrainTime, func() {
				out.Close()
				errs.Close()
			})
		}
	}
	if c.Input != "" {
		go io.WriteString(l.In, c.Input) // a command that is no shell need not read it
	}
	return l, nil
}

// AwaitGreeting reads up to and including an agent's greeting. On the way it sends the files that the host's shell
// requests (stage.go). It returns the greeting, of whichever version.
func AwaitGreeting(r *bufio.Reader, in io.Writer, files Files, progress func(bytes int)) (string, error) {
	for {
		request, err := skipToAny(r, frame.GreetingMark, stageRequest)
		if err != nil {
			return "", err
		}
		if request == frame.GreetingMark {
			return readGreeting(r)
		}
		hash, err := r.ReadString('\n')
		if err != nil {
			return "", err
		}
		if err := files.send(in, strings.TrimSpace(hash), progress); err != nil {
			return "", err
		}
	}
}

// DrainTime is how long the launcher may take to read what is left after it has ended the agent's input.
const DrainTime = 2 * time.Second

var ErrNoGreeting = errors.New("too much output before an agent's greeting")

// skipToAny reads up to and including the first of marks, and returns it.
func skipToAny(r *bufio.Reader, marks ...string) (string, error) {
	matched := make([]int, len(marks))
	for range maxBanner {
		b, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		for i, mark := range marks {
			switch {
			case b == mark[matched[i]]:
				matched[i]++
			case b == mark[0]:
				matched[i] = 1
			default:
				matched[i] = 0
			}
			if matched[i] == len(mark) {
				return mark, nil
			}
		}
	}
	return "", ErrNoGreeting
}

// readGreeting reads a greeting behind its mark, and returns the whole.
func readGreeting(r *bufio.Reader) (string, error) {
	text := []byte(frame.GreetingMark)
	for range longestGreeting {
		b, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		if text = append(text, b); b == '\n' {
			return string(text), nil
		}
	}
	return "", ErrNoGreeting
}

// maxBanner bounds what a remote shell may print before the greeting.
const maxBanner = 64 << 10

// longestGreeting bounds what is read behind GreetingMark.
const longestGreeting = 128
