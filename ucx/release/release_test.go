package release

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		built, running Version
		says           string // of the error; "": none
	}{
		{Version{1, 13, 1}, Version{1, 13, 1}, ""},
		{Version{1, 13, 1}, Version{1, 18, 1}, ""},
		{Version{1, 18, 1}, Version{1, 13, 1}, ""},
		{Version{1, 13, 1}, Version{1, 99, 0}, ""},
		{Version{1, 13, 1}, Version{1, 12, 9}, "UCX 1.12.9 is too old: this needs 1.13.0 or newer"},
		{Version{1, 13, 1}, Version{0, 20, 0}, "UCX 0.20.0 is too old"},
		{Version{2, 0, 0}, Version{2, 0, 0}, "UCX 2.0.0 is not known"},
		{Version{2, 0, 0}, Version{1, 18, 1}, "was built with UCX 2.0.0 and runs with UCX 1.18.1"},
	} {
		err := Check(c.built, c.running)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("built with %v, running %v: %v, want one line with %q", c.built, c.running, err, c.says)
		}
	}
}

func TestWarning(t *testing.T) {
	for v, warns := range map[Version]bool{
		Oldest: false, Newest: false, {Newest.Major, Newest.Minor, 7}: false,
		{Newest.Major, Newest.Minor + 1, 0}: true, {Newest.Major, Newest.Minor + 9, 3}: true,
	} {
		line := Warning(v)
		if warns != strings.HasPrefix(line, "UCX "+v.String()+" is newer") || !warns && line != "" || strings.Contains(line, "\n") {
			t.Errorf("the warning about %v is %q", v, line)
		}
	}
}

// TestDefects: the table has a row for each defect, in their order, and the releases of a row follow each other.
func TestDefects(t *testing.T) {
	if len(Defects) != int(numDefects) {
		t.Fatalf("%d rows for %d defects", len(Defects), numDefects)
	}
	for i, e := range Defects {
		if int(e.Defect) != i || e.What == "" || e.Seen == "" || e.Instead == "" {
			t.Errorf("row %d is out of order, or incomplete: %+v", i, e)
		}
		if e.Since.Before(Oldest) || e.Fixed != (Version{}) && !e.Since.Before(e.Fixed) || Newest.Before(e.Fixed) {
			t.Errorf("row %d: since %v, fixed in %v", i, e.Since, e.Fixed)
		}
	}
	for d, has := range map[Defect]map[Version]bool{
		NoHandler:       {{1, 13, 1}: true, {1, 16, 9}: true, {1, 17, 0}: false},
		EmulatedAtomics: {{1, 15, 0}: false, {1, 16, 0}: true, {1, 18, 1}: true, {1, 23, 0}: true},
	} {
		for v, want := range has {
			if v.Has(d) != want {
				t.Errorf("%v has defect %d: %v, want %v", v, d, !want, want)
			}
		}
	}
}
