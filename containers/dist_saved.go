package containers

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gopgas/gopgas/ckpt"
)

// Checkpoint makes the values of a DistObject an item of a ckpt.Set. They are restored on the same number of PEs, with
// the same members: each has published what it had, under the same version.
func (d *DistObject[T]) Checkpoint() ckpt.Parts {
	if d == nil || d.members.World == nil {
		notMade("DistObject.Checkpoint")
	}
	return ckpt.Parts{Kind: "DistObject", Save: d.save, Restore: d.restore}
}

// save returns this member's value, if it has published one, and its version.
func (d *DistObject[T]) save(context.Context) ([]ckpt.Section, error) {
	if d.members.Team == nil {
		return nil, nil
	}
	n := 0
	if d.current > 0 {
		n = 1
	}
	s := ckpt.Elements(d.own.value[:n])
	s.Shape = binary.AppendUvarint(nil, d.current/2)
	return []ckpt.Section{s}, nil
}

// restore publishes the value that this PE has saved.
func (d *DistObject[T]) restore(ctx context.Context, from *ckpt.Saved) error {
	if d.members.Team == nil {
		return nil
	}
	pe, err := from.Own()
	if err != nil {
		return err
	}
	_, number, err := savedSection(ctx, from, pe, "")
	if err == nil && number < 0 {
		err = fmt.Errorf("PE %d has saved no value: its members were others", pe)
	}
	if err != nil {
		return err
	}
	value, s, err := savedElements[T](ctx, from, pe, "")
	if err != nil {
		return err
	}
	version, ok := savedNumber(s.Shape)
	if !ok || version >= 1<<62 || len(value) > 1 || (len(value) == 1) != (version > 0) {
		return fmt.Errorf("what PE %d has saved of it does not fit", pe)
	}
	d.become(value, version)
	return d.members.Ctx.Quiet(ctx)
}

// become makes this member's value what is in value under a version, or nothing. No other member reads it meanwhile.
func (d *DistObject[T]) become(value []T, version uint64) {
	clear(d.known) // versions come again
	d.current = 0
	if len(value) == 0 {
		d.version.Set(d.members.Me, 0)
		return
	}
	d.current = 2 * (version - 1)
	d.Publish(value[0])
}
