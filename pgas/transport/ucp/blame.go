//go:build cgo

package ucp

// Whom to name when a peer is lost. A death is the end of others too, those who are told of it and leave,
// and to a third PE their connections may end before the launcher's news of the first death is here. So
// whoever loses a peer gives the launcher a moment to say who died first.

import (
	"fmt"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/ucx/engine"
)

const (
	newsWithin = 200 * time.Millisecond
	newsLook   = time.Millisecond
)

// blame finds out whom to name.
type blame struct {
	job  *boot.Job
	once sync.Once // of the wait for news
}

// peerError gives what the engine lost the name of a PE and of its host, and what the launcher knows.
func (b *blame) peerError(lost *engine.LostError) *transport.PeerError {
	if b.job.Launched {
		b.once.Do(b.awaitNews)
	}
	head := b.job.Segment.Header
	pe, why := lost.PE, error(lost)
	if first := head.Failed.Load(); first != 0 {
		why = fmt.Errorf("%w; the launcher says: %w", lost, boot.HowDied(head.FailedHow.Load()))
		if pe = int(first - 1); pe != lost.PE {
			why = fmt.Errorf("%w; since then PE %d is lost too: %w", boot.HowDied(head.FailedHow.Load()), lost.PE, lost)
		}
	}
	b.job.Lost(pe)
	return &transport.PeerError{PE: pe, Host: b.job.Hosts[b.job.HostOf(pe)].Name, Err: why}
}

func (b *blame) awaitNews() {
	for start := time.Now(); b.job.Segment.Header.Failed.Load() == 0 && time.Since(start) < newsWithin; {
		time.Sleep(newsLook)
	}
}
