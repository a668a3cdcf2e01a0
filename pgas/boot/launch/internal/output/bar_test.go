package output

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// screenOf is what a terminal shows of text: what stood in a line before it was cleared is gone.
func screenOf(text string) string {
	return regexp.MustCompile(`[^\n]*`+regexp.QuoteMeta(boot.BarMark)).ReplaceAllString(text, "")
}

// TestBar: the bar stands below all other output, on either stream, never in a line that a PE has not ended, and goes.
func TestBar(t *testing.T) {
	var got bytes.Buffer
	out, errs := newLines(&got, true, 2), newLines(&got, true, 2)
	ShowBar(out, errs, true)
	mark := boot.BarMark
	for i, step := range []struct {
		do   func()
		want string // what the terminal shows
	}{
		{func() { errs.Write(0, []byte(mark+"10%\n")) }, "10%"},
		{func() { out.Write(1, []byte("a\n")) }, "[1] a\n10%"},
		{func() { errs.Write(0, []byte("b\n"+mark+"20%\nc\n")) }, "[1] a\n[0] b\n[0] c\n20%"},
		{func() { errs.Write(0, []byte(mark+"30%\n"+mark+"40%\n")) }, "[1] a\n[0] b\n[0] c\n40%"},
		{func() { out.Write(1, []byte("d")) }, "[1] a\n[0] b\n[0] c\n[1] d"},
		{func() { errs.Write(0, []byte(mark+"50%\n")) }, "[1] a\n[0] b\n[0] c\n[1] d"},
		{func() { out.Write(1, []byte(" e\n")) }, "[1] a\n[0] b\n[0] c\n[1] d e\n50%"},
		{func() { errs.Notice("a notice\n") }, "[1] a\n[0] b\n[0] c\n[1] d e\na notice\n50%"},
		{func() { errs.Write(0, []byte(mark+"\n")) }, "[1] a\n[0] b\n[0] c\n[1] d e\na notice\n"},
		{func() { errs.Write(0, []byte(mark+"60%\n")); errs.bar.remove() }, "[1] a\n[0] b\n[0] c\n[1] d e\na notice\n"},
	} {
		if step.do(); screenOf(got.String()) != step.want {
			t.Fatalf("step %d: the terminal shows %q, want %q", i, screenOf(got.String()), step.want)
		}
	}
}

// TestBarIsNoOutput: what a report says of the last lines of a PE has no bars.
func TestBarIsNoOutput(t *testing.T) {
	said, text, found := SplitBars([]byte("one\n" + boot.BarMark + "10%\ntwo\n"))
	if string(said) != "one\ntwo\n" || string(text) != "10%" || !found {
		t.Errorf("%q, bar %q", said, text)
	}
	if said, _, found := SplitBars([]byte("one\n")); string(said) != "one\n" || found {
		t.Errorf("%q", said)
	}
	var none *bar
	none.beside(func() {}, true)
	none.remove()
}
