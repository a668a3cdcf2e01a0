package launch

import (
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// TestAccusations: which PE the launcher reports when PEs of several hosts lose each other. Each case is a job of three
// hosts with two PEs each, and the events in order; over is the end of boot.AccusationDelay.
func TestAccusations(t *testing.T) {
	const none = -1
	over := func(j *job) {
		if j.accusationTimer != nil {
			j.believe()
		}
	}
	says := func(x boot.Accusation) func(*job) { return func(j *job) { j.handleAccusation(x) } }
	ends := func(pe int, status syscall.WaitStatus, lost int) func(*job) {
		return func(j *job) {
			j.handleDeath(j.hostOf(pe), frame.Death{PE: pe, Process: 7, Status: status, Peer: lost, FailedAt: boot.Clock()})
		}
	}
	const failed = syscall.WaitStatus(1 << 8)
	tests := map[string]struct {
		steps []func(*job)
		want  int
		how   string
	}{
		"certain":                     {[]func(*job){says(boot.Accusation{PE: 3, By: 0, Silent: true, Certain: true})}, 3, "is lost: it does not answer PE 0: it is stopped, or its host or the network between is down; a longer PGAS_PEER_TIMEOUT waits longer"},
		"uncertain, in hearing":       {[]func(*job){says(boot.Accusation{PE: 3, By: 0, Silent: true})}, none, ""},
		"uncertain, heard once":       {[]func(*job){says(boot.Accusation{PE: 3, By: 0, Silent: true}), over}, none, ""},
		"uncertain, heard":            {[]func(*job){says(boot.Accusation{PE: 3, By: 0, Silent: true}), over, over}, 3, ""},
		"cut off, heard early":        {[]func(*job){says(boot.Accusation{PE: 4, By: 3, Silent: true}), says(boot.Accusation{PE: 4, By: 2, Silent: true}), over, says(boot.Accusation{PE: 2, By: 0, Silent: true, Certain: true})}, 2, ""},
		"cut off, has ended":          {[]func(*job){says(boot.Accusation{PE: 4, By: 2, Silent: true}), ends(2, failed, 4), says(boot.Accusation{PE: 2, By: 0, Silent: true, Certain: true})}, 2, "is lost: it does not answer PE 0: it is stopped, or its host or the network between is down; a longer PGAS_PEER_TIMEOUT waits longer"},
		"accuser ends, and is missed": {[]func(*job){says(boot.Accusation{PE: 4, By: 2, Silent: true}), ends(2, failed, 4), says(boot.Accusation{PE: 2, By: 0}), over, over}, 4, ""},
		"both ends":                   {[]func(*job){says(boot.Accusation{PE: 4, By: 2, Silent: true}), says(boot.Accusation{PE: 2, By: 0, Silent: true, Certain: true}), over}, 2, ""},
		"cut off end first":           {[]func(*job){says(boot.Accusation{PE: 4, By: 2}), says(boot.Accusation{PE: 2, By: 0, Silent: true}), over}, 2, ""},
		"two hosts against one":       {[]func(*job){says(boot.Accusation{PE: 2, By: 1}), says(boot.Accusation{PE: 2, By: 5}), says(boot.Accusation{PE: 4, By: 2, Silent: true}), over}, 2, ""},
		"cut off, noticed by one":     {[]func(*job){says(boot.Accusation{PE: 4, By: 2, Silent: true}), says(boot.Accusation{PE: 2, By: 0, Silent: true}), over}, 2, ""},
		"cut off, accuses all":        {[]func(*job){says(boot.Accusation{PE: 4, By: 2, Silent: true}), says(boot.Accusation{PE: 0, By: 3, Silent: true}), says(boot.Accusation{PE: 2, By: 0, Silent: true}), over}, 2, ""},
		"ended for a lost PE":         {[]func(*job){says(boot.Accusation{PE: 4, By: 2, Silent: true}), says(boot.Accusation{PE: 2, By: 0}), over}, 4, ""},
		"accuser ends":                {[]func(*job){says(boot.Accusation{PE: 3, By: 0}), ends(0, failed, 3), over, over}, 3, ""},
		"suspect had died":            {[]func(*job){says(boot.Accusation{PE: 3, By: 0}), ends(3, syscall.WaitStatus(syscall.SIGKILL), none), over}, 3, "was killed by signal 9 (SIGKILL)"},
		"another is killed meanwhile": {[]func(*job){says(boot.Accusation{PE: 3, By: 0}), ends(5, syscall.WaitStatus(syscall.SIGSEGV), none), over}, 5, ""},
		"suspect had left":            {[]func(*job){ends(3, 0, none), says(boot.Accusation{PE: 3, By: 0})}, 3, "left the job while PE 0 still needed it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j, err := newJob(Spec{Hosts: []boot.Host{{Name: "a", PEs: 2}, {Name: "b", First: 2, PEs: 2}, {Name: "c", First: 4, PEs: 2}}, Logf: t.Logf})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range tt.steps {
				step(j)
			}
			f := j.report(j.hosts, j.tails)
			switch {
			case tt.want == none && f != nil:
				t.Errorf("PE %d is named", f.PE)
			case tt.want != none && (f == nil || f.PE != tt.want):
				t.Errorf("named: %+v, want PE %d", f, tt.want)
			case tt.how != "" && f.death.How() != tt.how:
				t.Errorf("it says %q, want %q", f.death.How(), tt.how)
			case tt.want != none && j.status == 0:
				t.Error("the job ends with status 0")
			}
		})
	}
}
