package launch

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest/capture"
)

// seven hosts with a fan-out of 2: the launcher starts a and d; a starts b and c, d starts e and f, f starts g.
func seven() (hosts []boot.Host) {
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		hosts = append(hosts, boot.Host{Name: name, PEs: 1})
	}
	return hosts
}

func treeSpec(t *testing.T, verb string) (Spec, *capture.Output) {
	spec, out := testSpec(t, verb, seven()...)
	spec.FanOut = 2
	return spec, out
}

// TestTree: every host is in the tree once, no host has more children than it may, and the tree of many hosts is low.
func TestTree(t *testing.T) {
	for _, test := range []struct{ hosts, fanOut, depth int }{
		{1, 1, 1}, {3, 1, 3}, {7, 2, 3}, {32, 32, 1}, {33, 32, 2}, {64, 8, 2}, {100, 32, 2}, {1000, 32, 2}, {1088, 32, 3}, {100000, 32, 4},
	} {
		var hosts []*host
		for i := range test.hosts {
			hosts = append(hosts, &host{index: i})
		}
		seen := map[int]int{}
		if depth := walk(t, growTree(hosts, test.fanOut), test.fanOut, seen); depth != test.depth || len(seen) != test.hosts {
			t.Errorf("%d hosts with a fan-out of %d: %d steps, not %d, and %d hosts", test.hosts, test.fanOut, depth, test.depth, len(seen))
		}
		for i, n := range seen {
			if n != 1 {
				t.Errorf("host %d is in the tree %d times", i, n)
			}
		}
	}
}

// walk counts the hosts of a tree, and returns how many steps lead to the lowest.
func walk(t *testing.T, tree []branch, fanOut int, seen map[int]int) (depth int) {
	if len(tree) > fanOut {
		t.Errorf("%d children, with a fan-out of %d", len(tree), fanOut)
	}
	for _, b := range tree {
		seen[b.head.index]++
		depth = max(depth, 1+walk(t, b.rest, fanOut, seen))
	}
	return depth
}

func TestTreeRuns(t *testing.T) {
	spec, out := treeSpec(t, "report")
	res, err := Run(bounded(t), spec)
	if err != nil || res.Status != 0 || res.First != nil {
		t.Fatalf("%+v, %v: %s", res, err, out)
	}
	for i, h := range spec.Hosts {
		if line := fmt.Sprintf("%d/7 %s any\xff bytes\n", i, h.Name); !strings.Contains(out.String(), line) {
			t.Errorf("no %q in %q", line, out)
		}
	}
}

// TestTreeInput: standard input reaches PE 0 through a relay, and its output comes back, longer than a pipe or a frame.
func TestTreeInput(t *testing.T) {
	spec, out := treeSpec(t, "")
	text := strings.Repeat("a line of input, as long as many lines are\n", 1<<15)
	spec.Program, spec.Args, spec.Stdin = "/bin/cat", nil, strings.NewReader(text)
	res, err := Run(bounded(t), spec)
	if err != nil || res.Status != 0 || out.String() != text {
		t.Errorf("%+v, %v: %d bytes of %d", res, err, len(out.String()), len(text))
	}
}

// TestTreeStages: a relay gives the staged files to the hosts behind it.
func TestTreeStages(t *testing.T) {
	spec, caches, out := stagingSpec(t, "report")
	spec.Hosts, spec.FanOut = seven(), 2
	res, err := Run(bounded(t), spec)
	if err != nil || res.Status != 0 || strings.Count(out.String(), "/7 ") != 7 {
		t.Errorf("%+v, %v: %s", res, err, out)
	}
	if n := len(cached(t, caches)); n != 7 {
		t.Errorf("%d copies for seven hosts", n)
	}
}

// TestTreeFails: the failure of a PE behind two relays, of a relay, and of the command that starts an agent are
// reported as if the launcher had started the host itself.
func TestTreeFails(t *testing.T) {
	spec, out := treeSpec(t, "fail the last")
	if res, err := Run(bounded(t), spec); err != nil || res.Status != 7 || res.First == nil || res.First.Host != "g" || res.First.PE != 6 {
		t.Errorf("a PE: %+v, %v: %s", res, err, out)
	}
	spec, out = treeSpec(t, "kill the relay of PE 5")
	res, err := Run(bounded(t), spec)
	if err == nil || res.Status == 0 || !regexp.MustCompile(`^host f: the agent ended \(.*\); its PEs are lost$`).MatchString(err.Error()) {
		t.Errorf("a relay: %+v, %v: %s", res, err, out)
	}
	spec, out = treeSpec(t, "hang")
	spec.Template = `sh -c 'if [ $0 = g ]; then echo ssh: Could not resolve hostname g >&2; exit 255; fi; exec "$@"' {host}`
	res, err = Run(bounded(t), spec)
	if err == nil || !regexp.MustCompile(`^host g: .*Could not resolve hostname g \(started from host f; .*-fan-out.*\): no host has that name`).MatchString(err.Error()) {
		t.Errorf("a host's name: %+v, %v: %s", res, err, out)
	}
}

// killRelay kills the relay of the host of this process, a PE: the parent of the guard above its agent.
func killRelay() error {
	relay := os.Getppid()
	for range 2 {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", relay))
		if err != nil {
			return err
		}
		_, parent, _ := strings.Cut(string(status), "\nPPid:")
		if _, err := fmt.Sscan(parent, &relay); err != nil {
			return err
		}
	}
	return syscall.Kill(relay, syscall.SIGKILL)
}
