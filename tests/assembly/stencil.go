package main

// The kernels of samples/stencil.

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func stencilKernels(c *build.Context) {
	oneRow(c)
	increment(c)
}

// oneRow writes the stencil of a row.
func oneRow(c *build.Context) {
	begin(c, "oneRowAVX2", "func(to, row, north2, north1, south1, south2 *float64, n int, near, far float64)",
		"oneRowAVX2 does what oneRow does, for n points, a multiple of 4; near and far are the weights.")
	to, row := pointer(c, "to"), pointer(c, "row")
	north2, north1, south1, south2 := pointer(c, "north2"), pointer(c, "north1"), pointer(c, "south1"), pointer(c, "south2")
	left := pointer(c, "n")
	near, far := broadcast(c, "near"), broadcast(c, "far")
	c.SHLQ(operand.U8(3), left)
	loops(c, left, []reg.GPVirtual{to, row, north2, north1, south1, south2}, func(at int) {
		const point = 8 // bytes
		sum := weighted(c, near, memory(row, at+3*point), memory(row, at+1*point), memory(south1, at), memory(north1, at))
		distant := weighted(c, far, memory(row, at+4*point), memory(row, at), memory(south2, at), memory(north2, at))
		c.VADDPD(distant, sum, sum)
		c.VADDPD(memory(to, at), sum, sum)
		c.VMOVUPD(sum, memory(to, at))
	})
	end(c)
}

// weighted returns weight·((east-west)+(south-north)).
func weighted(c *build.Context, weight reg.VecVirtual, east, west, south, north operand.Mem) reg.VecVirtual {
	x, y := c.YMM(), c.YMM()
	c.VMOVUPD(east, x)
	c.VSUBPD(west, x, x)
	c.VMOVUPD(south, y)
	c.VSUBPD(north, y, y)
	c.VADDPD(y, x, x)
	c.VMULPD(x, weight, x)
	return x
}

// increment writes the addition of one to each point.
func increment(c *build.Context) {
	begin(c, "incrementAVX2", "func(row *float64, n int, one float64)", "incrementAVX2 adds one to n points, a multiple of 4.")
	row, left, one := pointer(c, "row"), pointer(c, "n"), broadcast(c, "one")
	c.SHLQ(operand.U8(3), left)
	loops(c, left, []reg.GPVirtual{row}, func(at int) {
		y := c.YMM()
		c.VADDPD(memory(row, at), one, y)
		c.VMOVUPD(y, memory(row, at))
	})
	end(c)
}
