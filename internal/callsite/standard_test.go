package callsite

import "testing"

// TestIsStandard: functions of Go's packages are told from those of programs and other modules.
func TestIsStandard(t *testing.T) {
	for function, want := range map[string]bool{
		"runtime.gopark":                           true,
		"net.(*conn).Read":                         true,
		"internal/poll.(*FD).Read":                 true,
		"net/http.(*Server).Serve":                 true,
		"golang.org/x/sys/unix.Poll":               true,
		"main.main":                                false,
		"main.body.func1":                          false,
		"example.com/solver.Run":                   false,
		"golang.org/x/sync/errgroup.(*Group).Wait": false,
		Module + "pgas.(*World).Barrier":           false,
	} {
		if got := IsStandard(function); got != want {
			t.Errorf("%s: %v, want %v", function, got, want)
		}
	}
}
