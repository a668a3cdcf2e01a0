package main

// The independent count: one PE, one Go map, its own walk of the tree, no symmetric memory.

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// A verdict is the comparison of the distributed count with the sequential one.
type verdict struct {
	Agree   int      `json:"agree"`   // identifiers with the same count in both
	Differ  int      `json:"differ"`  // the others, in either
	Seconds float64  `json:"seconds"` // that the sequential count took
	Sample  []string `json:"sample,omitempty"`
}

// sampleMost is how many differences are shown.
const sampleMost = 10

// verify compares the table with a sequential count of root. It is collective; the verdict is PE 0's.
func verify(ctx context.Context, c *counter) (*verdict, error) {
	var mine []byte
	c.table.own(func(_ uint64, name string, n int64) { mine = appendFrequency(mine, frequency{name, n}) })
	lists, err := pgas.Gather(ctx, c.w.Team(), mine, 0)
	if err != nil || c.w.PE() != 0 {
		return nil, err
	}
	start := time.Now()
	want, err := countSequentially(ctx, c.root)
	if err != nil {
		return nil, err
	}
	v := compare(allFrequencies(lists), want)
	v.Seconds = time.Since(start).Seconds()
	return v, nil
}

// countSequentially counts the tree below root without other PEs. It leaves out what cannot be read: run has
// reported it.
func countSequentially(ctx context.Context, root string) (map[string]int64, error) {
	counts := map[string]int64{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		if path != root && !strings.HasSuffix(path, ".go") {
			return nil
		}
		if src, err := os.ReadFile(path); err == nil {
			eachIdentifier(src, func(name string) { counts[name]++ })
		}
		return nil
	})
	return counts, err
}

// compare compares the table with want. An identifier that is in the table twice differs.
func compare(table []frequency, want map[string]int64) *verdict {
	v := &verdict{}
	seen := make(map[string]bool, len(table))
	for _, f := range table {
		if n, ok := want[f.Name]; ok && n == f.Count && !seen[f.Name] {
			v.Agree++
		} else {
			v.differs(f.Name, f.Count, n)
		}
		seen[f.Name] = true
	}
	var missing []string
	for name := range want {
		if !seen[name] {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	for _, name := range missing {
		v.differs(name, 0, want[name])
	}
	return v
}

func (v *verdict) differs(name string, got, want int64) {
	v.Differ++
	if len(v.Sample) < sampleMost {
		v.Sample = append(v.Sample, fmt.Sprintf("%s: %d in the table, %d in the files", name, got, want))
	}
}

// printVerdict prints v as text.
func printVerdict(out io.Writer, v *verdict, seconds float64) {
	fmt.Fprintf(out, "verified: %d of %d identifiers agree with a sequential count, which took %.2f s (%.2f times as long)\n",
		v.Agree, v.Agree+v.Differ, v.Seconds, v.Seconds/seconds)
	for _, s := range v.Sample {
		fmt.Fprintln(out, "  "+s)
	}
}

// err returns why a verdict is bad, or nil.
func (v *verdict) err() error {
	if v.Differ == 0 {
		return nil
	}
	return fmt.Errorf("%d identifiers differ from a sequential count", v.Differ)
}
