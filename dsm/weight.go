package dsm

// Where a region keeps blocks, for simulations in which a few bytes stand for a page.

// HeapRanges returns the ranges of offsets of the symmetric heap, the end excluded, in which r keeps blocks for other PEs.
// They are the same on all PEs. A skeleton of a program passes them to sim.Weigh: its blocks count as the program's then,
// and the words of the protocol as what they are.
func (r *Region) HeapRanges() [][2]uint64 {
	r.mustBeOpen("Region.HeapRanges")
	ranges := [][2]uint64{{r.pub.Offset(), r.pub.Offset() + r.o.Bytes}}
	if r.master.Len() > 0 {
		ranges = append(ranges, [2]uint64{r.master.Offset(), r.master.Offset() + r.o.Bytes})
	}
	return ranges
}
