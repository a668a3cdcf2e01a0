package dsmbench

import (
	"context"
	"fmt"
	"io"

	"github.com/gopgas/gopgas/pgas"
)

// Run measures the benches of o with the PEs of this job. PE 0 prints. It returns an error if page faults cannot be
// had, if a bench reads other bytes than were written, and those of package dsm.
func Run(ctx context.Context, w *pgas.World, o *Options, stdout io.Writer) error {
	if w.NPEs() < 2 {
		return fmt.Errorf("pgasbench dsm takes 2 PEs or more: run it under pgasrun -n 2")
	}
	agreed, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	m := &meter{ctx: ctx, w: w, blocks: o.blocks, span: o.span, json: o.JSON, out: stdout, agreed: agreed, first: w.PE() == 0, partner: w.NPEs() - 1}
	m.last = w.PE() == m.partner
	for _, b := range o.benches {
		m.bench = b.name
		if err := b.run(m); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	if m.first && o.Plot != "" {
		return drawMeasured(o, m.rows)
	}
	return nil
}
