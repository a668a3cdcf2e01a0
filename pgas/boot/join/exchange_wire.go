package join

// The exchange's protocol. A connection starts with a mutual challenge. The server sends 32 random bytes; the client
// answers with 32 of its own, its PE and a proof that it holds the secret of the job; only then does the server prove
// the same. A process without the secret receives 32 random bytes and a closed connection, and so does a PE that the
// job does not have. A PE may pass the handshake on several connections; the server keeps the one on which it sends the
// first frame. Client and server derive a key for each direction. Every frame carries a MAC over its number and
// content, which the receiver checks before it reads the content.
//
//	server   nonceS[32]
//	client   nonceC[32] pe[4] HMAC(secret, "client" id nonceS nonceC pe)
//	server   HMAC(secret, "server" id nonceS nonceC pe)
//	either   length[4] body[length] HMAC(key of this direction, number[8] body)
//	body     kind[1] call[8] keyLength[2] key value
//
// Numbers are big-endian. The content is not secret (addresses of workers), so nothing is encrypted.

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	nonceBytes = 32
	proofBytes = nonceBytes + 4 + sha256.Size
	// maxBody bounds a frame: a worker's address has some hundred bytes.
	maxBody = 1 << 20
	maxKey  = 1 << 10
	// headBytes are those of a body before its key.
	headBytes = 1 + 8 + 2
	// handshakeTime is how long a new connection may take to prove itself.
	handshakeTime = 5 * time.Second
	// sendTime is how long the other side may leave a frame unread.
	sendTime = 30 * time.Second
)

var errStranger = errors.New("the other side does not hold the secret of this job")

type kind uint8

const (
	msgPut kind = iota + 1
	msgFence
	msgGet
	msgOK    // answer to a call; value is the result
	msgError // answer to a call; value is the error's text

	// Of a job without agents (member.go). A member's call; value is a newcomer, the answer a place.
	msgJoin
	// What a member says to the server.
	msgLeave  // it leaves the job
	msgEnding // it ends because of an error; value: its EndReason and a PE
	msgAccuse // a PE of its host accuses another; value: an Accusation
	// What either says: to the server, that a PE has called GlobalExit; to members, that they are to end. value: the
	// status.
	msgExit
	// What the server says to members.
	msgFailed       // value: a PE and how it has failed
	msgServerLeaves // rank 0 leaves the job, and may end
	msgTest         // nothing: the server tests whether the member's host still acknowledges

	msgAsk  // a member asks the server whether it answers
	msgPath // asks a server with a parent for the addresses of its connection to that

	lastKind = msgPath
)

// told reports whether a frame of the kind is no answer, but something that the server tells by itself.
func (k kind) told() bool {
	return k == msgFailed || k == msgServerLeaves || k == msgExit || k == msgTest
}

// message is one frame's content.
type message struct {
	kind  kind
	call  uint64 // an answer has the number of its call; numbers are never reused, so an answer may be late
	key   string
	value []byte
}

func (m message) encode() ([]byte, error) {
	if len(m.key) > maxKey {
		return nil, fmt.Errorf("the exchange's key %.40q… has %d bytes, more than %d", m.key, len(m.key), maxKey)
	}
	b := make([]byte, 0, headBytes+len(m.key)+len(m.value))
	b = append(b, byte(m.kind))
	b = binary.BigEndian.AppendUint64(b, m.call)
	b = binary.BigEndian.AppendUint16(b, uint16(len(m.key)))
	b = append(b, m.key...)
	b = append(b, m.value...)
	if len(b) > maxBody {
		return nil, fmt.Errorf("the exchange's value of %q has %d bytes, more than %d", m.key, len(m.value), maxBody-headBytes-len(m.key))
	}
	return b, nil
}

func decodeMessage(b []byte) (message, error) {
	if len(b) < headBytes {
		return message{}, fmt.Errorf("a frame of %d bytes is too short", len(b))
	}
	m := message{kind: kind(b[0]), call: binary.BigEndian.Uint64(b[1:])}
	n := int(binary.BigEndian.Uint16(b[9:]))
	switch {
	case m.kind < msgPut || m.kind > lastKind:
		return message{}, fmt.Errorf("a frame is of unknown kind %d", m.kind)
	case n > maxKey || n > len(b)-headBytes:
		return message{}, fmt.Errorf("a frame of %d bytes claims a key of %d", len(b), n)
	}
	m.key, m.value = string(b[headBytes:headBytes+n]), b[headBytes+n:]
	return m, nil
}

// link is one authenticated connection. Any number of goroutines may send, one may receive.
type link struct {
	conn net.Conn
	in   *bufio.Reader

	recvKey []byte
	recvSeq uint64

	mu      sync.Mutex // guards the fields below
	sendKey []byte
	sendSeq uint64
}

func (l *link) send(m message) error {
	body, err := m.encode()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)+sha256.Size), uint32(len(body)))
	frame = append(frame, body...)
	frame = append(frame, seal(l.sendKey, l.sendSeq, body)...)
	l.sendSeq++
	l.conn.SetWriteDeadline(time.Now().Add(sendTime))
	if _, err = l.conn.Write(frame); err != nil {
		l.conn.Close() // a part of the frame may have gone: the other side could not tell where the next one begins
		return l.lost(err)
	}
	return nil
}

// lost returns the error of a call that the end of the connection has ended.
func (l *link) lost(why error) error {
	if errors.Is(why, unix.ETIMEDOUT) {
		return fmt.Errorf("%v does not acknowledge what is sent: the network between is down, or loses large packets: "+
			"give every interface and switch on the way the same MTU (ip link set dev eth0 mtu 1500)", l.conn.RemoteAddr())
	}
	return fmt.Errorf("the connection to %v is lost: %w", l.conn.RemoteAddr(), why)
}

// testTime is how long the host of a connection under test may acknowledge nothing.
const testTime = 2 * time.Second

// test has the kernel close the connection if the other host does not acknowledge what is sent to it.
func (l *link) test() {
	l.limitSilence(testTime)
	if l.send(message{kind: msgTest}) != nil {
		l.conn.Close()
	}
}

// limitSilence has the kernel close the connection if the other host acknowledges nothing of what is sent to it for so
// long. Without that a network that loses large packets keeps a start waiting for as long as the kernel sends them
// again.
func (l *link) limitSilence(most time.Duration) {
	tcp, ok := l.conn.(*net.TCPConn)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) {
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(most.Milliseconds()))
		})
	}
}

func (l *link) receive() (message, error) {
	var head [4]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return message{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxBody {
		return message{}, fmt.Errorf("a frame claims %d bytes, more than %d", n, maxBody)
	}
	frame := make([]byte, int(n)+sha256.Size)
	if _, err := io.ReadFull(l.in, frame); err != nil {
		return message{}, err
	}
	body, mac := frame[:n], frame[n:]
	if !hmac.Equal(mac, seal(l.recvKey, l.recvSeq, body)) {
		return message{}, errors.New("a frame was forged or damaged on its way")
	}
	l.recvSeq++
	return decodeMessage(body)
}

func seal(key []byte, seq uint64, body []byte) []byte {
	return prove(key, binary.BigEndian.AppendUint64(nil, seq), body)
}

func prove(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// transcript is the part of a handshake that both sides have seen.
type transcript struct {
	id             string
	nonceS, nonceC []byte
	pe             []byte
}

func (t transcript) prove(secret []byte, role string) []byte {
	return prove(secret, []byte(role), []byte(t.id), t.nonceS, t.nonceC, t.pe)
}

func newNonce() []byte {
	b := make([]byte, nonceBytes)
	rand.Read(b)
	return b
}

// accept challenges the client at conn, and returns the authenticated connection and the client's PE, one of npes. It
// reads a fixed number of bytes and takes a bounded time.
func accept(conn net.Conn, id string, npes int, secret []byte) (*link, int, error) {
	conn.SetDeadline(time.Now().Add(handshakeTime))
	t := transcript{id: id, nonceS: newNonce()}
	if _, err := conn.Write(t.nonceS); err != nil {
		return nil, 0, err
	}
	proof := make([]byte, proofBytes)
	if _, err := io.ReadFull(conn, proof); err != nil {
		return nil, 0, err
	}
	t.nonceC, t.pe = proof[:nonceBytes], proof[nonceBytes:nonceBytes+4]
	if !hmac.Equal(proof[nonceBytes+4:], t.prove(secret, "client")) {
		return nil, 0, errStranger
	}
	pe := binary.BigEndian.Uint32(t.pe)
	if uint64(pe) >= uint64(npes) {
		return nil, 0, fmt.Errorf("it calls itself PE %d in a job of %d", pe, npes)
	}
	if _, err := conn.Write(t.prove(secret, "server")); err != nil {
		return nil, 0, err
	}
	l := newLink(conn, t.prove(secret, "from server"), t.prove(secret, "from client"))
	return l, int(pe), nil
}

// proveIdentity proves to the server at conn that this process is PE pe of job id, and checks the server's proof. It
// returns the authenticated connection.
func proveIdentity(conn net.Conn, id string, pe int, secret []byte) (*link, error) {
	conn.SetDeadline(time.Now().Add(handshakeTime))
	t := transcript{id: id, nonceS: make([]byte, nonceBytes), nonceC: newNonce(), pe: binary.BigEndian.AppendUint32(nil, uint32(pe))}
	if _, err := io.ReadFull(conn, t.nonceS); err != nil {
		return nil, err
	}
	proof := append(append(append([]byte{}, t.nonceC...), t.pe...), t.prove(secret, "client")...)
	if _, err := conn.Write(proof); err != nil {
		return nil, err
	}
	answer := make([]byte, sha256.Size)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, err
	}
	if !hmac.Equal(answer, t.prove(secret, "server")) {
		return nil, errStranger
	}
	return newLink(conn, t.prove(secret, "from client"), t.prove(secret, "from server")), nil
}

func newLink(conn net.Conn, sendKey, recvKey []byte) *link {
	conn.SetDeadline(time.Time{})
	return &link{conn: conn, in: bufio.NewReader(conn), sendKey: sendKey, recvKey: recvKey}
}
