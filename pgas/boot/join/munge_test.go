package join

// The door of task 0 with a real munge daemon, and processes of another user that try to get the ticket, or to give a
// wrong one.

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const nobody = 65534

// startMunge returns a way to a munge daemon that runs until the test ends.
func startMunge(t *testing.T) munge {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("another user's process takes root to start")
	}
	if _, err := exec.LookPath("munged"); err != nil {
		t.Skip("there is no munged: apt-get install munge")
	}
	dir, err := os.MkdirTemp("", "munge")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	key := make([]byte, 128)
	rand.Read(key)
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(file("key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("munged", "-F", "--force", "--key-file="+file("key"), "--socket="+file("socket"),
		"--pid-file="+file("pid"), "--log-file="+file("log"), "--seed-file="+file("seed"))
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	m := munge{socket: file("socket")}
	for ctx := bounded(t); m.try(ctx) != nil; time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("munged does not answer: %s", &log)
		}
	}
	return m
}

// encodeAs is munge.encode by another user, for the user of the job.
func (m munge) encodeAs(t *testing.T, uid uint32, text string) string {
	t.Helper()
	cmd := m.command(bounded(t), "munge", fmt.Sprint("--restrict-uid=", os.Geteuid()))
	cmd.Stdin = strings.NewReader(text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("munge as user %d: %v: %s", uid, err, out)
	}
	return strings.TrimSpace(string(out))
}

// ask sends text to a door and returns all that it answers.
func ask(t *testing.T, addr, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(conn, text)
	conn.(*net.TCPConn).CloseWrite()
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

// TestDoor: task 0 gives its ticket to tasks of its user and its step alone.
func TestDoor(t *testing.T) {
	m := startMunge(t)
	addr := freeAddr(t)
	door := &mungeDoor{munge: m, step: "7.0", size: 2, addrs: []string{addr}}
	mine := &ticket{ID: "x", Secret: newNonce(), Addrs: []string{"a:1"}}
	ctx, cancel := context.WithCancel(bounded(t))
	if _, err := door.share(ctx, mine); err != nil {
		t.Fatal(err)
	}
	own := func(text string) string {
		t.Helper()
		credential, err := m.encode(bounded(t), text)
		if err != nil {
			t.Fatal(err)
		}
		return credential
	}
	used := own("7.0 number")
	if ask(t, addr, doorGreeting+used+"\n") == "" {
		t.Error("a task of the step gets no answer")
	}
	for what, text := range map[string]string{
		"another user":         doorGreeting + m.encodeAs(t, nobody, "7.0 number") + "\n",
		"a used credential":    doorGreeting + used + "\n",
		"another step":         doorGreeting + own("7.1 number") + "\n",
		"a step and no number": doorGreeting + own("7.0") + "\n",
		"no credential":        doorGreeting + "MUNGE:AAAA:\n",
		"another protocol":     "GET / HTTP/1.0\n\n",
		"no line":              doorGreeting,
		"a line without end":   strings.Repeat("x", 2*maxDoorLine),
		"nothing":              "",
	} {
		if got := ask(t, addr, text); got != "" {
			t.Errorf("%s: the door answers %q", what, got)
		}
	}
	got, err := door.share(bounded(t), nil)
	if err != nil || !bytes.Equal(got.Secret, mine.Secret) {
		t.Errorf("a task of the step gets %+v, %v after that", got, err)
	}
	cancel()
	for end := bounded(t); isOpen(addr); time.Sleep(time.Millisecond) {
		if end.Err() != nil {
			t.Fatal("the door is open after the job has assembled")
		}
	}
}

// TestFalseDoor: a task believes no answer at the door's address but one that its own user has made for this question.
func TestFalseDoor(t *testing.T) {
	m := startMunge(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	door := &mungeDoor{munge: m, step: "7.0", size: 2, addrs: []string{ln.Addr().String()}}
	wrong := (&ticket{ID: "wrong", Secret: newNonce(), Addrs: []string{"a:1"}}).encode(maxDoorLine / 2)
	old, err := m.encode(bounded(t), "0123 "+wrong)
	if err != nil {
		t.Fatal(err)
	}
	for what, answer := range map[string]string{
		"another user's": m.encodeAs(t, nobody, "0123 "+wrong), "an old one": old, "no credential": "MUNGE:AAAA:",
		"nothing": "", "one without end": strings.Repeat("x", 2*maxDoorLine),
	} {
		go func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			if _, err := readLine(conn); err == nil {
				fmt.Fprintln(conn, answer)
			}
		}()
		if got, err := door.knock(bounded(t), ln.Addr().String()); err == nil {
			t.Errorf("%s: the task takes the ticket %+v", what, got)
		}
	}
}
