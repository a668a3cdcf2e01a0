package locks

// The distributed counter (rma-locks 3.2.1): a number of physical counters, each for the readers of some PEs. A reader
// changes the counter of its PE; a writer must take all counters.
//
//	state    of a counter's home   readers inside, tickets of the readers that entered while the counter was wanted,
//	                               and the mode
//	waiters  of a counter's home   a bit for each of its PEs whose reader waits
//	wake     of a PE's own copy    1: its reader is inside, counted by the writer that wrote the 1
//	writer   of the root's copy    1 + the writer that wants the counters, written by it
//	gained   of a PE's own copy    counters that readers have handed over to this PE, a writer
//
// The modes of a counter:
//
//	open     readers come and go
//	wanted   a writer wants the counter. Readers enter until T_R of them have entered since then
//	taken    the writer has the counter: no reader is inside, no reader enters
//
// A reader adds one to the readers, and sees the mode in the old value. At an open counter it is inside. At a
// wanted one it adds one to the tickets, and is inside if there were fewer than T_R. Otherwise it subtracts
// itself from the readers, sets its bit, tries once more, and then waits with its bit set. The last reader to
// leave a wanted counter, or to subtract itself, makes it taken by a compare-swap from exactly that state, and
// tells the writer. If the compare-swap fails, another reader has come and will be the last one. A writer that
// finds no reader inside takes the counter itself.
//
// Tickets are never given back one by one. A counter has none once it is taken, and none when a writer has given it up.
// If a reader adds its ticket just after that, it stays for the next writer, which admits one reader less.
//
// Invariant: there are at most T_R tickets and one for each reader inside: a reader takes one only if it has seen
// fewer than T_R, and is counted as inside meanwhile. So no field runs over into the next, however often the lock
// is used.
//
// The writer gives a counter back by subtracting the mode, and then admits the waiting readers: it clears the bits,
// counts their readers as inside, and wakes them. That is before any other writer can want the counter,
// so after a writer has yielded, every reader that waited is inside.
//
// A writer takes two round trips, however many counters there are: it wants all counters and takes those without
// readers in one, and gives them back and clears their bits in the other. The listings access one counter after the
// other, and flush each operation.
//
// Where the listings fall short:
//
// 1. Listing 6 adds a large number to ARRIVE and goes on. That no reader is inside must be checked, as 4.1
// says; arrivals and departures are two words in the listing, which no PE can read at once. In this file they are
// one.
//
// 2. reset_counter reads and then subtracts. If a writer sets the mode between, a reader that resets at T_R
// removes the mode again, and reader and writer are inside together. In this file no reader resets anything, and only
// the writer that set the mode removes it. Nor are readers counted as arrived while no writer wants the counter:
// that count would grow with every use.
//
// 3. In Listing 9 a reader that reaches T_R while the tail is not empty waits for a reset. If that was the
// last writer, after its reset and before it clears the tail, no PE resets again. In this file a reader
// waits only while a writer wants or has the reader's counter, and that writer will give it back.
//
// 4. In Listing 7 the writer takes the counters at once, so T_R never comes into play. The text (3.2.3)
// says that up to T_R readers enter while a writer waits; in this file they do.
//
// 5. In Listing 8 the writer that passes the lock to the readers at T_W tells its successor at the same
// time, which may take the counters again before any reader has checked. In this file
// the writer itself admits the waiting readers.
//
// 6. Readers of Listing 9 poll ARRIVE over the network. In this file they wait in their own memory.
//
// Cancellation. A reader clears its bit; if the bit is clear already, a writer is admitting the reader, which waits for
// that. A writer removes the mode from the counters that have not been handed over, waits until readers have reported
// the others, and admits the waiting readers of all counters.
//
// Invariant: only the head of level 1 of the tree wants or has counters.

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/topo"
)

// maskWords bounds the PEs of one physical counter: 64 for each word.
const maskWords = 64

// Counter is the state of a distributed counter.
//
//pgas:symmetric views
type Counter struct {
	State   int64             `pgas:"atomic"` // of a counter's home; written by: its readers, the writer
	_       [56]byte          // separates the state, which readers use most
	Waiters [maskWords]uint64 `pgas:"atomic"` // of a counter's home; written by: its readers, the writer
	Wake    int64             `pgas:"atomic"` // written by: the writer (1), owner (0)
	Gained  int64             `pgas:"atomic"` // written by: readers, the owner
	Writer  int64             `pgas:"atomic"` // of the root's copy; written by: the writer
}

// The fields of a counter's state: 32 bits of readers, 29 bits of tickets, the mode.
const (
	ticketShift = 32
	modeShift   = 61
	maxTR       = 1<<28 - 1 // the largest T_R: tickets of readers that saw fewer at the same time fit, too

	oneReader = 1
	oneTicket = 1 << ticketShift

	open   = 0
	wanted = 1
	taken  = 2
)

func readersIn(s int64) int64 { return s & (1<<ticketShift - 1) }
func ticketsOf(s int64) int64 { return s >> ticketShift & (1<<(modeShift-ticketShift) - 1) }
func modeOf(s int64) int64    { return s >> modeShift }

// A counterPlace is a physical counter: on the lowest of the PEs whose readers it counts. Each of these PEs has a bit,
// in ascending order.
type counterPlace struct{ home, pes, words int }

// groups returns the number of the counter of PE pe's readers.
type groups func(pe int) int

// groupsOf returns the groups with a counter for every tdc PEs in a row, or, if tdc is 0, for each host. Counters are
// numbered in the order of their lowest PEs.
func groupsOf(tree *topo.Tree, tdc int) (groups, error) {
	if tdc != 0 {
		return func(pe int) int { return pe / tdc }, nil
	}
	hosts, err := tree.Level(topo.Host)
	return hosts.Element, err
}

// counter is a PE's handle.
type counter struct {
	w                           *pgas.World
	me, root                    int
	tr                          int64
	sequential                  bool // RMARWOptions.Sequential
	groups                      groups
	places                      []counterPlace
	mine, bit                   int // the counter of this PE's readers, and its bit in waiters
	state, wake, gained, writer pgas.Atomic[int64]
	waiters                     [maskWords]pgas.Atomic[uint64]
	scratch                     writerScratch
}

// writerScratch is memory that a writer needs, by counter.
type writerScratch struct {
	seen, found []int64  // what operations on the counter returned
	missing     []bool   // whether readers will hand the counter over
	masks       []uint64 // the waiters of each counter, in sequence
}

func newCounter(w *pgas.World, ref CounterRef, root int, g groups, tr int) (*counter, error) {
	x := w.Context()
	c := &counter{
		w: w, me: w.PE(), root: root, tr: int64(tr), groups: g,
		state: ref.State().On(x), wake: ref.Wake().On(x), gained: ref.Gained().On(x), writer: ref.Writer().On(x),
	}
	for i := range c.waiters {
		c.waiters[i] = ref.Waiters(i).On(x)
	}
	for pe := range w.NPEs() {
		i := g(pe)
		if i == len(c.places) {
			c.places = append(c.places, counterPlace{home: pe})
		}
		p := &c.places[i]
		if pe == c.me {
			c.mine, c.bit = i, p.pes
		}
		p.pes++
		p.words = (p.pes + 63) / 64
		if p.words > maskWords {
			return nil, fmt.Errorf("a counter for more than %d PEs: choose a smaller T_DC", 64*maskWords)
		}
	}
	return c, nil
}

// ensureScratch allocates what a writer needs, when the PE first writes.
func (c *counter) ensureScratch() {
	if c.scratch.seen != nil {
		return
	}
	n, words := len(c.places), 0
	for _, p := range c.places {
		words += p.words
	}
	c.scratch = writerScratch{make([]int64, n), make([]int64, n), make([]bool, n), make([]uint64, words)}
}

func (c *counter) home() int { return c.places[c.mine].home }

// admits reports whether a reader that found state s may enter.
func (c *counter) admits(s int64) bool {
	switch modeOf(s) {
	case open:
		return true
	case wanted:
		return ticketsOf(s) < c.tr
	}
	return false
}

// tryShare admits a reader if that needs no waiting, and reports whether it did.
func (c *counter) tryShare() bool {
	old := c.state.FetchAdd(c.home(), oneReader)
	if modeOf(old) == wanted && c.admits(old) {
		// The counter cannot be taken at this time: this reader is counted.
		old = c.state.FetchAdd(c.home(), oneTicket)
	}
	if !c.admits(old) {
		c.unshare()
		return false
	}
	return true
}

// share blocks until a reader is admitted. One goroutine of a PE at a time calls it. Errors: *pgas.PeerError if a PE of
// the job dies, and the cause of ctx's end.
func (c *counter) share(ctx context.Context, way *passage) error {
	if c.tryShare() {
		return nil
	}
	way.behind(-1)
	c.mask().FetchOr(c.home(), c.flag())
	// From now on, a writer that gives the counter back admits this reader. It may have done so just before.
	if c.admits(c.state.Fetch(c.home())) && c.tryShare() {
		if c.withdraw() {
			return nil
		}
		return c.uncount()
	}
	err := c.awaitGrant(ctx)
	if err == nil || c.withdraw() {
		return err
	}
	return c.awaitGrant(context.Background())
}

// uncount waits until a writer has admitted this reader, which is inside already, and subtracts it once.
func (c *counter) uncount() error {
	if err := c.awaitGrant(context.Background()); err != nil {
		return err
	}
	c.unshare()
	return nil
}

func (c *counter) mask() pgas.Atomic[uint64] { return c.waiters[c.bit/64] }
func (c *counter) flag() uint64              { return 1 << (c.bit % 64) }

// withdraw clears this PE's bit. It returns false if a writer has cleared it, which admits this reader then.
func (c *counter) withdraw() bool {
	return c.mask().FetchAnd(c.home(), ^c.flag())&c.flag() != 0
}

// awaitGrant blocks until a writer has admitted this reader.
func (c *counter) awaitGrant(ctx context.Context) error {
	if _, err := c.wake.WaitUntil(ctx, pgas.NE, 0); err != nil {
		return err
	}
	c.wake.Swap(c.me, 0)
	return nil
}

// unshare subtracts a reader from its counter, and hands the counter over to a waiting writer if it was the last.
func (c *counter) unshare() {
	home := c.home()
	now := c.state.FetchAdd(home, -oneReader) - oneReader
	if readersIn(now) == 0 && modeOf(now) == wanted && c.handOver(home, now) {
		// The writer is still the same: it waits for this.
		c.gained.FetchAdd(int(c.writer.Fetch(c.root)-1), 1)
	}
}

// handOver makes a counter taken, in the name of the writer, if its state is still s. It removes the tickets.
func (c *counter) handOver(home int, s int64) bool {
	return c.state.CompareSwap(home, s, taken<<modeShift) == s
}

// claim takes all counters for this PE, the head of the tree.
func (c *counter) claim(ctx context.Context, way *passage) error {
	c.ensureScratch()
	c.writer.Swap(c.root, int64(c.me)+1)
	missing, err := c.want()
	if err != nil || missing == 0 {
		return err
	}
	way.behind(-1) // readers
	if _, err = c.gained.WaitUntil(ctx, pgas.EQ, int64(missing)); err != nil {
		c.cancel()
		return err
	}
	c.gained.Swap(c.me, 0)
	return nil
}

// tryClaim takes all counters if no reader is inside.
func (c *counter) tryClaim() bool {
	c.ensureScratch()
	c.writer.Swap(c.root, int64(c.me)+1)
	missing, err := c.want()
	if err != nil {
		panicPeerError(err)
	}
	if missing == 0 {
		return true
	}
	c.cancel()
	return false
}

// want sets all counters to wanted and takes those without readers inside. It returns the number of the others. It
// accesses all counters at once, and takes one round trip if no counter has tickets that an earlier writer has left.
// Errors:
// *pgas.PeerError if a counter's home is lost.
func (c *counter) want() (missing int, err error) {
	v := &c.scratch
	for i, p := range c.places {
		c.state.FetchAddNB(p.home, wanted<<modeShift, &v.seen[i])
		c.completeIfSequential()
	}
	c.w.Fence() // each counter is wanted before it is taken
	for i, p := range c.places {
		c.state.CompareSwapNB(p.home, wanted<<modeShift, taken<<modeShift, &v.found[i])
		c.completeIfSequential()
	}
	if err := c.w.Quiet(context.Background()); err != nil {
		return 0, err
	}
	if err := c.takeTicketed(); err != nil {
		return 0, err
	}
	for _, m := range v.missing {
		if m {
			missing++
		}
	}
	return missing, nil
}

// takeTicketed takes the counters that want has found with tickets and without readers inside, and records which of all
// are missing.
func (c *counter) takeTicketed() error {
	v := &c.scratch
	again := false
	for i, p := range c.places {
		at := v.found[i]
		v.missing[i] = at != wanted<<modeShift
		if v.missing[i] && modeOf(at) == wanted && readersIn(at) == 0 {
			v.seen[i], v.found[i] = at, ^at
			c.state.CompareSwapNB(p.home, at, taken<<modeShift, &v.found[i])
			again = true
		} else {
			v.seen[i] = ^v.found[i]
		}
	}
	if !again {
		return nil
	}
	if err := c.w.Quiet(context.Background()); err != nil {
		return err
	}
	for i := range c.places {
		if v.found[i] == v.seen[i] {
			v.missing[i] = false
		}
	}
	return nil
}

// cancel gives all counters back: those that this PE has, wants, or is about to be handed.
func (c *counter) cancel() {
	handed := int64(0)
	for i, p := range c.places {
		if c.scratch.missing[i] && !c.unwant(p.home) {
			handed++
		}
	}
	if handed > 0 {
		// Readers have handed these over and are about to report it.
		if _, err := c.gained.WaitUntil(context.Background(), pgas.EQ, handed); err != nil {
			panicPeerError(err)
		}
		c.gained.Swap(c.me, 0)
	}
	for i, p := range c.places {
		if !c.scratch.missing[i] {
			c.state.FetchAdd(p.home, -taken<<modeShift)
		}
	}
	c.admit()
}

// unwant removes the mode from a counter that this PE wants. If the counter has been handed over meanwhile, unwant
// gives it back and returns false.
func (c *counter) unwant(home int) bool {
	for {
		s := c.state.Fetch(home)
		if modeOf(s) == taken {
			c.state.FetchAdd(home, -taken<<modeShift)
			return false
		}
		if c.state.CompareSwap(home, s, readersIn(s)) == s { // open, and without tickets
			return true
		}
	}
}

// yield gives all counters back and admits the waiting readers.
func (c *counter) yield() {
	c.ensureScratch() // another writer may have claimed them
	for i, p := range c.places {
		c.state.FetchAddNB(p.home, -taken<<modeShift, &c.scratch.seen[i])
		c.completeIfSequential()
	}
	c.w.Fence() // a reader that sets its bit after its home's are read finds the counter open
	c.admit()
}

// admit lets in the readers that wait at the counters, which are open. It takes each step for all counters at once.
func (c *counter) admit() {
	masks := c.scratch.masks
	for _, p := range c.places {
		for j := range p.words {
			c.waiters[j].SwapNB(p.home, 0, &masks[j])
		}
		c.completeIfSequential()
		masks = masks[p.words:]
	}
	c.w.MustQuiet()
	masks = c.scratch.masks
	anybody := false
	for i, p := range c.places {
		if n := ones(masks[:p.words]); n > 0 {
			c.state.FetchAddNB(p.home, n*oneReader, &c.scratch.seen[i])
			anybody = true
		}
		masks = masks[p.words:]
	}
	if !anybody {
		return
	}
	c.w.MustQuiet() // a reader must be counted before it is woken: it may leave at once
	masks = c.scratch.masks
	for i, p := range c.places {
		c.wakeReaders(i, masks[:p.words])
		masks = masks[p.words:]
	}
	c.w.MustQuiet()
}

// completeIfSequential ends a writer's operation on a counter before that on the next one, if it is to.
func (c *counter) completeIfSequential() {
	if c.sequential {
		c.w.MustQuiet()
	}
}

// wakeReaders wakes the readers of a counter whose bits are set.
func (c *counter) wakeReaders(place int, mask []uint64) {
	bit := 0
	for pe, left := c.places[place].home, ones(mask); left > 0; pe++ {
		if c.groups(pe) != place {
			continue
		}
		if mask[bit/64]>>(bit%64)&1 != 0 {
			c.wake.Set(pe, 1)
			left--
		}
		bit++
	}
}

// ones returns the number of bits that are set.
func ones(mask []uint64) (n int64) {
	for _, m := range mask {
		n += int64(bits.OnesCount64(m))
	}
	return n
}

// waiting returns the number of readers that were seen waiting.
func (c *counter) waiting() (n int) {
	for _, p := range c.places {
		for j := range p.words {
			n += bits.OnesCount64(c.waiters[j].Fetch(p.home))
		}
	}
	return n
}
