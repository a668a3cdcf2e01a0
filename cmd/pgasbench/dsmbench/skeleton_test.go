package dsmbench

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

// at returns the usual point of a skeleton with changes.
func at(bench string, change func(*point)) point {
	c := grid{benches: []string{bench}, rest: point{Steps: 2, Costs: "connectx3", Seed: 1}}.over(usual).points()[0]
	change(&c)
	return c
}

func simulated(t *testing.T, c point) outcome {
	t.Helper()
	r, err := simulate(t.Context(), c, &progress{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCliff: with as many notices as blocks are written between barriers, all reads of CG take one message. A barrier
// of four PEs sends the notices of two of them at most, so 48 are enough for the 92 blocks of two vectors. With fewer,
// leases end, but those of a home's own copies are renewed: no step fetches the matrix again.
func TestCliff(t *testing.T) {
	with := func(notices int) outcome { return simulated(t, at("cg", func(c *point) { c.Notices = notices })) }
	enough, few := with(48), with(44)
	if enough.SlowReads != 0 || enough.FastReads < 3*46 {
		t.Errorf("48 notices: %+v", enough)
	}
	p, _ := sweep.Find(programs, "cg")
	if matrix := float64((p.arrays[4] + p.arrays[5]) / p.block); few.SlowReads == 0 || few.SlowReads > matrix/10 {
		t.Errorf("44 notices: %v slow reads; the matrix has %v blocks", few.SlowReads, matrix)
	}
}

// TestPaperCliff: with notices of all blocks that stay writable, CG has between 65 and 128 of them a PE, so that its
// cliff is where the paper has it, and as high.
func TestPaperCliff(t *testing.T) {
	with := func(notices int) outcome {
		return simulated(t, at("cg-menps", func(c *point) { c.Notices, c.Fault = notices, usualFault }))
	}
	enough, few := with(128), with(64)
	if enough.SlowReads != 0 {
		t.Errorf("128 notices: %+v", enough)
	}
	if few.Step < 2*enough.Step {
		t.Errorf("64 notices: %v a step, 128: %v", few.Step, enough.Step)
	}
}

// TestFloatingHomesRelease: with homes that float BT releases more blocks without a message than with fixed ones.
func TestFloatingHomesRelease(t *testing.T) {
	with := func(protocol string) outcome {
		return simulated(t, at("bt", func(c *point) { c.Protocol = protocol; c.Steps = 1 }))
	}
	floating, fixed := with("floating"), with("fixed-home")
	if floating.FastReleases < 2*fixed.FastReleases || floating.Moves > fixed.Moves/2*11/10 {
		t.Errorf("floating: %v releases without a message and %v with; fixed: %v and %v", floating.FastReleases, floating.Moves, fixed.FastReleases, fixed.Moves)
	}
}

// TestSkeletonsUnderProtocols: every skeleton leaves coherent memory under every protocol, and more PEs than its parts.
func TestSkeletonsUnderProtocols(t *testing.T) {
	for _, bench := range []string{"ep-c", "ft", "is", "cg-c"} {
		for _, protocol := range protocolNames() {
			c := at(bench, func(c *point) { c.Protocol, c.Nodes, c.Steps = protocol, 3, 1 })
			if r := simulated(t, c); r.Speedup <= 0 || r.Speedup > 6*workersOfPE {
				t.Errorf("%s: a speedup of %v with %d workers", c.name(), r.Speedup, 6*workersOfPE)
			}
		}
	}
}

// TestComputing: without accesses by others a program computes as fast as its workers divide it.
func TestComputing(t *testing.T) {
	r := simulated(t, at("ep", func(c *point) { c.Steps = 1 }))
	if ideal := 4.0 * workersOfPE; r.Speedup > ideal || r.Speedup < 0.99*ideal {
		t.Errorf("EP: a speedup of %v with %v workers", r.Speedup, ideal)
	}
}

// TestFault: the time of a page fault is taken for each block that is fetched or written first.
func TestFault(t *testing.T) {
	with := func(d time.Duration) outcome { return simulated(t, at("is", func(c *point) { c.Fault = d })) }
	none, some := with(0), with(100*time.Microsecond)
	faults := (some.FastReads + some.SlowReads + some.FastReleases + some.Moves) / 4 // of a PE
	if added := some.Step - none.Step; added < time.Duration(faults/2)*100*time.Microsecond || added > time.Duration(faults*4)*100*time.Microsecond {
		t.Errorf("%v faults of 100µs on each PE add %v", faults, added)
	}
}

// TestBlocks holds the skeletons to the sizes of the paper.
func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		bench  string
		array  int
		blocks int64
	}{{"cg", 0, 46}, {"cg-c", 0, 37}, {"bt", btU, 80}, {"ft", 0, 2048}, {"is", 1, 32}} {
		p, ok := sweep.Find(programs, c.bench)
		if !ok {
			t.Fatalf("no %s", c.bench)
		}
		if got := (p.arrays[c.array] + p.block - 1) / p.block; got != c.blocks {
			t.Errorf("%s: array %d has %d blocks, want %d", c.bench, c.array, got, c.blocks)
		}
		if p.block%p.grain != 0 {
			t.Errorf("%s: a block of %d bytes is no multiple of %d", c.bench, p.block, p.grain)
		}
	}
}

// TestPrinting: points are printed in their order, and a plot is drawn of them.
func TestPrinting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.svg")
	o, err := Parse([]string{"-sim", "-bench", "is", "-nodes", "2,1", "-steps", "1", "-plot", file})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := Simulate(t.Context(), o, &text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], "nodes") || !strings.Contains(lines[2], " 2       4 ") || !strings.Contains(lines[3], " 1       2 ") {
		t.Errorf("got\n%s", text.String())
	}
	if svg, err := os.ReadFile(file); err != nil || !strings.Contains(string(svg), "hosts") {
		t.Errorf("the plot: %v, %d bytes", err, len(svg))
	}
	o.points = o.points[:1]
	if err := Simulate(t.Context(), o, io.Discard); err == nil || !strings.Contains(err.Error(), "nothing to draw") {
		t.Errorf("a plot of one point: %v", err)
	}
}

// TestProgress: the line about points that run names them, and leaves those out that have ended.
func TestProgress(t *testing.T) {
	p := &progress{total: 3}
	first, second := p.begin(at("is", func(*point) {})), p.begin(at("ft", func(*point) {}))
	second.stepped()
	first.end()
	if got, want := p.String(), "pgasbench: 1 of 3 points done; running: ft floating, 128 notices, 2 hosts of 2 PEs: 1 steps"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
