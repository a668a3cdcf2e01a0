package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/payload"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/capture"
)

// tiny makes every point run a few operations: enough to check payloads, nothing to measure.
var tiny = result.Plan{Point: time.Nanosecond, Short: time.Nanosecond, Long: time.Nanosecond, Least: 3, Most: 3, Tries: 2}

// testSizes crosses each edge: shorter than a stamp, a stamp, no power of two, one slot to a ring.
var testSizes = []int{1, 3, 8, 9, 1000, 65536, 100000, mostBytes}

// Every bench runs at every size it has, and what it checks of its payloads holds.
func TestBenchesVerify(t *testing.T) {
	for _, npes := range []int{1, 2, 3} {
		pgastest.RunGoroutines(t, npes, func(ctx context.Context, w *pgas.World) error {
			r, err := newRunner(ctx, w, tiny, mostBytes)
			if err != nil {
				return err
			}
			everything, _ := parseOptions(nil)
			everything.sizes = testSizes
			for _, p := range choose(everything, npes) {
				res, err := r.point(p.b, p.size)
				if err != nil {
					return err
				}
				unlike := res.MinNs > res.P50ns || res.P50ns > res.P99ns
				if res.Most > 0 {
					unlike = res.Least < 1 || res.Least > res.Most || res.WaitP50ns > res.P99ns || res.P99ns > res.MaxNs || npes == 1 && res.Passed > 0
				}
				if w.PE() == 0 && (res.Bench != p.b.name || res.Bytes != p.size || res.PEs != npes || res.P50ns <= 0 || unlike) {
					t.Errorf("%s of %d bytes, %d PEs: %+v", p.b.name, p.size, npes, res)
				}
			}
			return nil
		})
	}
}

// A bench must not pass when its payload is wrong. Each mutant changes one thing, where the bench named
// has its result: before the operations, or after them and before the check.
func TestWrongPayloadFails(t *testing.T) {
	spoilByte := func(at int) func(r *runner) {
		return func(r *runner) { r.area.Local()[at] ^= 1 }
	}
	spoilWord := func(r *runner) { r.board.AddWord(r.partner, 1) }
	spoilRing := func(r *runner) { r.ring.Local()[0] += 2 }
	spoilBlock := func(at int) func(r *runner) {
		return func(r *runner) { r.blocks.Local()[at] ^= 1 }
	}
	type mutant struct {
		bench         string
		size          int
		before, after func(r *runner)
	}
	mutants := []mutant{
		{"put", 8, nil, spoilRing},
		{"put", 3, nil, spoilByte(0)},
		{"put", 1000, nil, spoilByte(999)},
		{"put-quiet", 8, nil, spoilRing},
		{"put-quiet", 100000, nil, spoilByte(7)},
		{"get", 8, spoilRing, nil},
		{"get", 64, spoilByte(0), nil},
		{"get", 100000, spoilByte(99999), nil},
		{"rate", 8, nil, spoilRing},
		{"rate", 16, nil, spoilByte(15)},
		{"bandwidth", 4096, nil, spoilByte(4095)},
		{"signal-pingpong", 8, nil, spoilRing},
		{"signal-pingpong", 16, nil, spoilByte(12)},
		{"flag-pingpong", 8, nil, func(r *runner) { r.board.Flag().Add(r.partner, 1) }},
		{"flag-pingpong", 16, nil, spoilByte(12)},
		{"notify-pingpong", 8, nil, spoilRing},
		{"notify-pingpong", 16, nil, spoilByte(12)},
		{"quiet-pingpong", 8, nil, spoilByte(3)},
		{"quiet-pingpong", 16, nil, spoilByte(12)},
		{"get-notify-pingpong", 16, spoilByte(12), nil},
		{"get-notify-pingpong", 16, nil, func(r *runner) { r.payload[0] ^= 1 }},
		{"get-flag-pingpong", 16, spoilByte(12), nil},
		{"notify-rate", 8, nil, spoilRing},
		{"signal-rate", 8, nil, spoilRing},
		{"notify-overlap", 16, nil, spoilByte(12)},
		{"call", 8, nil, func(r *runner) { pgas.AtomicsOf(r.ring).At(0).Add(r.w.PE(), 1) }},
		{"fetch-add", 8, spoilWord, nil},
		{"fetch-add", 8, nil, spoilWord},
		{"compare-swap", 8, spoilWord, nil},
		{"compare-swap", 8, nil, spoilWord},
		{"swap", 8, spoilWord, nil},
		{"swap", 8, nil, spoilWord},
		{"fetch", 8, spoilWord, nil},
		{"barrier", 0, nil, spoilWord},
		{"broadcast", 8, nil, spoilBlock(0)},
		{"broadcast", 8000, nil, spoilBlock(999)},
		{"fcollect", 8, nil, spoilBlock(1)},
		{"fcollect", 80, spoilBlock(29), nil},
		{"collect", 8, nil, spoilBlock(0)},
		{"collect", 80, spoilBlock(29), nil},
		{"alltoall", 8, nil, spoilBlock(1)},
		{"alltoall", 80, spoilBlock(29), nil},
		{"alltoall", 80, spoilBlock(39), nil},
		{"sum", 8, nil, spoilBlock(0)},
		{"sum", 80, spoilBlock(19), nil},
	}
	for _, k := range lockKinds() {
		spoilCount := func(r *runner) { r.board.PutCount(0, r.board.GetCount(0)+1) }
		for _, where := range []string{"own", "other", "contended"} {
			mutants = append(mutants, mutant{k.name + "-" + where, 8, nil, spoilCount})
		}
	}
	covered := map[string]bool{"copy": true, "idle": true} // copy: see TestCopyVerifies; idle moves nothing
	for _, m := range mutants {
		covered[m.bench] = true
		t.Run(m.bench, func(t *testing.T) {
			err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				r, err := newRunner(ctx, w, tiny, mostBytes)
				if err != nil {
					return err
				}
				return r.spoiled(benchNamed(m.bench), m.size, m.before, m.after)
			})
			if err == nil {
				t.Errorf("%s of %d bytes passed with a wrong payload", m.bench, m.size)
			} else if !strings.Contains(err.Error(), "wrong") && !strings.Contains(err.Error(), "should be") && !strings.Contains(err.Error(), "arrived") {
				t.Errorf("%s of %d bytes failed for another reason: %v", m.bench, m.size, err)
			}
		})
	}
	for _, b := range benches {
		if !covered[b.name] {
			t.Errorf("no mutant of %s", b.name)
		}
	}
}

// spoiled is point with the partner's memory changed in between.
func (r *runner) spoiled(b bench, size int, before, after func(*runner)) error {
	t := b.task(r, size)
	spoil := func(f func(*runner)) error {
		if err := r.w.Barrier(r.ctx); err != nil {
			return err
		}
		if f != nil && r.w.PE() == r.partner {
			f(r)
		}
		return r.w.Barrier(r.ctx)
	}
	if err := spoil(before); err != nil {
		return err
	}
	_, done, err := r.figures(b, size, t)
	if err != nil {
		return err
	}
	if err := spoil(after); err != nil {
		return err
	}
	if err := t.verify(done); err != nil {
		return err
	}
	return r.w.Barrier(r.ctx)
}

func TestCopyVerifies(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		r := &runner{ctx: ctx, w: w, plan: tiny}
		task := copyTask(r, 64)
		defer task.end()
		if err := task.batch(0, 5); err != nil {
			return err
		}
		if err := task.verify(5); err != nil {
			t.Error(err)
		}
		if err := task.verify(6); err == nil {
			t.Error("a copy that did not happen passed")
		}
		return nil
	})
}

func TestCheckPayload(t *testing.T) {
	for _, size := range []int{1, 2, 7, 8, 9, 300} {
		p := make([]byte, size)
		payload.Fill(p)
		payload.Stamp(p, 0x0102030405060708)
		if err := payload.Check(p, 0x0102030405060708); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		for i := range p {
			p[i] ^= 0x80
			if payload.Check(p, 0x0102030405060708) == nil {
				t.Errorf("%d bytes: wrong byte %d passed", size, i)
			}
			p[i] ^= 0x80
		}
	}
}

// lastIn against the loop it stands for.
func TestLastIn(t *testing.T) {
	for slots := 1; slots <= 8; slots *= 2 {
		for done := 1; done < 40; done++ {
			last := map[int]int{}
			for i := range done {
				last[i%slots] = i
			}
			for slot, want := range last {
				if got := payload.LastIn(slot, slots, done); got != want {
					t.Errorf("slot %d of %d after %d: %d, want %d", slot, slots, done, got, want)
				}
			}
		}
	}
}

// The whole program on goroutine PEs: one JSON object a line for each point.
func TestRunPrintsJSON(t *testing.T) {
	o, err := parseOptions([]string{"-json", "-bench", "put|barrier", "-sizes", "8,64"})
	if err != nil {
		t.Fatal(err)
	}
	o.plan = tiny
	var out, errs capture.Output
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error { return run(ctx, w, o, &out, &errs) })
	got, err := result.Read([]byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	var points []string
	for _, r := range got {
		points = append(points, r.Bench+" "+dashed(r.Bytes))
	}
	want := "put 8,put 64,put-quiet 8,put-quiet 64,barrier -"
	if s := strings.Join(points, ","); s != want || errs.Len() != 0 {
		t.Errorf("got %s (%s), want %s", s, errs.String(), want)
	}
}

func TestRunIdle(t *testing.T) {
	o, err := parseOptions([]string{"-json", "-bench", "idle"})
	if err != nil {
		t.Fatal(err)
	}
	var out capture.Output
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error { return run(ctx, w, o, &out, &out) })
	got, err := result.Read([]byte(out.String()))
	if err != nil || len(got) != 1 || got[0].Bench != "idle" || got[0].PEs != 2 || got[0].PssKB <= 0 || got[0].RssKB < got[0].PssKB {
		t.Errorf("got %+v, %v", got, err)
	}
}
