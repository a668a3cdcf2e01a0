package coll

// How messages describe a call.

import (
	"fmt"
	"reflect"

	"github.com/gopgas/gopgas/internal/plural"
)

// String describes c for reports and errors, with what must be the same on all members.
func (c Call) String() string {
	s := c.title()
	switch c.Kind {
	case kindLibrary:
		return s
	case kindSplit:
		return c.describeSplit()
	case KindSync:
		return syncNames[c.op&3]
	case KindAgree, kindNone, KindClose:
		return s
	case kindReduce, kindReduceValue, KindInscan, KindExscan:
		s = opNames[c.op&0xf] + " " + s + optionsIn(c.op>>4|uint8(c.root)<<4)
	case kindGather, kindAllGather:
		if c.Kind == kindGather {
			s += fmt.Sprintf(" to PE %d", c.root)
		}
	case kindBroadcastValue:
		s += [...]string{"", " slice"}[c.op&1]
		return s + fmt.Sprintf(" from PE %d: %d bytes of elements of %d%s", c.root, c.count, c.Size, c.typeName())
	case kindAllToAllS:
		s += fmt.Sprintf(" with strides %s and %s", strideIn(c.root>>12), strideIn(c.root&0xfff))
		s += optionsIn(c.op)
	case kindBroadcast:
		s += fmt.Sprintf(" from PE %d", c.root)
		fallthrough
	default:
		s += optionsIn(c.op)
	}
	if c.lengthsDiffer() {
		return s + fmt.Sprintf(" of elements of %d bytes%s", c.Size, c.typeName())
	}
	return s + fmt.Sprintf(" of %d × %d bytes%s", c.count, c.Size, c.typeName())
}

// lengthsDiffer reports whether members may give different numbers of elements.
func (c *Call) lengthsDiffer() bool {
	switch c.Kind {
	case KindCollect:
		return c.count == 0 // then it is the call in which members learn of each other's length
	case kindAllToAllV, kindGather, kindAllGather:
		return true
	}
	return false
}

// typeName names the type of an element.
func (c *Call) typeName() string {
	switch d := c.detail; {
	case d.digest == 0:
		return ""
	case d.digest < longDetail:
		return " (" + reflect.Kind(d.digest).String() + ")"
	case d.text != "":
		return " (" + d.text + ")"
	}
	return fmt.Sprintf(" (type with digest %06x)", c.detail.digest)
}

var syncNames = [...]string{Plain: "sync", syncOfWords: "sync of words", OfBarrier: "barrier", OfDestroy: "destruction of the team"}

// strides packs the strides of an AllToAllS for reports.
func strides(dst, src int) int { return min(dst, mostStride)<<12 | min(src, mostStride) }

const mostStride = 1<<12 - 1

func strideIn(n int) string {
	if n == mostStride {
		return fmt.Sprintf("%d or more", n)
	}
	return fmt.Sprint(n)
}

// The ways of a split, as they stand in entries.
const (
	splitList = iota
	splitStrided
	split2DX
	split2DY
	splitColor
	splitHost
	numSplits
)

var splitNames = [numSplits]string{"plain", "strided", "2D x", "2D y", "color", "host"}

// describeSplit describes a split, with its arguments.
func (c *Call) describeSplit() string {
	s := splitNames[min(c.op, numSplits-1)] + " split"
	switch c.op {
	case splitList:
		if c.detail.text == "" {
			return s + fmt.Sprintf(" with %s (list with digest %06x)", plural.Count(c.count, "member"), c.detail.digest)
		}
		s += " with members " + c.detail.text
	case splitStrided:
		s += fmt.Sprintf(" from PE %d with stride %d, size %d", c.root, int64(c.bufferHash), c.count)
	case split2DX, split2DY:
		s += fmt.Sprintf(" in rows of %d", c.count)
	}
	if c.Size > 0 {
		s += fmt.Sprintf(" for %d contexts", c.Size)
	}
	return s
}
