package dsm

// Events: one PE tells another that something has happened, and what it has written is visible to the other then. Each
// pair of PEs has a slot for the sender's notices on the receiver. The receiver says when it has read them, so that the
// next ones do not overwrite them.

import (
	"context"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// An Event lets each PE tell each other PE of what it has written. For each other PE one goroutine at a time is in Set,
// and one in Wait; a second one panics with *pgas.UsageError.
type Event struct {
	r     *Region
	words pgas.Slice[uint64] // the encoded notices of each sender
	set   pgas.SignalSlice   // how often each sender has set the event
	taken pgas.SignalSlice   // how often each receiver has waited for this PE
	sent  []uint64
	seen  []uint64
	size  int

	setting, waiting []oneCall // the turns of setters and of waiters, by PE
}

// NewEvent makes an Event. It is collective. Errors: those of pgas.Alloc.
func NewEvent(ctx context.Context, r *Region) (*Event, error) {
	r.mustBeOpen("NewEvent")
	size := protocol.EncodedWords(r.o.Notices)
	if r.mode == Shared {
		size = 1
	}
	words, err := protocol.Alloc[uint64](ctx, &r.fences, size*r.n)
	if err != nil {
		return nil, err
	}
	signals, err := protocol.Alloc[pgas.Signal](ctx, &r.fences, 2*r.n)
	if err != nil {
		return nil, err
	}
	all := pgas.SignalsOf(signals.All()).On(r.fences.Context)
	return &Event{
		r: r, words: words.All().On(r.fences.Context), set: all.Range(0, r.n), taken: all.Range(r.n, 2*r.n),
		sent: make([]uint64, r.n), seen: make([]uint64, r.n), size: size,
		setting: make([]oneCall, r.n), waiting: make([]oneCall, r.n),
	}, nil
}

// Set releases what this PE has written and sets the event for PE pe, whose Wait for this PE returns then. It blocks
// until pe has waited for the Set before. Errors: those of
// Release, and the cause of ctx's end.
func (e *Event) Set(ctx context.Context, pe int) (err error) {
	r := e.r
	e.check("Event.Set", pe)
	defer protocol.RecoverPeer(&err)
	e.setting[pe].enter("Event.Set", pe)
	defer e.setting[pe].leave()
	n, err := r.Release(ctx)
	if err != nil {
		return err
	}
	if _, err := e.taken.At(pe).WaitUntil(ctx, pgas.GE, e.sent[pe]); err != nil {
		return err
	}
	e.sent[pe]++
	if r.mode == Shared {
		e.set.At(r.me).Set(pe, e.sent[pe])
		return nil
	}
	message := n.s.Encode(nil)
	e.words.Range(r.me*e.size, r.me*e.size+len(message)).PutSignal(pe, message, e.set.At(r.me), e.sent[pe])
	return nil
}

// Wait blocks until PE pe has set the event for this PE once more than this PE has waited for pe, and acquires what pe
// has released. Errors: *pgas.PeerError if a PE of the job is lost, and
// the cause of ctx's end.
func (e *Event) Wait(ctx context.Context, pe int) (err error) {
	r := e.r
	e.check("Event.Wait", pe)
	defer protocol.RecoverPeer(&err)
	e.waiting[pe].enter("Event.Wait", pe)
	defer e.waiting[pe].leave()
	if _, err := e.set.At(pe).WaitUntil(ctx, pgas.GE, e.seen[pe]+1); err != nil {
		return err
	}
	e.seen[pe]++
	r.observed.windows.end()
	if r.mode != Shared {
		got, err := r.fences.Read(e.words.Range(pe*e.size, (pe+1)*e.size), r.me)
		if err != nil {
			return protocol.SentBy(pe, err)
		}
		r.Acquire(Notice{got})
	}
	e.taken.At(r.me).Set(pe, e.seen[pe])
	return nil
}

func (e *Event) check(op string, pe int) {
	e.r.mustBeOpen(op)
	if pe < 0 || pe >= e.r.n {
		misuse(op, "PE %d: the job has %s", pe, plural.Count(e.r.n, "PE"))
	}
}
