package flags_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/cmd/internal/flags"
)

// values is one flag of each kind.
type values struct {
	on   bool
	n    int
	seed uint64
	span time.Duration
}

func parse(args ...string) (v values, help string, err error) {
	fs := flags.New("tool")
	flags.BoolVar(fs, &v.on, "on", false, "do it")
	flags.IntVar(fs, &v.n, "n", 3, "`number` of things")
	flags.Uint64Var(fs, &v.seed, "seed", 1, "`number` to begin with")
	flags.DurationVar(fs, &v.span, "time", time.Second, "`time` to take")
	err = fs.Parse(args)
	var text strings.Builder
	fs.SetOutput(&text)
	fs.PrintDefaults()
	return v, text.String(), err
}

// TestValues: what is right is taken, and the help has the defaults as package flag prints them.
func TestValues(t *testing.T) {
	v, help, err := parse("-on", "-n", "-4", "-seed", "7", "-time", "1m30s")
	if want := (values{true, -4, 7, 90 * time.Second}); err != nil || v != want {
		t.Errorf("%+v, %v; want %+v", v, err, want)
	}
	v, _, err = parse("-on=false")
	if want := (values{false, 3, 1, time.Second}); err != nil || v != want {
		t.Errorf("%+v, %v; want %+v", v, err, want)
	}
	for _, want := range []string{"  -on\n", "  -n number\n    \tnumber of things (default 3)\n", "(default 1)", "(default 1s)"} {
		if !strings.Contains(help, want) {
			t.Errorf("the help has no %q:\n%s", want, help)
		}
	}
}

// TestMistakes: each mistake is answered with what to write.
func TestMistakes(t *testing.T) {
	for arg, want := range map[string]string{
		"-on=perhaps": "write the flag alone, or =false behind it",
		"-n=many":     "write a whole number, such as 4",
		"-n=1.5":      "write a whole number, such as 4",
		"-seed=-1":    "write a whole number, such as 4",
		"-time=5":     "write 5s for seconds, or 5m for minutes",
		"-time=soon":  "write a number with its unit, such as 5s or 1m30s",
		"-time=-5":    "write a number with its unit, such as 5s or 1m30s",
		"-time=-5s":   "it is negative: write a time such as 5s",
	} {
		if _, _, err := parse(arg); err == nil || !strings.HasSuffix(err.Error(), ": "+want) || strings.Contains(err.Error(), "parse error") {
			t.Errorf("%s: %v; want %q", arg, err, want)
		}
	}
}
