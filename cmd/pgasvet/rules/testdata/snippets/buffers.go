// Package snippets has functions that are wrong or right. The first word of a function's comment says which, and for a
// wrong one the second word is the rule that is to report it. A function without such a comment belongs to the others.
package snippets

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/pgas"
)

// wrong nonblocking: a get into the beginning of a buffer
func firstElement(ctx context.Context, w *pgas.World, r pgas.Ref[int64]) (int64, error) {
	buf := make([]int64, 4)
	r.GetNB(1, &buf[0])
	v := buf[0]
	return v, w.Quiet(ctx)
}

// wrong nonblocking: old values that have not come
func oldValues(ctx context.Context, w *pgas.World, a pgas.Atomic[int64]) (sum int64, err error) {
	old := make([]int64, w.NPEs())
	for pe := range w.NPEs() {
		a.FetchAddNB(pe, 1, &old[pe])
	}
	for _, v := range old {
		sum += v
	}
	return sum, w.Quiet(ctx)
}

// right: old values after a quiet
func oldValuesQuiet(ctx context.Context, w *pgas.World, a pgas.Atomic[int64]) (sum int64, err error) {
	old := make([]int64, w.NPEs())
	for pe := range w.NPEs() {
		a.FetchAddNB(pe, 1, &old[pe])
	}
	if err := w.Quiet(ctx); err != nil {
		return 0, err
	}
	for _, v := range old {
		sum += v
	}
	return sum, nil
}

type particle struct {
	sum  float64
	seen int64
	row  [8]int64
}

// wrong nonblocking: a get into a field
func intoField(ctx context.Context, w *pgas.World, c design.CellRef, p *particle) (bool, error) {
	c.GetSumNB(1, &p.sum)
	if p.sum > 0 {
		return true, w.Quiet(ctx)
	}
	return false, w.Quiet(ctx)
}

// right: another field than the one that is fetched
func besideField(ctx context.Context, w *pgas.World, c design.CellRef, p *particle) error {
	c.GetSumNB(1, &p.sum)
	p.seen++
	p.row[0] = p.seen
	return w.Quiet(ctx)
}

// wrong nonblocking: swap into an element of an array
func swapped(ctx context.Context, w *pgas.World, a pgas.Atomic[int64]) error {
	var old [2]int64
	a.SwapNB(1, 7, &old[1])
	if old[1] == 7 {
		return fmt.Errorf("twice")
	}
	return w.Quiet(ctx)
}

// wrong nonblocking: compare-and-swap looked at too early
func claim(ctx context.Context, w *pgas.World, a pgas.Atomic[int64]) (bool, error) {
	var old int64
	a.CompareSwapNB(0, 0, 1, &old)
	won := old == 0
	return won, w.Quiet(ctx)
}

// wrong nonblocking: one element of a slice that a fetch fills
func fetched(ctx context.Context, w *pgas.World, a pgas.Atomic[int64], out []int64, i int) error {
	a.FetchNB(2, &out[i])
	fmt.Println(out[i])
	return w.Quiet(ctx)
}

// right: the element beside the one that is fetched
func besideElement(ctx context.Context, w *pgas.World, a pgas.Atomic[int64], out []int64) error {
	a.FetchNB(2, &out[0])
	out[1] = 5
	fmt.Println(out[1])
	return w.Quiet(ctx)
}

// wrong nonblocking: a range over a buffer that is not filled
func rangeEarly(ctx context.Context, w *pgas.World, s pgas.Slice[int64]) (sum int64, err error) {
	buf := make([]int64, s.Len())
	s.GetNB(1, buf)
	for _, v := range buf {
		sum += v
	}
	return sum, w.Quiet(ctx)
}

// wrong nonblocking: a strided get, read at once
func strided(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) (int64, error) {
	s.IGetNB(1, buf, 1, 4, 8)
	last := buf[7]
	return last, w.Quiet(ctx)
}

// wrong nonblocking: a buffer that is printed before it is filled
func printed(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) error {
	s.IBGetNB(1, buf, 2, 4, 2, 8)
	fmt.Println(buf)
	return w.Quiet(ctx)
}

// wrong nonblocking: a buffer that is sorted before it is filled
func sorted(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) error {
	s.GetNB(1, buf)
	slices.Sort(buf)
	return w.Quiet(ctx)
}

// right: the length of a buffer is not its content
func lengths(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) error {
	s.GetNB(1, buf)
	fmt.Println(len(buf), cap(buf))
	return w.Quiet(ctx)
}

// wrong nonblocking: QuietLocal completes no get
func quietLocal(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) (int64, error) {
	s.GetNotifyNB(1, buf, 3)
	if err := w.Context().QuietLocal(ctx); err != nil {
		return 0, err
	}
	return buf[0], nil
}

// wrong nonblocking: a put from a buffer that is being filled
func forward(ctx context.Context, w *pgas.World, s, t pgas.Slice[int64], buf []int64) error {
	s.GetNB(1, buf)
	t.Put(2, buf)
	return w.Quiet(ctx)
}

// right: a put after the quiet
func forwardQuiet(ctx context.Context, w *pgas.World, s, t pgas.Slice[int64], buf []int64) error {
	s.GetNB(1, buf)
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	t.Put(2, buf)
	return w.Quiet(ctx)
}

// wrong nonblocking: two gets into one buffer
func twoGets(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) error {
	s.GetNB(1, buf)
	s.GetNB(2, buf)
	return w.Quiet(ctx)
}

// right: two gets into two halves
func twoHalves(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) error {
	s.GetNB(1, buf[:4])
	s.GetNB(2, buf[4:8])
	return w.Quiet(ctx)
}

// wrong nonblocking: gets of all PEs into one buffer
func allIntoOne(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) error {
	for pe := range w.NPEs() {
		s.GetNB(pe, buf)
	}
	return w.Quiet(ctx)
}

// right: a row for each PE
func rowForEach(ctx context.Context, w *pgas.World, s pgas.Slice[int64], rows [][]int64) error {
	n := s.Len()
	flat := make([]int64, n*w.NPEs())
	for pe := range w.NPEs() {
		s.GetNB(pe, rows[pe])
		s.GetNB(pe, flat[pe*n:(pe+1)*n])
	}
	return w.Quiet(ctx)
}

// right: a buffer for each turn
func freshBuffers(ctx context.Context, w *pgas.World, s pgas.Slice[int64]) ([][]int64, error) {
	var rows [][]int64
	for pe := range w.NPEs() {
		buf := make([]int64, s.Len())
		s.GetNB(pe, buf)
		rows = append(rows, buf)
	}
	return rows, w.Quiet(ctx)
}

// wrong nonblocking: the value of a get is put on
func passOn(ctx context.Context, w *pgas.World, s pgas.Slice[int64], r pgas.Ref[int64]) error {
	var v int64
	r.GetNB(1, &v)
	s.At(0).Put(2, v)
	return w.Quiet(ctx)
}

// wrong nonblocking: the source changes in the next turn
func nextTurn(ctx context.Context, w *pgas.World, s pgas.Slice[float64], row []float64) error {
	for step := range 10 {
		for i := range row {
			row[i] = float64(step * i)
		}
		s.PutNB((w.PE()+1)%w.NPEs(), row)
	}
	return w.Quiet(ctx)
}

// right: a quiet at the beginning of each turn
func quietFirst(ctx context.Context, w *pgas.World, s pgas.Slice[float64], row []float64) error {
	for step := range 10 {
		if step > 0 {
			if err := w.Quiet(ctx); err != nil {
				return err
			}
		}
		for i := range row {
			row[i] = float64(step * i)
		}
		s.PutNB((w.PE()+1)%w.NPEs(), row)
	}
	return w.Quiet(ctx)
}

// wrong nonblocking: a buffer that is refilled by append
func refilled(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) error {
	s.PutNB(1, buf)
	buf = append(buf[:0], 1, 2, 3)
	return w.Quiet(ctx)
}

// wrong nonblocking: the source is the own copy
func ownSource(ctx context.Context, w *pgas.World, s pgas.Slice[int64]) error {
	mine := s.Local()
	s.PutNB(1, mine)
	mine[0] = -1
	return w.Quiet(ctx)
}

// wrong nonblocking: a get into the source of a put
func getIntoSource(ctx context.Context, w *pgas.World, s, t pgas.Slice[int64], buf []int64) error {
	s.PutNB(1, buf)
	t.Get(2, buf)
	return w.Quiet(ctx)
}

// right: a source may be put twice, and read
func putTwice(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) error {
	s.PutNB(1, buf)
	s.PutNB(2, buf)
	s.Put(3, buf)
	fmt.Println(buf)
	return w.Quiet(ctx)
}

// wrong nonblocking: a strided source that is changed
func stridedSource(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) error {
	s.IPutNB(1, buf, 2, 1, 8)
	buf[3] = 0
	return w.Quiet(ctx)
}

// wrong nonblocking: a notified source that is cleared
func notifiedSource(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) error {
	s.PutNotifyNB(1, buf, 7)
	clear(buf)
	return w.Quiet(ctx)
}

// wrong nonblocking: a source that is reversed under way
func reversed(ctx context.Context, w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, buf []int64) error {
	s.PutSignalNB(1, buf, sig, 1)
	slices.Reverse(buf)
	return w.Quiet(ctx)
}

// wrong nonblocking: another context's quiet
func otherContext(ctx context.Context, w *pgas.World, s pgas.Slice[int64], a, b *pgas.Context, buf []int64) (int64, error) {
	s.On(a).GetNB(1, buf)
	if err := b.Quiet(ctx); err != nil {
		return 0, err
	}
	v := buf[0]
	return v, a.Quiet(ctx)
}

// right: its own context's quiet
func ownContext(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) (int64, error) {
	c, err := w.NewContext()
	if err != nil {
		return 0, err
	}
	s.On(c).GetNB(1, buf)
	if err := c.Quiet(ctx); err != nil {
		return 0, err
	}
	return buf[0], c.Close()
}

// wrong nonblocking: a quiet of the World, not of the context
func worldQuiet(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) (int64, error) {
	c, err := w.NewContext()
	if err != nil {
		return 0, err
	}
	s.On(c).GetNB(1, buf)
	if err := w.Quiet(ctx); err != nil {
		return 0, err
	}
	v := buf[0]
	return v, c.Close()
}

// wrong nonblocking: a helper begins the get
func helped(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) (int64, error) {
	prefetch(s, 1, buf)
	v := buf[0]
	return v, w.Quiet(ctx)
}

func prefetch(s pgas.Slice[int64], pe int, buf []int64) { s.GetNB(pe, buf) }

// right: a helper that completes
func helpedRight(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) (int64, error) {
	if err := fetchNow(ctx, w, s, 1, buf); err != nil {
		return 0, err
	}
	return buf[0], nil
}

func fetchNow(ctx context.Context, w *pgas.World, s pgas.Slice[int64], pe int, buf []int64) error {
	s.GetNB(pe, buf)
	return w.Quiet(ctx)
}

// wrong nonblocking: a closure begins the get
func closureGet(ctx context.Context, w *pgas.World, s pgas.Slice[int64]) (int64, error) {
	buf := make([]int64, 8)
	get := func(pe int) { s.GetNB(pe, buf) }
	get(1)
	v := buf[0]
	return v, w.Quiet(ctx)
}

// wrong nonblocking: the destination of a reduction before its wait
func reduceEarly(ctx context.Context, w *pgas.World, dst, src pgas.Slice[int64]) (int64, error) {
	r := pgas.SumReduceNB(ctx, w.Team(), dst, src)
	v := dst.Local()[0]
	return v, r.Wait(ctx)
}

// right: the destination after its wait
func reduceWaited(ctx context.Context, w *pgas.World, dst, src pgas.Slice[int64]) (int64, error) {
	r := pgas.SumReduceNB(ctx, w.Team(), dst, src)
	if err := r.Wait(ctx); err != nil {
		return 0, err
	}
	return dst.Local()[0], nil
}

// wrong nonblocking: the source of a reduction under way
func reduceSource(ctx context.Context, w *pgas.World, dst, src pgas.Slice[int64]) error {
	r := pgas.SumReduceNB(ctx, w.Team(), dst, src)
	src.Local()[0] = 0
	return r.Wait(ctx)
}

// wrong nonblocking: the length of a collect before its wait
func collectEarly(ctx context.Context, w *pgas.World, dst, src pgas.Slice[int64]) (int, error) {
	var n int
	r := pgas.CollectNB(ctx, w.Team(), dst, src, &n)
	got := n
	return got, r.Wait(ctx)
}

// wrong nonblocking: a fence completes no get
func fenceOnly(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) (int64, error) {
	s.GetNB(1, buf)
	w.Fence()
	v := buf[0]
	return v, w.Quiet(ctx)
}

// wrong nonblocking: sleeping completes no get
func sleepOnly(ctx context.Context, w *pgas.World, r pgas.Ref[int64]) (int64, error) {
	var v int64
	r.GetNB(1, &v)
	time.Sleep(time.Second)
	w.Yield()
	got := v
	return got, w.Quiet(ctx)
}

// wrong nonblocking: a sync completes no get
func syncOnly(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64) (int64, error) {
	s.GetNB(1, buf)
	if err := w.Sync(ctx); err != nil {
		return 0, err
	}
	v := buf[0]
	return v, w.Quiet(ctx)
}

// wrong nonblocking: the completion of a put says nothing of a get
func wrongCompletion(ctx context.Context, w *pgas.World, s pgas.Slice[int64], src, dst []int64) (int64, error) {
	s.GetNB(1, dst)
	if err := s.PutNB(2, src).Wait(ctx); err != nil {
		return 0, err
	}
	v := dst[0]
	return v, w.Quiet(ctx)
}

// right: buffers in turns
func doubleBuffer(ctx context.Context, w *pgas.World, s pgas.Slice[int64]) error {
	var bufs [2][]int64
	for i := range bufs {
		bufs[i] = make([]int64, s.Len())
	}
	s.GetNB(0, bufs[0])
	for pe := range w.NPEs() {
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		if pe+1 < w.NPEs() {
			s.GetNB(pe+1, bufs[(pe+1)%2])
		}
		use(bufs[pe%2])
	}
	return nil
}

func use(buf []int64) { fmt.Println(buf) }

// right: the variable means another buffer
func swappedNames(ctx context.Context, w *pgas.World, s pgas.Slice[int64], cur, next []int64) error {
	s.GetNB(1, next)
	cur, next = next, cur
	next[0] = 1
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	fmt.Println(cur[0])
	return nil
}

// right: the quiet is deferred to the branch that needs it
func quietInBranches(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buf []int64, early bool) (int64, error) {
	s.GetNB(1, buf)
	if early {
		if err := w.Quiet(ctx); err != nil {
			return 0, err
		}
		return buf[0], nil
	}
	if err := w.Barrier(ctx); err != nil {
		return 0, err
	}
	return buf[0], nil
}
