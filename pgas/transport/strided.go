package transport

import "context"

// Strided describes a strided transfer: Count blocks of Bytes bytes each. From the start of one block to
// the start of the next are Here bytes in this process and There bytes in the heap of the other PE;
// neither is less than Bytes.
type Strided struct{ BlockBytes, Count, LocalStride, RemoteStride int }

// Total is the number of bytes that move.
func (b Strided) Total() int { return b.BlockBytes * b.Count }

// Strider is implemented by channels that move many blocks in few messages. Completion and order are
// those of Put, Get and GetNB. Without it, each block is an operation of its own.
type Strider interface {
	// PutStrided copies the blocks of src to those from dst of pe. src may be reused on return.
	PutStrided(pe int, dst uint64, src []byte, b Strided)
	// GetStrided fills the blocks of dst from those from src of pe. It touches nothing between them.
	GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b Strided) error
	// GetStridedNB is GetStrided at some time before Quiet returns.
	GetStridedNB(pe int, dst []byte, src uint64, b Strided)
}
