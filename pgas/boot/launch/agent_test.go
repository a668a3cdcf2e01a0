package launch

import (
	"bytes"
	"testing"
)

// TestPing: an agent answers a ping, whatever its PEs do.
func TestPing(t *testing.T) {
	var out bytes.Buffer
	a := &agent{out: newSender(&out)}
	a.handle(command{kind: toPing})
	if k := kind(out.Bytes()[0]); k != fromPing {
		t.Errorf("it answers %q", k)
	}
}
