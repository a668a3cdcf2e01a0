package agent

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// TestExchangePart: every host but the root is the child of one, and a subtree has the PEs of its hosts.
func TestExchangePart(t *testing.T) {
	for _, fanOut := range []int{1, 2, 3, 32} {
		for n := 1; n < 80; n++ {
			var hosts []boot.Host
			for i, first := 0, 0; i < n; i++ {
				hosts = append(hosts, boot.Host{First: first, PEs: 1 + i%3})
				first += 1 + i%3
			}
			children, pes := make([]int, n), make([]int, n)
			for i := n - 1; i >= 0; i-- {
				if pes[i] += hosts[i].PEs; i > 0 {
					children[ExchangeParent(i, fanOut)]++
					pes[ExchangeParent(i, fanOut)] += pes[i]
				}
			}
			for i := range hosts {
				if c, p := exchangePart(hosts, i, fanOut); c != children[i] || p != pes[i] || c > fanOut {
					t.Fatalf("host %d of %d with a fan-out of %d: %d children and %d PEs, not %d and %d", i, n, fanOut, c, p, children[i], pes[i])
				}
			}
		}
	}
}
