package transport

import "context"

// Strided describes a strided transfer: Count blocks of BlockBytes bytes each. From the start of one block to
// the start of the next are LocalStride bytes in this process, and RemoteStride bytes in the heap of the other
// PE. Neither stride is less than BlockBytes.
type Strided struct{ BlockBytes, Count, LocalStride, RemoteStride int }

// Total returns the number of bytes that move.
func (b Strided) Total() int { return b.BlockBytes * b.Count }

// Strider is implemented by channels that move many blocks in few messages. Completion and order are
// those of Put, Get and GetNB. Without it, each block is an operation of its own.
type Strider interface {
	// PutStrided copies the blocks of src to the blocks from offset dst of pe. src may be reused on return.
	PutStrided(pe int, dst uint64, src []byte, b Strided)
	// GetStrided fills the blocks of dst from the blocks from offset src of pe. It touches nothing between the
	// blocks of dst. It returns *PeerError, or the cause of ctx's end.
	GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b Strided) error
	// GetStridedNB fills the blocks of dst as GetStrided does, at some time before Quiet returns.
	GetStridedNB(pe int, dst []byte, src uint64, b Strided)
}
