package snippets

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/pgas"
)

// wrong unfenced: a flag right behind the data
func flagBehind(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	s.Put(1, src)
	sig.Set(1, 1)
}

// right: a fence between
func flagFenced(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	s.Put(1, src)
	w.Fence()
	sig.Set(1, 1)
}

// wrong unfenced: many puts, and one count
func manyPuts(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64, to int) {
	for i := range src {
		s.At(i).PutNB(to, &src[i])
	}
	sig.Add(to, 1)
}

// right: a quiet after many puts
func manyPutsQuiet(ctx context.Context, w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64, to int) error {
	for i := range src {
		s.At(i).PutNB(to, &src[i])
	}
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	sig.Add(to, 1)
	return nil
}

// wrong unfenced: a word that the target waits for
func wordFlag(ctx context.Context, w *pgas.World, data pgas.Sym[float64], flag pgas.Atomic[int64]) error {
	if w.PE() == 0 {
		data.At(0).Put(1, 3.14)
		flag.Set(1, 1)
		return nil
	}
	_, err := flag.WaitUntil(ctx, pgas.EQ, 1)
	return err
}

// wrong unfenced: a notification behind a put
func notifyBehind(w *pgas.World, s pgas.Slice[int64], src []int64) {
	s.Put(1, src)
	w.Notify(1, 5)
}

// wrong unfenced: a Short behind a put
func shortBehind(w *pgas.World, s pgas.Slice[int64], done pgas.Short[uint16], src []int64) {
	s.Put(1, src)
	done.Put(1, 1)
}

// wrong unfenced: a signal covers its own payload only
func header(w *pgas.World, head pgas.Ref[int64], body pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	head.Put(1, int64(len(src)))
	body.PutSignal(1, src, sig, 1)
}

// right: both with a signal of their own
func twoSignals(w *pgas.World, head pgas.Ref[int64], body pgas.Slice[int64], a, b pgas.SignalRef, src []int64) {
	n := int64(len(src))
	head.PutSignal(1, &n, a, 1)
	body.PutSignal(1, src, b, 1)
}

// wrong unfenced: the fence of another context
func otherFence(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, c *pgas.Context, src []int64) {
	s.On(c).Put(1, src)
	w.Fence()
	sig.On(c).Set(1, 1)
}

// right: the fence of the same context
func sameFence(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, c *pgas.Context, src []int64) {
	s, sig = s.On(c), sig.On(c)
	s.Put(1, src)
	c.Fence()
	sig.Set(1, 1)
}

// wrong unfenced: all puts, then all flags
func loops(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	for pe := range w.NPEs() {
		s.Put(pe, src)
	}
	for pe := range w.NPEs() {
		sig.Set(pe, 1)
	}
}

// right: all puts, a fence, all flags
func loopsFenced(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	for pe := range w.NPEs() {
		s.Put(pe, src)
	}
	w.Fence()
	for pe := range w.NPEs() {
		sig.Set(pe, 1)
	}
}

// wrong unfenced: a helper puts, the caller sets the flag
func helperPuts(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	sendTo(s, 1, src)
	sig.Set(1, 1)
}

func sendTo(s pgas.Slice[int64], pe int, src []int64) { s.Put(pe, src) }

// right: a helper puts and fences
func helperFences(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	sendFenced(w, s, 1, src)
	sig.Set(1, 1)
}

func sendFenced(w *pgas.World, s pgas.Slice[int64], pe int, src []int64) {
	s.Put(pe, src)
	w.Fence()
}

// wrong unfenced: time is no fence
func sleepBetween(ctx context.Context, w *pgas.World, c design.CellRef, next int) error {
	c.PutSum(next, 5)
	time.Sleep(time.Millisecond)
	if err := w.Sleep(ctx, time.Millisecond); err != nil {
		return err
	}
	w.Yield()
	c.Ready().Set(next, 1)
	return nil
}

// wrong unfenced: a fence to another PE
func fencePE(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	s.Put(1, src)
	w.Context().FencePE(2)
	sig.Set(1, 1)
}

// right: a fence to that PE
func fenceThatPE(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	s.Put(1, src)
	w.Context().FencePE(1)
	sig.Set(1, 1)
}

// wrong unfenced: data to the left, and to the right; the flag to the left
func leftAndRight(w *pgas.World, c design.CellRef, halo []float64) {
	left, right := (w.PE()+w.NPEs()-1)%w.NPEs(), (w.PE()+1)%w.NPEs()
	c.PutHalo(left, 1, halo)
	c.PutHalo(right, 0, halo)
	c.Ready().Add(left, 1)
}

// right: the flag goes to another PE than the data
func thirdPE(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	s.Put(1, src)
	sig.Set(2, 1)
}

// wrong unfenced: in one branch the fence is missing
func branchWithout(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64, big bool) {
	if big {
		s.Put(1, src)
		w.Fence()
	} else {
		s.Put(1, src[:1])
	}
	sig.Set(1, 1)
}

// right: a flag before the data of the next round
func flagFirst(w *pgas.World, s pgas.Slice[int64], sig pgas.SignalRef, src []int64) {
	sig.Set(1, 1)
	s.Put(1, src)
}

// right: a counter that nobody waits for
func statistics(w *pgas.World, s pgas.Slice[int64], hits pgas.Atomic[int64], src []int64) {
	s.Put(1, src)
	hits.Add(1, 1)
}

// wrong localread: put, quiet, read of the own copy
func shiftQuiet(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (int64, error) {
	s.At(0).Put((w.PE()+1)%w.NPEs(), int64(w.PE()))
	if err := w.Quiet(ctx); err != nil {
		return 0, err
	}
	return s.Local()[0], nil
}

// right: put, barrier, read
func shiftBarrier(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (int64, error) {
	s.At(0).Put((w.PE()+1)%w.NPEs(), int64(w.PE()))
	if err := w.Barrier(ctx); err != nil {
		return 0, err
	}
	return s.Local()[0], nil
}

// wrong localread: a sync completes no put
func shiftSync(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (int64, error) {
	s.At(0).Put((w.PE()+1)%w.NPEs(), int64(w.PE()))
	if err := w.Sync(ctx); err != nil {
		return 0, err
	}
	return s.Local()[0], nil
}

// right: quiet and sync
func shiftQuietSync(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (int64, error) {
	s.At(0).Put((w.PE()+1)%w.NPEs(), int64(w.PE()))
	if err := w.Quiet(ctx); err != nil {
		return 0, err
	}
	if err := w.Sync(ctx); err != nil {
		return 0, err
	}
	return s.Local()[0], nil
}

// wrong localread: everybody puts to everybody, and adds up at once
func everybody(w *pgas.World, s pgas.Sym[int64]) (sum int64) {
	for pe := range w.NPEs() {
		s.At(w.PE()).Put(pe, 1)
	}
	for _, v := range s.Local() {
		sum += v
	}
	return sum
}

// wrong localread: yielding is no wait
func yielding(w *pgas.World, c design.CellRef) float64 {
	c.PutSum((w.PE()+1)%w.NPEs(), 5)
	for range 100 {
		w.Yield()
	}
	return c.Local().Sum
}

// wrong localread: the barrier comes too late in the loop
func lateBarrier(ctx context.Context, w *pgas.World, c design.CellRef) (sum float64, err error) {
	for range 10 {
		c.PutSum((w.PE()+1)%w.NPEs(), sum)
		sum += c.Local().Sum
		if err := w.Barrier(ctx); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// wrong localread: a strided put, and a copy of the own part
func stridedRead(w *pgas.World, s pgas.Slice[int64], src, dst []int64) {
	s.IPut((w.PE()+1)%w.NPEs(), src, 2, 1, 4)
	copy(dst, s.Local())
}

// wrong localread: a helper reads what the caller puts
func helperReads(w *pgas.World, c design.CellRef) float64 {
	c.PutSum((w.PE()+1)%w.NPEs(), 5)
	return sumOf(c)
}

func sumOf(c design.CellRef) float64 { return c.Local().Sum }

// wrong localread: a store through Ptr, then a read of the own copy
func throughPtr(w *pgas.World, s pgas.Sym[int64]) int64 {
	next := (w.PE() + 1) % w.NPEs()
	*s.At(0).Ptr(next) = 5
	return *s.At(0).Local()
}

// wrong localread: a get of what the neighbor is storing
func neighbor(w *pgas.World, s pgas.Sym[int64]) int64 {
	s.Local()[0] = int64(w.PE())
	return s.At(0).Get((w.PE() + 1) % w.NPEs())
}

// right: a barrier before the neighbor's value is fetched
func neighborBarrier(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (int64, error) {
	s.Local()[0] = int64(w.PE())
	if err := w.Barrier(ctx); err != nil {
		return 0, err
	}
	return s.At(0).Get((w.PE() + 1) % w.NPEs()), nil
}

// wrong localread: the maximum of all, with no barrier after the own value
func maximum(w *pgas.World, c design.CellRef, mine float64) (top float64) {
	c.Local().Sum = mine
	for pe := range w.NPEs() {
		top = max(top, c.GetSum(pe))
	}
	return top
}

// right: the own value of another field
func otherField(w *pgas.World, c design.CellRef, mine float64) float64 {
	c.Local().Sum = mine
	var row [64]float64
	c.GetHalo((w.PE()+1)%w.NPEs(), 0, row[:])
	return row[0]
}

// right: put to others, own value by the own PE number
func ownSlot(w *pgas.World, s pgas.Sym[int64]) int64 {
	me := w.PE()
	for pe := range w.NPEs() {
		s.At(me).Put(pe, 1)
	}
	return s.Local()[me]
}

// right: root puts, the others wait, and read
func rootPuts(ctx context.Context, w *pgas.World, c design.CellRef) (float64, error) {
	if w.PE() == 0 {
		for pe := 1; pe < w.NPEs(); pe++ {
			c.PutSumSignal(pe, 5, c.Ready(), 1)
		}
		return 5, nil
	}
	if _, err := c.Ready().WaitUntil(ctx, pgas.EQ, 1); err != nil {
		return 0, err
	}
	return c.Local().Sum, nil
}

// right: PE 0 puts, PE 1 has its own branch, with a wait
func twoRoles(ctx context.Context, w *pgas.World, c design.CellRef) (v float64, err error) {
	if w.PE() == 0 {
		c.PutSumSignal(1, 5, c.Ready(), 1)
	}
	if w.PE() == 1 {
		if _, err := c.Ready().WaitUntil(ctx, pgas.EQ, 1); err != nil {
			return 0, err
		}
		v = c.Local().Sum
	}
	return v, nil
}

// right: PE 0 puts to PE 1, and reads what nobody puts to it
func masterOnly(w *pgas.World, c design.CellRef) float64 {
	if w.PE() == 0 {
		c.PutSum(1, 5)
		return c.Local().Sum
	}
	return 0
}

// right: the root stores, and PE 0 alone fetches what it stored last round
func rootReads(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (v int64, err error) {
	root := w.PE() == 0
	if root {
		s.At(1).Put(1, 7)
	}
	if !root {
		v = s.Local()[0]
	}
	return v, w.Barrier(ctx)
}

// wrong atomicfield: a plain increment beside atomic ones
func plainIncrement(w *pgas.World, c design.CellRef) {
	c.AddCount((w.PE()+1)%w.NPEs(), 1)
	c.Local().Count++
}

// wrong atomicfield: a plain load of a counter
func plainLoad(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (int64, error) {
	hits := pgas.AtomicOf(s, 0)
	hits.Add((w.PE()+1)%w.NPEs(), 1)
	if err := w.Quiet(ctx); err != nil {
		return 0, err
	}
	return s.Local()[0], nil
}

// right: an atomic load of a counter
func atomicLoad(w *pgas.World, s pgas.Sym[int64]) int64 {
	hits := pgas.AtomicOf(s, 0)
	hits.Add((w.PE()+1)%w.NPEs(), 1)
	return hits.Fetch(w.PE())
}

// wrong atomicfield: a get of a word that all add to
func plainGet(w *pgas.World, s pgas.Sym[int64]) int64 {
	pgas.AtomicOf(s, 0).Add(0, 1)
	return s.At(0).Get(0)
}

// wrong atomicfield: a put that resets a counter while others add
func plainReset(w *pgas.World, s pgas.Sym[int64]) {
	count := pgas.AtomicOf(s, 3)
	count.Inc(0)
	if w.PE() == 0 {
		s.At(3).Put(0, 0)
	}
}

// wrong atomicfield: a loop that waits for a plain word
func spin(w *pgas.World, flag pgas.Ref[int64]) {
	for *flag.Local() == 0 {
		w.Yield()
	}
}

// wrong atomicfield: a loop that polls a plain word by get
func pollGet(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) error {
	for s.At(0).Get(0) != int64(w.NPEs()) {
		if err := w.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// right: a loop that polls an atomic word
func pollAtomic(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) error {
	for pgas.AtomicOf(s, 0).Fetch(0) != int64(w.NPEs()) {
		if err := w.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// right: a loop over own memory that it changes itself
func ownLoop(w *pgas.World, s pgas.Sym[int64]) {
	mine := s.Local()
	for mine[0] < 100 {
		mine[0] += 3
	}
}

// wrong atomicfield: a plain put of the word that the target waits for
func plainFlag(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) error {
	if w.PE() == 0 {
		s.At(0).Put(1, 1)
		return nil
	}
	_, err := pgas.AtomicOf(s, 0).WaitUntil(ctx, pgas.EQ, 1)
	return err
}

// right: a goroutine waits, and is waited for
func goroutineWaits(ctx context.Context, w *pgas.World, c design.CellRef) (float64, error) {
	c.PutSumSignal((w.PE()+1)%w.NPEs(), 5, c.Ready(), 1)
	waiter := w.Go(ctx, func(ctx context.Context) error {
		_, err := c.Ready().WaitUntil(ctx, pgas.EQ, 1)
		return err
	})
	if err := waiter.Wait(); err != nil {
		return 0, err
	}
	return c.Local().Sum, nil
}
