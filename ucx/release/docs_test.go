package release

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDefectsAreDocumented: docs/packages/ucx.md has the table, row by row.
func TestDefectsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/packages/ucx.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, e := range Defects {
		fixed := "–"
		if e.Fixed != (Version{}) {
			fixed = fmt.Sprintf("%d.%d", e.Fixed.Major, e.Fixed.Minor)
		}
		fmt.Fprintf(&rows, "| %s; seen: %s | %d.%d | %s | %v | %s |\n", e.What, e.Seen, e.Since.Major, e.Since.Minor, fixed, e.Means, e.Instead)
	}
	if !strings.Contains(string(page), rows.String()) {
		t.Errorf("docs/packages/ucx.md does not have these rows:\n%s", &rows)
	}
}
