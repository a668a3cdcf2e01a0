package dsmbench

// CG as the paper's own runtime releases it, which decides how many write notices a barrier has. The paper (II-B) says
// that a home writes its blocks without a twin: fast release. So a release does not know which of them have changed,
// and has a notice for each that is still writable. The source that the paper publishes shows two things more. A block
// stays writable for up to 64 releases unless another process writes it. And the stack of a worker is a block, which is
// always writable. So a process of CG has notices of all four vectors and of 16 stacks in each barrier, whatever it has
// written.
//
// The barrier is the paper's (III-A), which gathers the notices of each process: protocols.Choice.AllNotices.

// asMENPS returns p as a program that keeps arrays writable. The last array of the result has the parts of its sums.
func asMENPS(p *program, name string, arrays ...int) *program {
	m := *p
	m.name, m.doc, m.writable = name, p.doc+"; notices as the paper's runtime has them", arrays
	m.arrays = append(m.arrays[:len(m.arrays):len(m.arrays)], m.block)
	return &m
}

// stayWritable writes what the paper's runtime takes for written: blocks that this PE alone writes, and the stacks.
func (k *worker) stayWritable() {
	if k.p.writable == nil {
		return
	}
	for _, a := range k.p.writable {
		lo, hi := k.part(a)
		lo = (lo + k.p.block - 1) / k.p.block * k.p.block
		if hi != k.p.arrays[a] {
			hi = hi / k.p.block * k.p.block
		}
		if lo < hi {
			k.change(a, lo, hi)
		}
	}
	block := int(k.p.block / k.p.grain)
	for i := range workersOfPE {
		k.fill(k.stacks.Update((k.w.PE()*workersOfPE+i)*block, (k.w.PE()*workersOfPE+i)*block+1))
	}
}

// sum writes this PE's part of a reduction, which the paper's programs keep in shared memory. All parts are in one
// block.
func (k *worker) sum() {
	if k.p.writable == nil {
		return // package dsm has Member.Sum, which is no access to coherent memory
	}
	parts := len(k.p.arrays) - 1
	at := int64(k.w.PE()) % (k.p.block / k.p.grain) * k.p.grain
	k.change(parts, at, at+k.p.grain)
}
