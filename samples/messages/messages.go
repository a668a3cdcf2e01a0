// Package messages is message passing over one-sided access: what the samples compare notified access
// with. It does what MPI libraries do. A short message is put into a slot that the receiver has for its
// sender, whether the receiver expects it or not (eager). The receiver matches it by source and tag, and copies it
// to its destination. The sender of a long message asks first, and puts it where the receiver says (rendezvous).
//
// Comm is one PE's side; wire.go has the slots and the words of each pair of PEs.
//
// Messages from one PE to another are received in the order in which they were sent, among those that match.
package messages

import (
	"context"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/pgas"
)

// Any stands for any source or any tag.
const Any = -1

// Options select what an eager message may be. They must be the same on all PEs.
type Options struct {
	Eager int // the most floats of a message that is sent without asking; 0: 1024, which are 8 KiB
	Slots int // eager messages from one PE to another that may be under way; 0: 4
}

// Status describes a message.
type Status struct{ From, Tag, Len int }

// Comm is one PE's side of message passing. It belongs to one goroutine at a time.
type Comm struct {
	wire
	queue []message // arrived, and not received
}

// A message has arrived. Its data is in a slot or, if it is long, still at its sender, which waits to be told where to
// put it.
type message struct {
	Status
	data    []float64
	waiting bool
	nth     uint64 // number among the long messages of its sender to this PE, from 1
}

// Open makes a Comm, which receives into window. It is collective.
func Open(ctx context.Context, w *pgas.World, window pgas.Slice[float64], o Options) (*Comm, error) {
	if o.Eager == 0 {
		o.Eager = 1024
	}
	if o.Slots == 0 {
		o.Slots = 4
	}
	if o.Eager < 0 || o.Slots < 0 {
		return nil, fmt.Errorf("messages: %d floats and %d slots: neither can be negative", o.Eager, o.Slots)
	}
	c := &Comm{wire: wire{w: w, o: o, window: window}}
	if err := c.wire.open(ctx); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	return c, nil
}

// Close frees the slots. It is collective. All messages must have been received.
func (c *Comm) Close(ctx context.Context) error {
	if n := len(c.queue); n > 0 {
		m := c.queue[0]
		return fmt.Errorf("messages: %d messages have not been received, the first from PE %d with tag %d", n, m.From, m.Tag)
	}
	if c.owed > 0 {
		return fmt.Errorf("messages: %d long messages of PE %d have not been received", c.owed, c.w.PE())
	}
	return c.wire.close(ctx)
}

// Send sends data to pe, and returns when data may be changed. For a message of up to Options.Eager floats it waits
// at most for a free slot, for a longer one until the receiver has it.
func (c *Comm) Send(ctx context.Context, pe, tag int, data []float64) error {
	nth, err := c.begin(ctx, pe, tag, data)
	if err != nil || nth == 0 {
		return err
	}
	if err := c.until(ctx, func() bool { return !c.owes(pe, nth) }); err != nil {
		return fmt.Errorf("messages: waiting for PE %d to receive %d floats with tag %d: %w", pe, len(data), tag, err)
	}
	return nil
}

// Start sends as Send does, but does not wait until a long message is received. Its data must not change until Flush
// has returned. It is sent while this PE waits in a call of c, or probes.
func (c *Comm) Start(ctx context.Context, pe, tag int, data []float64) error {
	_, err := c.begin(ctx, pe, tag, data)
	return err
}

// Flush returns when all messages that were started have been sent.
func (c *Comm) Flush(ctx context.Context) error {
	if err := c.until(ctx, func() bool { return c.owed == 0 }); err != nil {
		return fmt.Errorf("messages: waiting until %d long messages are received: %w", c.owed, err)
	}
	return nil
}

// begin sends a short message, or the announcement of a long one, which is then number nth of those to pe.
func (c *Comm) begin(ctx context.Context, pe, tag int, data []float64) (nth uint64, err error) {
	if tag < 0 {
		return 0, fmt.Errorf("messages: tag %d of a message to PE %d: give 0 or more", tag, pe)
	}
	if pe == c.w.PE() {
		c.queue = append(c.queue, message{Status: Status{pe, tag, len(data)}, data: slices.Clone(data)})
		return 0, nil
	}
	if err := c.until(ctx, func() bool { return c.hasSlot(pe) }); err != nil {
		return 0, fmt.Errorf("messages: sending to PE %d with tag %d: %w", pe, tag, err)
	}
	if len(data) <= c.o.Eager {
		c.put(pe, tag, len(data), data)
		return 0, nil
	}
	c.put(pe, tag, len(data), nil)
	return c.owe(pe, data), nil
}

// Recv waits for the oldest message that matches and copies it to window[at:at+n]. A shorter message leaves
// the rest of these unchanged. from and tag may be Any.
func (c *Comm) Recv(ctx context.Context, from, tag, at, n int) (Status, error) {
	i, err := c.match(ctx, from, tag)
	if err != nil {
		return Status{}, fmt.Errorf("messages: receiving: %w", err)
	}
	m := c.queue[i]
	if m.Len > n {
		return m.Status, fmt.Errorf("messages: a message of %d floats from PE %d with tag %d does not fit into %d", m.Len, m.From, m.Tag, n)
	}
	c.queue = slices.Delete(c.queue, i, i+1)
	if !m.waiting {
		copy(c.window.Range(at, at+n).Local(), m.data)
		c.recycle(m.data)
		return m.Status, nil
	}
	c.ask(m, at)
	if err := c.until(ctx, func() bool { return c.landed(m.From) }); err != nil {
		return m.Status, fmt.Errorf("messages: receiving %d floats from PE %d with tag %d: %w", m.Len, m.From, m.Tag, err)
	}
	return m.Status, nil
}

// Probe waits for a message that matches and returns its Status. The message remains to be received.
func (c *Comm) Probe(ctx context.Context, from, tag int) (Status, error) {
	i, err := c.match(ctx, from, tag)
	if err != nil {
		return Status{}, fmt.Errorf("messages: probing: %w", err)
	}
	return c.queue[i].Status, nil
}

// TryProbe does what Probe does, without waiting. It reports whether there is such a message.
func (c *Comm) TryProbe(from, tag int) (Status, bool) {
	for c.takeFrom(c.glance()) {
	}
	i := c.find(from, tag)
	if i < 0 {
		return Status{}, false
	}
	return c.queue[i].Status, true
}

// match waits for a message that matches and returns its index in the queue.
func (c *Comm) match(ctx context.Context, from, tag int) (i int, err error) {
	return i, c.until(ctx, func() bool {
		i = c.find(from, tag)
		return i >= 0
	})
}

// find returns the index of the oldest message that matches, or -1.
func (c *Comm) find(from, tag int) int {
	return slices.IndexFunc(c.queue, func(m message) bool {
		return (from == Any || from == m.From) && (tag == Any || tag == m.Tag)
	})
}

// until moves arrived messages into the queue, which frees their slots, until done returns true.
func (c *Comm) until(ctx context.Context, done func() bool) error {
	for !done() {
		pe, n, err := c.news(ctx)
		if err != nil {
			return err
		}
		c.takeFrom(pe, n, true)
	}
	return nil
}

// takeFrom moves the messages of pe into the queue, up to number n, if any have arrived. It returns the number of them.
func (c *Comm) takeFrom(pe int, n uint64, news bool) bool {
	for news && c.taken[pe] < n {
		c.queue = append(c.queue, c.take(pe))
	}
	return news
}
