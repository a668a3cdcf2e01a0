package protocol

// Write notices: block b has a version of number wts at PE pe. A PE passes on the newest notice of each block that it
// has made or has got since the last barrier, up to Options.Notices of them. Instead of older notices it passes on
// their greatest number: a copy whose lease ends before that number may be out of date.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A Notice tells that PE PE has version WTS of a block.
type Notice struct {
	Block, PE int32
	WTS       uint64
}

// Notices are what a fence passes on.
type Notices struct {
	Min   uint64 // at least the number of every notice that was left out
	List  []Notice
	index map[int32]int // where a block's notice is in list; nil: not made yet
	limit int           // the limit of what is passed on
	hold  int           // the limit of what is kept until the next barrier, if that is more than twice the limit
}

func (s *Notices) Add(n Notice) {
	s.needIndex()
	if i, ok := s.index[n.Block]; ok {
		if n.WTS > s.List[i].WTS {
			s.List[i] = n
		}
		return
	}
	s.index[n.Block] = len(s.List)
	s.List = append(s.List, n)
	if len(s.List) > max(2*s.limit+16, s.hold) {
		s.trim()
	}
}

// needIndex makes the index if there is none. What a release hands out is most often only encoded or looked through.
func (s *Notices) needIndex() {
	if s.index != nil {
		return
	}
	s.index = make(map[int32]int, len(s.List))
	for i, n := range s.List {
		s.index[n.Block] = i
	}
}

// Merge adds what t tells of.
func (s *Notices) Merge(t Notices) {
	s.Min = max(s.Min, t.Min)
	for _, n := range t.List {
		s.Add(n)
	}
}

// trim leaves out the oldest notices beyond the limit.
func (s *Notices) trim() {
	if len(s.List) <= s.limit {
		return
	}
	slices.SortFunc(s.List, func(a, b Notice) int {
		return cmp.Or(cmp.Compare(b.WTS, a.WTS), cmp.Compare(a.Block, b.Block))
	})
	s.Min = max(s.Min, s.List[s.limit].WTS)
	s.List, s.index = s.List[:s.limit], nil
}

// Without returns the notices that were added after passed was copied from s, which may have been merged with others
// since.
func (s *Notices) Without(passed Notices) Notices {
	rest := Notices{Min: s.Min, limit: s.limit, hold: s.hold}
	if len(s.List) == 0 {
		return rest
	}
	passed.needIndex()
	for _, n := range s.List {
		if i, ok := passed.index[n.Block]; !ok || passed.List[i].WTS < n.WTS {
			if ok || n.WTS > passed.Min {
				rest.Add(n)
			}
		}
	}
	return rest
}

// Limited returns empty notices of which up to limit are passed on.
func Limited(limit int) Notices { return Notices{limit: limit} }

// Limit bounds what s passes on.
func (s *Notices) Limit(n int) { s.limit = n }

// Hold keeps up to n notices until the next barrier, if that is more than twice the limit.
func (s *Notices) Hold(n int) { s.hold = n }

// Clone returns a copy that is within the limit.
func (s *Notices) Clone() Notices {
	s.trim()
	c := Notices{Min: s.Min, limit: s.limit, hold: s.hold}
	c.List = slices.Clone(s.List)
	return c
}

// noticeWords is the number of words of a notice. HeadWords is the number of words before the notices.
const (
	noticeWords = 2
	HeadWords   = 2
)

// EncodedWords is the greatest length of encoded notices.
func EncodedWords(limit int) int { return HeadWords + noticeWords*limit }

// Encode appends s, trimmed, to out.
func (s *Notices) Encode(out []uint64) []uint64 {
	s.trim()
	out = append(out, s.Min, uint64(len(s.List)))
	for _, n := range s.List {
		out = append(out, uint64(uint32(n.Block))<<32|uint64(uint32(n.PE)), n.WTS)
	}
	return out
}

// Decode reads what Encode wrote. An error means that in was not written by Encode on a region of as many blocks and
// PEs.
func Decode(in []uint64, blocks int32, pes int) (s Notices, err error) {
	if len(in) < HeadWords || in[1] > uint64(len(in)-HeadWords)/noticeWords || in[0] >= Closed {
		return s, errors.New("dsm: these are no write notices: their head is damaged")
	}
	s.Min, s.limit = in[0], int(in[1])
	for i := range int(in[1]) {
		w := in[HeadWords+noticeWords*i:]
		n := Notice{int32(w[0] >> 32), int32(uint32(w[0])), w[1]}
		if n.Block < 0 || n.Block >= blocks || n.PE < 0 || int(n.PE) >= pes || n.WTS >= Closed {
			return Notices{}, fmt.Errorf("dsm: these are no write notices of this region: block %d of %d, PE %d of %d", n.Block, blocks, n.PE, pes)
		}
		s.Add(n)
	}
	return s, nil
}

// SentBy returns err, which says what is wrong with notices, with the PE that has sent them.
func SentBy(pe int, err error) error { return fmt.Errorf("%w (PE %d has sent them)", err, pe) }
