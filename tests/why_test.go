package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest"
)

// sshIntoNamespaces stands in for ssh: two names of hosts are network namespaces.
const sshIntoNamespaces = `#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift 2; done
case $1 in
alpha) host=%s ;;
beta) host=%s ;;
*) echo "no host $1" >&2; exit 255 ;;
esac
shift
exec setsid -w ip netns exec $host "$@"
`

// simulated is what changes with the protocols of the runtime: when, and in which run.
var simulated = regexp.MustCompile(`[ \t]*[0-9.]+ µs|#\d+|Seed: \d+|the sum is \d+`)

// TestWhy executes docs/learn/why.md: a race between PEs, a run of the simulator and its repetition, and a job on two
// hosts, which are network namespaces.
func TestWhy(t *testing.T) {
	withCgo(t)
	s := newShell(t, "../docs/learn/why.md")
	hosts := pgastest.NewHosts(t, 2)
	bin := strings.TrimPrefix(strings.SplitN(s.env[len(s.env)-1], ":", 2)[0], "PATH=")
	if err := os.WriteFile(filepath.Join(bin, "ssh"), fmt.Appendf(nil, sshIntoNamespaces, hosts.Names[0], hosts.Names[1]), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, b := range blocksOf(t, s.page) {
		if b.Language == "text" {
			b.Text, s.out = simulated.ReplaceAllString(b.Text, "…"), simulated.ReplaceAllString(s.out, "…")
		}
		s.step(b)
	}
}
