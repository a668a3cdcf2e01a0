//go:build cgo

package ucp

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/transport"
)

// Outside opens a way to the heaps of pes for one thread that is not Go's. It fails as Channel does, and if the address of
// a PE cannot be had.
func (t *Transport) Outside(pes []int) (way uintptr, close func() error, err error) {
	o, err := t.engine.Outside(pes, t.address)
	if err != nil {
		return 0, nil, fmt.Errorf("opening a channel of the UCX transport for a thread that is not Go's: %w", err)
	}
	return o.Address(), o.Close, nil
}

var _ transport.Outsider = (*Transport)(nil)
