package transport

import "context"

// Blocks describes a strided transfer: Count blocks of Bytes bytes each. From the start of one block to
// the start of the next are Here bytes in this process and There bytes in the heap of the other PE;
// neither is less than Bytes.
type Blocks struct{ Bytes, Count, Here, There int }

// Total is the number of bytes that move.
func (b Blocks) Total() int { return b.Bytes * b.Count }

// Strider is implemented by channels that move many blocks in few messages. Completion and order are
// those of Put, Get and GetNB. Without it, each block is an operation of its own.
type Strider interface {
	// PutBlocks copies the blocks of src to those from dst of pe. src may be reused on return.
	PutBlocks(pe int, dst uint64, src []byte, b Blocks)
	// GetBlocks fills the blocks of dst from those from src of pe. It touches nothing between them.
	GetBlocks(ctx context.Context, pe int, dst []byte, src uint64, b Blocks) error
	// GetBlocksNB is GetBlocks at some time before Quiet returns.
	GetBlocksNB(pe int, dst []byte, src uint64, b Blocks)
}
