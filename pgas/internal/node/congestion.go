package node

import (
	"time"
)

// Refuse decides about a note that a Matcher has taken and that no request waits for. It returns false if the
// Matcher may keep the note. Otherwise it puts the note back, and no other may be taken. The caller has locked b.
func (b *NoteQueue) Refuse() bool {
	if b.kept() < b.most {
		return false
	}
	b.Ring.Untake()
	b.Congestion.begin(b.node)
	b.Congestion.refused.Store(b.Ring.Next() + 1)
	return true
}

// Room ends the congestion when a Matcher has given a note to a request and so has room for another. The caller has
// locked b.
func (b *NoteQueue) Room() { b.Congestion.end() }

// congestionTimeout returns how long congestion may last before it is an error. It is shorter in virtual time, where a
// PE that waits for room asks every few nanoseconds.
func (b *NoteQueue) congestionTimeout() time.Duration {
	if b.node.Sched != nil {
		return time.Millisecond
	}
	return b.node.CycleTimeout()
}

// congestionError returns the *NotesError that NotesFull makes if congestion has lasted too long, or nil.
func (b *NoteQueue) congestionError() error {
	if b == nil || b.Congestion.Since.Load() == 0 {
		return nil
	}
	return b.checkCongestion()
}

func (b *NoteQueue) checkCongestion() error {
	b.Ring.Lock()
	defer b.Ring.Unlock()
	since := b.Congestion.Since.Load()
	if since == 0 {
		return nil
	}
	if b.kept() < b.most {
		b.Congestion.end()
		return nil
	}
	d := b.node.Now() - time.Duration(since-1)
	if d < b.congestionTimeout() {
		return nil
	}
	oldest := b.held
	if b.matcher != nil && len(b.matcher.Unmatched()) > 0 {
		oldest = b.matcher.Unmatched()
	} else {
		oldest = oldest[b.first:]
	}
	return b.node.NotesFull(b.kept(), oldest[0].Stamp, d)
}
