package boot

// Profiles of a PE's process, on their way to pgasrun -pprof: the launcher hands down a pipe for them alone. What goes
// through it is cut into pieces, since a PE writes several profiles at once:
//
//	piece  kind[1] length[4] data[length]
//
// A piece without data says that the profile is complete.

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// ProfileKind is one of the profiles of a PE.
type ProfileKind byte

// The profiles.
const (
	CPUProfile     ProfileKind = 'c'
	HeapProfile    ProfileKind = 'h'
	MutexProfile   ProfileKind = 'm'
	ExecutionTrace ProfileKind = 't'
)

// ProfileKinds are all of them.
var ProfileKinds = []ProfileKind{CPUProfile, HeapProfile, MutexProfile, ExecutionTrace}

var profileNames = map[ProfileKind]string{CPUProfile: "cpu", HeapProfile: "heap", MutexProfile: "mutex", ExecutionTrace: "trace"}

func (k ProfileKind) String() string { return profileNames[k] }

// FileName returns the name of the file for this profile of a PE.
func (k ProfileKind) FileName(pe int) string {
	if k == ExecutionTrace {
		return fmt.Sprintf("pe%d.trace", pe)
	}
	return fmt.Sprintf("pe%d.%v.pprof", pe, k)
}

// longestPiece bounds what a reader keeps of one PE.
const longestPiece = 64 << 10

// ProfilePipe is the PE's end of the pipe.
type ProfilePipe struct {
	mu sync.Mutex
	w  io.Writer
}

// NewProfilePipe returns the PE's end of a pipe that w is.
func NewProfilePipe(w io.Writer) *ProfilePipe { return &ProfilePipe{w: w} }

// Writer returns a writer of one profile. Its Close says that the profile is complete.
func (p *ProfilePipe) Writer(k ProfileKind) io.WriteCloser { return profileWriter{p, k} }

type profileWriter struct {
	pipe *ProfilePipe
	kind ProfileKind
}

func (w profileWriter) Write(data []byte) (n int, err error) {
	for n < len(data) && err == nil {
		piece := data[n:min(len(data), n+longestPiece)]
		if err = w.send(piece); err == nil {
			n += len(piece)
		}
	}
	return n, err
}

func (w profileWriter) Close() error { return w.send(nil) }

func (w profileWriter) send(piece []byte) error {
	b := binary.BigEndian.AppendUint32([]byte{byte(w.kind)}, uint32(len(piece)))
	w.pipe.mu.Lock()
	defer w.pipe.mu.Unlock()
	_, err := w.pipe.w.Write(append(b, piece...))
	return err
}

// ReadProfiles calls piece for each piece that comes through a pipe; without data if the profile is complete. It
// returns nil at the end of the pipe, and an error if no PE of this version can have written what has come.
func ReadProfiles(from io.Reader, piece func(k ProfileKind, data []byte)) error {
	var head [5]byte
	data := make([]byte, longestPiece)
	for {
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return nil // a PE that is killed may leave a part
		}
		k, n := ProfileKind(head[0]), binary.BigEndian.Uint32(head[1:])
		if k.String() == "" || n > longestPiece {
			return fmt.Errorf("a piece of %d bytes of a profile %q", n, k)
		}
		if _, err := io.ReadFull(from, data[:n]); err != nil {
			return nil
		}
		piece(k, data[:n])
	}
}
