package dsm

// Notices in the hands of programs.

import (
	"encoding/binary"
	"fmt"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
)

// A Notice is what a Release hands to the PEs that Acquire it: which blocks have new versions, and where. It may travel
// in any way: as the payload of a notified put, in a message, behind a signal. The zero Notice tells of nothing.
type Notice struct{ s protocol.Notices }

// Bytes returns n as bytes, for NoticeOf on another PE of the same region.
func (n Notice) Bytes() []byte {
	words := n.s.Encode(nil)
	out := make([]byte, 0, 8*len(words))
	for _, w := range words {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

// NoticeOf returns the Notice whose Bytes are b, which may have other bytes behind it. It returns an error if b was not
// made by Bytes on a PE of r's job.
func (r *Region) NoticeOf(b []byte) (Notice, error) {
	if len(b) < 8*protocol.HeadWords {
		return Notice{}, fmt.Errorf("dsm: %d bytes are no notice: it has at least %d", len(b), 8*protocol.HeadWords)
	}
	in := make([]uint64, len(b)/8)
	for i := range in {
		in[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	s, err := protocol.Decode(in, r.fences.Blocks, r.n)
	s.Limit(r.o.Notices)
	return Notice{s}, err
}
