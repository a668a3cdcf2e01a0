package containers

// LocateBlock returns the member that has element i of n, and its place there, of an array in blocks over p members.
func LocateBlock(n, p int) func(i int) (pe, at int) {
	l := newLayout(n, p, 0)
	return l.locate
}
