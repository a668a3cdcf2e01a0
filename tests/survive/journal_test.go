package survive

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var lists = regexp.MustCompile(`(?m)^(kept|has) \[(.*)\]$`)

// TestLedger: a job of one or two hosts loses PEs at random moments, and once a whole host. No operation is lost of
// which it has printed that it is kept, and none is executed twice.
func TestLedger(t *testing.T) {
	again, kept, failed := 0, 0, 0
	each(t, *jobs, func(t *testing.T, _ uint64, r *rand.Rand) {
		for start := 0; ; start++ {
			j := begin(t, r, "", "ledger")
			for i, host := 0, r.IntN(3); i < 6 && start < 3; i++ {
				j.lose(r, i == host && j.netns)
			}
			status, out := j.end(), j.out.String()
			again += strings.Count(out, "all PEs are started again")
			switch {
			case ofCuts.MatchString(out) || status != 0 && start == 3:
				t.Fatalf("status %d\n%s", status, out)
			case status == 0:
				kept += checkLedger(t, out)
				return
			}
			failed++ // a PE was killed when another one had left the job, or a host before the first term
		}
	})
	t.Logf("%d operations were kept, in %d terms that ended by kills; %d jobs failed", kept, again, failed)
}

// checkLedger compares what a job has said in its terms with what it had in the end.
func checkLedger(t *testing.T, out string) (kept int) {
	has := map[string]int{}
	all := lists.FindAllStringSubmatch(out, -1)
	end := out[strings.LastIndex(out, "the end\n"):] // if PEs were killed after that, an earlier term has said it, too
	for _, list := range lists.FindAllStringSubmatch(end, -1) {
		if list[1] == "has" {
			for _, op := range strings.Fields(list[2]) {
				has[op]++
			}
		}
	}
	for op, n := range has {
		if n > 1 {
			t.Errorf("operation %s is there %d times", op, n)
		}
	}
	for _, list := range all {
		if list[1] == "has" {
			continue
		}
		for _, op := range strings.Fields(list[2]) {
			if kept++; has[op] == 0 {
				t.Errorf("operation %s was kept, and is lost", op)
			}
		}
	}
	if kept == 0 || t.Failed() {
		t.Errorf("%d operations were kept:\n%s", kept, out)
	}
	return kept
}
