package progress_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/progress"
)

// screen is what a display writes to.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestProgress: PE 0 shows what all PEs have done, in lines and in place, without the help of the others.
func TestProgress(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		t.Run(fmt.Sprintf("inPlace=%t", inPlace), func(t *testing.T) {
			pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
				var out screen
				p, err := progress.On(ctx, w, 10*w.PE(), &out, inPlace, time.Millisecond)
				if err != nil {
					return err
				}
				for range 5 * w.PE() { // 15 of 30
					p.Add(1)
				}
				if err := w.Barrier(ctx); err != nil {
					return err
				}
				for w.PE() == 0 && !strings.Contains(out.String(), "15 of 30 (50%), ") {
					if err := w.Sleep(ctx, time.Millisecond); err != nil {
						return fmt.Errorf("%w, with %q", err, out.String())
					}
				}
				beside := p.Writer(&out)
				fmt.Fprintln(beside, "a line of the program")
				if err := w.Barrier(ctx); err != nil { // PE 0 has seen the half
					return err
				}
				p.Add(5)
				if err := errors.Join(p.End(ctx), p.End(ctx)); err != nil {
					return err
				}
				return checkScreen(w, out.String(), inPlace)
			})
		})
	}
}

// checkScreen looks at all that a display has written.
func checkScreen(w *pgas.World, text string, inPlace bool) error {
	if w.PE() > 0 {
		if text != "a line of the program\n" {
			return fmt.Errorf("PE %d shows %q", w.PE(), text)
		}
		return nil
	}
	visible := regexp.MustCompile(`[^\n]*\r\x1b\[K`).ReplaceAllString(text, "") // what a terminal shows in the end
	if !inPlace && visible != text {
		return fmt.Errorf("escape sequences in a log: %q", text)
	}
	lines := strings.Split(visible, "\n")
	last := len(lines) - 2
	if last < 1 || lines[last+1] != "" || !strings.Contains(lines[last], "30 of 30 (100%), ") {
		return fmt.Errorf("the last line is not that of the end: %q", text)
	}
	if inPlace && (last != 1 || lines[0] != "a line of the program") {
		return fmt.Errorf("what stays on the terminal is %q", visible)
	}
	return nil
}

// TestProgressEnds: without End, with the program's context and with the World; and in the simulator, where nothing is
// shown.
func TestProgressEnds(t *testing.T) {
	pgastest.Run(t, 2, func(ctx context.Context, w *pgas.World) error {
		var out screen
		p, err := progress.On(ctx, w, 1, &out, true, time.Millisecond)
		if err != nil {
			return err
		}
		p.Add(1)
		return nil
	})
	pgastest.RunSim(t, 2, func(ctx context.Context, w *pgas.World) error {
		p, err := progress.New(ctx, w, "rows", 1)
		if err != nil {
			return err
		}
		p.Add(1)
		return p.End(ctx)
	})
}

// TestProgressText: what a line says.
func TestProgressText(t *testing.T) {
	for _, test := range []struct {
		done, total int64
		took        time.Duration
		inPlace     bool
		want        string
	}{
		{0, 100, time.Second, false, "rows: 0 of 100 (0%), 1.0 s"},
		{25, 100, 2 * time.Second, false, "rows: 25 of 100 (25%), 2.0 s, 6.0 s left"},
		{25, 100, 90 * time.Second, false, "rows: 25 of 100 (25%), 1m30s, 4m30s left"},
		{50, 100, time.Second, true, "rows: [============            ] 50 of 100 (50%), 1.0 s, 1.0 s left"},
		{100, 100, time.Second, true, "rows: [========================] 100 of 100 (100%), 1.0 s"},
		{120, 100, time.Second, true, "rows: [========================] 120 of 100 (100%), 1.0 s"},
		{7, 0, time.Second, true, "rows: 7, 1.0 s"},
	} {
		if got := progress.Text("rows", test.done, test.total, test.took, test.inPlace); got != test.want {
			t.Errorf("got  %q\nwant %q", got, test.want)
		}
	}
	if n := len(progress.LinesWithin(time.Hour)); n < 60 || n > 75 {
		t.Errorf("%d lines in an hour, want about one a minute", n)
	}
}

// misuseIn returns what the *pgas.UsageError says that f panics with, or "".
func misuseIn(w *pgas.World, f func()) (misuse string) {
	defer func() {
		if p := recover(); p != nil {
			if err, ok := errors.AsType[*pgas.UsageError](w.Recovered(p)); ok {
				misuse = err.Op + ": " + err.Msg
			}
		}
	}()
	f()
	return ""
}

// TestProgressMisuse: totals that cannot be, names that differ, and values that were never made.
func TestProgressMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		var none context.Context
		ended, err := progress.New(ctx, w, "rows", 1)
		if err != nil {
			return err
		}
		for _, test := range []struct {
			name, want string
			call       func()
		}{
			{"a negative total", "progress.New: a total of -1: give", func() { progress.New(ctx, w, "rows", -1) }},
			{"no context", "progress.New: the context.Context is nil", func() { progress.New(none, w, "rows", 1) }},
			{"no World", "progress.New: a nil or zero World", func() { progress.New(ctx, nil, "rows", 1) }},
			{"Add of nil", "Progress.Add: a nil or zero Progress", func() { (*progress.Progress)(nil).Add(1) }},
			{"Writer of nil", "Progress.Writer: a nil or zero Progress", func() { (*progress.Progress)(nil).Writer(nil) }},
			{"Writer of zero", "Progress.Writer: a nil or zero Progress", func() { new(progress.Progress).Writer(nil) }},
			{"End of nil", "Progress.End: a nil or zero Progress", func() { (*progress.Progress)(nil).End(ctx) }},
			{"End of zero", "Progress.End: a nil or zero Progress", func() { new(progress.Progress).End(ctx) }},
			{"End without a context", "Progress.End: the context.Context is nil", func() { ended.End(none) }},
			{"Add of zero", "a nil or zero World", func() { new(progress.Progress).Add(1) }},
		} {
			if got := misuseIn(w, test.call); !strings.Contains(got, test.want) {
				return fmt.Errorf("%s: got %q, want %q", test.name, got, test.want)
			}
		}
		return ended.End(ctx)
	})
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		_, err := progress.New(ctx, w, fmt.Sprint("rows of PE ", w.PE()), 1)
		return err
	})
	if !errors.As(err, new(*pgas.MismatchError)) {
		t.Errorf("different names: %v", err)
	}
}
