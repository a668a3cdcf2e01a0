package notify

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

const (
	missRounds = 400
	missEnv    = "NOTIFY_TEST_MISSES"
)

// TestCacheMisses counts what the paper says (section V): with nothing in the caches and one request under way,
// this package reads two lines of its own for a notification, the request's and the matcher's. What the queue
// costs is told apart, as there: any scheme has one. The counting is cachegrind's, of a simulated cache.
func TestCacheMisses(t *testing.T) {
	if os.Getenv(missEnv) != "" {
		coldTakes(t)
		return
	}
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		t.Skip("there is no valgrind: install Debian's package of that name to have cache misses counted")
	}
	if testing.Short() {
		t.Skip("valgrind takes some seconds")
	}
	out, binary := filepath.Join(t.TempDir(), "cachegrind.out"), filepath.Join(t.TempDir(), "notify.test")
	// what go test runs has no symbols
	if text, err := exec.Command("go", "test", "-c", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("building the test with its symbols: %v\n%s", err, text)
	}
	c := exec.CommandContext(t.Context(), valgrind, "--tool=cachegrind", "--cache-sim=yes", "--D1=32768,8,64", "--LL=1048576,16,64",
		"--cachegrind-out-file="+out, binary, "-test.run=^TestCacheMisses$")
	c.Env = append(os.Environ(), missEnv+"=1", "GOMAXPROCS=1", "GOGC=off", "PGAS_HEAP_MAX=16m",
		"GODEBUG=cpu.rdtscp=off") // an instruction of contended locks of the runtime, which valgrind does not know
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("cachegrind: %v\n%s", err, text)
	}
	of, err := missesByFunction(out)
	if err != nil {
		t.Fatal(err)
	}
	mine, queue := 0.0, 0.0
	for name, n := range of {
		each := float64(n) / missRounds
		switch {
		case strings.Contains(name, "gopgas/notify.(*"):
			mine += each
		case strings.Contains(name, "node.(*NoteQueue)"), strings.Contains(name, "node.(*Node).YieldIfScheduled"), strings.Contains(name, "shm.(*Ring).Lock"), strings.Contains(name, "shm.(*Ring).Take"):
			queue += each
		default:
			continue
		}
		if each > 0.1 {
			t.Logf("%5.2f  %s", each, name)
		}
	}
	// Beside the request and the matcher: the inbox, which says where the queue is, and the flag of Go's
	// runtime that says whether pointers are being traced.
	if mine > 4.2 {
		t.Errorf("matching reads %.2f lines, not 2 of its own and 2 of others", mine)
	}
	if mine < 2 {
		t.Errorf("matching reads %.2f lines: the caches were not empty", mine)
	}
	t.Logf("%.2f lines for matching, %.2f for the queue", mine, queue)
}

// coldTakes takes notifications that have come, with nothing in the caches.
func coldTakes(t *testing.T) {
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		other := make([]byte, 4<<20)
		r := New(w, 0, 1, 1)
		for range missRounds {
			r.Start()
			w.Notify(0, 1)
			sweep(other)
			deep(8)
			if _, ok := r.Test(); !ok {
				return fmt.Errorf("the notification has not come")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sweep fills the caches with something else.
//
//go:noinline
func sweep(p []byte) {
	for i := 0; i < len(p); i += 64 {
		p[i]++
	}
}

// deep brings the stack back.
//
//go:noinline
func deep(n int) (sum byte) {
	var frame [128]byte
	frame[n]++
	if n > 0 {
		sum = deep(n - 1)
	}
	return sum + frame[0]
}

// missesByFunction reads D1 misses, of reads and writes, from what cachegrind has written.
func missesByFunction(file string) (map[string]int, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	of, name, columns := map[string]int{}, "", []int(nil)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if events, ok := strings.CutPrefix(line, "events: "); ok {
			for i, e := range strings.Fields(events) {
				if e == "D1mr" || e == "D1mw" {
					columns = append(columns, i+1)
				}
			}
		} else if fn, ok := strings.CutPrefix(line, "fn="); ok {
			name = fn
		} else if fields := strings.Fields(line); len(fields) > 1 && line[0] >= '0' && line[0] <= '9' {
			for _, c := range columns {
				if c < len(fields) {
					n, err := strconv.Atoi(fields[c])
					if err != nil {
						return nil, fmt.Errorf("%s: %q: %w", file, line, err)
					}
					of[name] += n
				}
			}
		}
	}
	if len(columns) != 2 {
		return nil, fmt.Errorf("%s: there are no D1mr and D1mw", file)
	}
	return of, nil
}
