package dsm

// The twins of mode Soft: this PE's part of the symmetric memory from which other PEs fetch.

import "github.com/gopgas/gopgas/dsm/internal/protocol"

// twins are the twins of all blocks.
type twins interface {
	// of returns the twin of block b.
	of(b int32) []byte
	// store makes data the twin of block b.
	store(b int32, data []byte)
}

// twinsOf returns the twins of this PE.
func twinsOf(s *protocol.State) twins {
	plain := plainTwins{s.Block, s.Twins}
	if s.Simulated {
		return steppedTwins{plain, s}
	}
	return plain
}

// plainTwins are twins that other PEs get while they change.
type plainTwins struct {
	block int
	bytes []byte
}

func (t plainTwins) of(b int32) []byte          { return t.bytes[int(b)*t.block : (int(b)+1)*t.block] }
func (t plainTwins) store(b int32, data []byte) { copyForGets(t.of(b), data) }

// steppedTwins are twins that change by puts, since the simulator does not see plain stores. Only bytes that differ are
// put, each run of them in a step of its own.
type steppedTwins struct {
	plainTwins
	s *protocol.State
}

func (t steppedTwins) store(b int32, data []byte) {
	forEachRun(t.of(b), data, func(at int, run []byte) {
		at += int(b) * t.block
		t.s.Pub.Range(at, at+len(run)).Put(t.s.Me, run)
		t.s.MustQuietPE(t.s.Me)
	})
}

// forEachRun calls run for each run of bytes of data that differ from old.
func forEachRun(old, data []byte, run func(at int, bytes []byte)) {
	for i := 0; i < len(data); {
		if old[i] == data[i] {
			i++
			continue
		}
		from := i
		for i < len(data) && old[i] != data[i] {
			i++
		}
		run(from, data[from:i])
	}
}
