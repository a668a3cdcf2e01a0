package join

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
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

// awaitTrue waits until so holds, and fails the test if it hangs.
func awaitTrue(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	for ; !so(); time.Sleep(time.Millisecond) {
		if limit.Err() != nil {
			t.Fatal(what)
		}
	}
}

// silent are the settings of a job in which a PE may be silent for so long.
func silent(limit time.Duration) boot.Settings {
	return boot.Settings{HeapMax: 1 << 20, PeerTimeout: limit}
}

// TestSilentArbiter: every host finds out that the process of PE 0 is silent, that of PE 0 as well, and no host before.
func TestSilentArbiter(t *testing.T) {
	inBubble(t, silent(3*time.Second), "a:2,b:2,c:1", func(b *bubble) {
		for range 2 {
			since := memberOf(b.jobs[0]).clock()
			for pe, j := range b.jobs {
				b.await("the arbiter does not answer", func() bool { return j.ArbiterAnswered(since) })
				if failed, _ := b.failed(pe); failed >= 0 {
					t.Errorf("PE %d: PE %d has failed while the arbiter answers", pe, failed)
				}
			}
			time.Sleep(time.Minute) // PEs that hear from the arbiter do so for ever
		}
		b.net.hush()
		defer b.net.speak()
		b.awaitSilent(0, 1, 2, 3, 4)
	})
}

// TestSilentHost: the arbiter names the first PE of a host that does not ask any more, and not a PE of one whose other
// PEs do, nor of its own host, where it need not ask.
func TestSilentHost(t *testing.T) {
	inBubble(t, silent(3*time.Second), "a:2,b:2,c:2", func(b *bubble) {
		for _, host := range []int{1, 2} {
			b.await("hosts do not ask", func() bool { return b.server.questionsOf(host) > 0 })
		}
		b.stop(1)
		b.stop(2)
		enough := b.server.questionsOf(1) + 100*arbiterBeats
		b.await("a host whose first PE is stopped does not ask", func() bool { return b.server.questionsOf(1) > enough })
		if failed, _ := b.failed(3); failed >= 0 {
			t.Errorf("PE %d has failed", failed)
		}
		b.stop(4)
		b.stop(5)
		b.awaitSilent(4, 3, 0)
	})
}

// TestArbiterNamesFirst: a PE that has lost another is to wait until the arbiter answers, and knows by then what the
// arbiter has told all.
func TestArbiterNamesFirst(t *testing.T) {
	inBubble(t, boot.Settings{HeapMax: 1 << 20}, "a:1,b:1,c:2", func(b *bubble) {
		b.net.hush()
		clock := memberOf(b.jobs[2]).clock
		lost := clock()
		for range 3 {
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			if b.jobs[2].ArbiterAnswered(lost) || !b.jobs[0].ArbiterAnswered(lost) {
				t.Error("a silent arbiter has answered another host, or its own process waits for it")
			}
		}
		b.server.announce(1, boot.LostHow)
		b.net.speak()
		lost = clock()
		b.await("the arbiter does not answer", func() bool { return b.jobs[2].ArbiterAnswered(lost) })
		if failed, _ := b.failed(2); failed != 1 {
			t.Errorf("the arbiter has answered, and PE %d has failed, not PE 1", failed)
		}
		for _, j := range b.jobs {
			j.Leave()
		}
		if !b.jobs[2].ArbiterAnswered(clock()) {
			t.Error("a PE that has left waits for the arbiter")
		}
	})
}

// TestAccusationBesideStoppedPE: an accusation that a PE makes reaches the arbiter even if the first PE of its host is
// stopped.
func TestAccusationBesideStoppedPE(t *testing.T) {
	jobs, errs := joinAll(t, "a:2,b:2")
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

// TestSilentHostWithoutItsFirst: the first PE of a host has left the job, and then the host is silent: a PE that has
// not left is named.
func TestSilentHostWithoutItsFirst(t *testing.T) {
	inBubble(t, silent(2*time.Second), "a:1,b:2,c:1", func(b *bubble) {
		b.jobs[1].Leave()
		synctest.Wait()
		if first := b.server.firstMember(b.jobs[0].Hosts[1]); first != 2 {
			t.Fatalf("PE 1 has left, and PE %d is the first of its host", first)
		}
		b.stop(2)
		b.awaitSilent(2, 3, 0)
	})
}

// TestHostThatNeverAsks: a host that falls silent before its first question is named as well.
func TestHostThatNeverAsks(t *testing.T) {
	inBubble(t, silent(4*time.Second), "a:1,b:1,c:1", func(b *bubble) {
		b.stop(2)
		if asked := b.server.questionsOf(2); asked > 0 {
			t.Fatalf("it has asked %d times", asked)
		}
		b.awaitSilent(2, 1, 0)
		if asked := b.server.questionsOf(2); asked > 0 {
			t.Errorf("it has asked %d times", asked)
		}
	})
}
