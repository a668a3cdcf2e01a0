package launch

// Staging, on the launcher's side: which files hosts get, and how far their copies are.

import (
	"fmt"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
)

// stagingPause is the time between two reports of progress, and before the first.
const stagingPause = 2 * time.Second

// copying is how far hosts are until their agents answer.
type copying struct {
	connect       *time.Timer // ends when hosts have not answered, and no file has been copied, for Spec.ConnectTimeout
	stagedBytes   int64       // the bytes that have been copied to hosts
	stagingReport time.Time   // when the next report on the copies is due
}

// reportStaging counts n bytes that a host has been sent, and says every stagingPause how far that is.
func (j *job) reportStaging(n int) {
	j.connect.Reset(j.spec.ConnectTimeout)
	now := time.Now()
	if j.stagedBytes == 0 {
		j.stagingReport = now.Add(stagingPause)
	}
	if j.stagedBytes += int64(n); now.After(j.stagingReport) {
		j.stagingReport = now.Add(stagingPause)
		most := j.spec.staging.Size() * int64(len(j.all()))
		j.stderr.Notice(fmt.Sprintf("pgasrun: copying the program: %d of at most %d MB sent to %s\n", j.stagedBytes>>20, most>>20, plural.Count(len(j.all()), "host")))
	}
}
