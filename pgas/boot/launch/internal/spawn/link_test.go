package spawn

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

func TestAwaitGreeting(t *testing.T) {
	const rest = "the rest"
	for name, tt := range map[string]struct {
		text string
		err  error
	}{
		"at once":      {frame.Greeting + rest, nil},
		"after a motd": {"welcome\n\x00 to \x00pgas-\x00\x00" + frame.Greeting + rest, nil},
		"never":        {"no", io.EOF},
		"too long":     {frame.GreetingMark + strings.Repeat("1", longestGreeting) + "\n", ErrNoGreeting},
		"too late":     {strings.Repeat("y\n", maxBanner) + frame.Greeting, ErrNoGreeting},
	} {
		r := bufio.NewReader(strings.NewReader(tt.text))
		if text, err := AwaitGreeting(r, nil, nil, nil); err != tt.err || err == nil && text != frame.Greeting {
			t.Errorf("%s: %v, want %v", name, err, tt.err)
		} else if left, _ := io.ReadAll(r); err == nil && string(left) != rest {
			t.Errorf("%s: leaves %q", name, left)
		}
	}
}
