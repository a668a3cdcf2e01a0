package floor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

func TestMain(m *testing.M) {
	if IsFollower() {
		os.Exit(Follow())
	}
	os.Exit(m.Run())
}

// TestMeasuresEverything: each figure comes, with its sizes, or says why it cannot be had.
func TestMeasuresEverything(t *testing.T) {
	o, err := Parse(strings.Fields("-time 1us -json -sizes 8,3000"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	var out, news bytes.Buffer
	if err := Main(ctx, o, &out, &news); err != nil {
		t.Fatal(err)
	}
	results, err := result.Read(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		for _, size := range b.wanted([]int{8, 3000}) {
			i := slices.IndexFunc(results, func(r result.Result) bool { return r.Bench == b.name && r.Bytes == size && r.P50ns > 0 })
			if i < 0 && !strings.Contains(news.String(), "pgasbench: "+b.name+": ") {
				t.Errorf("no figure of %s of %d bytes, and no reason:\n%s", b.name, size, &news)
			}
			if i < 0 && (b.place == alone || b.place == oneCPU || b.place < twoHosts && runtime.NumCPU() > 1) {
				t.Errorf("%s of %d bytes needs nothing that this machine has not", b.name, size)
			}
		}
	}
}

// TestFollowerIsGone: the leader says so, whatever it is waiting for, and does not hang.
func TestFollowerIsGone(t *testing.T) {
	fd, err := newMemory(sharedBytes)
	if err != nil {
		t.Fatal(err)
	}
	words, err := mapWords(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer unmapWords(words)
	for name, wait := range map[string]func(p *pair) error{
		"trips": func(p *pair) error { return p.trips(0, 1) }, "yields": func(p *pair) error { return p.yields(0, 1) },
		"rounds": func(p *pair) error { return p.rounds(0, 1) },
		"agree":  func(p *pair) error { _, err := p.agree(1); return err },
		"dial":   func(p *pair) error { return p.dial(0) },
	} {
		for _, w := range []*word{&words.ball, &words.made, &words.taken[1], &words.address, &words.arrived} {
			w.Store(0)
		}
		told := make(chan struct{})
		time.AfterFunc(10*time.Millisecond, func() {
			words.abandon()
			close(told)
		})
		if err := wait(&pair{shared: words, leads: true, of: 2}); !errors.Is(err, errGone) {
			t.Errorf("%s: %v", name, err)
		}
		<-told
	}
}

// TestEndsWithContext: an interrupt ends benches of several processes, which would go on for seconds.
func TestEndsWithContext(t *testing.T) {
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(over) })
	o, err := Parse(strings.Fields("-time 1h -bench ^(yield|futex|loopback)"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Main(ctx, o, new(bytes.Buffer), new(bytes.Buffer)); !errors.Is(err, over) {
		t.Errorf("got %v", err)
	}
}

// TestCopies: each copy arrives, in one piece or in several, and a wrong byte is found.
func TestCopies(t *testing.T) {
	for _, size := range []int{1, 8, 3000, piece + 8, 3 * piece} {
		c, err := NewCopies(size)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.Batch(0, 3), c.Batch(3, 2), c.Check(5)); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		c.to[size-1]++
		if c.Check(5) == nil {
			t.Errorf("%d bytes: a wrong byte was not found", size)
		}
		c.Close()
	}
}

// TestHandOver: every number of processes that share a CPU has a figure.
func TestHandOver(t *testing.T) {
	for sharing, want := range map[int]string{1: "yield", 2: "yield", 3: "yield-4", 4: "yield-4", 8: "yield-8", 9: "yield-16", 32: "yield-32", 500: "yield-32"} {
		got := HandOver(sharing)
		if got != want || !slices.ContainsFunc(benches, func(b bench) bool { return b.name == got }) || pairBenchNamed(got).name != want {
			t.Errorf("%d processes: %s, want %s", sharing, got, want)
		}
	}
}

func TestCPUs(t *testing.T) {
	for text, want := range map[string][]int{"0-3,8\n": {0, 1, 2, 3, 8}, "5": {5}, "": nil, "\n": nil} {
		if got := parseCPUs(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v", text, got)
		}
	}
	allowed, err := allowedCPUs()
	if err != nil || len(allowed) == 0 {
		t.Fatalf("%v, %v", allowed, err)
	}
	for _, c := range candidates(allowed[0], allowed) {
		if c == allowed[0] || !slices.Contains(allowed, c) {
			t.Errorf("CPU %d is no candidate for the second of %v", c, allowed)
		}
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"-bench teleport": "matches no figure; -list shows them",
		"-bench [":        "not a regular expression",
		"-sizes 2g":       `"2g" is not a number of bytes from 1 to 1024m`,
		"-time 0s":        "more than nothing",
		"-hosts a,a":      "name two different network namespaces",
		"-hosts a":        "name two different network namespaces",
		"copy":            "figures are chosen with -bench",
	} {
		if _, err := Parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
