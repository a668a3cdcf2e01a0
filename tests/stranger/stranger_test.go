//go:build cgo

package stranger

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot/launch"
)

const (
	root   = 0
	nobody = 65534
)

const report = "a message without this job's proof"

// TestListeners: a PE of a job on several hosts listens on the interface that the job uses, and on no other.
func TestListeners(t *testing.T) {
	j := start(t, 2, launch.Spec{})
	for n := range 4 {
		at := j.listeners(n, 2)
		t.Logf("PE %d listens on %v", n, at)
		if len(at) == 0 {
			t.Errorf("PE %d listens nowhere: the test does not look right", n)
		}
		for _, a := range at {
			if !strings.HasPrefix(a, j.hosts.Addresses[n/2]+":") {
				t.Errorf("PE %d of the host with address %s listens on %s", n, j.hosts.Addresses[n/2], a)
			}
		}
	}
	out, _ := j.finish()
	j.right(out, 4)
}

// TestNoConnection: to a host that has nothing to do with the job, and to other users of the PE's own host, its
// ports are closed: there is no connection, so what UCX's TCP would do for a connection does not matter.
func TestNoConnection(t *testing.T) {
	j := start(t, 1, launch.Spec{})
	p := j.look(0, 1)
	var attacks sync.WaitGroup
	for _, from := range []struct {
		what string
		host int
		user uint32
	}{{"another host", 2, root}, {"another user of the same host", 0, nobody}} {
		for _, port := range p.ports {
			attacks.Go(func() {
				if out := j.attack(from.host, from.user, "store", 0, port, fmt.Sprint(p.global)); out != "no connection\n" {
					t.Errorf("%s, port %d: %s", from.what, port, out)
				}
			})
		}
	}
	attacks.Wait()
	out, errs := j.finish()
	j.right(out, 2)
	if errs != "" {
		t.Errorf("the job says:\n%s", errs)
	}
}

// TestNeighbour: a stranger on a host of the job can connect. It reads nothing and writes nothing by UCP's put and
// get nor by messages of the engine's, completes no wait, and makes no PE grow. The PE reports the messages once.
func TestNeighbour(t *testing.T) {
	const bound = 24 << 20
	j := start(t, 1, launch.Spec{})
	p := j.look(0, 1)
	if len(p.ports) < 2 {
		t.Fatalf("PE 0 listens on %v: one port for what others ask, and one for each context", p.ports)
	}
	for _, port := range p.ports {
		for _, attack := range [][]string{
			{"put", fmt.Sprint(p.global)}, {"put", "0x400000"}, {"forge", "2"}, {"late", "2", "64"}, {"knock", "2", "20000"},
		} {
			out := j.attack(1, nobody, attack[0], 0, port, attack[1:]...)
			t.Logf("%s to port %d: %q", attack, port, out)
			if strings.Contains(out, "answered") || !strings.Contains(out, "connected") || !strings.Contains(out, "done") {
				t.Errorf("%s to port %d: %s", attack, port, out)
			}
		}
	}
	if grown := resident(t, p.pid) - p.memory; grown > bound {
		t.Errorf("PE 0 has grown by %d MB", grown>>20)
	}
	out, errs := j.finish()
	j.right(out, 2)
	if n := strings.Count(errs, report); n != 1 {
		t.Errorf("the job says %d times, not once, that a stranger has sent messages:\n%s", n, errs)
	}
}

// TestBroken: 17 bytes from a host of the job end a PE in UCX's TCP, and the job ends with a report that names it.
func TestBroken(t *testing.T) {
	j := start(t, 1, launch.Spec{})
	p := j.look(0, 1)
	out := j.attack(1, nobody, "break", 0, p.ports[0])
	if !strings.Contains(out, "connected") {
		t.Fatalf("the stranger says %q", out)
	}
	j.endsOrGoesOn()
}
