package dsm

// Which blocks move between PEs, and which of these PEs share data and which only a block. A PE records the blocks that
// it releases after another PE, with the range of bytes that it has changed. Where two PEs' ranges of a block do not
// overlap, its sharing is false.

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/pgas"
)

// moveWords is the length of an encoded protocol.Move: block, count, first and last byte.
const moveWords = 4

// Report writes, on PE 0, a line for each of the top blocks that have moved most between PEs since Open: their array
// and elements, how often they have moved to which PE, the bytes that each has changed, and whether the sharing is
// false, with what would help. It is collective, and all PEs give the same top. Mode Shared has no blocks and says so.
// Errors: those of a collective, and of out.
func (r *Region) Report(ctx context.Context, out io.Writer, top int) error {
	r.mustBeOpen("Region.Report")
	if top < 1 {
		misuse("Region.Report", "the %d worst blocks: give a positive number", top)
	}
	// A block that is the worst of all is among the worst of the PEs that move it.
	all, err := r.collectMoves(ctx, 4*top)
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
func (r *Region) collectMoves(ctx context.Context, each int) (all []protocol.Move, err error) {
	size := moveWords * each
	words, err := pgas.Alloc[uint64](ctx, r.w, size*(1+r.n))
	if err != nil {
		return nil, err
	}
	for i, x := range r.fences.Counters.Blocks.Worst(each) {
		copy(words.Local()[moveWords*i:], []uint64{uint64(x.Block), x.Count, uint64(x.First), uint64(x.Last)})
	}
	if err := pgas.FCollect(ctx, r.w.Team(), words.Range(size, size*(1+r.n)), words.Range(0, size)); err != nil {
		return nil, err
	}
	for i := range each * r.n {
		w := words.Local()[size+moveWords*i:]
		if w[1] > 0 {
			all = append(all, protocol.Move{Block: int(w[0]), PE: i / each, Count: w[1], First: int(w[2]), Last: int(w[3])})
		}
	}
	return all, words.Free(ctx)
}

// worstBlocks groups records by block, and returns the top of the groups.
func worstBlocks(all []protocol.Move, top int) (groups [][]protocol.Move) {
	slices.SortStableFunc(all, func(a, b protocol.Move) int { return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.PE, b.PE)) })
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Block == all[0].Block {
			n++
		}
		groups = append(groups, all[:n])
		all = all[n:]
	}
	slices.SortStableFunc(groups, func(a, b []protocol.Move) int { return cmp.Compare(moves(b), moves(a)) })
	return groups[:min(top, len(groups))]
}

func moves(records []protocol.Move) (n uint64) {
	for _, x := range records {
		n += x.Count
	}
	return n
}

// describe returns the line of a block.
func (r *Region) describe(records []protocol.Move) string {
	b := records[0].Block
	var pes []string
	for _, x := range records {
		pes = append(pes, fmt.Sprintf("%d to PE %d (bytes %d-%d)", x.Count, x.PE, x.First, x.Last))
	}
	line := fmt.Sprintf("block %d, %s: %d moves: %s", b, r.memory.elementsOf(b), moves(records), strings.Join(pes, ", "))
	if len(records) > 1 && disjoint(records) {
		line += fmt.Sprintf(": false sharing; align the parts of PEs to %d bytes, or use a smaller Options.Block", r.o.Block)
	}
	return line
}

// disjoint reports whether no two PEs have changed the same bytes.
func disjoint(records []protocol.Move) bool {
	sorted := slices.SortedFunc(slices.Values(records), func(a, b protocol.Move) int { return cmp.Compare(a.First, b.First) })
	for i := range len(sorted) - 1 {
		if sorted[i].Last >= sorted[i+1].First {
			return false
		}
	}
	return true
}
