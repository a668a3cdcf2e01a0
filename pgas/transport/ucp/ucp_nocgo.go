//go:build !cgo

package ucp

import (
	"context"
	"errors"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Settings are what a user can change where there is UCX.
type Settings struct{}

// Open fails: UCX is reached through C.
func Open(context.Context, *boot.Job, Settings) (transport.Transport, error) {
	return nil, errors.New("this job needs a network (it spans hosts, or has PGAS_AMO=nic) and this binary was built without cgo: rebuild with CGO_ENABLED=1 and libucx-dev installed")
}
