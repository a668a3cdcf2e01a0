package boot

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
)

// Segment is a mapped host segment.
type Segment struct {
	Header *Header
	States []*State // the states of the PEs of this host

	failing sync.Mutex // held by Fail

	mem     []byte // the whole mapping
	mapped  bool   // mem came from mmap, and is this segment's to unmap
	discard int    // the advice that gives pages of mem back to the kernel; 0: there is none
	view    []byte // the view of the Guard that was made last, for Retire; nil: there is none

	goMemory
}

// CreateSegment makes the host segment as a memfd, writes its header and returns the file, which each PE
// inherits. The file is sparse: only touched pages take memory. It returns the kernel's error.
func CreateSegment(npes, first, local, cores int, heapMax uint64) (*os.File, error) {
	fd, err := unix.MemfdCreate("pgas", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("creating the host segment: %w", err)
	}
	f := os.NewFile(uintptr(fd), "pgas-segment")
	if err := f.Truncate(int64(SegmentBytes(local, heapMax))); err != nil {
		f.Close()
		return nil, fmt.Errorf("sizing the host segment to %d bytes: %w", SegmentBytes(local, heapMax), err)
	}
	head, err := unix.Mmap(fd, 0, PageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("mapping the host segment's header: %w", err)
	}
	defer unix.Munmap(head)
	writeHeader(head, npes, first, local, cores, heapMax)
	return f, nil
}

func writeHeader(mem []byte, npes, first, local, cores int, heapMax uint64) {
	h := (*Header)(unsafe.Pointer(&mem[0]))
	h.Magic, h.NPEs, h.First, h.Local = SegmentMagic, uint32(npes), uint32(first), uint32(local)
	h.Cores, h.HeapMax = uint32(cores), heapMax
}

// MapSegment maps the host segment in f with all its heaps; f may be closed afterwards. It returns an error if f cannot
// be mapped or holds no segment of this version.
func MapSegment(f *os.File) (*Segment, error) { return mapSegment(f, 0) }

// MapControl maps only the header and the state pages of the segment in f, for the launcher. Errors are as
// MapSegment's.
func MapControl(f *os.File, local int) (*Segment, error) {
	return mapSegment(f, (1+local)*PageBytes)
}

func mapSegment(f *os.File, bytes int) (*Segment, error) {
	if bytes == 0 {
		info, err := f.Stat()
		if err != nil {
			return nil, fmt.Errorf("reading the size of the host segment: %w", err)
		}
		bytes = int(info.Size())
	}
	if bytes < PageBytes {
		return nil, errors.New("the host segment is too small to have a header")
	}
	mem, err := mapAligned(f, bytes)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes of host segment: %w%s", bytes, err, addressLimit(err))
	}
	s, err := view(mem)
	if err != nil {
		unmap(mem)
		return nil, err
	}
	s.mapped, s.discard = true, unix.MADV_REMOVE
	return s, nil
}

// NewSegment makes a segment in Go memory, for PEs that are goroutines of one process: the race
// detector sees every access to Go memory.
func NewSegment(npes, cores int, heapMax uint64) *Segment {
	raw, skew, mem := newMemory(SegmentBytes(npes, heapMax))
	writeHeader(mem, npes, 0, npes, cores, heapMax)
	s, err := view(mem)
	if err != nil {
		panic(err) // the header was written two lines above
	}
	s.raw, s.skew = raw, skew
	return s
}

// NewSegmentIn lays out the segment of a host with one PE in mem, which is zero and starts at a multiple of HeapAlign,
// in a private mapping of no file: for a simulator, which has one such host for each of thousands of PEs in one
// mapping. It does not own mem. It returns an error if mem is too small or not aligned.
func NewSegmentIn(mem []byte, npes, pe int, heapMax uint64) (*Segment, error) {
	if n := SegmentBytes(1, heapMax); uint64(len(mem)) < n {
		return nil, fmt.Errorf("%d bytes are too few for a segment of %d", len(mem), n)
	}
	if uintptr(unsafe.Pointer(&mem[0]))%HeapAlign != 0 {
		return nil, fmt.Errorf("the memory for a segment does not start at a multiple of %d: map it with MapAnonymous", HeapAlign)
	}
	writeHeader(mem, npes, pe, 1, 1, heapMax)
	s, err := view(mem)
	if err == nil {
		s.discard = unix.MADV_DONTNEED
	}
	return s, err
}

// view returns the segment in mem, or an error if mem holds none of this version.
func view(mem []byte) (*Segment, error) {
	h := (*Header)(unsafe.Pointer(&mem[0]))
	if h.Magic != SegmentMagic {
		return nil, fmt.Errorf("the host segment was laid out by another version (magic %#x, want %#x): build the program and pgasrun from the same module version", h.Magic, uint64(SegmentMagic))
	}
	if len(mem) < (1+int(h.Local))*PageBytes {
		return nil, fmt.Errorf("the host segment has %d bytes, too few for %s", len(mem), plural.Count(h.Local, "PE"))
	}
	s := &Segment{Header: h, mem: mem}
	for i := range int(h.Local) {
		s.States = append(s.States, (*State)(unsafe.Pointer(&mem[(1+i)*PageBytes])))
	}
	return s, nil
}

// Heap returns the heap of local PE i.
func (s *Segment) Heap(i int) []byte {
	at := s.HeapOffset(i)
	return s.mem[at : at+s.Header.HeapMax : at+s.Header.HeapMax]
}

// Close unmaps the segment. No reference into it may be used afterwards. It returns the kernel's error.
func (s *Segment) Close() error {
	if !s.mapped {
		return nil
	}
	s.mapped = false
	if s.view != nil {
		_ = unmap(s.view) // on failure it stays reserved, which costs addresses only
	}
	return unmap(s.mem)
}

// Retire takes the memory of the heaps from a mapped segment and from its Guard. Their addresses stay reserved until
// Close, so an access through a reference that is left crashes. The header and the states stay. It returns the kernel's
// error.
func (s *Segment) Retire() error {
	heaps := s.mem[s.HeapOffset(0):]
	if !s.mapped || len(heaps) == 0 {
		return nil
	}
	err := cover(heaps)
	if err == nil && s.view != nil {
		err = cover(s.view)
	}
	return err
}

// Words returns c as ucx/engine has it.
func (c *Contention) Words() *[5]atomic.Int64 { return (*[5]atomic.Int64)(unsafe.Pointer(c)) }

var (
	_ [PageBytes - unsafe.Sizeof(Header{})]byte
	_ [PageBytes - unsafe.Sizeof(State{})]byte
	_ [unsafe.Sizeof([5]atomic.Int64{}) - unsafe.Sizeof(Contention{})]byte
)
