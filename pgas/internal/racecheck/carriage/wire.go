package carriage

// Messages as bytes. A message has its length before it. Sites and clocks travel once: each stream numbers its sites,
// and a record whose clock is that of the record before it says only that.

import (
	"encoding/binary"
	"errors"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/transport"
)

// The kinds of messages.
const (
	kindRecord = iota + 1
	kindQuestion
	kindAnswer
)

// maxMessage bounds the length of a message.
const maxMessage = 16 << 20

// The bits of the two bytes that a record begins with.
const (
	howMask     = 1<<2 - 1
	releaseBit  = 2 // the lowest of the release's
	releaseMask = 1<<3 - 1
	sameClock   = 1 << 5
	sameFenced  = 1 << 6
	oneBlock    = 1 << 7

	mixed      = 1 << 0
	underWay   = 1 << 1 // a strand of its own
	sameStream = 1 << 2 // with the same target
)

var errTorn = errors.New("its messages are torn")

// history is what messages of a stream are compared with: the record before them.
type history struct {
	clock  *racecheck.Clock
	fenced racecheck.UpTo
	to     int32
	stream uint16
}

// An encoder turns the messages of a stream into bytes.
type encoder struct {
	last   history
	sites  map[place]uint64
	recent [64]numbered // sites that were sent of late, by their addresses
}

// place is a call of the program.
type place struct{ call, line string }

// numbered is a site with its number in a stream.
type numbered struct {
	site   racecheck.Site
	number uint64
}

// record appends r to b.
func (e *encoder) record(b []byte, r *racecheck.Record) []byte {
	next := history{r.Clock, r.Fenced, r.To, r.Stream}
	b = append(b, kindRecord,
		byte(r.How)|byte(r.Release)<<releaseBit|bit(next.clock == e.last.clock, sameClock)|
			bit(next.fenced == e.last.fenced, sameFenced)|bit(r.Count == 1, oneBlock),
		bit(r.Mixed, mixed)|bit(r.Number != 0, underWay)|
			bit(next.to == e.last.to && next.stream == e.last.stream, sameStream))
	b = binary.AppendUvarint(b, r.Own)
	if next.to != e.last.to || next.stream != e.last.stream {
		b = binary.AppendUvarint(b, uint64(r.To+1)) // -1: no PE
		b = binary.AppendUvarint(b, uint64(r.Stream))
	}
	if r.Number != 0 {
		b = binary.AppendUvarint(b, r.Number)
	}
	if next.fenced != e.last.fenced {
		for _, n := range r.Fenced {
			b = binary.AppendUvarint(b, n)
		}
	}
	b = binary.AppendUvarint(b, r.Off)
	b = binary.AppendUvarint(b, r.Bytes)
	if r.Count != 1 {
		b = binary.AppendUvarint(b, r.Count)
		b = binary.AppendUvarint(b, r.Stride)
	}
	if r.Release&racecheck.ReleaseNote != 0 {
		b = appendNote(b, &r.Key)
	}
	if r.Release&racecheck.ReleaseCall != 0 {
		b = appendCall(b, &r.Call)
	}
	b = e.site(b, r.Site)
	if next.clock != e.last.clock {
		b = r.Clock.AppendAfter(b, e.last.clock)
	}
	e.last = next
	return b
}

// bit returns b if set is, or 0.
func bit(set bool, b byte) byte {
	if set {
		return b
	}
	return 0
}

// site appends the number of s: 0 for none. The first time a place is sent, its text follows.
func (e *encoder) site(b []byte, s racecheck.Site) []byte {
	if s == nil {
		return binary.AppendUvarint(b, 0)
	}
	known := &e.recent[addressOf(s)/64%uintptr(len(e.recent))]
	if known.site == s {
		return binary.AppendUvarint(b, known.number)
	}
	var p place
	p.call, p.line = s.Name()
	number, ok := e.sites[p]
	if !ok {
		if e.sites == nil {
			e.sites = map[place]uint64{}
		}
		number = uint64(len(e.sites)) + 1
		e.sites[p] = number
	}
	*known = numbered{s, number}
	b = binary.AppendUvarint(b, number)
	if !ok {
		b = appendText(appendText(b, p.call), p.line)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendNote(b []byte, k *racecheck.NoteKey) []byte {
	b = binary.AppendUvarint(b, uint64(k.Stamp))
	b = binary.AppendUvarint(b, k.Bytes)
	return binary.AppendUvarint(b, k.Off)
}

func appendCall(b []byte, k *racecheck.CallKey) []byte {
	b = binary.AppendUvarint(b, uint64(k.Home))
	b = binary.AppendUvarint(b, uint64(k.Slot))
	b = binary.AppendUvarint(b, k.Number)
	b = binary.AppendUvarint(b, uint64(k.Member))
	return binary.AppendUvarint(b, uint64(k.Size))
}

// appendQuestion appends a question with the number by which the asking PE knows it.
func appendQuestion(b []byte, number uint64, q *racecheck.Question) []byte {
	b = binary.AppendUvarint(append(b, kindQuestion), number)
	b = binary.AppendUvarint(b, q.Word)
	b = binary.AppendUvarint(b, q.Bytes)
	b = binary.AppendUvarint(b, uint64(max(q.First, 0)))
	b = binary.AppendUvarint(b, uint64(max(q.Last, -1)+1))
	if q.Call == nil {
		return append(b, 0)
	}
	return appendCall(append(b, 1), q.Call)
}

// appendAnswer appends the answer to the question with a number.
func appendAnswer(b []byte, number uint64, c *racecheck.Clock) []byte {
	return c.Append(binary.AppendUvarint(append(b, kindAnswer), number))
}

// A decoder turns the bytes of a stream back into messages.
type decoder struct {
	from  int    // the PE that sends the stream
	npes  int    // the PEs of the job
	heap  uint64 // bytes of a heap
	last  history
	sites []racecheck.Site
	r     racecheck.Record // that of the last message
}

// maxSites bounds the sites of a stream: a program has far fewer calls.
const maxSites = 1 << 20

// record returns the record that b holds behind its kind, until the next one.
func (d *decoder) record(b []byte) (*racecheck.Record, error) {
	if len(b) < 2 {
		return nil, errTorn
	}
	first, second, in := b[0], b[1], reader{b: b[2:]}
	r := &d.r
	*r = racecheck.Record{Count: 1, Release: racecheck.Release(first >> releaseBit & releaseMask), Mixed: second&mixed != 0}
	r.From, r.How = int32(d.from), racecheck.How(first&howMask)
	r.Own = in.number()
	if second&sameStream == 0 {
		d.last.to, d.last.stream = in.below(d.npes+1)-1, uint16(in.below(1<<16))
	}
	if second&underWay != 0 {
		r.Number = in.number()
	}
	if first&sameFenced == 0 {
		d.last.fenced = racecheck.UpTo{in.number(), in.number(), in.number()}
	}
	r.Off, r.Bytes = in.number(), in.number()
	if first&oneBlock == 0 {
		r.Count, r.Stride = in.number(), in.number()
	}
	if r.Release&racecheck.ReleaseNote != 0 {
		r.Key = in.note()
	}
	if r.Release&racecheck.ReleaseCall != 0 {
		r.Call = in.call(d.npes)
	}
	r.Site = d.site(&in)
	if first&sameClock == 0 {
		d.last.clock = in.clock(d.npes, d.last.clock)
	}
	r.Clock, r.Fenced, r.To, r.Stream = d.last.clock, d.last.fenced, d.last.to, d.last.stream
	if in.err != nil || len(in.b) != 0 || !d.fits(r) {
		return nil, errTorn
	}
	return r, nil
}

// fits reports whether the bytes of an access are in a heap, and each of them in one block. So there are no more blocks
// than bytes.
func (d *decoder) fits(r *racecheck.Record) bool {
	switch {
	case r.Count == 0:
		return r.Off <= d.heap
	case r.Off > d.heap || r.Bytes > d.heap-r.Off:
		return false
	case r.Count == 1:
		return true
	}
	return r.Stride >= max(r.Bytes, 1) && r.Stride <= (d.heap-r.Off-r.Bytes)/(r.Count-1)
}

func (d *decoder) site(in *reader) racecheck.Site {
	n := in.number()
	switch {
	case n == 0:
		return nil
	case n <= uint64(len(d.sites)):
		return d.sites[n-1]
	case n != uint64(len(d.sites))+1 || n > maxSites:
		in.fail()
		return nil
	}
	s := racecheck.At(in.text(), in.text())
	d.sites = append(d.sites, s)
	return s
}

// question returns the question that b holds behind its kind, and its number.
func (d *decoder) question(b []byte) (number uint64, q racecheck.Question, err error) {
	in := reader{b: b}
	number = in.number()
	q.Word, q.Bytes = in.number(), in.number()
	q.First, q.Last = in.below(1<<31-1), in.below(1<<31-1)-1
	if in.number() != 0 {
		k := in.call(d.npes)
		q.Call = &k
	}
	if in.err != nil || len(in.b) != 0 || q.Word > d.heap || q.Bytes > d.heap-q.Word || q.Bytes == 0 && q.Call == nil {
		return 0, q, errTorn
	}
	return number, q, nil
}

// answer returns the clock that b holds behind its kind, and the number of the question.
func (d *decoder) answer(b []byte) (number uint64, c *racecheck.Clock, err error) {
	in := reader{b: b}
	number = in.number()
	c = in.clock(d.npes, nil)
	if in.err != nil || len(in.b) != 0 {
		return 0, nil, errTorn
	}
	return number, c, nil
}

// reader takes values from bytes. After an error it returns zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail() { r.b, r.err = nil, errTorn }

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// below returns a number that must be less than n.
func (r *reader) below(n int) int32 {
	v := r.number()
	if v >= uint64(n) {
		r.fail()
		return 0
	}
	return int32(v)
}

func (r *reader) text() string {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.fail()
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) note() (k racecheck.NoteKey) {
	k.Stamp, k.Bytes, k.Off = transport.Stamp(r.number()), r.number(), r.number()
	return k
}

func (r *reader) call(npes int) (k racecheck.CallKey) {
	k.Home, k.Slot, k.Number = r.below(npes), r.below(boot.TeamSlots), r.number()
	k.Member, k.Size = r.below(npes), r.below(npes+1)
	return k
}

// clock returns a clock of at most npes PEs, which was sent to a reader of the one before.
func (r *reader) clock(npes int, before *racecheck.Clock) *racecheck.Clock {
	if n, _ := binary.Uvarint(r.b); n > uint64(npes) {
		r.fail()
		return nil
	}
	c, rest, err := racecheck.ParseClock(r.b, before)
	if err != nil {
		r.fail()
		return nil
	}
	r.b = rest
	return c
}
