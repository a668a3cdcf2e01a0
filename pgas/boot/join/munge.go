package join

// How tasks of a step get their ticket from task 0 by munge. A credential of munge says which user of the cluster has
// made it; one that is restricted to a user is encrypted, and only that user can decode it.
//
//	task    "pgas-ticket 1" and a credential with the step and a number of 32 random bytes
//	task 0  a credential with the same number and the ticket
//
// Both credentials are restricted to the user of the job, and each side refuses one that another user has made. So a
// stranger gets nothing from task 0, and a task believes no stranger on its port. An old answer has another number.

import (
	"bufio"
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// munge is a way to the munge daemon of this host.
type munge struct {
	socket string // the socket of munge; "": munge's own
}

func (m munge) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if m.socket != "" {
		args = append(args, "--socket="+m.socket)
	}
	return exec.CommandContext(ctx, name, args...)
}

// try returns an error with a remedy if munge cannot be used on this host.
func (m munge) try(ctx context.Context) error {
	if _, err := m.encode(ctx, ""); err != nil {
		return fmt.Errorf("the tasks of srun --mpi=none know each other by munge, which cannot be used on %s (%w): use `srun --mpi=pmi2`, or set %s to a file that every node can read", hostName(), err, boot.EnvSecretFile)
	}
	return nil
}

func hostName() string {
	name, _ := os.Hostname()
	return name
}

// encode returns a credential with text that only this user can decode.
func (m munge) encode(ctx context.Context, text string) (string, error) {
	cmd := m.command(ctx, "munge", "--restrict-uid="+strconv.Itoa(os.Geteuid()))
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		return "", describeCommand("munge", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// decode returns the text of a credential that this user has made.
func (m munge) decode(ctx context.Context, credential string) (string, error) {
	cmd := m.command(ctx, "unmunge")
	cmd.Stdin = strings.NewReader(credential)
	out, err := cmd.Output()
	if err != nil {
		return "", describeCommand("unmunge", err)
	}
	head, text, ok := bytes.Cut(out, []byte("\n\n"))
	if !ok {
		return "", errors.New("unmunge prints no credential")
	}
	own := "(" + strconv.Itoa(os.Geteuid()) + ")"
	for line := range strings.Lines(string(head)) {
		if name, value, _ := strings.Cut(line, ":"); name == "UID" && strings.HasSuffix(strings.TrimSpace(value), own) {
			return string(text), nil
		}
	}
	return "", errors.New("another user has made the credential")
}

func describeCommand(name string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%s: %s", name, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}

// mungeDoor gives the ticket of task 0 to the others.
type mungeDoor struct {
	munge munge
	step  string
	size  int
	addrs []string // where task 0 may be
}

const doorGreeting = "pgas-ticket 1 "

// doorTime is how long one side of a door waits for the other's next line.
const doorTime = 10 * time.Second

// maxDoorLine is the most bytes of a line at the door.
const maxDoorLine = 1 << 16

// share returns the ticket of task 0. Task 0 answers in the background until every other task has asked, or ctx ends.
func (d *mungeDoor) share(ctx context.Context, mine *ticket) (*ticket, error) {
	if mine == nil {
		return d.fetch(ctx)
	}
	if d.size == 1 {
		return mine, nil
	}
	lns, _, err := listenOnFirst(d.addrs)
	if err != nil {
		return nil, err
	}
	for _, ln := range lns {
		go d.serve(context.WithoutCancel(ctx), ln, mine)
	}
	context.AfterFunc(ctx, func() { closeAll(lns) })
	return mine, nil
}

// serve answers the tasks that knock until ln is closed, which share does when the job has assembled.
func (d *mungeDoor) serve(ctx context.Context, ln net.Listener, t *ticket) {
	for {
		conn, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(acceptPause)
			continue
		}
		go func() {
			defer conn.Close()
			d.answer(ctx, conn, t)
		}()
	}
}

// answer gives t to a task of the step. A process that is none gets a closed connection.
func (d *mungeDoor) answer(ctx context.Context, conn net.Conn, t *ticket) error {
	conn.SetDeadline(time.Now().Add(doorTime))
	line, err := readLine(conn)
	if err != nil {
		return err
	}
	credential, ok := strings.CutPrefix(line, doorGreeting)
	if !ok {
		return errStranger
	}
	text, err := d.munge.decode(ctx, credential)
	if err != nil {
		return err
	}
	step, number, ok := strings.Cut(text, " ")
	if !ok || step != d.step {
		return errStranger
	}
	reply, err := d.munge.encode(ctx, number+" "+t.encode(maxDoorLine/2))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(conn, reply)
	return err
}

// readLine returns the next line, without its end.
func readLine(conn net.Conn) (string, error) {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxDoorLine)
	if !lines.Scan() {
		return "", errors.Join(lines.Err(), errStranger)
	}
	return lines.Text(), nil
}

// fetch asks at each address in turn until task 0 answers.
func (d *mungeDoor) fetch(ctx context.Context) (*ticket, error) {
	for {
		for _, addr := range d.addrs {
			t, err := d.knock(ctx, addr)
			if err == nil {
				return t, nil
			}
			if ctx.Err() != nil {
				return nil, fmt.Errorf("%w; no task 0 answers at %v", context.Cause(ctx), d.addrs)
			}
		}
		select {
		case <-time.After(dialStagger):
		case <-ctx.Done():
		}
	}
}

func (d *mungeDoor) knock(ctx context.Context, addr string) (*ticket, error) {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(doorTime))
	number := hex.EncodeToString(newNonce())
	credential, err := d.munge.encode(ctx, d.step+" "+number)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintln(conn, doorGreeting+credential); err != nil {
		return nil, err
	}
	line, err := readLine(conn)
	if err != nil {
		return nil, err
	}
	text, err := d.munge.decode(ctx, line)
	if err != nil {
		return nil, err
	}
	echoed, rest, _ := strings.Cut(text, " ")
	if subtle.ConstantTimeCompare([]byte(echoed), []byte(number)) != 1 {
		return nil, errStranger
	}
	return decodeTicket(rest)
}
