package dsm

// Write notices: block b has a version of number wts at PE pe. A PE passes on the newest notice of each block that it
// has made or has got since the last barrier, up to Options.Notices of them. Instead of older notices it passes on their
// greatest number: a copy whose lease ends before that number may be out of date.

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

type notice struct {
	b, pe int32
	wts   uint64
}

// notices are what a fence passes on.
type notices struct {
	min   uint64 // at least the number of every notice that was left out
	list  []notice
	index map[int32]int // of a block's notice in list; nil: not made yet
	limit int           // of what is passed on
	hold  int           // of what is kept until the next barrier, if that is more than twice the limit
}

func (s *notices) add(n notice) {
	s.needIndex()
	if i, ok := s.index[n.b]; ok {
		if n.wts > s.list[i].wts {
			s.list[i] = n
		}
		return
	}
	s.index[n.b] = len(s.list)
	s.list = append(s.list, n)
	if len(s.list) > max(2*s.limit+16, s.hold) {
		s.trim()
	}
}

// needIndex makes the index if there is none. What a release hands out is most often only encoded or looked through.
func (s *notices) needIndex() {
	if s.index != nil {
		return
	}
	s.index = make(map[int32]int, len(s.list))
	for i, n := range s.list {
		s.index[n.b] = i
	}
}

// merge adds what t tells of.
func (s *notices) merge(t notices) {
	s.min = max(s.min, t.min)
	for _, n := range t.list {
		s.add(n)
	}
}

// trim leaves out the oldest notices beyond the limit.
func (s *notices) trim() {
	if len(s.list) <= s.limit {
		return
	}
	slices.SortFunc(s.list, func(a, b notice) int {
		return cmp.Or(cmp.Compare(b.wts, a.wts), cmp.Compare(a.b, b.b))
	})
	s.min = max(s.min, s.list[s.limit].wts)
	s.list, s.index = s.list[:s.limit], nil
}

// without returns the notices that were added after passed was copied from s, which may have been merged with others
// since.
func (s *notices) without(passed notices) notices {
	rest := notices{min: s.min, limit: s.limit, hold: s.hold}
	if len(s.list) == 0 {
		return rest
	}
	passed.needIndex()
	for _, n := range s.list {
		if i, ok := passed.index[n.b]; !ok || passed.list[i].wts < n.wts {
			if ok || n.wts > passed.min {
				rest.add(n)
			}
		}
	}
	return rest
}

// clone returns a copy that is within the limit.
func (s *notices) clone() notices {
	s.trim()
	c := notices{min: s.min, limit: s.limit, hold: s.hold}
	c.list = slices.Clone(s.list)
	return c
}

// noticeWords is the number of words of a notice, and headWords of what stands before the notices.
const (
	noticeWords = 2
	headWords   = 2
)

// encodedWords is the greatest length of encoded notices.
func encodedWords(limit int) int { return headWords + noticeWords*limit }

// encode appends s, trimmed, to out.
func (s *notices) encode(out []uint64) []uint64 {
	s.trim()
	out = append(out, s.min, uint64(len(s.list)))
	for _, n := range s.list {
		out = append(out, uint64(uint32(n.b))<<32|uint64(uint32(n.pe)), n.wts)
	}
	return out
}

// decode reads what encode wrote. An error means that in was not written by encode on a region of as many blocks and
// PEs.
func decode(in []uint64, blocks int32, pes int) (s notices, err error) {
	if len(in) < headWords || in[1] > uint64(len(in)-headWords)/noticeWords || in[0] >= closed {
		return s, errors.New("dsm: these are no write notices: their head is damaged")
	}
	s.min, s.limit = in[0], int(in[1])
	for i := range int(in[1]) {
		w := in[headWords+noticeWords*i:]
		n := notice{int32(w[0] >> 32), int32(uint32(w[0])), w[1]}
		if n.b < 0 || n.b >= blocks || n.pe < 0 || int(n.pe) >= pes || n.wts >= closed {
			return notices{}, fmt.Errorf("dsm: these are no write notices of this region: block %d of %d, PE %d of %d", n.b, blocks, n.pe, pes)
		}
		s.add(n)
	}
	return s, nil
}

// sentBy returns err, which says what is wrong with notices, with the PE that has sent them.
func sentBy(pe int, err error) error { return fmt.Errorf("%w (PE %d has sent them)", err, pe) }

// A Notice is what a Release hands to the PEs that Acquire it: which blocks have new versions, and where. It may travel
// in any way: as the payload of a notified put, in a message, behind a signal. The zero Notice tells of nothing.
type Notice struct{ s notices }

// Bytes returns n as bytes, for NoticeOf on another PE of the same region.
func (n Notice) Bytes() []byte {
	words := n.s.encode(nil)
	out := make([]byte, 0, 8*len(words))
	for _, w := range words {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

// NoticeOf returns the Notice whose Bytes are b, which may have other bytes behind it. It returns an error if b was not
// made by Bytes on a PE of r's job.
func (r *Region) NoticeOf(b []byte) (Notice, error) {
	if len(b) < 8*headWords {
		return Notice{}, fmt.Errorf("dsm: %d bytes are no notice: it has at least %d", len(b), 8*headWords)
	}
	in := make([]uint64, len(b)/8)
	for i := range in {
		in[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	s, err := decode(in, r.blocks, r.n)
	s.limit = r.o.Notices
	return Notice{s}, err
}
