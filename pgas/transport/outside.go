package transport

// Outsider is implemented by transports that can be used by a thread which is not Go's, such as the pager of coherent
// memory: a thread that must not wait for Go, because Go may wait for it.
type Outsider interface {
	// Outside opens a way to the heaps of the given PEs for one such thread. way is the address of a struct outside
	// (ucx/engine/outside.h), valid until the transport is closed. close ends a call under way; later calls fail.
	// Outside fails if the way cannot be opened, for example because the address of a PE cannot be had.
	Outside(pes []int) (way uintptr, close func() error, err error)
}
