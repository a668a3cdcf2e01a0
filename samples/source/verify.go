package source

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
)

// A Verdict is the comparison of the distributed count with the sequential one.
type Verdict struct {
	Agree   int      `json:"agree"`   // identifiers with the same count in both
	Differ  int      `json:"differ"`  // the others, in either
	Seconds float64  `json:"seconds"` // that the sequential count took
	Sample  []string `json:"sample,omitempty"`
}

// sampleMost is how many differences are shown.
const sampleMost = 10

// Verify compares what all PEs have counted, encoded, with a sequential count of root that leaves out what has more
// than longest bytes.
func Verify(ctx context.Context, root string, longest int, lists [][]byte) (*Verdict, error) {
	start := time.Now()
	want, err := CountSequentially(ctx, root, longest)
	if err != nil {
		return nil, err
	}
	v := Compare(AllFrequencies(lists), want)
	v.Seconds = time.Since(start).Seconds()
	return v, nil
}

// CountSequentially counts the tree below root without other PEs. It leaves out what cannot be read: run has
// reported it.
func CountSequentially(ctx context.Context, root string, longest int) (map[string]int64, error) {
	counts := map[string]int64{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		if path != root && !strings.HasSuffix(path, ".go") {
			return nil
		}
		if src, err := os.ReadFile(path); err == nil {
			EachIdentifier(src, longest, func(name string) { counts[name]++ })
		}
		return nil
	})
	return counts, err
}

// Compare compares the table with want. An identifier that is in the table twice differs.
func Compare(table []Frequency, want map[string]int64) *Verdict {
	v := &Verdict{}
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

func (v *Verdict) differs(name string, got, want int64) {
	v.Differ++
	if len(v.Sample) < sampleMost {
		v.Sample = append(v.Sample, fmt.Sprintf("%s: %d in the table, %d in the files", name, got, want))
	}
}

// Print prints v as text, beside the seconds that the PEs took.
func (v *Verdict) Print(out io.Writer, seconds float64) {
	fmt.Fprintf(out, "verified: %d of %d identifiers agree with a sequential count, which took %.2f s (%.2f times as long)\n",
		v.Agree, v.Agree+v.Differ, v.Seconds, v.Seconds/seconds)
	for _, s := range v.Sample {
		fmt.Fprintln(out, "  "+s)
	}
}

// Err returns why a Verdict is bad, or nil.
func (v *Verdict) Err() error {
	if v.Differ == 0 {
		return nil
	}
	return fmt.Errorf("%d identifiers differ from a sequential count", v.Differ)
}
