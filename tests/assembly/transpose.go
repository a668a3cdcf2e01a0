package main

// The kernels of samples/transpose.

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func transposeKernels(c *build.Context) {
	add(c)
	lanesAcross(c)
}

// add writes a sum of two slices.
func add(c *build.Context) {
	begin(c, "addAVX2", "func(to, from *float64, n int)", "addAVX2 adds n elements of from to to; n is a multiple of 4.")
	to, from, left := pointer(c, "to"), pointer(c, "from"), pointer(c, "n")
	c.SHLQ(operand.U8(3), left)
	loops(c, left, []reg.GPVirtual{to, from}, func(at int) {
		y := load(c, to, at)
		c.VADDPD(memory(from, at), y, y)
		c.VMOVUPD(y, memory(to, at))
	})
	end(c)
}

// lanesAcross writes the transposition of eight columns, four rows at a time: as two squares of four, each of which is
// transposed in registers. A step so stores whole cache lines. They may go past the caches.
func lanesAcross(c *build.Context) {
	begin(c, "lanesAcrossAVX2", "func(to *float64, stride int, from *float64, order, rows int, one float64, stream int)",
		"lanesAcrossAVX2 does what lanesAcross does, for a multiple of 4 rows. one is 1; stream is 1 to store past the caches, or 0.")
	to, stride, from, order, left := pointer(c, "to"), pointer(c, "stride"), pointer(c, "from"), pointer(c, "order"), pointer(c, "rows")
	stream, one := pointer(c, "stream"), broadcast(c, "one")
	c.SHLQ(operand.U8(3), stride)
	c.SHLQ(operand.U8(3), order)
	c.SHLQ(operand.U8(3), left)
	three, fifth := c.GP64(), c.GP64() // 3·order, and where the fifth column is
	c.LEAQ(operand.Mem{Base: order, Index: order, Scale: 2}, three)
	c.LEAQ(operand.Mem{Base: from, Index: order, Scale: 4}, fifth)
	rows := func(label string, store func(...operand.Op)) {
		loop(c, label, left, vectorBytes, func() {
			low, high := square(c, from, order, three, one), square(c, fifth, order, three, one)
			for row := range low {
				store(low[row], memory(to, 0))
				store(high[row], memory(to, vectorBytes))
				c.ADDQ(stride, to)
			}
			c.ADDQ(operand.I32(vectorBytes), from)
			c.ADDQ(operand.I32(vectorBytes), fifth)
		})
	}
	// Stores past the caches are of vectors that are aligned.
	c.TESTQ(stream, stream)
	c.JZ(operand.LabelRef("rows"))
	c.ORQ(to, stream)
	c.ORQ(stride, stream)
	c.TESTQ(operand.U32(vectorBytes-2), stream)
	c.JNZ(operand.LabelRef("rows"))
	rows("streamed", func(o ...operand.Op) { c.VMOVNTPD(o[0], o[1]) })
	c.SFENCE() // such stores are ordered by this alone
	rows("rows", func(o ...operand.Op) { c.VMOVUPD(o[0], o[1]) })
	end(c)
}

// square loads four elements of four columns, adds one to each in memory, and returns the four rows that they were.
func square(c *build.Context, from, order, three reg.GPVirtual, one reg.VecVirtual) (rows [4]reg.VecVirtual) {
	columns := [4]operand.Mem{
		{Base: from}, {Base: from, Index: order, Scale: 1}, {Base: from, Index: order, Scale: 2}, {Base: from, Index: three, Scale: 1},
	}
	var y [4]reg.VecVirtual
	for i, at := range columns {
		y[i] = c.YMM()
		c.VMOVUPD(at, y[i])
		more := c.YMM()
		c.VADDPD(y[i], one, more)
		c.VMOVUPD(more, at)
	}
	even, odd := [2]reg.VecVirtual{}, [2]reg.VecVirtual{} // rows 0 and 2, rows 1 and 3 of two columns each
	for i := range even {
		even[i], odd[i] = c.YMM(), c.YMM()
		c.VUNPCKLPD(y[2*i+1], y[2*i], even[i])
		c.VUNPCKHPD(y[2*i+1], y[2*i], odd[i])
	}
	const lower, upper = 0x20, 0x31 // of both
	for row, half := range [4]operand.U8{lower, lower, upper, upper} {
		pairs := even
		if row%2 == 1 {
			pairs = odd
		}
		rows[row] = c.YMM()
		c.VPERM2F128(half, pairs[1], pairs[0], rows[row])
	}
	return rows
}
