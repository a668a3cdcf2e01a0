package launch

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

func TestAwaitGreeting(t *testing.T) {
	const rest = "the rest"
	for name, tt := range map[string]struct {
		text string
		err  error
	}{
		"at once":      {greeting + rest, nil},
		"after a motd": {"welcome\n\x00 to \x00pgas-\x00\x00" + greeting + rest, nil},
		"never":        {"no", io.EOF},
		"too long":     {greetingMark + strings.Repeat("1", longestGreeting) + "\n", errNoGreeting},
		"too late":     {strings.Repeat("y\n", maxBanner) + greeting, errNoGreeting},
	} {
		r := bufio.NewReader(strings.NewReader(tt.text))
		if text, err := awaitGreeting(r, nil, nil, nil); err != tt.err || err == nil && text != greeting {
			t.Errorf("%s: %v, want %v", name, err, tt.err)
		} else if left, _ := io.ReadAll(r); err == nil && string(left) != rest {
			t.Errorf("%s: leaves %q", name, left)
		}
	}
}
