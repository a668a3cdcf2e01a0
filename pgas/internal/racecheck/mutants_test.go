package racecheck_test

// Planted bugs of the detector of races: an order too many and an order too few for each kind of synchronization, and
// accesses that the shadow loses. Each must be found by the tests of the package. The first is always tried, the others
// with -long.

import (
	"flag"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

var long = flag.Bool("long", false, "try every planted bug")

var mutants = []mutant.Bug{
	mutant.New("a fence orders nothing", "pe.go", "^TestOracle$", "c.fenced = UpTo{c.issued[0], c.issued[1]}", "c.fenced = UpTo{}",
		"t.fenced = UpTo{c.issued[0], c.issued[1], t.gets}", "t.fenced = UpTo{}"),
	mutant.New("every operation is fenced", "pe.go", "^TestOracle$", "	a.Fenced.join(&c.fenced)\n", "	a.Fenced.join(&UpTo{c.issued[0], c.issued[1]})\n"),
	mutant.New("a fence of one PE is one of all", "pe.go", "^TestOracle$", "		if pe >= 0 && to != pe {\n", "		if to < 0 {\n"),
	mutant.New("a fence of one PE orders nothing", "pe.go", "^TestOracle$", "		if pe >= 0 && to != pe {\n", "		if pe >= 0 || to < 0 {\n"),
	mutant.New("a fence orders gets", "pe.go", "^TestOracle$", "if stream != getStream { // a fence", "if true { // a fence"),
	mutant.New("a quiet completes nothing", "pe.go", "^TestOracle$", "		p.clock = p.clock.withMark(p.me, c.stream(0), m)\n", ""),
	mutant.New("a quiet of one PE completes nothing", "pe.go", "^TestOracle$", "p.clock = p.clock.withTo(p.me, c.stream(s), int32(pe), upTo, 0)", "_ = s"),
	mutant.New("a quiet of one PE is one of all", "pe.go", "^TestOracle$", "	if pe < 0 {\n		p.clock = p.clock.withMark", "	if true {\n		p.clock = p.clock.withMark"),
	mutant.New("a local quiet is a quiet", "pe.go", "^TestOracle$", "&Mark{sourceStream: m[sourceStream]}", "&Mark{sourceStream: m[sourceStream], plainStream: m[plainStream]}"),
	mutant.New("a local quiet completes no source", "pe.go", "^TestOracle$", "	c.complete(-1, &Mark{sourceStream: m[sourceStream]})\n", ""),
	mutant.New("a quiet tells nothing of what it brings", "pe.go", "^TestOracle$", "			c.pe.acquire(ctx, to, Question{Word: w.lo, Bytes: w.hi - w.lo})\n", "			_, _ = to, w\n"),
	mutant.New("operations on the same bytes are not ordered", "underway.go", "^TestOracle$", "			chain = chain.Join(x.by.release())\n", "			_ = x\n"),
	mutant.New("operations on other bytes are ordered", "underway.go", "^TestOracle$", "		if s.hi <= lo {\n", "		if lo == hi {\n"),
	mutant.New("a get takes the place of a put", "underway.go", "^TestOracle$", "a.How.covers(e.How) && a.Fenced.has(&e.Fenced)", "a.Fenced.has(&e.Fenced)"),
	mutant.New("a part takes the place of the whole", "underway.go", "^TestOracle$", "!x.chained && lo <= s.lo && s.hi <= hi && a.stands", "!x.chained && a.stands"),
	mutant.New("operations that count as one are not ordered", "underway.go", "^TestOracleOfLongPrograms$", "			a.Fenced.join(&x.upTo)\n", "			_ = x\n"),
	mutant.New("an operation that joins others is lost", "underway.go", "^TestOracleOfLongPrograms$", "	x.upTo[s] = max(x.upTo[s], a.Number)\n", "	_ = s\n"),
	mutant.New("notes of contexts that count as one are in order", "notified.go", "^TestUnseenNotes", " || c.crowded\n", "\n"),
	mutant.New("calls that count as one are not told", "detector.go", "^TestUnseen$", "n <= c.upTo && n > c.folded", "n <= c.upTo && n < c.folded"),
	mutant.New("places that count as one are not told", "underway.go", "^TestUnseen$", "chain.Join(x.clock), true\n", "chain.Join(x.clock), false\n"),
	mutant.New("notes are not in order", "pe.go", "^TestOracle$", "		a.Fenced[notifiedStream] = a.Number - 1\n", ""),
	mutant.New("a wait tells nothing", "pe.go", "^TestOracle$", "	p.acquire(ctx, int(p.me), Question{Word: off, Bytes: bytes})\n", ""),
	mutant.New("every step of a PE is in its epoch", "pe.go", "^TestOracle$", "	c.pe.own++\n", ""),
	mutant.New("a collective releases what comes after it", "request.go", "^TestOracle$", "	if r == nil {\n		p.own++\n	}\n", ""),
	mutant.New("a collective without waiting is complete when its members have entered", "request.go", "^TestOracle$", "	a.Number, a.Site = 0, nil // the", "	a.Site = nil // the"),
	mutant.New("a collective without waiting is a step of its PE", "request.go", "^TestOracle$", "	a.To, a.Stream, a.Number = p.me, requested(slot), p.requests\n", "	_ = slot\n"),
	mutant.New("a call without waiting orders what comes after it", "request.go", "^TestOracle$", "p.requests\n	p.own++\n", "p.requests\n"),
	mutant.New("a call without waiting acquires for its PE", "request.go", "^TestOracle$", "	r.call.Clock = r.call.Clock.Join(p.ask(ctx, int(k.Home), q))\n", "	r.call.Clock = r.call.Clock.Join(p.ask(ctx, int(k.Home), q))\n	p.clock = p.clock.Join(r.call.Clock)\n"),
	mutant.New("a call without waiting acquires nothing", "request.go", "^TestOracle$", "	r.call.Clock = r.call.Clock.Join(p.ask(ctx, int(k.Home), q))\n", "	_, _ = q, p.ask\n"),
	mutant.New("a wait for a request completes nothing", "request.go", "^TestOracle$", "	return a.Clock.withTo(a.From, a.Stream, a.To, a.Number, 0)", "	return a.Clock"),
	mutant.New("a wait for a request tells nothing", "request.go", "^TestOracle$", "	return a.Clock.withTo(a.From,", "	var c *Clock\n	return c.withTo(a.From,"),
	mutant.New("calls without waiting run beside each other", "request.go", "^TestOracle$", "		r.call.Clock = r.call.Clock.Join(before.completed())\n", "		_ = before.completed\n"),
	mutant.New("a note that was seen is gone", "detector.go", "^TestNotesWithOneKey$", "		if q.Stays {\n			return c\n		}\n", ""),
	mutant.New("to see a note tells nothing", "notified.go", "^TestOracle$", "	p.acquire(ctx, int(p.me), Question{Note: &NoteKey{n.Stamp, n.Bytes, n.Off}, Stays: true})\n", ""),
	mutant.New("a member acquires all members", "detector.go", "^TestOracle$", "i <= q.Last && int(i)", "int(i)"),
	mutant.New("a member acquires none", "detector.go", "^TestOracle$", "		clock = clock.Join(one.entered[i])\n", ""),
	mutant.New("two words are one", "detector.go", "^TestOracle$", "		d.words[lo&^7] = w\n", "		d.words[lo&^7], d.words[lo&^7+8] = w, w\n"),
	mutant.New("a word releases nothing", "detector.go", "^TestReleases$", "	d.weight.bytes += w.add(wordRelease{e, uint8(lo & 7), uint8(hi - lo)})\n", "	_ = w\n"),
	mutant.New("an access in the shadow releases nothing", "shadow.go", "^TestOracle$", "					c = a.releaseTo(c)\n", "					_ = a\n"),
	mutant.New("an access in the shadow releases into the next word", "shadow.go", "^TestOracle$", "lo, hi = lo&^3, (hi+3)&^3", "lo, hi = lo&^7-min(lo, 8), (hi+7)&^7"),
	mutant.New("an access that leaves the shadow releases nothing", "shadow.go", "^TestReleases$", "				x.leave(*had, x.base+uint64(y.lo), x.base+uint64(y.hi))\n", ""),
	mutant.New("a release stands in for that of another PE", "shadow.go", "^TestReleases$", "!(x.e.releases() && e.standsIn(x.a))", "!x.e.releases()"),
	mutant.New("a page that is forgotten orders nothing", "detector.go", "^TestBytesAreBounded$", "		d.others = a.releaseTo(d.others)\n	}\n	drop", "		_ = a\n	}\n	drop"),
	mutant.New("a word has its last release alone", "detector.go", "^TestReleases$", "x.off == r.off && x.bytes == r.bytes && e.standsIn(&a)", "e.From >= 0 && a.From >= 0"),
	mutant.New("a release takes the place of that of another PE", "order.go", "^TestReleases$", "	return e.From == r.From && ", "	return "),
	mutant.New("what superseded nothing is written over", "shadow.go", "^TestOracle$", "		case x.a.supersedes(&e):\n", "		case true:\n"),
	mutant.New("a note tells of later notes", "detector.go", "^TestNotesWithOneKey$", "	return n.queued[0]\n",
		"	c := n.queued[0]\n	for _, q := range n.queued {\n		c = c.Join(q)\n	}\n	return c\n"),
	mutant.New("a note tells nothing", "notified.go", "^TestOracle$", "	p.acquire(ctx, int(p.me), Question{Note: &NoteKey{n.Stamp, n.Bytes, n.Off}})\n", ""),
	mutant.New("a fetching atomic tells nothing", "channel.go", "^TestOracle$", "		p.acquire(ctx, pe, Question{Word: word.Off, Bytes: uint64(word.Bytes)})\n", ""),
	mutant.New("a signal comes before its data", "channel.go", "^TestOracle$", "		r.Clock = payload.release()\n", "		_ = payload\n"),
	mutant.New("a get is complete at its call", "channel.go", "^TestOracle$", "f.Local, f.Clock = true, a.release()", "f.Local, f.Number, f.Clock = true, 0, a.release()"),
	mutant.New("an operation releases all of its stream", "order.go", "^TestOracle$", "return c.withTo(a.From, a.Stream, a.To, 0, a.Number)", "return c.withTo(a.From, a.Stream, a.To, a.Number, 0)"),
	mutant.New("an operation does not release itself", "order.go", "^TestOracle$", "return c.withTo(a.From, a.Stream, a.To, 0, a.Number)", "return c"),
	mutant.New("an operation is a step of its PE", "order.go", "^TestOracle$", "return e.Own < a.Own // on the same bytes", "return true // on the same bytes"),
	mutant.New("atomics race with each other", "order.go", "^TestOracle$", " || a.How.atomic() && e.How.atomic() {", " {"),
	mutant.New("atomics race with nothing", "order.go", "^TestOracle$", " || a.How.atomic() && e.How.atomic() {", " || a.How.atomic() || e.How.atomic() {"),
	mutant.New("an atomic takes the place of a put", "types.go", "^TestOracle$", "	case AtomicWrite:\n		return other.atomic()\n", "	case AtomicWrite:\n		return true\n"),
	mutant.New("what races is forgotten", "shadow.go", "^TestOracle$", "x.base + uint64(y.hi)})\n", "x.base + uint64(y.hi)})\n			continue\n"),
	mutant.New("a cell is lost behind a split", "shadow.go", "^TestShadowIsExact$", "			put(hi, y.hi, behind)\n", "			_ = behind\n"),
	mutant.New("a cell is lost between two", "shadow.go", "^TestShadowIsExact$", "			put(at, y.lo, x.alone())\n", ""),
	mutant.New("a range ends with its page", "shadow.go", "^TestLargeRange$", "		lo = end\n", "		lo = hi\n"),
	mutant.New("all is forgotten", "detector.go", "^TestBytesAreBounded$", "int(share*float64(len(d.shadow.pages)))", "int(0*share)"),
	mutant.New("nothing is forgotten", "weight.go", "^TestBytesAreBounded$", "	if w.bytes <= w.limit()/4*3 {", "	if w.bytes <= w.limit()<<10 {"),
	mutant.New("what is written over is not counted", "detector.go", "^TestLaterClocksAreBounded$", "	d.weight.common(x.e.common)\n", ""),
	mutant.New("clocks of words are not counted", "detector.go", "^TestSumIsOfBytes$", "	d.weight.clock(w.clock[0])\n	d.weight.clock(w.clock[1])\n", ""),
	mutant.New("a word that is forgotten orders nothing", "detector.go", "^TestOrdersAreBounded$", "			d.others = d.others.Join(w.clock[0]).Join(w.clock[1])\n", ""),
	mutant.New("each completion looks at all buffers", "buffers.go", "^TestCompletionsOneByOne$", "4*b.complete >= len(b.list)", "b.complete > 0"),
	mutant.New("large buffers are kept", "buffers.go", "^TestQuietsBesideMany$", " || b.added >= mostAdded {", " {"),
	mutant.New("a quiet drops no buffers", "pe.go", "^TestQuietsBesideMany$", "			buffers += t.buffers\n", ""),
	mutant.New("what is complete takes the room of buffers", "buffers.go", "^TestBuffersThatAreComplete", "if len(b.list)-b.complete >= mostBuffers {\n		b.keep", "if true {\n		b.keep"),
	mutant.New("notes are not counted", "detector.go", "^TestOrdersAreBounded$", "		s.note(n)\n", "		_ = n\n"),
	mutant.New("calls are not counted", "detector.go", "^TestOrdersAreBounded$", "		s.team(c)\n", "		_ = c\n"),
	mutant.New("notes that have no room order nothing", "detector.go", "^TestOrdersAreBounded$", "			d.loose = d.loose.Join(c)\n", "			_ = c\n"),
	mutant.New("a fetch is learned of before it", "channel.go", "^TestQuietBesideAnother$", "	ch.Channel.AtomicNB(pe, op, word, operand, cond, dst)\n	// Not", "	defer ch.Channel.AtomicNB(pe, op, word, operand, cond, dst)\n	// Not"),
	mutant.New("what is being learned is forgotten", "pe.go", "^TestQuietBesideAnother$", "				learned[to] = toLearn{slices.Clone(t.fetched), t.fetches}\n", "				learned[to] = toLearn{slices.Clone(t.fetched), t.fetches}\n				t.learned(m[plainStream], t.fetches)\n"),
	mutant.New("exempt memory ends late", "detector.go", "^TestExempt$", "return off < d.exempt[i].hi", "return off <= d.exempt[i].hi"),
	mutant.New("freed memory is exempt", "detector.go", "^TestExempt$", "	d.exempt = slices.DeleteFunc(d.exempt, func(s span) bool { return lo <= s.lo && s.hi <= hi })\n", "	_ = slices.DeleteFunc[[]span]\n"),
	mutant.New("freed memory is remembered", "shadow.go", "^TestForget$", "		if from < lo {\n", "		if from < hi {\n"),
	mutant.New("single operations are dropped when there are many", "clock.go", "^TestClockIsBounded$", "		e.upTo, singles = singles[n-1], singles[n:]\n", "		singles = singles[n:]\n"),
	mutant.New("operations that follow no others count as if they did", "clock.go", "^TestClockIsASet$", "e.singles[0] == max(e.upTo, done)+1", "e.singles[0] <= max(e.upTo, done)+2"),
}

//ci:weekly
func TestMutants(t *testing.T) { mutant.Plant(t, mutants, *long) }
