package join

// How the PEs of a host get the host's segment without an agent. The first PE makes the memfd and listens at a socket
// with an abstract name, which is in no file system and goes with the process. The name depends on the secret of the
// job, so that no other process can take it before. The other PEs connect and receive the descriptor. Each side asks
// the kernel for the user of the other, because names of sockets can be listed.

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

// handoverPause is how long a PE waits between attempts to reach the first PE of its host.
const handoverPause = 2 * time.Millisecond

// shareSegment returns the segment of the host of j.
func shareSegment(ctx context.Context, j *boot.Job, p *place, secret []byte) (*boot.Segment, error) {
	name := handoverName(secret, j.HostIndex)
	if j.PE != j.Host().First {
		f, err := receiveSegment(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("getting the memory of this host from PE %d: %w", j.Host().First, err)
		}
		defer f.Close()
		return boot.MapSegment(f)
	}
	f, err := boot.CreateSegment(j.NPEs, j.PE, j.Host().PEs, p.Cores, p.HeapMax)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := handOver(ctx, name, f, j.Host().PEs-1); err != nil {
		return nil, fmt.Errorf("handing the memory of this host to its PEs: %w", err)
	}
	return boot.MapSegment(f)
}

func handoverName(secret []byte, host int) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("segment of host " + strconv.Itoa(host)))
	return "@pgas-" + hex.EncodeToString(mac.Sum(nil)[:nonceBytes/2])
}

// handOver sends the descriptor of f to n processes of this user.
func handOver(ctx context.Context, name string, f *os.File, n int) error {
	if n == 0 {
		return nil
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return err
	}
	defer ln.Close()
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	for n > 0 {
		conn, err := ln.AcceptUnix()
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		}
		if sameUser(conn) == nil {
			if _, _, err := conn.WriteMsgUnix([]byte{1}, unix.UnixRights(int(f.Fd())), nil); err == nil {
				n--
			}
		}
		conn.Close()
	}
	return nil
}

// receiveSegment returns the file that a process of this user sends from the socket.
func receiveSegment(ctx context.Context, name string) (*os.File, error) {
	for {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: name, Net: "unix"})
		if err == nil {
			defer conn.Close()
			if err := sameUser(conn); err != nil {
				return nil, err
			}
			return receiveFile(ctx, conn)
		}
		select {
		case <-time.After(handoverPause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func receiveFile(ctx context.Context, conn *net.UnixConn) (*os.File, error) {
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetReadDeadline(deadline)
	}
	data, control := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(data, control)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("no descriptor has come (%v)", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("no descriptor has come (%v)", err)
	}
	unix.CloseOnExec(fds[0])
	return os.NewFile(uintptr(fds[0]), "pgas-segment"), nil
}

// sameUser returns an error unless the process at the other end of conn is this user's.
func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) { peer, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	if credErr != nil {
		return credErr
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("process %d at the other end belongs to user %d, not to %d", peer.Pid, peer.Uid, os.Geteuid())
	}
	return nil
}
