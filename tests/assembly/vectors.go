package main

// What all kernels are made of: functions over pointers, and loops over vectors of AVX2, which hold 32 bytes. No kernel
// fuses a multiplication and an addition, so each computes what its twin in Go computes, bit by bit.

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const vectorBytes = 32

// begin begins a function that keeps no pointer and uses no stack.
func begin(c *build.Context, name, signature string, doc ...string) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(doc...)
	c.SignatureExpr(signature)
}

// end ends a function that has used vectors.
func end(c *build.Context) {
	c.VZEROUPPER() // what follows may be code of the kind that is slow while the upper halves are in use
	c.RET()
}

// pointer loads a parameter.
func pointer(c *build.Context, name string) reg.GPVirtual {
	return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual)
}

// loop writes body for steps of so many bytes, until the bytes left, which it counts down, are fewer than a step.
func loop(c *build.Context, label string, left reg.GPVirtual, step int, body func()) {
	c.Label(label)
	c.CMPQ(left, operand.I32(step))
	c.JL(operand.LabelRef(label + "_end"))
	body()
	c.SUBQ(operand.I32(step), left)
	c.JMP(operand.LabelRef(label))
	c.Label(label + "_end")
}

// loops writes body for four vectors at a time and then for one at a time: at is how far the vector is from pointers,
// which the loop advances.
func loops(c *build.Context, left reg.GPVirtual, pointers []reg.GPVirtual, body func(at int)) {
	for _, vectors := range []int{4, 1} {
		label := map[int]string{4: "four", 1: "one"}[vectors]
		loop(c, label, left, vectors*vectorBytes, func() {
			for v := range vectors {
				body(v * vectorBytes)
			}
			for _, p := range pointers {
				c.ADDQ(operand.I32(vectors*vectorBytes), p)
			}
		})
	}
}

func memory(base reg.GPVirtual, at int) operand.Mem { return operand.Mem{Base: base, Disp: at} }

// load loads the vector that is at bytes from base.
func load(c *build.Context, base reg.GPVirtual, at int) reg.VecVirtual {
	y := c.YMM()
	c.VMOVUPD(memory(base, at), y)
	return y
}

// broadcast loads a float64 into all elements of a vector.
func broadcast(c *build.Context, param string) reg.VecVirtual {
	y := c.YMM()
	c.VBROADCASTSD(c.Load(c.Param(param), c.XMM()), y)
	return y
}
