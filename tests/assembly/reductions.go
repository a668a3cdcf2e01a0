package main

// The kernels of pgas/internal/vector: d[i] = a[i] op b[i] for the operators of reductions and the types of elements,
// and a copy past the caches.

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A combination sets z to x op y, vector by vector. It may change x and y.
type combination func(c *build.Context, x, y, z reg.VecVirtual)

// combinations are the kernels by name: the operator, and the type unless the operator does not depend on it.
var combinations = []struct {
	name string
	combination
}{
	{"and", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPAND(x, y, z) }},
	{"or", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPOR(x, y, z) }},
	{"xor", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPXOR(x, y, z) }},

	{"sumInt8", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPADDB(x, y, z) }},
	{"sumInt16", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPADDW(x, y, z) }},
	{"sumInt32", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPADDD(x, y, z) }},
	{"sumInt64", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPADDQ(x, y, z) }},
	{"sumFloat32", func(c *build.Context, x, y, z reg.VecVirtual) { c.VADDPS(y, x, z) }},
	{"sumFloat64", func(c *build.Context, x, y, z reg.VecVirtual) { c.VADDPD(y, x, z) }},

	{"prodInt16", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMULLW(x, y, z) }},
	{"prodInt32", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMULLD(x, y, z) }},
	{"prodFloat32", func(c *build.Context, x, y, z reg.VecVirtual) { c.VMULPS(y, x, z) }},
	{"prodFloat64", func(c *build.Context, x, y, z reg.VecVirtual) { c.VMULPD(y, x, z) }},

	{"minInt8", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMINSB(x, y, z) }},
	{"minInt16", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMINSW(x, y, z) }},
	{"minInt32", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMINSD(x, y, z) }},
	{"minInt64", func(c *build.Context, x, y, z reg.VecVirtual) { pickInt64(c, x, y, x, y, z) }},
	{"minUint8", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMINUB(x, y, z) }},
	{"minUint16", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMINUW(x, y, z) }},
	{"minUint32", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMINUD(x, y, z) }},
	{"minFloat32", func(c *build.Context, x, y, z reg.VecVirtual) { minFloat(c, c.VMINPS, x, y, z) }},
	{"minFloat64", func(c *build.Context, x, y, z reg.VecVirtual) { minFloat(c, c.VMINPD, x, y, z) }},

	{"maxInt8", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMAXSB(x, y, z) }},
	{"maxInt16", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMAXSW(x, y, z) }},
	{"maxInt32", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMAXSD(x, y, z) }},
	{"maxInt64", func(c *build.Context, x, y, z reg.VecVirtual) { pickInt64(c, x, y, y, x, z) }},
	{"maxUint8", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMAXUB(x, y, z) }},
	{"maxUint16", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMAXUW(x, y, z) }},
	{"maxUint32", func(c *build.Context, x, y, z reg.VecVirtual) { c.VPMAXUD(x, y, z) }},
	{"maxFloat32", func(c *build.Context, x, y, z reg.VecVirtual) { maxFloat(c, c.VMAXPS, c.VCMPPS, x, y, z) }},
	{"maxFloat64", func(c *build.Context, x, y, z reg.VecVirtual) { maxFloat(c, c.VMAXPD, c.VCMPPD, x, y, z) }},
}

func reductionKernels(c *build.Context) {
	copyPast(c)
	for _, k := range combinations {
		begin(c, k.name, "func(d, a, b *byte, n int)", fmt.Sprintf("%s combines n bytes, a multiple of %d. d may be a or b.", k.name, vectorBytes))
		d, a, b, left := pointer(c, "d"), pointer(c, "a"), pointer(c, "b"), pointer(c, "n")
		loops(c, left, []reg.GPVirtual{d, a, b}, func(at int) {
			x, y, z := load(c, a, at), load(c, b, at), c.YMM()
			k.combination(c, x, y, z)
			c.VMOVUPD(z, memory(d, at))
		})
		end(c)
	}
}

// pickInt64 sets z to one where x > y, and to other elsewhere, swapped: AVX2 compares numbers of 8 bytes, and has no
// minimum of them.
func pickInt64(c *build.Context, x, y, other, one, z reg.VecVirtual) {
	greater := c.YMM()
	c.VPCMPGTQ(y, x, greater)
	c.VPBLENDVB(greater, one, other, z)
}

// minFloat sets z to the minimum as Go has it. The instruction returns its second operand if one is no number, or if
// both are zero. So with both orders of the operands, one result is no number, or is the negative zero, and the bits of
// both together are what Go returns: if the two results differ for another reason, there is none.
func minFloat(c *build.Context, least func(...operand.Op), x, y, z reg.VecVirtual) {
	other := c.YMM()
	least(x, y, z)
	least(y, x, other)
	c.VPOR(other, z, z)
}

// maxFloat does the same for the maximum. Of two zeros it is the positive one, which has the bits that both have; no
// number is told apart.
func maxFloat(c *build.Context, most, compare func(...operand.Op), x, y, z reg.VecVirtual) {
	const unordered = 3
	other, none := c.YMM(), c.YMM()
	most(x, y, z)
	most(y, x, other)
	compare(operand.U8(unordered), y, x, none)
	c.VPAND(other, z, z)
	c.VPOR(none, z, z)
}

// copyPast writes the copy past the caches. Its stores are of aligned vectors; a vector at each end, which overlaps
// those, is stored as usual.
func copyPast(c *build.Context) {
	begin(c, "copyPast", "func(d, s *byte, n int)", "copyPast copies n bytes, 64 or more, by stores that go past the caches.")
	d, s, left := pointer(c, "d"), pointer(c, "s"), pointer(c, "n")
	last, lastAt := c.YMM(), c.GP64()
	c.VMOVDQU(operand.Mem{Base: s, Index: left, Scale: 1, Disp: -vectorBytes}, last)
	c.LEAQ(operand.Mem{Base: d, Index: left, Scale: 1, Disp: -vectorBytes}, lastAt)
	c.VMOVDQU(last, memory(lastAt, 0))
	c.VMOVDQU(memory(s, 0), last)
	c.VMOVDQU(last, memory(d, 0))
	unaligned := c.GP64()
	c.MOVQ(d, unaligned)
	c.NEGQ(unaligned)
	c.ANDQ(operand.U8(vectorBytes-1), unaligned)
	c.ADDQ(unaligned, d)
	c.ADDQ(unaligned, s)
	c.SUBQ(unaligned, left)
	loops(c, left, []reg.GPVirtual{d, s}, func(at int) {
		c.VMOVNTDQ(load(c, s, at), memory(d, at))
	})
	c.SFENCE() // such stores are ordered by this alone
	end(c)
}
