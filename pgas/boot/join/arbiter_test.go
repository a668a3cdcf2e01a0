package join

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// TestSilence: only time without an answer counts, and an answer begins it anew.
func TestSilence(t *testing.T) {
	s := silence{limit: 10}
	for i, step := range []struct {
		heard   int64
		d       time.Duration
		tooLong bool
	}{
		{0, 6, false}, // no answer yet
		{5, 9, false}, // the first one
		{5, 6, false},
		{5, 4, false}, // as long as may be
		{7, 9, false},
		{7, 10, false},
		{7, 1, true},
	} {
		if got := s.grows(step.heard, step.d); got != step.tooLong {
			t.Errorf("step %d: %v, want %v", i, got, step.tooLong)
		}
	}
}

// muteServer makes the server of jobs say nothing, as one whose process is stopped. It returns what undoes that.
func muteServer(jobs []*boot.Job) (speak func()) {
	s := memberOf(jobs[0]).server
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		l.mu.Lock()
	}
	links := s.links
	return func() {
		for _, l := range links {
			l.mu.Unlock()
		}
	}
}

// awaitTrue waits until so holds, and fails the test if that takes too long.
func awaitTrue(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// TestSilentArbiter: every host finds out that the process of PE 0 is silent, that of PE 0 as well, and no host before.
func TestSilentArbiter(t *testing.T) {
	jobs, errs := joinAllWith(t, boot.Settings{BootTimeout: 20 * time.Second, HeapMax: 1 << 20, PeerTimeout: 3 * time.Second}, "a:2,b:2,c:1")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	since := boot.Clock()
	for _, j := range jobs {
		awaitTrue(t, "the arbiter does not answer", func() bool { return j.ArbiterAnswered(since) })
		if failed := j.Segment.Header.Failed.Load(); failed != 0 {
			t.Errorf("PE %d: PE %d has failed while the arbiter answers", j.PE, failed-1)
		}
	}
	speak := muteServer(jobs)
	defer speak()
	var hearing sync.WaitGroup
	for _, j := range jobs[1:] {
		hearing.Go(func() {
			defer close(memberOf(j).left) // or this process would be ended; Leave would wait for the server
			head := j.Segment.Header
			for end := time.Now().Add(time.Minute); head.Failed.Load() == 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			var x boot.Accusation
			if err := boot.HowDied(head.FailedHow.Load()); head.Failed.Load() != 1 || !errors.As(err, &x) || !x.Silent {
				t.Errorf("PE %d: PE %d has failed: %v", j.PE, int(head.Failed.Load())-1, err)
			}
		})
	}
	hearing.Wait()
	close(memberOf(jobs[0]).left)
}

// TestSilentHost: the arbiter names the first PE of a host that does not ask any more, and not a PE of one whose other PEs
// do, nor of its own host, where it need not ask.
func TestSilentHost(t *testing.T) {
	jobs, errs := joinAllWith(t, boot.Settings{BootTimeout: 20 * time.Second, HeapMax: 1 << 20, PeerTimeout: 3 * time.Second}, "a:2,b:2,c:2")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for host := range jobs[0].Hosts {
		awaitTrue(t, "hosts do not ask", func() bool { return memberOf(jobs[0]).server.questionsOf(host) > 0 })
	}
	stop := func(pe int) { close(memberOf(jobs[pe]).left) } // as of a stopped process, its connection stays
	stop(1)
	stop(2)
	head, enough := jobs[3].Segment.Header, memberOf(jobs[0]).server.questionsOf(1)+2*arbiterBeats
	awaitTrue(t, "a host whose first PE is stopped does not ask", func() bool { return memberOf(jobs[0]).server.questionsOf(1) > enough })
	if failed := head.Failed.Load(); failed != 0 {
		t.Errorf("PE %d has failed", failed-1)
	}
	stop(4)
	stop(5)
	awaitTrue(t, "the silence of a host is not noticed", func() bool { return head.Failed.Load() != 0 })
	var x boot.Accusation
	if err := boot.HowDied(head.FailedHow.Load()); head.Failed.Load() != 5 || !errors.As(err, &x) || !x.Silent {
		t.Errorf("PE %d has failed: %v", head.Failed.Load()-1, err)
	}
	jobs[0].Leave()
	jobs[3].Leave()
}

// TestArbiterNamesFirst: a PE that has lost another is to wait until the arbiter answers, and knows by then what the arbiter
// has told all.
func TestArbiterNamesFirst(t *testing.T) {
	jobs, errs := joinAll(t, 20*time.Second, "a:1,b:1,c:2")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	speak := muteServer(jobs)
	lost := boot.Clock()
	for range 3 {
		time.Sleep(10 * time.Millisecond)
		if jobs[2].ArbiterAnswered(lost) || !jobs[0].ArbiterAnswered(lost) {
			t.Error("a silent arbiter has answered another host, or its own process waits for it")
		}
	}
	done := make(chan struct{})
	go func() {
		memberOf(jobs[0]).server.announce(1, boot.LostHow) // to its last member first
		close(done)
	}()
	speak()
	<-done
	lost = boot.Clock()
	awaitTrue(t, "the arbiter does not answer", func() bool { return jobs[2].ArbiterAnswered(lost) })
	if failed := jobs[2].Segment.Header.Failed.Load(); failed != 2 {
		t.Errorf("the arbiter has answered, and PE %d has failed, not PE 1", int(failed)-1)
	}
	for _, j := range jobs {
		j.Leave()
	}
	if !jobs[2].ArbiterAnswered(boot.Clock()) {
		t.Error("a PE that has left waits for the arbiter")
	}
}

// TestAccusationBesideStoppedPE: an accusation that a PE makes reaches the arbiter even if the first PE of its host is stopped.
func TestAccusationBesideStoppedPE(t *testing.T) {
	jobs, errs := joinAll(t, 20*time.Second, "a:2,b:2")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	stopped := memberOf(jobs[2]).client.link
	stopped.mu.Lock() // it sends nothing any more
	jobs[3].Segment.Accuse(boot.Accusation{PE: 1, By: 3, Certain: true, Silent: true})
	head := jobs[0].Segment.Header
	awaitTrue(t, "the accusation has not come", func() bool { return head.Failed.Load() != 0 })
	if failed := head.Failed.Load() - 1; failed != 1 {
		t.Errorf("PE %d has failed, and PE 1 was accused", failed)
	}
	stopped.mu.Unlock()
	for _, j := range jobs {
		j.Leave()
	}
}

// TestSilentHostWithoutItsFirst: the first PE of a host has left the job, and then the host is silent: a PE that has not left is named.
func TestSilentHostWithoutItsFirst(t *testing.T) {
	jobs, errs := joinAllWith(t, boot.Settings{BootTimeout: 20 * time.Second, HeapMax: 1 << 20, PeerTimeout: 2 * time.Second}, "a:1,b:2,c:1")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	server := memberOf(jobs[0]).server
	jobs[1].Leave()
	awaitTrue(t, "the leave of PE 1 is not noticed", func() bool { return server.firstMember(jobs[0].Hosts[1]) == 2 })
	close(memberOf(jobs[2]).left) // as of a stopped process, its connection stays
	head := jobs[3].Segment.Header
	awaitTrue(t, "the silence of a host is not noticed", func() bool { return head.Failed.Load() != 0 })
	if failed := head.Failed.Load() - 1; failed != 2 {
		t.Errorf("PE %d has failed, and PE 2 is silent", failed)
	}
	jobs[0].Leave()
	jobs[3].Leave()
}

// TestHostThatNeverAsks: a host that falls silent before its first question is named as well.
func TestHostThatNeverAsks(t *testing.T) {
	jobs, errs := joinAllWith(t, boot.Settings{BootTimeout: 20 * time.Second, HeapMax: 1 << 20, PeerTimeout: 4 * time.Second}, "a:1,b:1,c:1")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	close(memberOf(jobs[2]).left) // as of a stopped process, its connection stays
	if memberOf(jobs[0]).server.questionsOf(2) > 0 {
		t.Log("it has asked: this machine is slow, and TestSilentHost is the test of that")
	}
	head := jobs[1].Segment.Header
	awaitTrue(t, "the silence of a host is not noticed", func() bool { return head.Failed.Load() != 0 })
	if failed := head.Failed.Load() - 1; failed != 2 {
		t.Errorf("PE %d has failed, and PE 2 is silent", failed)
	}
	jobs[0].Leave()
	jobs[1].Leave()
}
