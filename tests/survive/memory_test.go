package survive

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMemory: a job without a directory loses PEs at random moments, and once a whole host, and ends with the result of
// an undisturbed one. It goes on from what its hosts have in memory.
func TestMemory(t *testing.T) {
	again, wentOn := 0, 0
	each(t, *jobs, func(t *testing.T, s uint64, r *rand.Rand) {
		p := programs[s%uint64(len(programs))]
		j := begin(t, r, "", p.name, p.args...)
		host := r.IntN(6)
		for i := range 6 {
			select { // the moment is no limit: the test holds whatever the job has done by then
			case <-j.done:
			case <-time.After(time.Duration(r.IntN(500)) * time.Millisecond):
			}
			pids, agents := j.kinds()
			if i == host && j.netns {
				pids = agents
			}
			if len(pids) > 0 {
				syscall.Kill(pids[r.IntN(len(pids))], syscall.SIGKILL)
			}
		}
		if status := j.end(); status != 0 || wrong.MatchString(j.out.String()) {
			t.Errorf("%s: status %d\n%s", p.name, status, j.out.String())
		}
		again += strings.Count(j.out.String(), "all PEs are started again")
		wentOn += strings.Count(j.out.String(), "goes on")
	})
	t.Logf("%d terms ended by kills, %d of heat began from a cut", again, wentOn)
}
