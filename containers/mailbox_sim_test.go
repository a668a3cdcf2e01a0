package containers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestMailboxFew: a letter that is sent on, and a letter of the next epoch, in many orders.
func TestMailboxFew(t *testing.T) {
	for name, body := range map[string]sim.Body{"sent on": sentOn, "next epoch": nextEpoch} {
		t.Run(name, func(t *testing.T) {
			if err := sim.Seeds(t.Context(), sim.Config{}, 3, 300, body); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// sentOn: PE 0 sends a letter to PE 1, which sends one to each other. All have theirs when the flush ends: also PE 2,
// if PE 0 has had its own after PE 1 reported that it had sent nothing.
func sentOn(ctx context.Context, w *pgas.World) error {
	got := 0
	var box *containers.Mailbox[int64]
	receive := func(_ int, items []int64) error {
		got += len(items)
		if items[0] == 0 {
			return nil
		}
		for _, pe := range []int{0, 2} {
			if err := box.Send(ctx, pe, 0); err != nil {
				return err
			}
		}
		return nil
	}
	box, err := containers.NewMailbox(ctx, w, receive)
	if err != nil {
		return err
	}
	if w.PE() == 0 {
		if err := box.Send(ctx, 1, 1); err != nil {
			return err
		}
	}
	if err := box.Flush(ctx); err != nil {
		return err
	}
	if got != 1 {
		return fmt.Errorf("PE %d has received %d letters when its flush returns, want 1", w.PE(), got)
	}
	return nil
}

// nextEpoch: a letter that PE 0 sends after its flush is not received in PE 1's first.
func nextEpoch(ctx context.Context, w *pgas.World) error {
	got := 0
	box, err := containers.NewMailbox(ctx, w, func(_ int, items []int64) error {
		got += len(items)
		return nil
	})
	if err != nil {
		return err
	}
	for epoch := range 2 {
		if w.PE() == 0 {
			if err := box.Send(ctx, 1, int64(epoch)); err != nil {
				return err
			}
		}
		if err := box.Flush(ctx); err != nil {
			return err
		}
		if want := w.PE() % 2 * (epoch + 1); got != want {
			return fmt.Errorf("PE %d has received %d letters after flush %d, want %d", w.PE(), got, epoch, want)
		}
	}
	return nil
}

// TestMailboxAdversaries: many seeds of random correspondence over the smallest rings.
func TestMailboxAdversaries(t *testing.T) {
	seeds := 100
	if testing.Short() {
		seeds = 10
	}
	err := sim.Seeds(t.Context(), sim.Config{}, 6, seeds, func(ctx context.Context, w *pgas.World) error {
		return correspond(ctx, w, 5, 3, containers.Ring(1))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestMailboxDeaths: whenever a member dies, the others end, with its *pgas.PeerError.
func TestMailboxDeaths(t *testing.T) {
	for at := range 30 {
		cfg := sim.Config{Deaths: []sim.Death{{PE: 1, At: time.Duration(20+15*at) * time.Microsecond}}}
		_, err := sim.Run(t.Context(), cfg, 4, func(ctx context.Context, w *pgas.World) error {
			if err := correspond(ctx, w, 9, 3, containers.Ring(1)); !isAbout(err, 1) {
				return err
			}
			return nil
		})
		if err != nil && !isAbout(err, 1) {
			t.Errorf("death at %v: %v", cfg.Deaths[0].At, err)
		}
	}
}

// TestArrayDeaths: the same of batched calls of an array.
func TestArrayDeaths(t *testing.T) {
	for at := range 30 {
		cfg := sim.Config{Deaths: []sim.Death{{PE: 1, At: time.Duration(20+25*at) * time.Microsecond}}}
		_, err := sim.Run(t.Context(), cfg, 3, func(ctx context.Context, w *pgas.World) (err error) {
			defer func() {
				if p := recover(); p != nil { // a blocking get panics with what the others return
					err = w.Recovered(p)
				}
				if isAbout(err, 1) {
					err = nil
				}
			}()
			a, err := containers.NewArray[int64](ctx, w, 97, containers.Ring(64))
			if err != nil {
				return err
			}
			return arrayProgram(ctx, w, a, 10)
		})
		if err != nil && !isAbout(err, 1) {
			t.Errorf("death at %v: %v", cfg.Deaths[0].At, err)
		}
	}
}

const (
	byMailbox = "^TestMailbox(Random|Wraps|Few|Adversaries|Forwards)$"
	byArray   = "^TestArray(Random|Sort|Prefix|Copy|Places)$"
)

// mailboxBugs are bugs that the tests of mailboxes and arrays must find.
var mailboxBugs = []mutant.Bug{
	mutant.New("one wave is enough", "../internal/carry/census.go", byMailbox, "over = c.repeated && before == total.Sent", "over = before >= 0 && total.Taken == total.Sent"),
	mutant.New("items of the next epoch are received", "../internal/carry/rings.go", byMailbox, "if n == 0 || put&1 != r.epoch&1 {", "if n == 0 {"),
	mutant.New("a ring has one item more than room", "../internal/carry/rings.go", byMailbox, "return r.size - int((out.sent-taken)&itemCount)", "return r.size + 1 - int((out.sent-taken)&itemCount)"),
	mutant.New("a report does not wait for the last child", "../internal/carry/census.go", byMailbox, "if c.m.Me*censusFan+1+place >= c.m.N {", "if c.m.Me*censusFan+2+place >= c.m.N {"),
	mutant.New("senders are never told", "../internal/carry/rings.go", byMailbox, "if in := &r.in[pe]; in.told != in.taken {", "if in := &r.in[pe]; in.told != in.taken && in.taken == 0 {"),
	mutant.New("counts do not wrap", "../internal/carry/rings.go", byMailbox, "n := int((put>>1 - r.in[pe].taken) & itemCount)", "n := int(put>>1 - r.in[pe].taken)"),
	mutant.New("a gather ends before all answers are there", "array_gather.go", byArray, "if all && !some && g.answered() && g.census", "if all && !some && g.census"),
	mutant.New("questions are taken without room for answers", "array_gather.go", "^TestArrayRandom$/^sim$", "places = places[:min(len(places), g.answers.Room(pe), g.answers.Batch())]", "places = places[:min(len(places), g.answers.Batch())]"),
	mutant.New("blocks begin one late", "layout.go", "^TestArrayHugeBlocks$", "for i < l.starts[pe] {", "for i+1 < l.starts[pe] {"),
	mutant.New("a range ends a row early", "layout.go", byArray, "return i/row*l.block + min(max(i%row-pe*l.block, 0), l.block)", "return i/row*l.block + min(max(i%row-pe*l.block, 0), l.block-1)"),
	mutant.New("equal elements stay together and are lost", "array_sort.go", byArray, "cuts[b] = lo\n", "cuts[b] = lo - lo%2\n\t\tif b == 1 {\n\t\t\tcuts[0] = lo % 2\n\t\t}\n"),
	mutant.New("a scan forgets the members before", "array_scan.go", byArray, "fold(totals[:a.members.Me], f); any {", "fold(totals[:a.members.Me/2], f); any {"),
}
