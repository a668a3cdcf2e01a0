package transport

import "context"

// ZeroCopyPutter is implemented by channels that can put without a copy: a put may return before it has read its
// source. Each such put has a handle, numbered from 1 for each PE, by which the caller learns when the source may be
// reused.
type ZeroCopyPutter interface {
	// PutZcopy puts as Put does, but src must not change until the returned handle is released. Handle 0 always is.
	PutZcopy(pe int, dst uint64, src []byte) (handle uint64)
	// PutNotifyZcopy puts as PutNotify does, but src must not change until the returned handle is released.
	PutNotifyZcopy(pe int, dst uint64, src []byte, s Stamp) (handle uint64, ok bool)
	// PutSignalZcopy puts as PutSignal does, but src must not change until the returned handle is released.
	PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op Op, value uint64) (handle uint64)
	// PutStridedZcopy puts as PutStrided of a Strider does, but src must not change until the returned handle is
	// released.
	PutStridedZcopy(pe int, dst uint64, src []byte, b Strided) (handle uint64)
	// Released reports, without waiting, whether a handle of pe is released: its source may be reused.
	Released(pe int, handle uint64) bool
	// AwaitReleased blocks until a handle of pe is released, or all handles of every PE if pe < 0. It returns the
	// cause of ctx's end.
	AwaitReleased(ctx context.Context, pe int, handle uint64) error
}
