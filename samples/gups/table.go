package main

// The table, and its updates.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// ahead is how many updates a PE may hold back, by the rules of the benchmark.
const ahead = 1024

type table struct {
	w         *pgas.World
	logarithm int
	words     uint64   // of the whole table: a power of two
	first     []uint64 // word of each PE, and one past the last
	own       WordSym
	buckets   []bucket
}

// A bucket holds the updates of one batch that one PE owns.
type bucket struct {
	n     int
	value [ahead]uint64
}

// newTable makes a table whose words are their own indices. It is collective.
func newTable(ctx context.Context, w *pgas.World, logarithm int) (*table, error) {
	npes := uint64(w.NPEs())
	t := &table{w: w, logarithm: logarithm, words: 1 << logarithm, buckets: make([]bucket, npes)}
	for pe := range npes + 1 {
		t.first = append(t.first, (pe*t.words+npes-1)/npes)
	}
	var err error
	if t.own, err = AllocWord(ctx, w, int(t.words/npes)+1); err != nil {
		return nil, err
	}
	for i, words := uint64(0), t.mine(); i < uint64(len(words)); i++ {
		words[i].Bits = t.first[w.PE()] + i
	}
	return t, w.Barrier(ctx)
}

// mine returns this PE's words.
func (t *table) mine() []Word {
	pe := t.w.PE()
	return t.own.Local()[:t.first[pe+1]-t.first[pe]]
}

// index returns the index of the word that x updates.
func (t *table) index(x uint64) uint64 { return x & (t.words - 1) }

// owner splits the table evenly without a division: PE p has the words from first[p] on.
func (t *table) owner(index uint64) int { return int(index * uint64(len(t.buckets)) >> t.logarithm) }

// run makes all updates, of which each PE has a share. It is collective.
func (t *table) run(ctx context.Context, updates uint64) error {
	from, to := t.w.Team().Share(int(updates))
	x := streamAt(uint64(from))
	for ; from < to; from += ahead {
		x = t.sort(x, uint64(min(ahead, to-from)))
		t.apply()
		if err := t.w.Quiet(ctx); err != nil {
			return err
		}
	}
	return t.w.Barrier(ctx)
}

// sort puts the n numbers after x into buckets, and returns the last of them.
func (t *table) sort(x, n uint64) uint64 {
	for range n {
		x = next(x)
		b := &t.buckets[t.owner(t.index(x))]
		b.value[b.n&(ahead-1)] = x
		b.n++
	}
	return x
}

// apply makes the updates in the buckets, and empties them.
func (t *table) apply() {
	for pe := range t.buckets {
		b := &t.buckets[pe]
		for _, x := range b.value[:b.n] {
			t.own.At(int(t.index(x)-t.first[pe])).XorBits(pe, x)
		}
		b.n = 0
	}
}

// errors undoes all updates of all PEs in this PE's words by itself, and counts the words that differ from
// their first values. It is collective.
func (t *table) errors(ctx context.Context, updates uint64) (uint64, error) {
	words, first := t.mine(), t.first[t.w.PE()]
	x := streamAt(0)
	for range updates {
		x = next(x)
		if i := t.index(x) - first; i < uint64(len(words)) {
			words[i].Bits ^= x
		}
	}
	wrong := uint64(0)
	for i, word := range words {
		if word.Bits != first+uint64(i) {
			wrong++
		}
	}
	return pgas.SumValue(ctx, t.w.Team(), wrong)
}
