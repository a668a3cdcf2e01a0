// Package input gives each PE its share of one file, which is the input of all PEs. Each PE reads its share from the
// file system of its host, and nothing of the content moves between PEs. A unit, which is a line or a record, is never
// divided. In the same way all PEs write one file.
//
//	file, err := input.ReadShare(ctx, w.Team(), "input.txt", input.Lines) // on all PEs together
//	for at, line := range file.All() {                                    // this PE's lines
//
//	err = input.WriteShare(ctx, w.Team(), "output.txt", text) // this PE's text, after that of the PEs before it
//
// # Errors
//
// What one PE finds wrong with the file is an error on all of them, before anything is read. A file that one PE cannot
// write its share of is not there at all. Misuse panics with *pgas.UsageError.
//
//ci:nocgo=short
package input

// A share of lines begins as a share of bytes, from lo to hi. It has the lines that begin there: from the first line
// that begins at lo or later to the first that begins at hi or later. A PE finds both by looking for the end of a line,
// from lo-1 and from hi-1 on. So the share of one PE ends where the next begins, and a line that is longer than shares
// leaves some of them empty.
//
// Two exchanges hold the PEs together: before, the size of the file where each PE sees it; after, where each share
// begins and ends.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/jointfile"
	"github.com/gopgas/gopgas/pgas"
)

// Units are what a file consists of, and what is read as a whole: Lines, or Records of some size.
type Units int

// Lines are lines of text. They end with "\n" or "\r\n"; the last may end with the file.
const Lines Units = 0

// Records are records of size bytes each. It panics with *pgas.UsageError if size is less than 1.
func Records(size int) Units {
	if size < 1 {
		hook.Misuse("input.Records", "a record of %d bytes: give the size of one, 1 byte or more", size)
	}
	return Units(size)
}

// FileShare is the part of a file that this PE reads: whole lines, or whole records. Any number of goroutines read it
// at once, each by an All or a Reader of its own. Close comes after all of them.
type FileShare struct {
	file       *os.File
	path       string
	host       string
	units      Units
	start, end int64 // the bytes of the file that are the share
	size       int64 // the size of the whole file

	mu       sync.Mutex
	readings int   // iterations under way
	err      error // the first error of the iterations that overlap
}

// ReadShare opens the file at path on every member of t, and returns the share that this PE reads. All shares have as
// many bytes to within a unit, in the order of the team. Together they are the file, and no two overlap. ReadShare is
// collective over t, with the same units on every member; each member gives the path of the file in the file system of
// its host. ReadShare reads only the ends of the share: the program reads the rest, and the file is never held in
// memory. FileShare.Close ends the use of the file.
//
// ReadShare returns an error on every member, which names the PE and the host, if a member cannot open or read the
// file, if the members see files of different sizes or with other ends of lines, or if the size of the file is no
// multiple of the size of a record. It returns *pgas.MismatchError if the units differ, and the errors of a collective
// (see pgas.Team). It panics with *pgas.UsageError if ctx is nil, if t is no team of this PE, or if units is negative.
func ReadShare(ctx context.Context, t *pgas.Team, path string, units Units) (*FileShare, error) {
	hook.MustBegin("input.ReadShare", ctx, t)
	if units < 0 {
		hook.Misuse("input.ReadShare", "units of %d bytes: give Lines or Records(size)", int(units))
	}
	s := &FileShare{path: path, host: t.World().Host(), units: units}
	if err := s.agree(ctx, t); err != nil {
		s.Close()
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return s, nil
}

// agree opens the file and divides it, and compares both with what the other members find.
func (s *FileShare) agree(ctx context.Context, t *pgas.Team) (err error) {
	if s.file, s.size, err = jointfile.Open(ctx, t, s.request(), s.path); err != nil {
		return err
	}
	if s.units != Lines && s.size%int64(s.units) != 0 {
		return fmt.Errorf("it has %d bytes, which are no whole records of %d bytes", s.size, s.units)
	}
	err = s.divide(t)
	all, err := jointfile.Exchange(ctx, t, s.request(), jointfile.Finding{A: s.start, B: s.end}, err)
	if err != nil {
		return err
	}
	end := int64(0)
	for pe, f := range all {
		if f.A != end {
			return fmt.Errorf("its lines end at other places on %s than on %s: every host must have the same file, "+
				"which nothing may change meanwhile", jointfile.PlaceOf(t, pe), jointfile.PlaceOf(t, pe-1))
		}
		end = f.B
	}
	return nil
}

// divide finds this PE's share.
func (s *FileShare) divide(t *pgas.Team) error {
	if s.units != Lines {
		lo, hi := t.Share(int(s.size / int64(s.units)))
		s.start, s.end = int64(lo)*int64(s.units), int64(hi)*int64(s.units)
		return nil
	}
	lo, hi := t.Share(int(s.size))
	var err error
	if s.start, err = s.lineFrom(int64(lo)); err != nil {
		return err
	}
	s.end = s.start
	if int64(hi) > s.start {
		s.end, err = s.lineFrom(int64(hi))
	}
	return err
}

// lineFrom returns where the first line begins that begins at at or later; the end of the file counts as one.
func (s *FileShare) lineFrom(at int64) (int64, error) {
	if at == 0 {
		return 0, nil
	}
	buf := make([]byte, min(64<<10, s.size))
	for at--; at < s.size; {
		piece := buf[:min(int64(len(buf)), s.size-at)]
		if n, err := s.file.ReadAt(piece, at); n < len(piece) {
			return 0, s.explain(err)
		}
		if i := bytes.IndexByte(piece, '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		at += int64(len(piece))
	}
	return s.size, nil
}

// Range returns which bytes of the file the share is: from start to end, end excluded.
func (s *FileShare) Range() (start, end int64) {
	if s == nil {
		s.made("FileShare.Range")
	}
	return s.start, s.end
}

// Reader returns a new reader of the bytes of the share, the ends of lines included. A read returns an error if the
// file has become shorter.
func (s *FileShare) Reader() io.Reader {
	s.made("FileShare.Reader")
	return &shareReader{s, s.start}
}

// A shareReader reads a share from byte at of the file on.
type shareReader struct {
	s  *FileShare
	at int64
}

func (r *shareReader) Read(b []byte) (int, error) {
	if r.at == r.s.end {
		return 0, io.EOF
	}
	n, err := r.s.file.ReadAt(b[:min(int64(len(b)), r.s.end-r.at)], r.at)
	r.at += int64(n)
	if n > 0 || len(b) == 0 {
		return n, nil // an error comes again
	}
	return 0, r.s.explain(err)
}

// explain returns the error for a read that has failed, of bytes that the file had when it was opened.
func (s *FileShare) explain(err error) error {
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("it has become shorter since it was opened, with %d bytes: nothing may change it meanwhile", s.size)
	}
	return fmt.Errorf("reading %s on host %s: %w", s.path, s.host, err)
}

// All yields the lines or records of the share in order, each with the byte of the file where it begins. A line comes
// without its end. The slice is not copied: it is valid until the next one comes. All begins anew each time, and any
// number of iterations may be under way. If reading fails an iteration ends early, and Err returns why.
func (s *FileShare) All() iter.Seq2[int64, []byte] {
	s.made("FileShare.All")
	return func(yield func(int64, []byte) bool) {
		r := bufio.NewReaderSize(s.Reader(), 256<<10)
		var unit, spill []byte
		var err error
		s.begin()
		defer func() { s.finish(err) }()
		for at := s.start; at < s.end && err == nil; {
			unit, err = s.read(r, &spill)
			if err == nil && !yield(at, s.content(unit)) {
				return
			}
			at += int64(len(unit))
		}
	}
}

// begin counts an iteration that begins. The first of those that overlap forgets why an earlier one has ended early.
func (s *FileShare) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readings == 0 {
		s.err = nil
	}
	s.readings++
}

// finish counts an iteration that ends with err.
func (s *FileShare) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readings--
	if s.err == nil {
		s.err = err
	}
}

// read reads the next unit. The unit lies in r's memory, or in spill's if it does not fit there.
func (s *FileShare) read(r *bufio.Reader, spill *[]byte) ([]byte, error) {
	if s.units != Lines {
		*spill = slices.Grow((*spill)[:0], int(s.units))[:s.units]
		_, err := io.ReadFull(r, *spill)
		return *spill, err
	}
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		*spill = (*spill)[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			*spill = append(*spill, line...)
			line, err = r.ReadSlice('\n')
		}
		*spill = append(*spill, line...)
		line = *spill
	}
	if errors.Is(err, io.EOF) {
		err = nil // the last line of the file ends with the file
	}
	return line, err
}

// content returns what a unit says: a line without its end, as bufio.ScanLines has it.
func (s *FileShare) content(unit []byte) []byte {
	if s.units != Lines {
		return unit
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(unit, []byte("\n")), []byte("\r"))
}

// Err returns why the last iteration over All has ended early, or nil. Of iterations that overlap it returns the first
// error of one that has ended.
func (s *FileShare) Err() error {
	if s == nil {
		s.made("FileShare.Err")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// made panics with *pgas.UsageError if s is nil, zero or closed.
func (s *FileShare) made(op string) {
	if s == nil || s.file == nil {
		hook.Misuse(op, "a nil, zero or closed FileShare: use what ReadShare has returned, and Close it at the end")
	}
}

// Close closes the file. A second Close does nothing.
func (s *FileShare) Close() error {
	if s == nil || s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// request describes the call, with what must be the same on every member. The path need not be: the file must.
func (s *FileShare) request() string {
	units := "lines"
	if s.units != Lines {
		units = fmt.Sprintf("records of %d bytes", int(s.units))
	}
	return "input.ReadShare in " + units
}
