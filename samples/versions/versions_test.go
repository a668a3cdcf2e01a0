package versions

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// sleeper is a program whose modes take a time of their own, and twice as long on twice as many PEs.
func sleeper(prepare func(int) error) *Program {
	mode := func(name string, d time.Duration) Mode {
		return Mode{name, "sleeps " + d.String(), func(_ context.Context, r *Run) (Version, error) { return &sleep{r, d}, nil }}
	}
	return &Program{
		Name:    "sleeper",
		Help:    "sleeper sleeps.\n\n",
		Flags:   func(fs *flag.FlagSet) { fs.Int("deep", 1, "`depth` of the sleep") },
		Check:   func(npes int) error { return oddly(npes) },
		Prepare: prepare,
		About:   func(npes int) string { return fmt.Sprintf("a sleep of %d", npes) },
		Modes:   []Mode{mode("slow", 30*time.Microsecond), mode("quick", 10*time.Microsecond)},
		PEs:     "2,4",
		Work:    func(npes int) float64 { return float64(1000 * npes) },
		Unit:    "Gz/s",
		Bytes:   func(npes int) int { return npes },
	}
}

func oddly(npes int) error {
	if npes%2 == 1 && npes > 1 {
		return fmt.Errorf("%d PEs are an odd number", npes)
	}
	return nil
}

type sleep struct {
	*Run
	d time.Duration
}

// Round takes the longer on a PE, the greater its number; the last one's time counts.
func (s *sleep) Round(ctx context.Context) (time.Duration, error) {
	start, err := s.Start(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.Charge(ctx, s.d*time.Duration(s.PE()+1)); err != nil {
		return 0, err
	}
	return s.Slowest(ctx, s.Now()-start)
}

func (s *sleep) Close(context.Context) error { return nil }

func run(t *testing.T, p *Program, args ...string) (string, error) {
	t.Helper()
	o, text, err := p.parse(args)
	if err != nil || text != "" {
		return text, err
	}
	var b bytes.Buffer
	err = p.simulate(t.Context(), o, &b)
	return b.String(), err
}

// In the simulator times are exactly those of the modes.
func TestSimulated(t *testing.T) {
	got, err := run(t, sleeper(nil), "-sim")
	want := `a sleep of 2 on 2 simulated PEs (aries)
     slow  60.000 µs  0.033 Gz/s
    quick  20.000 µs  0.100 Gz/s  3.00 times as fast
a sleep of 4 on 4 simulated PEs (aries)
     slow  120.000 µs  0.033 Gz/s
    quick   40.000 µs  0.100 Gz/s  3.00 times as fast
`
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	got, err = run(t, sleeper(nil), "-sim", "-mode", "quick", "-pes", "8", "-machine", "connectx3", "-runs", "3")
	if want := "a sleep of 8 on 8 simulated PEs (connectx3)\n    quick  80.000 µs  0.100 Gz/s\n"; err != nil || got != want {
		t.Errorf("%v\n%q\nwant\n%q", err, got, want)
	}
	got, err = run(t, sleeper(nil), "-sim", "-pes", "2", "-json")
	want = `{"bench":"sleeper","mode":"slow","bytes":2,"pes":2,"transport":"sim aries","p50_ns":60000,"rate":0.03333333333333333,"unit":"Gz/s","times_as_fast":1}
{"bench":"sleeper","mode":"quick","bytes":2,"pes":2,"transport":"sim aries","p50_ns":20000,"rate":0.1,"unit":"Gz/s","times_as_fast":3}
`
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestFaster(t *testing.T) {
	if got, err := sleeper(nil).Faster(t.Context(), "quick", "-pes", "2,8"); err != nil || len(got) != 2 || got[0] != 3 || got[1] != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

// On real PEs too each mode has its line, on PE 0 alone.
func TestMeasured(t *testing.T) {
	pgastest.Run(t, 2, func(ctx context.Context, w *pgas.World) error {
		p := sleeper(func(int) error {
			if w.PE() != 0 {
				return errors.New("not for this PE")
			}
			return nil
		})
		o, _, err := p.parse(nil)
		if err != nil {
			return err
		}
		var b strings.Builder
		if err := p.measure(ctx, w, o, &b); err != nil {
			return err
		}
		if lines := strings.Split(b.String(), "\n"); w.PE() == 0 && (len(lines) != 4 || !strings.HasPrefix(lines[0], "a sleep of 2 on 2 PEs of ")) || w.PE() != 0 && b.Len() != 0 {
			return fmt.Errorf("PE %d prints %q", w.PE(), b.String())
		}
		return nil
	})
}

// What Prepare says is bad input: PE 0 says it, and all end.
func TestBadInput(t *testing.T) {
	wrong := errors.New("no such file")
	pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
		p := sleeper(func(int) error { return wrong })
		var bad error
		if err := asInput(p.measure(ctx, w, &options{modes: p.Modes}, io.Discard), &bad); err != nil {
			return err
		}
		if want := map[bool]error{true: wrong}[w.PE() == 0]; bad != want {
			return fmt.Errorf("PE %d says %v", w.PE(), bad)
		}
		return nil
	})
	var bad error
	if _, err := run(t, sleeper(func(int) error { return wrong }), "-sim"); asInput(err, &bad) != nil || bad != wrong {
		t.Error(err)
	}
	if err := asInput(wrong, &bad); err != wrong {
		t.Errorf("%v is taken for bad input", wrong)
	}
}

func TestMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"-mode fast":            `-mode fast: there is no mode "fast": give slow, quick or all`,
		"-mode slow,":           `-mode slow,: there is no mode "": give slow, quick or all`,
		"-runs -1":              "-runs -1: give a number from 1 to 1000000",
		"-wide":                 "flag provided but not defined: -wide; -h lists the flags",
		"deep":                  `unexpected argument "deep"; -h lists the flags`,
		"-pes 4":                "-pes is for -sim: a real job is as pgasrun makes it",
		"-machine aries":        "-machine is for -sim: a real job is as pgasrun makes it",
		"-sim -machine mine":    "-machine mine: give one of aries, connectx3, mt25208",
		"-sim -pes 0":           "-pes 0: give numbers from 1 to 16384, divided by commas",
		"-sim -pes 2,":          "-pes 2,: give numbers from 1 to 16384, divided by commas",
		"-sim -pes 2,3":         "3 PEs are an odd number",
		"-sim -topo rack:2:two": "-topo rack:2:two: ",
	} {
		if _, _, err := sleeper(nil).parse(strings.Fields(args)); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	t.Setenv("PGAS_PE", "0")
	if _, _, err := sleeper(nil).parse([]string{"-sim"}); err == nil || err.Error() != "-sim simulates all PEs by itself: leave pgasrun away" {
		t.Error(err)
	}
}

func TestHelp(t *testing.T) {
	_, text, err := sleeper(nil).parse([]string{"-h"})
	for _, want := range []string{"sleeper sleeps.\n\nmodes:\n  slow       sleeps 30µs\n  quick      sleeps 10µs\n\nflags:\n", "-deep depth", "-sim\n"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%v: no %q in\n%s", err, want, text)
		}
	}
}

func TestModesInOrder(t *testing.T) {
	p := sleeper(nil)
	if modes, err := p.modesOf("quick,slow"); err != nil || len(modes) != 2 || modes[0].Name != "slow" {
		t.Errorf("%v, %v", modes, err)
	}
}

func TestMedian(t *testing.T) {
	for want, of := range map[time.Duration][]time.Duration{1: {1}, 3: {3, 1, 9}, 4: {4, 1, 9, 2}} {
		if got := median(of); got != want {
			t.Errorf("the median of %v is %v", of, got)
		}
	}
}
