package agent

import (
	"bytes"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// TestPing: an agent answers a ping, whatever its PEs do.
func TestPing(t *testing.T) {
	var out bytes.Buffer
	a := &Agent{out: frame.NewSender(&out)}
	a.handle(command{kind: frame.ToPing})
	if k := frame.Kind(out.Bytes()[0]); k != frame.FromPing {
		t.Errorf("it answers %q", k)
	}
}

// signalled is a machine that notes the signals of its one PE, which ends at the first SIGKILL.
type signalled struct {
	Machine
	got   []syscall.Signal
	exits chan Exited
}

const thePE = 7 // its process

func (m *signalled) Signal(pid int, sig syscall.Signal) {
	m.got = append(m.got, sig)
	if sig == unix.SIGKILL {
		m.exits <- Exited{PID: pid, Status: unix.WaitStatus(sig)}
		close(m.exits)
	}
}

// TestSignalEcho: two SIGTERMs to an agent within SignalEcho are one request, of which the launcher is told: a
// scheduler signals the guard and the agent, and the guard passes its signal on. One after that kills the PEs.
func TestSignalEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &signalled{exits: make(chan Exited, 1)}
		var out bytes.Buffer
		signals := make(chan os.Signal)
		a := &Agent{machine: m, out: frame.NewSender(&out), signals: signals, commands: make(chan command), exits: m.exits, term: term{pes: []pe{{pid: thePE}}}}
		a.cfg.Hosts = []boot.Host{{PEs: 1}}
		file, err := boot.CreateSegment(1, 0, 1, 1, boot.RoundHeap(1))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if a.segment, err = boot.MapControl(file, 1); err != nil {
			t.Fatal(err)
		}
		defer a.segment.Close()
		over := make(chan struct{})
		go func() {
			a.supervise()
			close(over)
		}()
		told := []byte{byte(frame.FromSignal), 0, 0, 0, 1, byte(unix.SIGTERM)}
		for _, after := range []time.Duration{0, time.Millisecond, boot.SignalEcho - 2*time.Millisecond} {
			time.Sleep(after)
			signals <- unix.SIGTERM
			synctest.Wait()
			if !bytes.Equal(out.Bytes(), told) || len(m.got) > 0 {
				t.Errorf("%v later the launcher has been sent %q, and the PE %v", after, out.Bytes(), m.got)
			}
		}
		time.Sleep(time.Millisecond)
		signals <- unix.SIGTERM
		<-over
		if !slices.Equal(m.got, []syscall.Signal{unix.SIGKILL}) {
			t.Errorf("a later request has sent the PE %v", m.got)
		}
		close(a.commands)
	})
}
