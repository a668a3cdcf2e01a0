// Package unseen has functions that are wrong or right, as package snippets has, written after the rules.
package unseen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

type grid struct {
	w          *pgas.World
	cur, next  pgas.Sym[float64]
	left       pgas.SignalRef
	right      pgas.SignalRef
	halo       []float64
	fetched    [2][]float64
	iterations int
}

// wrong nonblocking: the halo is used before it has come
func (g *grid) step(ctx context.Context) error {
	n := g.cur.Len()
	g.cur.At(n-1).GetNB((g.w.PE()+g.w.NPEs()-1)%g.w.NPEs(), &g.halo[0])
	g.cur.At(0).GetNB((g.w.PE()+1)%g.w.NPEs(), &g.halo[1])
	mine := g.next.Local()
	mine[0] = (g.halo[0] + g.halo[1]) / 2
	return g.w.Quiet(ctx)
}

// right: the halo comes, then it is used
func (g *grid) stepQuiet(ctx context.Context) error {
	n := g.cur.Len()
	g.cur.At(n-1).GetNB((g.w.PE()+g.w.NPEs()-1)%g.w.NPEs(), &g.halo[0])
	g.cur.At(0).GetNB((g.w.PE()+1)%g.w.NPEs(), &g.halo[1])
	if err := g.w.Quiet(ctx); err != nil {
		return err
	}
	mine := g.next.Local()
	mine[0] = (g.halo[0] + g.halo[1]) / 2
	g.cur, g.next = g.next, g.cur
	return g.w.Barrier(ctx)
}

// right: one of two buffers is filled while the other is used
func (g *grid) pipeline(ctx context.Context, s pgas.Slice[float64]) (sum float64, err error) {
	for pe := range g.w.NPEs() {
		s.GetNB(pe, g.fetched[pe&1])
		if pe > 0 {
			for _, v := range g.fetched[(pe-1)&1] {
				sum += v
			}
		}
		if err := g.w.Quiet(ctx); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// wrong unfenced: the row, then the signal, in a method
func (g *grid) push(to int, row []float64) {
	for i, v := range row {
		g.next.At(i).Put(to, v)
	}
	g.right.Set(to, 1)
}

// right: the row with the signal
func (g *grid) pushSignal(s pgas.Slice[float64], to int, row []float64) {
	s.PutSignal(to, row, g.right, 1)
	g.left.Set(g.w.PE(), 0)
}

// wrong localread: residual of what the neighbors are writing
func (g *grid) residual() (r float64) {
	g.next.At(0).Put((g.w.PE()+1)%g.w.NPEs(), g.halo[0])
	for _, v := range g.next.Local() {
		r = math.Max(r, v)
	}
	return r
}

// wrong collective: PEs leave the loop by their own residual's PE
func (g *grid) solve(ctx context.Context) error {
	for i := range g.iterations {
		if i == g.w.PE() {
			return nil
		}
		if _, err := pgas.MaxValue(ctx, g.w.Team(), g.halo[0]); err != nil {
			return err
		}
	}
	return nil
}

// right: all leave by the maximum
func (g *grid) solveTogether(ctx context.Context) error {
	for range g.iterations {
		r, err := pgas.MaxValue(ctx, g.w.Team(), g.halo[0])
		if err != nil {
			return err
		}
		if r < 1e-6 {
			return nil
		}
	}
	if g.w.PE() == 0 {
		fmt.Println("no convergence")
	}
	return nil
}

// wrong atomicfield: a histogram with plain increments of the own bins
func histogram(w *pgas.World, bins pgas.Sym[int64], values []int) {
	mine := bins.Local()
	for _, v := range values {
		if v%w.NPEs() == w.PE() {
			mine[0]++
			continue
		}
		pgas.AtomicOf(bins, 0).Inc(v % w.NPEs())
	}
}

// right: a histogram with atomics only
func histogramAtomic(ctx context.Context, w *pgas.World, bins pgas.Sym[int64], values []int) (int64, error) {
	for _, v := range values {
		pgas.AtomicOf(bins, v/w.NPEs()).Inc(v % w.NPEs())
	}
	if err := w.Barrier(ctx); err != nil {
		return 0, err
	}
	return bins.Local()[0], nil
}

// wrong localread: a gather by the root with no barrier
func gatherNames(w *pgas.World, s pgas.Sym[int64], mine int64) []int64 {
	all := make([]int64, w.NPEs())
	*s.At(0).Local() = mine
	if w.PE() == 0 {
		for pe := range all {
			all[pe] = s.At(0).Get(pe)
		}
	}
	return all
}

// right: the root gathers after a barrier
func gatherBarrier(ctx context.Context, w *pgas.World, s pgas.Sym[int64], mine int64) ([]int64, error) {
	all := make([]int64, w.NPEs())
	*s.At(0).Local() = mine
	if err := w.Barrier(ctx); err != nil {
		return nil, err
	}
	if w.PE() == 0 {
		for pe := range all {
			all[pe] = s.At(0).Get(pe)
		}
	}
	return all, w.Barrier(ctx)
}

// wrong localread: the root configures all, and everybody reads at once
func configure(w *pgas.World, conf pgas.Ref[int64], v int64) int64 {
	if w.PE() == 0 {
		for pe := range w.NPEs() {
			conf.Put(pe, v)
		}
	}
	return *conf.Local()
}

// right: the root reads what it alone has put to itself
func rootOnly(w *pgas.World, conf pgas.Ref[int64], v int64) int64 {
	if w.PE() != 0 {
		return 0
	}
	for pe := range w.NPEs() {
		conf.Put(pe, v)
	}
	return *conf.Local()
}

type queue struct {
	lock  locks.Lock
	head  pgas.Ref[int64]
	items pgas.Slice[int64]
}

// wrong unreleased: an empty queue keeps the lock
func (q *queue) pop(ctx context.Context) (int64, bool, error) {
	if err := q.lock.Lock(ctx); err != nil {
		return 0, false, err
	}
	h := q.head.Get(0)
	if h == 0 {
		return 0, false, nil
	}
	v := q.items.At(int(h)).Get(0)
	q.head.Put(0, h-1)
	q.lock.Unlock()
	return v, true, nil
}

// wrong unreleased: a full queue is tried again with the lock held
func (q *queue) push(ctx context.Context, vs []int64) error {
	for len(vs) > 0 {
		if err := q.lock.Lock(ctx); err != nil {
			return err
		}
		h := q.head.Get(0)
		if int(h)+1 >= q.items.Len() {
			continue
		}
		q.items.At(int(h)+1).Put(0, vs[0])
		q.head.Put(0, h+1)
		vs = vs[1:]
		q.lock.Unlock()
	}
	return nil
}

// right: a full queue is tried again after the release
func (q *queue) pushRight(ctx context.Context, w *pgas.World, vs []int64) error {
	for len(vs) > 0 {
		if err := q.lock.Lock(ctx); err != nil {
			return err
		}
		h := q.head.Get(0)
		full := int(h)+1 >= q.items.Len()
		if !full {
			q.items.At(int(h)+1).Put(0, vs[0])
			q.head.Put(0, h+1)
			vs = vs[1:]
		}
		if err := w.Quiet(ctx); err != nil {
			q.lock.Unlock()
			return err
		}
		q.lock.Unlock()
		if full {
			w.Yield()
		}
	}
	return nil
}

// wrong unreleased: a deferred unlock in a loop waits for itself
func (q *queue) drain(ctx context.Context, n int) error {
	for range n {
		if err := q.lock.Lock(ctx); err != nil {
			return err
		}
		defer q.lock.Unlock()
		q.head.Put(0, q.head.Get(0)-1)
	}
	return nil
}

// right: the lock is held for a while, and the loop inside breaks
func (q *queue) find(ctx context.Context, v int64) (at int, err error) {
	if err := q.lock.Lock(ctx); err != nil {
		return 0, err
	}
	defer q.lock.Unlock()
	at = -1
	for i := range q.items.Len() {
		if q.items.At(i).Get(0) == v {
			at = i
			break
		}
	}
	return at, nil
}

// wrong nonblocking: a batch of messages out of one array
func batch(ctx context.Context, w *pgas.World, inbox pgas.Slice[int64], msgs [][]int64) error {
	var out [64]int64
	for pe, m := range msgs {
		n := copy(out[:], m)
		inbox.PutNB(pe, out[:n])
	}
	return w.Quiet(ctx)
}

// right: each message from its own slice
func batchOwn(ctx context.Context, w *pgas.World, inbox pgas.Slice[int64], msgs [][]int64) error {
	for pe, m := range msgs {
		inbox.PutNB(pe, m)
	}
	if err := w.Context().QuietLocal(ctx); err != nil {
		return err
	}
	for _, m := range msgs {
		clear(m)
	}
	return w.Quiet(ctx)
}

// wrong nonblocking: tickets are compared before they have come
func tickets(ctx context.Context, w *pgas.World, next pgas.Atomic[uint64]) (bool, error) {
	var t struct{ a, b uint64 }
	next.FetchAddNB(0, 1, &t.a)
	next.FetchAddNB(0, 1, &t.b)
	ordered := t.a < t.b
	return ordered, w.Quiet(ctx)
}

// right: tickets that are only counted
func ticketsRight(ctx context.Context, w *pgas.World, next pgas.Atomic[uint64]) (bool, error) {
	var t struct{ a, b, n uint64 }
	next.FetchAddNB(0, 1, &t.a)
	next.FetchAddNB(0, 1, &t.b)
	t.n += 2
	if err := w.Quiet(ctx); err != nil {
		return false, err
	}
	return t.a < t.b && t.n == 2, nil
}

// wrong nonblocking: the median of values on their way
func median(ctx context.Context, w *pgas.World, r pgas.Ref[float64]) (float64, error) {
	vals := make([]float64, w.NPEs())
	for pe := 0; pe < len(vals); pe++ {
		r.GetNB(pe, &vals[pe])
	}
	sort.Float64s(vals)
	m := vals[len(vals)/2]
	return m, w.Quiet(ctx)
}

// wrong nonblocking: written to a file before it is there
func dump(ctx context.Context, w *pgas.World, s pgas.Slice[byte], out io.Writer) error {
	page := make([]byte, 4096)
	s.GetNB(1, page)
	if _, err := out.Write(page); err != nil {
		return err
	}
	return w.Quiet(ctx)
}

// right: written after the barrier, which has a quiet
func dumpBarrier(ctx context.Context, w *pgas.World, s pgas.Slice[byte], out io.Writer) error {
	page := make([]byte, 4096)
	s.GetNB(1, page)
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	_, err := out.Write(page)
	return err
}

// wrong nonblocking: two rows in one buffer
func rows(ctx context.Context, w *pgas.World, m pgas.Slice[float64], cols int) (float64, error) {
	row := make([]float64, cols)
	m.Range(0, cols).GetNB(1, row)
	m.Range(cols, 2*cols).GetNB(1, row)
	if err := w.Quiet(ctx); err != nil {
		return 0, err
	}
	return row[0], nil
}

// wrong unfenced: two parts of a message by two kinds of calls
func message(w *pgas.World, c design.CellRef, body []float64, to int) {
	c.PutHalo(to, 0, body)
	c.PutSumNotify(to, float64(len(body)), 4)
}

// right: the second part after a fence
func messageFenced(w *pgas.World, c design.CellRef, body []float64, to int) {
	c.PutHalo(to, 0, body)
	w.Context().Fence()
	c.PutSumNotify(to, float64(len(body)), 4)
}

// wrong unfenced: done flags to all workers after their data
func scatter(w *pgas.World, parts pgas.Slice[float64], done pgas.SignalRef, data []float64) {
	if w.PE() != 0 {
		return
	}
	n := parts.Len()
	for pe := 1; pe < w.NPEs(); pe++ {
		parts.PutNB(pe, data[pe*n:(pe+1)*n])
	}
	for pe := 1; pe < w.NPEs(); pe++ {
		done.Set(pe, 1)
	}
}

// right: the workers wait, the root has fenced
func scatterRight(ctx context.Context, w *pgas.World, parts pgas.Slice[float64], done pgas.SignalRef, data []float64) (float64, error) {
	n := parts.Len()
	if w.PE() == 0 {
		for pe := 1; pe < w.NPEs(); pe++ {
			parts.PutNB(pe, data[pe*n:(pe+1)*n])
		}
		if err := w.Quiet(ctx); err != nil {
			return 0, err
		}
		for pe := 1; pe < w.NPEs(); pe++ {
			done.Set(pe, 1)
		}
		return data[0], nil
	}
	if _, err := done.WaitUntil(ctx, pgas.EQ, 1); err != nil {
		return 0, err
	}
	return parts.Local()[0], nil
}

// wrong collective: the leader of each pair splits
func pairs(ctx context.Context, w *pgas.World) (*pgas.Team, error) {
	leader := w.PE()&1 == 0
	if leader {
		return w.Team().SplitColor(ctx, 1, w.PE())
	}
	return nil, nil
}

// right: all split, by color
func pairsRight(ctx context.Context, w *pgas.World) (*pgas.Team, error) {
	color := 0
	if w.PE()&1 == 0 {
		color = 1
	}
	return w.Team().SplitColor(ctx, color, w.PE())
}

// right: roles by a switch, and one barrier in each
func roles(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) error {
	master := w.PE() == w.NPEs()-1
	if master {
		s.At(0).Put(0, 1)
	}
	if master {
		return w.Barrier(ctx)
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	fmt.Println(strings.Repeat("-", 3), s.Local()[0])
	return nil
}

// wrong collective: a reader that skips the barrier when it has no work
func work(ctx context.Context, w *pgas.World, jobs []int) error {
	for i := w.PE(); i < len(jobs); i += w.NPEs() {
		fmt.Println(jobs[i])
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wrong unstarted: one request in a helper struct, waited for at once
func ack(ctx context.Context, w *pgas.World, s pgas.Slice[byte], msg []byte) error {
	r := notify.NewIn(w.Team(), 1, 9, 1)
	s.PutNotify(1, msg, 8)
	if _, err := r.Wait(ctx); err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	r.Free()
	return nil
}

// right: a request that is started before the message goes out
func ackRight(ctx context.Context, w *pgas.World, s pgas.Slice[byte], msg []byte) error {
	r := notify.NewIn(w.Team(), 1, 9, 1)
	defer r.Free()
	r.Start()
	s.PutNotify(1, msg, 8)
	if _, err := r.Wait(ctx); err != nil {
		return errors.Join(errors.New("no answer"), err)
	}
	return nil
}

// wrong atomicfield: a stop flag that the workers poll by loads
func untilStopped(w *pgas.World, stop pgas.Sym[int64], work func()) {
	flag := stop.At(0).Local()
	for *flag == 0 {
		work()
		w.Yield()
	}
}

// right: a stop flag as an atomic
func untilStoppedAtomic(w *pgas.World, stop pgas.Sym[int64], work func()) {
	for pgas.AtomicOf(stop, 0).Fetch(w.PE()) == 0 {
		work()
	}
}

// wrong droppederror: a deferred barrier
func deferredBarrier(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) {
	defer w.Barrier(ctx)
	s.At(0).Put(0, 1)
}

// wrong stackcopy: a range over records by value
func resetAll(cells design.CellSym) {
	for i, c := range cells.Local() {
		c.Sum = float64(i)
	}
}

// wrong afterfree: a length that is asked for is right, an element is not
func sizes(ctx context.Context, s pgas.Sym[int64]) (int64, error) {
	first := s.At(0)
	if err := s.Free(ctx); err != nil {
		return 0, err
	}
	return first.Get(1), nil
}

// wrong localread: a sum of all after a sync, while the puts may be on their way
func total(ctx context.Context, w *pgas.World, table pgas.Sym[float64], v float64) (sum float64, err error) {
	for pe := range w.NPEs() {
		table.At(w.PE()).Put(pe, v)
	}
	if err := w.Team().Sync(ctx); err != nil {
		return 0, err
	}
	for i := range table.Len() {
		sum += table.Local()[i]
	}
	return sum, nil
}

// wrong nonblocking: the broadcast under way, and its source is used again
func broadcastEarly(ctx context.Context, w *pgas.World, dst, src pgas.Slice[int64]) error {
	r := pgas.BroadcastNB(ctx, w.Team(), dst, src, 0)
	mine := src.Local()
	for i := range mine {
		mine[i] = 0
	}
	return r.Wait(ctx)
}

// right: other memory while the broadcast is under way
func broadcastBeside(ctx context.Context, w *pgas.World, dst, src, other pgas.Slice[int64]) error {
	r := pgas.BroadcastNB(ctx, w.Team(), dst, src, 0)
	mine := other.Local()
	for i := range mine {
		mine[i] = 0
	}
	if err := r.Wait(ctx); err != nil {
		return err
	}
	src.Local()[0] = dst.Local()[0]
	return nil
}
