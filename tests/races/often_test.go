package races

// The mistakes of the table in docs/use/pgastest.md, so often that what is found by luck is missed.

import (
	"os"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest"
)

// often is how often TestMistakesOften has each mistake found.
const often = 20

// TestMistakesOften: the first run of a late network that the page names finds each mistake, every time. With -cpu
// 1,2,4 it says so of these numbers of processors.
func TestMistakesOften(t *testing.T) {
	if !*long {
		t.Skip("-long runs each mistake 20 times")
	}
	text, err := os.ReadFile(mistakesPage)
	if err != nil {
		t.Fatal(err)
	}
	claims, _ := claimsOf(string(text))
	for _, m := range mistakes {
		t.Run(m.name+" "+m.form, func(t *testing.T) {
			missed := 0
			for range often {
				if !m.foundLate(t, runsThat[claims[m.name].late]) {
					missed++
				}
			}
			if missed > 0 {
				t.Errorf("%d of %d times it is not found", missed, often)
			}
		})
	}
}

// foundLate reports whether one run of a late network with one of the seeds finds m.
func (m mistake) foundLate(t *testing.T, seeds []uint64) bool {
	for _, seed := range seeds {
		if isFound(pgastest.Late(t.Context(), m.pes, m.pes, pgastest.Options{Seed: seed}, m.play(false))) {
			return true
		}
	}
	return false
}
