package agent

import (
	"bytes"
	"testing"

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
