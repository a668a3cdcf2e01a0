package main

// Measuring pairs of hosts. The pairs take turns, so that no two of them share the network; PEs that have no turn wait
// in a barrier. In a turn one PE leads: it puts, gets and sends beats, which the other answers with its clock.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasrun/doctor"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
)

const largeBytes = 1 << 20

// beat is a message of the ping-pong.
type beat struct {
	Clock int64 // of its sender, in Unix nanoseconds
	Last  int64 // 1: the leader sends no more
}

const pinged, ponged = 0, 1 // the beats and signals of the one that answers, and of the leader

// meter is what a PE measures with.
type meter struct {
	w       *pgas.World
	out     io.Writer
	words   pgas.Sym[uint64]
	large   pgas.Sym[byte]
	beats   pgas.Sym[beat]
	signals pgas.Sym[pgas.Signal]
	source  []byte
}

func newMeter(ctx context.Context, w *pgas.World, out io.Writer) (*meter, error) {
	m := &meter{w: w, out: out, source: make([]byte, largeBytes)}
	var err error
	if m.words, err = pgas.Alloc[uint64](ctx, w, 1); err != nil {
		return nil, err
	}
	if m.large, err = pgas.Alloc[byte](ctx, w, largeBytes); err != nil {
		return nil, err
	}
	if m.beats, err = pgas.Alloc[beat](ctx, w, 2); err != nil {
		return nil, err
	}
	m.signals, err = pgas.Alloc[pgas.Signal](ctx, w, 2)
	return m, err
}

// measureAll measures every pair, in both directions, one after the other, and writes a line for each pair that this PE
// leads to out. It is collective.
func measureAll(ctx context.Context, w *pgas.World, out io.Writer) error {
	pes := representatives(w)
	if len(pes) == 1 {
		return nil
	}
	m, err := newMeter(ctx, w, out)
	if err != nil {
		return err
	}
	for _, from := range pes {
		for _, to := range pes {
			if from == to {
				continue
			}
			if err := m.turn(ctx, from, to); err != nil {
				return err
			}
		}
	}
	return w.Barrier(ctx)
}

// representatives returns the first PE of each host. pgasrun starts one on each; other launchers may start more.
func representatives(w *pgas.World) []int {
	var pes []int
	for pe := range w.NPEs() {
		if !slices.ContainsFunc(pes, func(other int) bool { return w.HostOf(other) == w.HostOf(pe) }) {
			pes = append(pes, pe)
		}
	}
	return pes
}

// turn measures one pair in one direction.
func (m *meter) turn(ctx context.Context, from, to int) error {
	m.signal(pinged).Set(m.w.PE(), 0)
	m.signal(ponged).Set(m.w.PE(), 0)
	if err := m.w.Barrier(ctx); err != nil {
		return err
	}
	switch m.w.PE() {
	case from:
		p := doctor.Pair{From: from, To: to, FromHost: m.w.Host(), ToHost: m.w.HostOf(to), Lanes: []doctor.Lane{}}
		err := m.lead(ctx, &p)
		if err != nil {
			p.Problem = fmt.Sprintf("measuring it failed: %v", err)
		}
		return errors.Join(err, doctor.Line{Pair: &p}.Write(m.out))
	case to:
		return m.answer(ctx, from)
	}
	return nil
}

func (m *meter) signal(i int) pgas.SignalRef { return pgas.SignalOf(m.signals, i) }

// lead measures the connection to p.To. A lost PE is an error.
func (m *meter) lead(ctx context.Context, p *doctor.Pair) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if err = m.w.Recovered(r); err == nil {
				panic(r)
			}
		}
	}()
	if p.PutNs, err = medianOf(func() error { return m.put(ctx, p.To) }); err != nil {
		return err
	}
	if p.GetNs, err = medianOf(func() error { m.words.At(0).Get(p.To); return nil }); err != nil {
		return err
	}
	largeNs, err := medianOf(func() error { return m.putLarge(ctx, p.To) })
	if err != nil {
		return err
	}
	p.PutMBs = largeBytes * batch / largeNs * 1e3
	if err := m.pingPong(ctx, p); err != nil {
		return err
	}
	m.describe(p)
	return nil
}

func (m *meter) put(ctx context.Context, pe int) error {
	m.words.At(0).Put(pe, 1)
	return m.w.Quiet(ctx)
}

// batch is how many large puts are under way before one waits for them.
const batch = 4

func (m *meter) putLarge(ctx context.Context, pe int) error {
	for range batch {
		m.large.All().Put(pe, m.source)
	}
	return m.w.Quiet(ctx)
}

// pingPong measures a signal's way there and back, and the clock of the other PE. When the answer comes, that clock is
// compared with the middle of the time in which it was read: the error is half of the round trip at most. The quickest
// round trip tells most.
func (m *meter) pingPong(ctx context.Context, p *doctor.Pair) error {
	var seq uint64
	best := time.Duration(1<<63 - 1)
	round := func(last int64) error {
		seq++
		began, sent := time.Now(), beat{Last: last}
		m.beats.At(pinged).PutSignal(p.To, &sent, m.signal(pinged), seq)
		if _, err := m.signal(ponged).WaitUntil(ctx, pgas.GE, seq); err != nil {
			return err
		}
		took := time.Since(began)
		if took < best {
			best = took
			p.OffsetNs = m.beats.Local()[ponged].Clock - began.UnixNano() - int64(took/2)
			p.ErrorNs = int64(took+1) / 2
		}
		return nil
	}
	there, err := medianOf(func() error { return round(0) })
	p.SignalNs = there / 2
	return errors.Join(err, round(1))
}

// answer is the other side of pingPong.
func (m *meter) answer(ctx context.Context, pe int) error {
	for seq := uint64(1); ; seq++ {
		if _, err := m.signal(pinged).WaitUntil(ctx, pgas.GE, seq); err != nil {
			return err
		}
		last := m.beats.Local()[pinged].Last
		reply := beat{Clock: time.Now().UnixNano()}
		m.beats.At(ponged).PutSignal(pe, &reply, m.signal(ponged), seq)
		if last != 0 {
			return m.w.Quiet(ctx)
		}
	}
}

// describe fills in how the other PE is reached.
func (m *meter) describe(p *doctor.Pair) {
	c := m.w.ConnectionTo(p.To)
	p.Transport, p.Native, p.NICAtomics = c.Transport, c.NativeRMA, c.NICAtomics
	p.Lanes = doctor.Lanes(c.Text)
	set, err := boot.ParseSettings(os.Environ())
	if err != nil {
		return // a PE with bad settings has not come so far
	}
	rma := map[boot.RMA]string{boot.RMAAM: "am", boot.RMANative: "native"}[set.RMA]
	amo := "cpu"
	if set.AMO == boot.AMONIC {
		amo = "nic"
	}
	p.Explain(rma, amo, os.Getenv("UCX_TLS"))
}
