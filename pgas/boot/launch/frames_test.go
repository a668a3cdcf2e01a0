package launch

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

var long = flag.Bool("long", false, "kill processes at each frame, and of 1,000 hosts")

// frameKill is a kill of a process, or of a host with all of its processes, when a frame is sent.
type frameKill struct {
	frame          int  // from 1 on; 0: nothing is killed
	receiver, host bool // of the process that gets the frame; the whole host
}

func (k frameKill) String() string {
	return fmt.Sprintf("at frame %d the %s of the %s", k.frame, map[bool]string{true: "host", false: "process"}[k.host],
		map[bool]string{true: "receiver", false: "sender"}[k.receiver])
}

// withKill runs a job in the simulation that has a kill, on some hosts. It returns how many frames were sent. The job
// must end: well, or with one line that names a host that was lost.
func withKill(t *testing.T, hosts, fanOut int, k frameKill) (frames int) {
	s := newSimulation()
	s.linger = time.Second
	spec := s.spec(hosts, 2, fanOut)
	spec.Survive = 3
	var said bytes.Buffer
	spec.Stderr = &said
	lost := ""
	s.frames = func(from, to *simNode) {
		s.mu.Lock()
		frames++
		victim := from
		if k.receiver {
			victim = to
		}
		var killed []*simProcess
		if frames == k.frame && victim != s.launcher {
			lost = victim.host
			for _, p := range s.processes {
				if p.node == victim || k.host && p.node.host == victim.host {
					killed = append(killed, p)
				}
			}
		}
		s.mu.Unlock()
		for _, p := range killed {
			p.signalled(unix.SIGKILL)
		}
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, errEnough) // in simulated time
	defer cancel()
	res, err := Run(ctx, spec)
	defer func() {
		if t.Failed() {
			t.Logf("to repeat it: go test ./pgas/boot/launch -long -run '^%s$'", t.Name())
			t.Logf("of host %q, in %d terms; it says\n%s", lost, 1+res.Recoveries, &said)
		}
	}()
	switch {
	case err == nil && res.Status == 0 && res.First == nil:
	case err != nil && lost != "" && strings.Contains(err.Error(), lost) && !strings.Contains(err.Error(), "\n"):
	default:
		t.Errorf("it ends with status %d, %+v, %v", res.Status, res.First, err)
	}
	s.checkEnded(t)
	return frames
}

// TestKillAtEachFrame: at each frame between the launcher, relays and agents the process that sends it is killed, or
// the one that gets it, or all processes on the host of one of them. The job ends, in time: well, or with an error that
// names the host. No PE of an older term runs beside the next one, and nothing is left behind.
func TestKillAtEachFrame(t *testing.T) {
	for _, test := range []struct{ hosts, fanOut, short, stride, long int }{ // odd, for each of the four kinds; 0: none
		{10, 2, 77, 19, 1},
		{100, 4, 0, 0, 31},
		{1000, 16, 0, 0, 5003},
	} {
		stride, first := test.stride, 0
		switch {
		case *long:
			stride = test.long
		case testing.Short() || raceEnabled:
			stride = test.short
		}
		if stride == 0 {
			continue
		}
		if !*long {
			first = stride / 2
		}
		t.Run(fmt.Sprint(test.hosts), func(t *testing.T) {
			frames := 0
			synctest.Test(t, func(t *testing.T) { frames = withKill(t, test.hosts, test.fanOut, frameKill{}) })
			var all []frameKill
			for n := range frames {
				for i := range 4 {
					all = append(all, frameKill{n + 1, i%2 > 0, i > 1})
				}
			}
			t.Logf("%d frames, each %d of %d kills from %d on", frames, stride, len(all), first)
			for i := first; i < len(all); i += stride {
				t.Run(fmt.Sprint(all[i]), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { withKill(t, test.hosts, test.fanOut, all[i]) })
				})
			}
		})
	}
}
