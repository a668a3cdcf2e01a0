package memory

// How a PE reads the memory of another host. It puts a question to a PE of that host and rings the bell of that PE. A
// goroutine there puts the bytes into the asker's answer. All PEs have such a goroutine while any of them may ask: in
// Restore, and while a cut is copied. A PE asks one question at a time.

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gopgas/gopgas/internal/cuts/image"
	"github.com/gopgas/gopgas/pgas"
)

const answerBytes = 256 << 10

// Join makes what PEs need to read each other's memory, when New has succeeded on all. It is collective.
func (m *Memory) Join(ctx context.Context) (err error) {
	n := m.w.NPEs()
	if len(m.hosts) == 1 {
		return nil
	}
	m.told = make([]uint64, n)
	if m.questions, err = pgas.Alloc[question](ctx, m.w, n); err != nil {
		return err
	}
	if m.asked, err = pgas.Alloc[pgas.Signal](ctx, m.w, n); err != nil {
		return err
	}
	if m.bell, err = pgas.Alloc[pgas.Signal](ctx, m.w, 1); err != nil {
		return err
	}
	if m.answer, err = pgas.Alloc[byte](ctx, m.w, 2*answerBytes); err != nil {
		return err
	}
	m.answered, err = pgas.Alloc[pgas.Signal](ctx, m.w, 1)
	return err
}

// Serving calls f on all PEs. In f they may read the memory of other hosts. It is collective over team, which has all
// PEs.
func (m *Memory) Serving(ctx context.Context, team *pgas.Team, f func() error) error {
	if len(m.hosts) == 1 {
		return f()
	}
	m.serving.Store(true)
	server := m.w.Go(ctx, m.serve)
	err := f()
	err = cmp.Or(err, team.Sync(ctx)) // after it nobody asks any more
	m.serving.Store(false)
	pgas.SignalOf(m.bell, 0).Add(m.w.PE(), 1)
	return cmp.Or(err, server.Wait())
}

// serve answers until nobody asks any more.
func (m *Memory) serve(ctx context.Context) error {
	for {
		rung, err := pgas.SignalOf(m.bell, 0).WaitUntil(ctx, pgas.NE, m.rung)
		if err != nil {
			return err
		}
		m.rung = rung
		for pe := range m.told {
			if n := pgas.SignalOf(m.asked, pe).Fetch(); n != m.told[pe] {
				m.told[pe] = n
				m.reply(pe, n, m.questions.Local()[pe])
			}
		}
		if !m.serving.Load() {
			return nil
		}
	}
}

// reply answers a question of a PE.
func (m *Memory) reply(pe int, number uint64, q question) {
	done := pgas.SignalOf(m.answered, 0)
	mine := m.answer.Local()[answerBytes:]
	n, err := m.find(q, mine)
	if err != nil {
		done.Set(pe, 2*number+1)
		return
	}
	m.answer.All().PutSignal(pe, mine[:n], done, 2*number)
}

// find fills b with what a question asks for, and returns how many bytes that are.
func (m *Memory) find(q question, b []byte) (n int, err error) {
	if q.Unsent != 0 {
		f := &m.own[which(q.Cut)]
		all := appendRanges(nil, uint64(len(f.Bytes())), f.Unsent())
		if len(all) > len(b) { // they are too many to be told
			all = appendRanges(nil, uint64(len(f.Bytes())), []image.Range{{From: 0, To: uint64(len(f.Bytes()))}})
		}
		return copy(b, all), nil
	}
	part, err := m.part(place{m.w.PE(), int(q.Row), int(q.Which)}, q.Cut, q.Offset, q.Size)
	if uint64(len(part)) > uint64(len(b)) {
		err = fmt.Errorf("a question for %d bytes", q.Size)
	}
	return copy(b, part), err
}

// part returns bytes of what a slot of this host has of a cut.
func (m *Memory) part(p place, c image.Cut, offset, size uint64) ([]byte, error) {
	s, err := m.slot(p)
	if err != nil {
		return nil, err
	}
	m.mapping.Lock()
	defer m.mapping.Unlock()
	b, err := s.Bytes()
	if err != nil {
		return nil, err
	}
	if mark, _ := s.Mark(); mark.Cut != c || offset > mark.Bytes || size > mark.Bytes-offset {
		return nil, fmt.Errorf("%w: the memory of the host has another image there", image.ErrDamaged)
	}
	return b[offset:][:size], nil
}

// ask asks a PE of another host, and fills into with what it answers.
func (m *Memory) ask(ctx context.Context, pe int, q question, into []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.number++
	me := m.w.PE()
	m.questions.Range(me, me+1).PutSignal(pe, []question{q}, pgas.SignalOf(m.asked, me), m.number)
	m.w.Fence() // the question is there when the bell rings
	pgas.SignalOf(m.bell, 0).Add(pe, 1)
	n, err := pgas.SignalOf(m.answered, 0).WaitUntil(ctx, pgas.GE, 2*m.number)
	switch {
	case err != nil:
		return err
	case n != 2*m.number:
		return fmt.Errorf("%w: PE %d does not have the image any more", image.ErrDamaged, pe)
	}
	copy(into, m.answer.Local()[:answerBytes])
	return nil
}

// read fills b with bytes of what a slot has of a cut, of this host or of another.
func (m *Memory) read(ctx context.Context, p place, c image.Cut, offset uint64, b []byte) error {
	if m.isLocal(p.pe) {
		part, err := m.part(p, c, offset, uint64(len(b)))
		copy(b, part)
		return err
	}
	for len(b) > 0 {
		n := min(len(b), answerBytes)
		if err := m.ask(ctx, p.pe, question{Cut: c, Row: uint64(p.row), Which: uint64(p.which), Offset: offset, Size: uint64(n)}, b[:n]); err != nil {
			return err
		}
		offset, b = offset+uint64(n), b[n:]
	}
	return nil
}

// appendRanges appends the size of an image and ranges of it to b, and ranges takes them apart.
func appendRanges(b []byte, size uint64, all []image.Range) []byte {
	b = binary.LittleEndian.AppendUint64(b, size)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(all)))
	for _, x := range all {
		b = binary.LittleEndian.AppendUint64(b, x.From)
		b = binary.LittleEndian.AppendUint64(b, x.To)
	}
	return b
}

func ranges(b []byte) (size uint64, all []image.Range) {
	next := func() uint64 {
		n := binary.LittleEndian.Uint64(b)
		b = b[8:]
		return n
	}
	size = next()
	for range next() {
		all = append(all, image.Range{From: next(), To: next()})
	}
	return size, all
}
