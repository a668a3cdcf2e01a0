package dsm_test

import (
	"flag"
	"testing"

	"github.com/gopgas/gopgas/dsm/pager"
)

var (
	long      = flag.Bool("long", false, "run the long forms of tests")
	seeds     = flag.Uint64("seeds", 1, "seeds of each random program")
	deaths    = flag.Uint64("deaths", 3, "PEs that TestDeaths kills on each kind of job")
	firstSeed = flag.Uint64("seed", 0, "the first seed")
)

// inBothForms runs test with each of what may serve page faults.
func inBothForms(t *testing.T, test func(t *testing.T)) {
	for _, server := range []string{"signal", "thread"} {
		t.Run(server, func(t *testing.T) {
			t.Setenv("PGAS_DSM_FAULTS", server)
			test(t)
		})
	}
}

// needsPaging skips a test where page faults cannot be used.
func needsPaging(t *testing.T) {
	t.Helper()
	if err := pager.Available(); err != nil {
		t.Skip(err)
	}
}
