package survive

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMemory: a job without a directory loses PEs at random moments, and once a whole host, and ends with the result of
// an undisturbed one. It goes on from what its hosts have in memory.
func TestMemory(t *testing.T) {
	again, wentOn, failed := 0, 0, 0
	each(t, *jobs, func(t *testing.T, s uint64, r *rand.Rand) {
		p := programs[s%uint64(len(programs))]
		for start := 0; ; start++ {
			j := begin(t, r, "", p.name, p.args...)
			for i, host := 0, r.IntN(6); i < 6 && start < 3; i++ {
				j.lose(r, i == host && j.netns)
			}
			status, out := j.end(), j.out.String()
			again += strings.Count(out, "all PEs are started again")
			wentOn += strings.Count(out, "goes on")
			switch {
			case wrong.MatchString(out) || ofCuts.MatchString(out) || status != 0 && start == 3:
				t.Fatalf("%s: status %d\n%s", p.name, status, out)
			case status == 0:
				return
			}
			failed++ // a PE was killed when another one had left the job, or a host before the first term
		}
	})
	t.Logf("%d terms ended by kills, %d of heat began from a cut; %d jobs failed", again, wentOn, failed)
}

// ofCuts is what a job prints that has lost a cut.
var ofCuts = regexp.MustCompile(`is lost with the hosts|can be taken`)

// lose kills a PE of the job at some moment, or an agent, if it still runs then.
func (j *aJob) lose(r *rand.Rand, host bool) {
	select { // the moment is no limit: the test holds whatever the job has done by then
	case <-j.done:
	case <-time.After(time.Duration(r.IntN(500)) * time.Millisecond):
	}
	pids, agents := j.kinds()
	if host && len(pids) > 0 {
		pids = agents
	}
	if len(pids) > 0 {
		syscall.Kill(pids[r.IntN(len(pids))], syscall.SIGKILL)
	}
}
