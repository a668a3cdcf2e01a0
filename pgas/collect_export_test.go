package pgas

import (
	"context"
	"encoding/binary"
)

// SizesOneByOne is what members of teams with more than a thousand of them do to learn how long everybody's
// block of a Collect is: each contributes n, and gets what all have.
func SizesOneByOne(ctx context.Context, t *Team, n uint64) ([]uint64, error) {
	all := make([]uint64, len(t.g.pes))
	c := collection{g: t.g, l: &t.g.layout, call: call{kind: kindCollect, size: 1}, each: 8, sum: 8 * len(all)}
	err := c.oneByOne(ctx, binary.NativeEndian.AppendUint64(nil, n), asBytes(all))
	return all, err
}

// CallsOf is how many calls the team has had, the meetings between them included.
func CallsOf(t *Team) uint64 { return t.g.turns.n }

// Generations is how many calls a member can be ahead of another.
const Generations = generations
