package spawn

import (
	"os/exec"
	"strings"
	"testing"
)

// A shell parses what a user copies from pgasrun plan and from errors into the same words.
func TestShellWords(t *testing.T) {
	const special = "in j;touch pwned;'\"$(touch pwned)`touch pwned`&touch pwned|*?~!#\\{a,b}\n=é"
	words := []string{"plain", special, "", "a b", "~", "=x", "/usr/bin/pgasrun"}
	got, err := exec.Command("sh", "-c", `for w in `+ShellWords(words)+`; do printf '%s\0' "$w"; done`).Output()
	if want := strings.Join(words, "\x00") + "\x00"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
