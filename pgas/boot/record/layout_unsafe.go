package record

// The layout of the memory. All of it is zero at first.

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	pageBytes = 4096
	magic     = 0x70676173_72656302 // changes with the layout

	// MaxNames is how many names a PE can have: causes of waits, regions, locks. Later ones are all called Others.
	MaxNames  = 256
	nameBytes = 64 // of a name, its length included

	// MaxEvents bounds the events of a PE.
	MaxEvents = 1 << 24
)

type head struct {
	magic            uint64
	npes, first, pes uint64 // the PEs of the job; the first PE and the PEs of this host
	events           uint64 // the events that each PE may record
}

// peHead is the first page of what a PE records.
type peHead struct {
	counters [NumCounters]atomic.Uint64
	names    atomic.Uint64 // the number of names that are published
	next     atomic.Uint64 // the number of events that were to be recorded
	nlevels  atomic.Uint64 // the number of levels that are published
	levels   [LockLevels]name
	dropped  atomic.Uint64 // the number of updates that were more than may be recorded
}

type wait struct{ count, time atomic.Uint64 }

type name struct {
	n    byte
	text [nameBytes - 1]byte
}

// set sets n to s, or to as many of its characters as there is room for.
func (n *name) set(s string) {
	if cut := len(n.text); len(s) > cut {
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	n.n = byte(copy(n.text[:], s))
}

// String returns the name as it can be shown: a program, or a PE that writes where it should not, may have put any
// bytes there, which would be commands to a terminal and no text for others.
func (n *name) String() string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(n.text[:min(int(n.n), len(n.text))]))
}

// peer is what a PE records of one PE of the job.
type peer struct {
	ops, bytes [NumKinds]atomic.Uint64
	waited     atomic.Uint64 // the time waited, in nanoseconds
	_          uint64
}

// Memory is the records of the PEs of a host.
type Memory struct {
	mem    []byte
	mapped bool
	head   head // the head as it was when the file was mapped: PEs can write to the memory's
}

func align(n int) int { return (n + pageBytes - 1) &^ (pageBytes - 1) }

// offsets are those of the parts of one PE's records, from their start.
type offsets struct{ waits, names, peers, events, end int }

func offsetsOf(npes, events int) (o offsets) {
	o.waits = align(int(unsafe.Sizeof(peHead{})))
	o.names = o.waits + align(MaxNames*int(unsafe.Sizeof(wait{})))
	o.peers = o.names + align(MaxNames*nameBytes)
	o.events = o.peers + align(npes*int(unsafe.Sizeof(peer{})))
	o.end = o.events + align(events*int(unsafe.Sizeof(Event{})))
	return o
}

func bytesFor(npes, pes, events int) int { return pageBytes + pes*offsetsOf(npes, events).end }

func writeHead(mem []byte, npes, first, pes, events int) {
	*(*head)(unsafe.Pointer(&mem[0])) = head{magic: magic, npes: uint64(npes), first: uint64(first), pes: uint64(pes), events: uint64(events)}
}

// Create makes the memory for the PEs first … first+pes-1 of a job of npes PEs, with room for some events each, as a
// file that PEs inherit. It is sparse, and its size cannot change: a PE could otherwise take from its agent what that
// has mapped. It returns the kernel's error.
func Create(npes, first, pes, events int) (*os.File, error) {
	fd, err := unix.MemfdCreate("pgas-record", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("making the memory of records: %w", err)
	}
	f := os.NewFile(uintptr(fd), "pgas-record")
	err = f.Truncate(int64(bytesFor(npes, pes, events)))
	if err == nil {
		page := make([]byte, pageBytes)
		writeHead(page, npes, first, pes, events)
		_, err = f.WriteAt(page, 0)
	}
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("making the memory of records: %w", err)
	}
	return f, nil
}

// New makes such a memory for the PEs of this process.
func New(npes, first, pes, events int) *Memory {
	words := make([]uint64, bytesFor(npes, pes, events)/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
	writeHead(mem, npes, first, pes, events)
	return &Memory{mem: mem, head: *(*head)(unsafe.Pointer(&mem[0]))}
}

// Map maps the memory in f, which may be closed afterwards. It returns an error if f cannot be mapped or holds no
// records of this version.
func Map(f *os.File) (*Memory, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the size of the records: %w", err)
	}
	if info.Size() < pageBytes {
		return nil, errors.New("the file of records is too small to have a head")
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes of records: %w", info.Size(), err)
	}
	h := *(*head)(unsafe.Pointer(&mem[0]))
	if h.magic != magic || h.events > MaxEvents || h.npes > 1<<20 || h.first > h.npes || h.pes > h.npes-h.first || len(mem) != bytesFor(int(h.npes), int(h.pes), int(h.events)) {
		unix.Munmap(mem)
		return nil, errors.New("the records were laid out by another version: build the program and pgasrun from the same module version")
	}
	return &Memory{mem: mem, mapped: true, head: h}, nil
}

// Close unmaps the memory. What was had of it may not be used afterwards. It returns the kernel's error.
func (m *Memory) Close() error {
	if !m.mapped {
		return nil
	}
	m.mapped = false
	return unix.Munmap(m.mem)
}

// Close unmaps the memory of p, with the records of the other PEs. Nothing may be recorded afterwards. It returns the
// kernel's error.
func (p *PE) Close() error { return p.memory.Close() }

// PE returns the records of the PE with that number in the job, which is on this host.
func (m *Memory) PE(number int) *PE {
	i := number - int(m.head.first)
	if i < 0 || i >= int(m.head.pes) {
		panic(fmt.Sprintf("record: PE %d is not one of this host's", number))
	}
	o := offsetsOf(int(m.head.npes), int(m.head.events))
	at := pageBytes + i*o.end
	part := func(from int) unsafe.Pointer { return unsafe.Pointer(&m.mem[at+from]) }
	p := &PE{
		memory: m,
		number: number,
		head:   (*peHead)(part(0)),
		waits:  (*[MaxNames]wait)(part(o.waits)),
		names:  (*[MaxNames]name)(part(o.names)),
		peers:  unsafe.Slice((*peer)(part(o.peers)), m.head.npes),
	}
	if m.head.events > 0 {
		p.events = unsafe.Slice((*Event)(part(o.events)), m.head.events)
	}
	return p
}

// JobPEs returns how many PEs the job has.
func (m *Memory) JobPEs() int { return int(m.head.npes) }

// First returns the number of the first PE that the memory is for.
func (m *Memory) First() int { return int(m.head.first) }

// PEs returns how many PEs the memory is for.
func (m *Memory) PEs() int { return int(m.head.pes) }

// publish makes e visible to readers: its kind is written last.
func publish(e *Event, kind EventKind) {
	word := (*atomic.Uint64)(unsafe.Pointer(&e.Peer)) // Peer, Name, Kind and Place
	word.Store(tagOf(e.Peer, e.Name, kind))
}

// publishPlace makes the place of e visible to readers. The PE has published e.
func publishPlace(e *Event, place uint8) {
	word := (*atomic.Uint64)(unsafe.Pointer(&e.Peer))
	word.Store(word.Load()&^(0xff<<56) | uint64(place)<<56)
}

// tagOf returns the last word of an event.
func tagOf(peer int32, name uint16, kind EventKind) uint64 {
	return uint64(uint32(peer)) | uint64(name)<<32 | uint64(kind)<<48
}

// load returns a copy of e. Its duration may still be Open.
func load(e *Event) Event {
	word := (*atomic.Uint64)(unsafe.Pointer(&e.Peer)).Load()
	c := Event{Peer: int32(word), Name: uint16(word >> 32), Kind: EventKind(word >> 48), Place: uint8(word >> 56)}
	if c.Kind != None {
		c.Start, c.Seq, c.Value = e.Start, e.Seq, e.Value
		c.Dur = atomic.LoadInt64(&e.Dur)
	}
	return c
}

// Log is where a thread that is not Go's records events of kind Serve: it takes the number of an event from Next,
// writes the event there if that is less than Capacity, and Tag into its last word when it is complete.
type Log struct {
	// each of EventBytes: its start and duration in nanoseconds, 0, the messages handled, the tag
	Events   unsafe.Pointer
	Next     *atomic.Uint64
	Capacity uint64
	Tag      uint64
}

// EventBytes is the size of an event.
const EventBytes = 40

// ServeLog returns the log of p's service thread; a zero Log if there is no trace.
func (p *PE) ServeLog() Log {
	if p == nil || !p.Traces() {
		return Log{}
	}
	return Log{
		Events: unsafe.Pointer(&p.events[0]), Next: &p.head.next, Capacity: uint64(len(p.events)),
		Tag: tagOf(-1, p.Name("serves"), Serve),
	}
}

var (
	_ [pageBytes - unsafe.Sizeof(peHead{})]byte
	_ [EventBytes - unsafe.Sizeof(Event{})]byte
	_ [unsafe.Sizeof(Event{}) - EventBytes]byte
)
