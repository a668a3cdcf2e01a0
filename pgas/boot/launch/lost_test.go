package launch

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// nopCloser is the input of an agent's command.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestSuspectedHost: a host whose agent has lost its connection to another one is ended if it is silent, and not while
// it answers, sends something, or is waited for by the launcher itself.
func TestSuspectedHost(t *testing.T) {
	for name, tt := range map[string]struct {
		between func(j *job, h *host, look int) // two looks
		killed  bool
	}{
		"silent":      {func(*job, *host, int) {}, true},
		"answers":     {func(j *job, h *host, look int) { j.handle(event{host: h, frame: frame.FromPing}) }, false},
		"sends":       {func(j *job, h *host, look int) { h.frames.Add(1) }, false},
		"sent once":   {func(j *job, h *host, look int) { h.frames.Store(1) }, true},
		"is not read": {func(j *job, h *host, look int) { h.writing.Store(true) }, false},
		"ends":        {func(j *job, h *host, look int) { h.done = true }, false},
		"answers later": {func(j *job, h *host, look int) {
			if look == lostLooks-2 {
				j.handle(event{host: h, frame: frame.FromPing})
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := newJob(Spec{Hosts: []boot.Host{{Name: "a", PEs: 1}, {Name: "b", First: 1, PEs: 1}}, Logf: t.Logf})
			if err != nil {
				t.Fatal(err)
			}
			defer close(j.closed)
			h, killed := j.hosts[1], false
			h.link = &spawn.Link{In: nopCloser{io.Discard}, Signal: func(sig unix.Signal) { killed = sig == unix.SIGKILL }}
			h.send, h.started, h.ready = frame.NewSender(h.link.In), true, new(frame.Ready)
			j.noteLostHost(j.hosts[0], binary.BigEndian.AppendUint32(nil, 1))
			for look := range 2 * lostLooks {
				tt.between(j, h, look)
				j.lookForLostHost(h)
			}
			if killed != tt.killed {
				t.Errorf("killed: %v", killed)
			}
			const why = "host a has lost the connection to it, and it does not answer the launcher"
			if killed && !strings.Contains(h.endError(nil).Error(), why) {
				t.Errorf("it says %v", h.endError(nil))
			}
		})
	}
}
