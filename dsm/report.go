package dsm

// Which blocks move between PEs, and which of these PEs share data and which only a block. A PE records the blocks that it
// releases after another PE, with the range of bytes that it has changed. Where two PEs' ranges of a block do not overlap,
// its sharing is false.

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/gopgas/gopgas/pgas"
)

// moveRecord is what one PE has recorded of a block.
type moveRecord struct {
	b, pe       int
	count       uint64 // releases after another PE
	first, last int    // bytes that the PE has changed in them
}

// recordWords is the length of an encoded moveRecord.
const recordWords = 4

// blockMoves are a PE's records.
type blockMoves struct {
	mu   sync.Mutex
	list map[int32]*moveRecord
}

// add records that this PE has released b after another PE.
func (m *blockMoves) add(b int32, pe, first, last int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.list[b]
	if x == nil {
		if m.list == nil {
			m.list = map[int32]*moveRecord{}
		}
		x = &moveRecord{b: int(b), pe: pe, first: first, last: last}
		m.list[b] = x
	}
	x.count++
	x.first, x.last = min(x.first, first), max(x.last, last)
}

// worst returns the records of the blocks that have moved most.
func (m *blockMoves) worst(n int) []moveRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []moveRecord
	for _, x := range m.list {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b moveRecord) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.b, b.b)) })
	return list[:min(n, len(list))]
}

// Report writes, on PE 0, a line for each of the top blocks that have moved most between PEs since Open: their array and
// elements, how often they have moved to which PE, the bytes that each has changed, and whether the sharing is false,
// with what would help. It is collective, and all PEs give the same top. Mode Shared has no blocks and says so. Errors:
// those of a collective, and of out.
func (r *Region) Report(ctx context.Context, out io.Writer, top int) error {
	r.mustBeOpen("Region.Report")
	if top < 1 {
		misuse("Region.Report", "the %d worst blocks: give a positive number", top)
	}
	all, err := r.collectMoves(ctx, 4*top) // a block that is the worst of all is among the worst of the PEs that move it
	if err != nil || r.me != 0 {
		return err
	}
	if r.mode == Shared {
		_, err = fmt.Fprintln(out, "all PEs share the memory of one host: no block moves")
		return err
	}
	if len(all) == 0 {
		_, err = fmt.Fprintln(out, "no block has moved between PEs")
		return err
	}
	for _, records := range worstBlocks(all, top) {
		if _, err := fmt.Fprintln(out, r.describe(records)); err != nil {
			return err
		}
	}
	return nil
}

// collectMoves returns the worst records of all PEs.
func (r *Region) collectMoves(ctx context.Context, each int) (all []moveRecord, err error) {
	size := recordWords * each
	words, err := pgas.Alloc[uint64](ctx, r.w, size*(1+r.n))
	if err != nil {
		return nil, err
	}
	for i, x := range r.stats.moves.worst(each) {
		copy(words.Local()[recordWords*i:], []uint64{uint64(x.b), x.count, uint64(x.first), uint64(x.last)})
	}
	if err := pgas.FCollect(ctx, r.w.Team(), words.Range(size, size*(1+r.n)), words.Range(0, size)); err != nil {
		return nil, err
	}
	for i := range each * r.n {
		w := words.Local()[size+recordWords*i:]
		if w[1] > 0 {
			all = append(all, moveRecord{int(w[0]), i / each, w[1], int(w[2]), int(w[3])})
		}
	}
	return all, words.Free(ctx)
}

// worstBlocks groups records by block, and returns the top of the groups.
func worstBlocks(all []moveRecord, top int) (groups [][]moveRecord) {
	slices.SortStableFunc(all, func(a, b moveRecord) int { return cmp.Or(cmp.Compare(a.b, b.b), cmp.Compare(a.pe, b.pe)) })
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].b == all[0].b {
			n++
		}
		groups = append(groups, all[:n])
		all = all[n:]
	}
	slices.SortStableFunc(groups, func(a, b []moveRecord) int { return cmp.Compare(moves(b), moves(a)) })
	return groups[:min(top, len(groups))]
}

func moves(records []moveRecord) (n uint64) {
	for _, x := range records {
		n += x.count
	}
	return n
}

// describe returns the line of a block.
func (r *Region) describe(records []moveRecord) string {
	b := records[0].b
	var pes []string
	for _, x := range records {
		pes = append(pes, fmt.Sprintf("%d to PE %d (bytes %d-%d)", x.count, x.pe, x.first, x.last))
	}
	line := fmt.Sprintf("block %d, %s: %d moves: %s", b, r.elementsOf(b), moves(records), strings.Join(pes, ", "))
	if len(records) > 1 && disjoint(records) {
		line += fmt.Sprintf(": false sharing; align the parts of PEs to %d bytes, or use a smaller Options.Block", r.o.Block)
	}
	return line
}

// disjoint reports whether no two PEs have changed the same bytes.
func disjoint(records []moveRecord) bool {
	sorted := slices.SortedFunc(slices.Values(records), func(a, b moveRecord) int { return cmp.Compare(a.first, b.first) })
	for i := range len(sorted) - 1 {
		if sorted[i].last >= sorted[i+1].first {
			return false
		}
	}
	return true
}
