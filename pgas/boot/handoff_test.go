package boot

import (
	"fmt"
	"testing"
)

// TestHandedDownHosts: PEs read the hosts that the launcher hands down, addresses too.
func TestHandedDownHosts(t *testing.T) {
	want := []Host{{"n1", 0, 2}, {"fd00::1", 2, 1}, {"me@fe80::1%eth0", 3, 4}}
	got, err := decodeHosts(encodeHosts(want))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v", got, err)
	}
}
