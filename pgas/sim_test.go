package pgas_test

import (
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestCollectivesSimulated: the collectives among hosts of which each has one PE, as the simulator has it, with
// adversaries who let what is not ordered come in any order.
func TestCollectivesSimulated(t *testing.T) {
	for _, npes := range []int{1, 2, 3, 5, 8} {
		body := matrixOfWords
		if npes == 3 {
			body = matrices
		}
		t.Run(fmt.Sprint(npes), func(t *testing.T) {
			pgastest.RunSim(t, npes, body)
			pgastest.RunSim(t, npes, reductionsOn(npes, []int{1, 125, 3000}))
		})
	}
}
