//go:build !race

package shm

import (
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/transport"
)

// hidden is a word that the race detector would not see.
type hidden = atomic.Uint64

// takenWord returns the word of a queue that says how many notes were taken.
func (q *NoteQueue) takenWord() *hidden { return &q.words.taken }

// release does nothing: there is no race detector.
func (q *NoteQueue) release(transport.Stamp) {}

// Seen does nothing: there is no race detector.
func (q *NoteQueue) Seen(transport.Stamp) {}
