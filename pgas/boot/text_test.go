package boot

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	var text Text
	for _, s := range []string{"", "a", "12345678", "123456789", strings.Repeat("x", textBytes), "short again"} {
		text.Store(s)
		if got := text.Load(); got != s {
			t.Errorf("%q was stored, and %q loaded", s, got)
		}
	}
	text.Store(strings.Repeat("y", textBytes+1))
	if got := text.Load(); got != strings.Repeat("y", textBytes) {
		t.Errorf("of a text that is too long, %q was loaded", got)
	}
	text.Clear()
	if got := text.Load(); got != "" {
		t.Errorf("an empty text is %q", got)
	}
}
