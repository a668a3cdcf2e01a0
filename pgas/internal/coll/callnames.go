package coll

// How messages describe a call.

import "fmt"

// String describes c for reports and errors, with what must be the same on all members.
func (c Call) String() string {
	s := c.Kind.String()
	switch c.Kind {
	case kindSplit:
		return splitNames[c.op&3] + " " + s
	case KindSync:
		if c.op == syncOfWords {
			s += " of words"
		}
		return s
	case KindAgree, kindNone, KindClose:
		return s
	case kindReduce, kindReduceValue, KindInscan, KindExscan:
		s = opNames[c.op&0xf] + " " + s + optionsIn(c.op>>4)
		if c.root == 1 {
			s += " in the order of the team"
		}
	case kindGather, kindAllGather:
		if c.Kind == kindGather {
			s += fmt.Sprintf(" to PE %d", c.root)
		}
		return s + fmt.Sprintf(" of elements of %d bytes", c.Size)
	case kindBroadcastValue:
		return s + fmt.Sprintf(" from PE %d: %d bytes of elements of %d", c.root, c.count, c.Size)
	case kindBroadcast:
		s += fmt.Sprintf(" from PE %d", c.root)
		fallthrough
	default:
		s += optionsIn(c.op)
	}
	if c.Size == 0 {
		return s
	}
	return s + fmt.Sprintf(" of %d × %d bytes", c.count, c.Size)
}

// The ways of a split, as they stand in entries.
const (
	splitPlain = iota
	split2DX
	split2DY
	splitColor
)

var splitNames = [...]string{"plain", "2D x", "2D y", "color"}
