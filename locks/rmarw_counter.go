package locks

// The distributed counter (rma-locks 3.2.1): a number of physical counters, each for the readers of some
// PEs. A reader changes its own one; a writer must have them all.
//
//	state    of a counter's home   readers inside, tickets of the readers that entered while it was wanted, and
//	                               the mode
//	waiters  of a counter's home   a bit for each of its PEs whose reader waits
//	wake     of a PE's own copy    1: its reader is inside, counted by who said so
//	writer   of the root's copy    1 + the writer that wants the counters, written by it
//	gained   of a PE's own copy    counters that readers have handed to it, the writer
//
// The modes of a counter:
//
//	open     readers come and go
//	wanted   a writer wants it. Readers enter until T_R of them have since then
//	taken    the writer has it: nobody is inside, no reader enters
//
// A reader adds one to the readers, and sees the mode in the old value. At an open counter it is inside. At a
// wanted one it adds one to the tickets, and is inside if there were fewer than T_R. Otherwise it subtracts
// itself from the readers, sets its bit, tries once more, and then waits with its bit set. The last reader to
// leave a wanted counter, or to subtract itself, makes it taken by a compare-swap from exactly that state, and
// tells the writer. If the compare-swap fails, another reader has come and will be the last one. A writer that
// finds no reader inside takes the counter itself.
//
// Tickets are never given back one by one. A counter has none once it is taken, and none when a writer has
// given it up. If a reader's ticket comes just after that, it stays for the next writer, which lets in one reader less.
//
// Invariant: there are at most T_R tickets and one for each reader inside: a reader takes one only if it has seen
// fewer than T_R, and is counted as inside meanwhile. So no field runs over into the next, however often the lock
// is used.
//
// The writer gives a counter back by taking the mode off, and then lets in the waiting readers: it clears the
// bits, counts their readers as inside, and wakes them. That is before any other writer can want the counter,
// so after a writer has yielded, every reader that waited is inside.
//
// Where the listings fall short:
//
// 1. Listing 6 adds a large number to ARRIVE and goes on. That no reader is inside must be checked, as 4.1
// says; arrivals and departures are two words there, which nobody can read at once. Here they are one.
//
// 2. reset_counter reads and then subtracts. If a writer sets the mode between, a reader that resets at T_R
// takes the mode off again, and reader and writer are inside together. Here no reader resets anything, and only
// its writer takes the mode off. Nor are readers counted as arrived while no writer wants the counter: that
// count would grow with every use.
//
// 3. In Listing 9 a reader that reaches T_R while the tail is not empty waits for a reset. If that was the
// last writer, after its reset and before it clears the tail, nobody resets again. Here a reader is held up
// only while a writer wants or has its own counter, and that writer will give it back.
//
// 4. In Listing 7 the writer takes the counters at once, so T_R never comes into play. The text (3.2.3)
// says that up to T_R readers enter while a writer waits; here they do.
//
// 5. In Listing 8 the writer that passes the lock to the readers at T_W tells its successor at the same
// time, which may take the counters again before any reader has looked. Here those who wait are let in by
// the writer itself.
//
// 6. Readers of Listing 9 poll ARRIVE over the network. Here they wait in their own memory.
//
// Cancellation. A reader takes its bit back; if it is gone, somebody is letting it in, and it waits for
// that. A writer takes the mode off the counters that nobody has handed over, waits for those that somebody
// is about to tell it of, and lets in who waits everywhere.
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
	_       [56]byte          // readers hammer it
	Waiters [maskWords]uint64 `pgas:"atomic"` // of a counter's home; written by: its readers, the writer
	Wake    int64             `pgas:"atomic"` // written by: the writer (1), owner (0)
	Gained  int64             `pgas:"atomic"` // written by: readers, the owner
	Writer  int64             `pgas:"atomic"` // of the root's copy; written by: the writer
}

// The fields of a counter's state: 32 bits of readers, 29 bits of tickets, the mode.
const (
	ticketShift = 32
	modeShift   = 61
	maxTR       = 1<<28 - 1 // leaves room for the tickets of readers that saw fewer than T_R at the same time

	oneReader = 1
	oneTicket = 1 << ticketShift

	open   = 0
	wanted = 1
	taken  = 2
)

func readersIn(s int64) int64 { return s & (1<<ticketShift - 1) }
func ticketsOf(s int64) int64 { return s >> ticketShift & (1<<(modeShift-ticketShift) - 1) }
func modeOf(s int64) int64    { return s >> modeShift }

// A counterPlace is a physical counter: on the lowest of the PEs whose readers it counts. They have a bit
// each, in ascending order.
type counterPlace struct{ home, pes, words int }

// groups says whose readers are counted together.
type groups func(pe int) int

// groupsOf has a counter for every tdc PEs in a row, or for each host. They are numbered in the order of
// their lowest PEs.
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
	groups                      groups
	places                      []counterPlace
	mine, bit                   int // this PE's place, and its bit there
	state, wake, gained, writer pgas.Atomic[int64]
	waiters                     [maskWords]pgas.Atomic[uint64]
	scratch                     writerScratch
}

// writerScratch is what a writer needs room for, by place.
type writerScratch struct {
	seen, found []int64  // what its operations returned
	missing     []bool   // others hand it over
	masks       []uint64 // who waits there, places one after another
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

// ensureScratch makes room for a writer, when the PE first writes.
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

// admits says whether a reader enters that found the state s.
func (c *counter) admits(s int64) bool {
	switch modeOf(s) {
	case open:
		return true
	case wanted:
		return ticketsOf(s) < c.tr
	}
	return false
}

// tryShare lets a reader in if it need not wait.
func (c *counter) tryShare() bool {
	old := c.state.FetchAdd(c.home(), oneReader)
	if modeOf(old) == wanted && c.admits(old) {
		// The counter cannot be taken meanwhile: this reader is counted.
		old = c.state.FetchAdd(c.home(), oneTicket)
	}
	if !c.admits(old) {
		c.unshare()
		return false
	}
	return true
}

// share lets a reader in. One at a time of a PE is in here.
func (c *counter) share(ctx context.Context) error {
	if c.tryShare() {
		return nil
	}
	c.mask().FetchOr(c.home(), c.flag())
	// From here on, whoever gives the counter back lets this reader in. That may have been just before.
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

// uncount waits to be let in by another PE too, and takes that back: this reader is inside already.
func (c *counter) uncount() error {
	if err := c.awaitGrant(context.Background()); err != nil {
		return err
	}
	c.unshare()
	return nil
}

func (c *counter) mask() pgas.Atomic[uint64] { return c.waiters[c.bit/64] }
func (c *counter) flag() uint64              { return 1 << (c.bit % 64) }

// withdraw takes this PE's bit back, or reports that it is being let in.
func (c *counter) withdraw() bool {
	return c.mask().FetchAnd(c.home(), ^c.flag())&c.flag() != 0
}

// awaitGrant waits to be let in.
func (c *counter) awaitGrant(ctx context.Context) error {
	if _, err := c.wake.WaitUntil(ctx, pgas.NE, 0); err != nil {
		return err
	}
	c.wake.Swap(c.me, 0)
	return nil
}

// unshare subtracts a reader from its counter, and hands the counter over if it was the last.
func (c *counter) unshare() {
	home := c.home()
	now := c.state.FetchAdd(home, -oneReader) - oneReader
	if readersIn(now) == 0 && modeOf(now) == wanted && c.handOver(home, now) {
		// The writer cannot be another one meanwhile: it waits for this.
		c.gained.FetchAdd(int(c.writer.Fetch(c.root)-1), 1)
	}
}

// handOver takes a counter for the writer, if no PE has changed it since it was in state s. It removes the tickets.
func (c *counter) handOver(home int, s int64) bool {
	return c.state.CompareSwap(home, s, taken<<modeShift) == s
}

// claim takes all counters for this PE, the head of the tree.
func (c *counter) claim(ctx context.Context) error {
	c.ensureScratch()
	c.writer.Swap(c.root, int64(c.me)+1)
	missing, err := c.want()
	if err != nil || missing == 0 {
		return err
	}
	if _, err = c.gained.WaitUntil(ctx, pgas.EQ, int64(missing)); err != nil {
		c.cancel()
		return err
	}
	c.gained.Swap(c.me, 0)
	return nil
}

// tryClaim takes all counters if nobody is inside.
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

// want says at all counters that this PE wants them and takes those that nobody is in. It returns how many
// are missing. It goes to all of them at once, twice.
func (c *counter) want() (missing int, err error) {
	for i, p := range c.places {
		c.state.FetchAddNB(p.home, wanted<<modeShift, &c.scratch.seen[i])
	}
	if err := c.w.Quiet(context.Background()); err != nil {
		return 0, err
	}
	v := &c.scratch
	for i, p := range c.places {
		v.seen[i] += wanted << modeShift
		v.found[i] = ^v.seen[i]
		if readersIn(v.seen[i]) == 0 {
			c.state.CompareSwapNB(p.home, v.seen[i], taken<<modeShift, &v.found[i])
		}
	}
	if err := c.w.Quiet(context.Background()); err != nil {
		return 0, err
	}
	for i := range c.places {
		v.missing[i] = v.found[i] != v.seen[i]
		if v.missing[i] {
			missing++
		}
	}
	return missing, nil
}

// cancel gives all counters back, whether this PE has them, wants them, or is about to be told that it has.
func (c *counter) cancel() {
	handed := int64(0)
	for i, p := range c.places {
		if c.scratch.missing[i] && !c.unwant(p.home) {
			handed++
		}
	}
	if handed > 0 {
		// Readers have handed these over and are about to say so.
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

// unwant takes the mode off a counter that this PE wants, or, if it has been handed over, off one that it
// has, and then returns false.
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

// yield gives all counters back and lets in who waits.
func (c *counter) yield() {
	c.ensureScratch() // another writer may have claimed them
	for i, p := range c.places {
		c.state.FetchAddNB(p.home, -taken<<modeShift, &c.scratch.seen[i])
	}
	mustQuiet(c.w)
	c.admit()
}

// admit lets in the readers that wait at the counters, which are open. What it does to one, it does to all
// at once.
func (c *counter) admit() {
	masks := c.scratch.masks
	for _, p := range c.places {
		for j := range p.words {
			c.waiters[j].SwapNB(p.home, 0, &masks[j])
		}
		masks = masks[p.words:]
	}
	mustQuiet(c.w)
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
	mustQuiet(c.w) // who is woken must be counted: it may leave at once
	masks = c.scratch.masks
	for i, p := range c.places {
		c.wakeReaders(i, masks[:p.words])
		masks = masks[p.words:]
	}
	mustQuiet(c.w)
}

// wakeReaders wakes the readers of a place whose bits are set.
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

// ones is the number of bits that are set.
func ones(mask []uint64) (n int64) {
	for _, m := range mask {
		n += int64(bits.OnesCount64(m))
	}
	return n
}

// waiting is the number of readers that were seen waiting.
func (c *counter) waiting() (n int) {
	for _, p := range c.places {
		for j := range p.words {
			n += bits.OnesCount64(c.waiters[j].Fetch(p.home))
		}
	}
	return n
}
