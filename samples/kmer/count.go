package main

// Counting on all PEs. Every PE reads the whole input, and counts the k-mers that end in every n-th block of it. It
// adds up its own counts in a small table (local.go), which it gives to the distributed one whenever it is full:
// repeated k-mers then travel once. All this is one collective UpdateAll, during which counts travel many in a message.

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/kernel"
)

const (
	blockBases = 1 << 14
	mostLocal  = 1 << 14 // different k-mers in a PE's own table
	topMost    = 10

	// What a PE may have under way to another before that one must run, and to all: on a host with fewer CPUs than PEs
	// a PE should not wait for its turn as often as the default has it.
	ringBytes, allRings = 256 << 10, 8 << 20
)

// counted is the result, spread over the PEs.
type counted struct {
	w     *pgas.World
	k     int
	table *containers.Map[uint64, int64]
}

func add(a, b int64) int64 { return a + b }

// newCounted makes the table. It is collective.
func newCounted(ctx context.Context, w *pgas.World, o options) (*counted, error) {
	table, err := containers.NewMap[uint64, int64](ctx, w, containers.Capacity(o.capacity), containers.Ring(min(ringBytes, allRings/w.NPEs())))
	return &counted{w, o.k, table}, err
}

// count counts the k-mers of the input. It is collective.
func (c *counted) count(ctx context.Context, in io.Reader) error {
	var failed error
	err := c.table.UpdateAll(ctx, func(yield func(uint64, int64) bool) { failed = share(in, c.k, c.w.PE(), c.w.NPEs(), yield) }, add)
	if failed != nil {
		return failed
	}
	return err
}

// share yields the counts of the k-mers of PE pe of n.
func share(in io.Reader, k, pe, n int, yield func(uint64, int64) bool) error {
	local, s, place, more := newCounts(), newWindow(k), newPlace(pe, n), true
	err := eachPiece(in, func(letters []byte) bool {
		if letters == nil {
			s.have = 0
			place.skip(1)
			return true
		}
		if place.isOthers(len(letters), k) {
			s.have = 0
			place.skip(len(letters))
			return true
		}
		w := s // in registers
		for _, letter := range letters {
			mine := place.next()
			if kmer, ok := w.add(baseOf[letter]); ok && mine && local.add(kmer) {
				if more = local.give(yield); !more {
					return false
				}
			}
		}
		s = w
		return true
	})
	if more {
		local.give(yield)
	}
	return err
}

// place is how far a PE has read, and whether it counts the k-mers that end there.
type place struct {
	pe, n int
	at    int
	mine  bool
}

func newPlace(pe, n int) place { return place{pe: pe, n: n, mine: pe == 0} }

func (p *place) isMine(at int) bool { return at/blockBases%p.n == p.pe }

func (p *place) skip(bases int) {
	p.at += bases
	p.mine = p.isMine(p.at)
}

// next moves to the next base, and reports whether this PE counts the k-mer that ends with it.
func (p *place) next() bool {
	if p.at++; p.at%blockBases == 0 {
		p.mine = p.isMine(p.at)
	}
	return p.mine
}

// isOthers reports whether no base of the next ones is of a k-mer that this PE counts.
func (p *place) isOthers(bases, k int) bool {
	return bases+k < blockBases && !p.mine && !p.isMine(p.at+bases+k)
}

// A frequency is a k-mer and how often it occurs.
type frequency struct {
	kmer  uint64
	count int64
}

// moreFrequent orders by count, the largest first, and then by k-mer.
func moreFrequent(a, b frequency) int {
	return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.kmer, b.kmer))
}

func mostFrequent(all []frequency) []frequency {
	slices.SortFunc(all, moreFrequent)
	return all[:min(len(all), topMost)]
}

// summary is what PE 0 prints.
type summary struct {
	k                int
	distinct, unique int
	total            int64
	digest           uint64 // of all k-mers with their counts
	top              []frequency
}

// summarize adds up the parts of all PEs. It is collective.
func (c *counted) summarize(ctx context.Context) (*summary, error) {
	s := &summary{k: c.k}
	var mine []frequency
	for kmer, n := range c.table.Local() {
		s.total += n
		s.digest += mix(kmer) * uint64(n)
		if n == 1 {
			s.unique++
		}
		if mine = append(mine, frequency{kmer, n}); len(mine) == 8*topMost {
			mine = mostFrequent(mine)
		}
	}
	s.distinct = c.table.LocalLen()
	var err error
	for _, n := range []*int{&s.distinct, &s.unique} {
		if *n, err = pgas.SumValue(ctx, c.w.Team(), *n); err != nil {
			return nil, err
		}
	}
	if s.total, err = pgas.SumValue(ctx, c.w.Team(), s.total); err != nil {
		return nil, err
	}
	if s.digest, err = pgas.SumValue(ctx, c.w.Team(), s.digest); err != nil {
		return nil, err
	}
	lists, err := pgas.Gather(ctx, c.w.Team(), mostFrequent(mine), 0)
	s.top = mostFrequent(slices.Concat(lists...))
	return s, err
}

// countBytes is what an element of the table holds: a k-mer and its count.
const countBytes = 16

// report prints the summary, for people or as pgasbench does.
func (s *summary) report(out io.Writer, w *pgas.World, o options, took time.Duration) error {
	if !o.json {
		s.print(out, w.NPEs(), took)
		return nil
	}
	ns := float64(took.Nanoseconds()) / float64(max(s.total, 1))
	computed := fmt.Sprintf("%d k-mers, %d different, %d once, digest %016x", s.total, s.distinct, s.unique, s.digest)
	return kernel.Result{Bench: "kmer", Bytes: countBytes, P50ns: ns, Mops: 1e3 / ns, Computed: computed}.Print(out, w)
}

// print prints the summary.
func (s *summary) print(out io.Writer, pes int, took time.Duration) {
	for _, f := range s.top {
		fmt.Fprintf(out, "%10d  %s\n", f.count, letters(f.kmer, s.k))
	}
	fmt.Fprintf(out, "%d %d-mers, %d of them different, %d only once; %d PEs took %.2f s: %.1f million a second\n",
		s.total, s.k, s.distinct, s.unique, pes, took.Seconds(), float64(s.total)/1e6/took.Seconds())
}

// verify compares the table with a sequential count.
func (c *counted) verify(o options, out io.Writer) error {
	in, err := o.open()
	if err != nil {
		return err
	}
	defer in.Close()
	want := map[uint64]int64{}
	if err := share(in, c.k, 0, 1, func(kmer uint64, n int64) bool { want[kmer] += n; return true }); err != nil {
		return err
	}
	agree, there := 0, 0
	for kmer, n := range c.table.All() {
		there++
		if want[kmer] == n {
			agree++
		}
	}
	fmt.Fprintf(out, "verified: %d of %d k-mers agree with a sequential count\n", agree, len(want))
	if agree != len(want) || there != len(want) {
		return fmt.Errorf("%d k-mers are counted, %d of them right, and there are %d", there, agree, len(want))
	}
	return nil
}
