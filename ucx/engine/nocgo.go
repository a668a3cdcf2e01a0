//go:build !cgo

package engine

// Without cgo there is no UCX: every way in says so.

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"time"
)

// Available says whether this binary has an engine: whether it was built with cgo.
const Available = false

// ErrNoCgo is what Open answers in a binary built without cgo.
var ErrNoCgo = errors.New("this binary was built without cgo, so it has no UCX: rebuild with CGO_ENABLED=1 and libucx-dev installed")

// ErrClosed is what an engine that has been closed answers.
var ErrClosed = errors.New("the engine is closed")

// Config is what an engine works on.
type Config struct {
	PE, NPEs       int
	Key            [KeyBytes]byte
	Heap           []byte
	Waiting        *atomic.Uint64
	Doorbell       *atomic.Uint32
	Failed         *atomic.Uint64
	Accused        *atomic.Uint64
	Bell           *atomic.Uint32
	NoteQueue      uint64
	Oversubscribed bool
	Spin           time.Duration
	PeerTimeout    time.Duration
	RMA            RMA

	NICAtomics bool
	Devices    string
	Sources    []netip.Prefix
}

// KeyBytes is the size of a job's key.
const KeyBytes = 16

// Engine cannot exist in this binary.
type Engine struct{}

// Channel cannot exist in this binary.
type Channel struct{}

// Open fails with ErrNoCgo.
func Open(Config) (*Engine, error) { return nil, ErrNoCgo }

// Address is never called: there is no Engine.
func (*Engine) Address() []byte { return nil }

// OpenRMA is never called: there is no Engine.
func (*Engine) OpenRMA() bool { return false }

// Rejected is never called: there is no Engine.
func (*Engine) Rejected() uint64 { return 0 }

// Refused is never called: there is no Engine.
func (*Engine) Refused() uint64 { return 0 }

// Lost is never called: there is no Engine.
func (*Engine) Lost() error { return nil }

// Watch is never called: there is no Engine.
func (*Engine) Watch(int, []byte, bool) {}

// Served is never called: there is no Engine.
func (*Engine) Served() uint64 { return 0 }

// WaitWord is never called: there is no Engine.
func (*Engine) WaitWord(uint64, int, int, uint64, bool, time.Duration) bool { return false }

// Refill is never called: there is no Engine.
func (*Engine) Refill() {}

// WaitDoorbell is never called: there is no Engine.
func (*Engine) WaitDoorbell(uint32, time.Duration) {}

// Channel is never called: there is no Engine.
func (*Engine) Channel(bool, func(int) []byte) (*Channel, error) { return nil, ErrNoCgo }

// Close is never called: there is no Engine.
func (*Engine) Close() error { return nil }

// Put is never called: there is no Channel.
func (*Channel) Put(int, uint64, []byte) {}

// PutSignal is never called: there is no Channel.
func (*Channel) PutSignal(int, uint64, []byte, uint64, uint8, uint64) {}

// Post is never called: there is no Channel.
func (*Channel) Post(int, uint8, uint64, int, uint64) {}

// Fetch is never called: there is no Channel.
func (*Channel) Fetch(context.Context, int, uint8, uint64, int, uint64, uint64) (uint64, error) {
	return 0, ErrNoCgo
}

// FetchNB is never called: there is no Channel.
func (*Channel) FetchNB(int, uint8, uint64, int, uint64, uint64, []byte) {}

// Get is never called: there is no Channel.
func (*Channel) Get(context.Context, int, []byte, uint64) error { return ErrNoCgo }

// Fence is never called: there is no Channel.
func (*Channel) Fence(int) {}

// GetNB is never called: there is no Channel.
func (*Channel) GetNB(int, []byte, uint64) {}

// PutZcopy is never called: there is no Channel.
func (*Channel) PutZcopy(int, uint64, []byte) uint64 { return 0 }

// Released is never called: there is no Channel.
func (*Channel) Released(int, uint64) bool { return true }

// AwaitReleased is never called: there is no Channel.
func (*Channel) AwaitReleased(context.Context, int, uint64) error { return ErrNoCgo }

// Batch is never called: there is no Channel.
func (*Channel) Batch(bool) {}

// PutStrided is never called: there is no Channel.
func (*Channel) PutStrided(int, uint64, []byte, Strided) {}

// GetStrided is never called: there is no Channel.
func (*Channel) GetStrided(context.Context, int, []byte, uint64, Strided) error { return ErrNoCgo }

// GetStridedNB is never called: there is no Channel.
func (*Channel) GetStridedNB(int, []byte, uint64, Strided) {}

// PutNotify is never called: there is no Channel.
func (*Channel) PutNotify(int, uint64, []byte, uint32) bool { return true }

// PutNotifyZcopy is never called: there is no Channel.
func (*Channel) PutNotifyZcopy(int, uint64, []byte, uint32) (uint64, bool) { return 0, true }

// GetNotify is never called: there is no Channel.
func (*Channel) GetNotify(context.Context, int, []byte, uint64, uint32) (bool, error) {
	return true, ErrNoCgo
}

// GetNotifyNB is never called: there is no Channel.
func (*Channel) GetNotifyNB(int, []byte, uint64, uint32) bool { return true }

// PostNotify is never called: there is no Channel.
func (*Channel) PostNotify(int, uint8, uint64, int, uint64, uint32) bool { return true }

// FetchNotify is never called: there is no Channel.
func (*Channel) FetchNotify(context.Context, int, uint8, uint64, int, uint64, uint64, uint32) (uint64, bool, error) {
	return 0, true, ErrNoCgo
}

// Quiet is never called: there is no Channel.
func (*Channel) Quiet(context.Context, int) error { return ErrNoCgo }

// Close is never called: there is no Channel.
func (*Channel) Close() error { return nil }
