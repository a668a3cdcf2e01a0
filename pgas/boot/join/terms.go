package join

// How the process of a PE outlives its term: the connection between the process and the agent of its host. The process
// says that it stays. When a term ends early, the agent tells it so. The process leaves the term and says that it is at
// the gate: nothing of it touches the memory of the term any more. Then it waits for the next term, of which it gets
// what the environment and the files of a new process would have been.
//
//	process   stay                  it is to outlive its terms
//	agent     end                   this term ends
//	process   gate                  it has left its term
//	agent     next variables files  it is a PE of the next term
//
// The end of the connection is the end of the job for the process.

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// TermMessage is the first byte of a message between an agent and a process.
type TermMessage byte

// The messages.
const (
	TermStays TermMessage = 's'
	TermGate  TermMessage = 'g'
	termEnd   TermMessage = 'e'
	termNext  TermMessage = 'n'
)

// termFiles are the most files that a process gets for a term, and termBytes is the most that the variables take: a
// list of hosts that is longer is handed down in a file.
const (
	termFiles = 8
	termBytes = 128 << 10
)

// TermLink is one end of the connection between the agent of a host and the process of a PE.
type TermLink struct{ conn *net.UnixConn }

// NewTermLink returns the agent's end of a connection, and the descriptor that the process inherits, which the caller
// closes. It returns the kernel's error.
func NewTermLink() (*TermLink, int, error) {
	fd, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("making a connection to a PE (ulimit -n bounds the PEs of a host): %w", err)
	}
	l, err := termLink(os.NewFile(uintptr(fd[0]), boot.EnvTermsFD))
	if err != nil {
		unix.Close(fd[1])
	}
	return l, fd[1], err
}

// termLink takes over f, which is one end of a connection.
func termLink(f *os.File) (*TermLink, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	if conn, ok := c.(*net.UnixConn); ok {
		return &TermLink{conn}, nil
	}
	c.Close()
	return nil, errors.New("no socket of this host")
}

// Close ends the connection.
func (l *TermLink) Close() { l.conn.Close() }

// Hear returns the next message of the process. It returns an error when there is none any more.
func (l *TermLink) Hear() (TermMessage, error) {
	var b [2]byte
	n, err := l.conn.Read(b[:])
	if err == nil && n != 1 {
		err = io.EOF
	}
	return TermMessage(b[0]), err
}

// End tells the process that this term ends. It does not wait for a process that reads nothing.
func (l *TermLink) End() error { return l.say([]byte{byte(termEnd)}, nil) }

// Begin makes the process a PE of the next term. v has its variables, in which a descriptor is 1 plus an index of
// files. It returns an error if the process is gone.
func (l *TermLink) Begin(v boot.PEVars, files []int) error {
	return l.say([]byte(string(rune(termNext))+strings.Join(v.Environ(), "\x00")), unix.UnixRights(files...))
}

func (l *TermLink) say(b, rights []byte) error {
	raw, err := l.conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		failed = unix.Sendmsg(int(fd), b, rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		return true
	})
	return errors.Join(err, failed)
}

// terms is the end of a process.
type terms struct {
	link  *TermLink
	join  func(Environment) (*boot.Job, error) // makes the job of a term
	next  chan termBegins                      // closed at the end of the connection
	mu    sync.Mutex
	ended chan struct{} // closed when the agent ends the term

	// retired has the memory of the last terms, whose addresses are not used again at once: a goroutine of the program
	// that has kept a reference crashes there.
	retired []retired
}

// termBegins is what an agent says of a term.
type termBegins struct {
	vars  []string
	files []int
	lacks bool // this process had no room for all files
}

// retired is the memory of a term that this process has left.
type retired struct {
	segment *boot.Segment
	record  *record.PE
}

// inheritTerms returns the connection that the agent has left open for this process. join makes the job of a term from
// its variables.
func inheritTerms(fd int, join func(Environment) (*boot.Job, error)) (*terms, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return nil, fmt.Errorf("%s=%d is not the socket that pgasrun handed down: %s", boot.EnvTermsFD, fd, boot.StartedByPE)
	}
	unix.CloseOnExec(fd)
	l, err := termLink(os.NewFile(uintptr(fd), boot.EnvTermsFD))
	if err != nil {
		return nil, fmt.Errorf("%s=%d: %w", boot.EnvTermsFD, fd, err)
	}
	return &terms{link: l, join: join, next: make(chan termBegins), ended: make(chan struct{})}, nil
}

// Stay tells the agent that this process is to outlive its terms.
func (t *terms) Stay() error {
	go t.listen()
	return t.link.say([]byte{byte(TermStays)}, nil)
}

// listen hears the agent until the end of the connection.
func (t *terms) listen() {
	defer close(t.next)
	defer t.end()
	b, oob := make([]byte, termBytes), make([]byte, unix.CmsgSpace(4*termFiles))
	for {
		n, m, flags, _, err := t.link.conn.ReadMsgUnix(b, oob)
		if err != nil || n == 0 {
			return
		}
		switch TermMessage(b[0]) {
		case termEnd:
			t.end()
		case termNext:
			t.mu.Lock()
			t.ended = make(chan struct{}) // not before: the agent may have ended a term that this process had left
			t.mu.Unlock()
			t.next <- termBegins{strings.Split(string(b[1:n]), "\x00"), descriptors(oob[:m]), flags&unix.MSG_CTRUNC != 0}
		}
	}
}

// end notes that the term ends.
func (t *terms) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.ended:
	default:
		close(t.ended)
	}
}

// descriptors returns what has come with a message.
func descriptors(oob []byte) (files []int) {
	messages, _ := unix.ParseSocketControlMessage(oob)
	for i := range messages {
		some, _ := unix.ParseUnixRights(&messages[i])
		files = append(files, some...)
	}
	for _, fd := range files {
		unix.CloseOnExec(fd)
	}
	return files
}

// Ended is closed when the agent ends the term.
func (t *terms) Ended() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// Next leaves the term of j, whose World has been abandoned, and returns the job of this process in the next term, or
// nil if no term follows. It returns an error if this process cannot take part.
func (t *terms) Next(j *boot.Job) (*boot.Job, error) {
	if err := t.retire(j); err != nil {
		return nil, err
	}
	if err := t.link.say([]byte{byte(TermGate)}, nil); err != nil {
		return nil, nil
	}
	begins, ok := <-t.next
	if !ok {
		return nil, nil
	}
	if begins.lacks {
		return nil, fmt.Errorf("it has no room for the files of the term%s", boot.FilesUsedUp())
	}
	env := NewEnvironment(begins.vars)
	used := map[int]bool{}
	for _, name := range []string{boot.EnvSegmentFD, boot.EnvSecretFD, boot.EnvRecordFD, boot.EnvImagesFD} {
		if i, err := strconv.Atoi(env[name]); err == nil && i > 0 && i <= len(begins.files) {
			env[name], used[i] = strconv.Itoa(begins.files[i-1]), true
		}
	}
	for i, fd := range begins.files {
		if !used[i+1] {
			unix.Close(fd)
		}
	}
	next, err := t.join(env)
	if err == nil {
		next.Terms = t
	}
	return next, err
}

// retire gives the memory of j's heaps back, and makes their addresses inaccessible. Those of the term before the last
// may be used again.
func (t *terms) retire(j *boot.Job) error {
	if j.Images != nil {
		j.Images.Close()
	}
	if err := j.Segment.Retire(); err != nil {
		return err
	}
	t.retired = append(t.retired, retired{j.Segment, j.Record})
	const kept = 2
	if len(t.retired) <= kept {
		return nil
	}
	oldest := t.retired[0]
	t.retired = append(t.retired[:0], t.retired[1:]...)
	if oldest.record != nil {
		oldest.record.Close()
	}
	return oldest.segment.Close()
}
