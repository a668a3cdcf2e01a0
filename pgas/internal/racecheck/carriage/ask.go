package carriage

// Questions to other PEs, and the answers. The clock of a word is read where the releasers leave it, and that of a
// collective of all PEs is known here. For others a PE asks. The PE that was asked reads all its rings once more before
// it answers: the asking PE may have seen an effect whose record had not been read.

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// asks are the questions of this PE, and those of others.
type asks struct {
	mu       sync.Mutex
	last     uint64                       // the number of the last question of this PE
	answered map[uint64]**racecheck.Clock // of the question of each goroutine that waits for an answer; nil: none yet
	heard    []heard                      // questions of others, in the order of their arrival
}

// heard is a question of another PE.
type heard struct {
	from   int
	number uint64
	q      racecheck.Question
}

// moment is how long the answer for an access is waited for after the access has been given up.
const moment = time.Second

// lateEnd returns a context that ends a moment after ctx. A program that gives up an access goes on, and what the
// access has seen is to be known.
func (c *Carriage) lateEnd(ctx context.Context) (context.Context, func()) {
	late, end := context.WithCancelCause(c.ctx)
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(min(moment, c.Patience), func() { end(context.Cause(ctx)) })
	})
	return late, func() {
		stop()
		end(nil)
	}
}

// Ask returns the answer of a PE's detector, also soon after the end of ctx. It returns nil in a Carriage that has lost
// records: so one without an answer is, since this PE may have seen what it does not know to be before. The error is
// always nil.
func (c *Carriage) Ask(ctx context.Context, to int, q racecheck.Question) (*racecheck.Clock, error) {
	clock, err := c.answerOf(ctx, to, q)
	switch {
	case err == nil:
	case c.ctx.Err() == nil && c.Failure() == nil:
		c.Lose(fmt.Sprintf("what PE %d knows is not waited for (%v)", to, err))
	default:
		c.giveUp() // the program learns of it otherwise
	}
	return clock, nil
}

// answerOf is Ask with the error of a PE that is lost, or of the end of ctx.
func (c *Carriage) answerOf(ctx context.Context, to int, q racecheck.Question) (*racecheck.Clock, error) {
	switch {
	case c.lost.Load():
		return nil, nil
	case to == c.PE || q.Call != nil && int(q.Call.Size) == c.NPEs:
		c.Drain()
		return c.Detector.Answer(q), nil
	case q.Bytes != 0:
		clock, asked, err := c.readRows(ctx, to, q.Word, q.Known)
		if err != nil && ctx.Err() != nil {
			late, end := c.lateEnd(ctx)
			clock, asked, err = c.readRows(late, to, q.Word, q.Known)
			end()
		}
		if !asked || err != nil {
			return clock, err
		}
	}
	return c.ask(ctx, to, q)
}

// ask sends a question and waits for its answer.
func (c *Carriage) ask(ctx context.Context, to int, q racecheck.Question) (*racecheck.Clock, error) {
	ctx, end := c.lateEnd(ctx)
	defer end()
	number := c.asks.begin()
	o, _ := c.stream(nil, to)
	o.mu.Lock()
	o.add(appendQuestion(o.scratch[:0], number, &q))
	o.send(ctx, true)
	o.mu.Unlock()
	if !c.IsNear(to) {
		c.quiet(to) // or it would wait for more to send
	}
	for w := c.begin(); ; {
		if clock, ok := c.asks.take(number); ok {
			return clock, nil
		}
		if !c.pause(ctx, &w, to) {
			return c.unanswered(ctx, number)
		}
	}
}

// unanswered ends a question that will not be answered.
func (c *Carriage) unanswered(ctx context.Context, number uint64) (*racecheck.Clock, error) {
	clock, ok := c.asks.take(number)
	c.asks.drop(number)
	switch {
	case ok:
		return clock, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, c.Failure()
}

func (a *asks) begin() (number uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answered == nil {
		a.answered = map[uint64]**racecheck.Clock{}
	}
	a.last++
	a.answered[a.last] = nil
	return a.last
}

// take returns the answer to a question, and whether there is one.
func (a *asks) take(number uint64) (clock *racecheck.Clock, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.answered[number]; p != nil {
		delete(a.answered, number)
		return *p, true
	}
	return nil, false
}

func (a *asks) drop(number uint64) {
	a.mu.Lock()
	delete(a.answered, number)
	a.mu.Unlock()
}

// answer notes the answer to a question that still waits for it.
func (a *asks) answer(number uint64, clock *racecheck.Clock) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, waits := a.answered[number]; waits {
		a.answered[number] = &clock
	}
}

// mostHeard is how many questions of other PEs may be open. A goroutine has one, and waits for the answer.
const mostHeard = 1 << 16

var errMany = fmt.Errorf("more than %d questions are open", mostHeard)

// hear notes a question of another PE. It returns an error if there are more than others can have.
func (a *asks) hear(h heard) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.heard) >= mostHeard {
		return errMany
	}
	a.heard = append(a.heard, h)
	return nil
}

// again notes questions that have not been answered, before those that were heard since.
func (a *asks) again(left []heard) {
	a.mu.Lock()
	a.heard = append(left, a.heard...)
	a.mu.Unlock()
}

func (a *asks) open() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.heard)
}

// first takes the first n questions of other PEs.
func (a *asks) first(n int) []heard {
	a.mu.Lock()
	defer a.mu.Unlock()
	n = min(n, len(a.heard))
	first := a.heard[:n:n]
	a.heard = a.heard[n:]
	return first
}

// Drain reads all records that have arrived, and answers the questions among them. It reports whether there was
// anything.
func (c *Carriage) Drain() bool {
	c.reading.Lock()
	worked := c.readAll()
	n := c.asks.open()
	if n > 0 {
		c.readAll() // what the askers have seen before they asked
	}
	ready := c.asks.first(n)
	c.reading.Unlock()
	var left []heard
	for _, h := range ready {
		if !c.reply(h) {
			left = append(left, h)
		}
	}
	if len(left) > 0 {
		c.asks.again(left)
	}
	return worked
}

// readAll reads all rings once. The caller has locked c.reading.
func (c *Carriage) readAll() (any bool) {
	for pe := range c.NPEs {
		if pe == c.PE {
			continue
		}
		if c.Word(c.Base+c.control(pe, sharedSlot)+lostWord).Load() != 0 {
			c.giveUp()
		}
		for slot := range Slots {
			some, err := c.in[pe*Slots+slot].read(c.take)
			if any = any || some; err != nil {
				c.in[pe*Slots+slot].torn = true
				c.Lose(fmt.Sprintf("the records of PE %d cannot be read: %v", pe, err))
			}
		}
	}
	return any
}

// take takes a message.
func (c *Carriage) take(in *inbox, message []byte) error {
	switch message[0] {
	case kindRecord:
		r, err := in.record(message[1:])
		if err == nil && !c.lost.Load() {
			c.Detector.Apply(r)
		}
		return err
	case kindQuestion:
		number, q, err := in.question(message[1:])
		if err == nil {
			err = c.asks.hear(heard{in.from, number, q})
		}
		return err
	case kindAnswer:
		number, clock, err := in.answer(message[1:])
		if err == nil {
			c.asks.answer(number, clock)
		}
		return err
	}
	return errTorn
}

// reply answers a question of another PE. It reports false, and does nothing, if the stream to that PE is in use.
func (c *Carriage) reply(h heard) bool {
	o, _ := c.stream(nil, h.from)
	if !o.mu.TryLock() {
		return false
	}
	defer o.mu.Unlock()
	if c.lost.Load() {
		o.tellLost()
	} else {
		if h.q.Bytes != 0 {
			c.keepUp(h.q.Word)
		}
		o.add(appendAnswer(o.scratch[:0], h.number, c.Detector.Answer(h.q)))
		o.send(c.ctx, false)
	}
	if !c.IsNear(h.from) {
		c.quiet(h.from) // or it would wait for more to send
	}
	return true
}

// The goroutine of a Carriage looks at the rings at these intervals, longer ones when nothing arrives for a while.
const (
	firstLook = 50 * time.Microsecond
	lastLook  = 2 * time.Millisecond
)

// serve reads records and answers questions until the end of c.
func (c *Carriage) serve() {
	defer close(c.done)
	for d := firstLook; c.ctx.Err() == nil; d = min(2*d, lastLook) {
		if c.Drain() || c.sendLeft() {
			d = firstLook
		}
		time.Sleep(d)
	}
}

// sendLeft sends what the streams that belong to no channel of the program hold, and tells their targets once that
// records are lost. It reports whether there was anything.
func (c *Carriage) sendLeft() (any bool) {
	for pe := range c.NPEs {
		o := &c.out[pe*Slots+sharedSlot]
		if pe == c.PE || !o.waiting.Load() && !c.lost.Load() || !o.mu.TryLock() {
			continue
		}
		if any = any || o.waiting.Load(); any {
			o.send(c.ctx, false)
		}
		if c.lost.Load() {
			o.tellLost()
		}
		o.mu.Unlock()
	}
	return any || c.asks.open() > 0
}
