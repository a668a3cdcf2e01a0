package launch

// Staging, on the launcher's side: which files hosts get, and how far their copies are.

import (
	"fmt"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// stagingPause is the time between two reports of progress, and before the first.
const stagingPause = 2 * time.Second

// reportStaging counts n bytes that a host has been sent, and says every stagingPause how far that is.
func (j *job) reportStaging(n int) {
	j.connect.Reset(j.spec.ConnectTimeout)
	now := time.Now()
	if j.stagedBytes == 0 {
		j.stagingReport = now.Add(stagingPause)
	}
	if j.stagedBytes += int64(n); now.After(j.stagingReport) {
		j.stagingReport = now.Add(stagingPause)
		most := j.spec.staging.Size() * int64(len(j.hosts))
		j.stderr.Notice(fmt.Sprintf("pgasrun: copying the program: %d of at most %d MB sent to %s\n", j.stagedBytes>>20, most>>20, plural.Count(len(j.hosts), "host")))
	}
}

// prepareStaging hashes the files that are to be staged, if any are.
func (s *Spec) prepareStaging() error {
	if !s.Stage {
		return nil
	}
	var err error
	s.staging, s.files, err = spawn.NewStaging(s.Agent, s.Program)
	return err
}

// stagedOn returns the hash of the program if it is staged on host, or "".
func (s *Spec) stagedOn(host string) string {
	if s.staging == nil || s.isHere(host) {
		return ""
	}
	return s.staging.Program.Hash
}
