package compare

// What came out of the rounds, and what is said of it.

import "github.com/gopgas/gopgas/cmd/pgasbench/result"

// figures is what came out: in each round a result for each point that was measured in it.
type figures struct {
	rounds []map[point]result.Result
	busy   []float64        // what other processes took of the machine before each round, 0 to 1
	failed map[string]error // the last failure of each suite
	tries  map[string]int   // the number of failures of each suite

	machine  string // the machine whose floor was measured, for the report
	cpus     int    // CPUs of that machine
	versions []string
}

func newFigures() *figures {
	return &figures{failed: map[string]error{}, tries: map[string]int{}}
}

// verdict is one row of the report.
type verdict struct {
	Row     string  `json:"row"`
	Ours    float64 `json:"ours"`   // the median of the rounds
	Theirs  float64 `json:"theirs"` // the median of the best of each round
	Unit    string  `json:"unit"`
	Ratio   float64 `json:"ratio"` // theirs/ours, the median of the rounds: how many times better ours is
	Least   float64 `json:"ratio_min"`
	Most    float64 `json:"ratio_max"`
	Rounds  int     `json:"rounds"`
	Met     int     `json:"rounds_met"` // rounds in which the goal was reached
	Goal    string  `json:"goal,omitempty"`
	Reached string  `json:"reached"` // yes or no; - without a goal, ? without figures
	Why     string  `json:"why,omitempty"`

	Versions []string `json:"versions,omitempty"` // the versions of the peers, in a row of their own
	Multiple float64  `json:"of_floor,omitempty"` // ours/floor, the median of the rounds
	FloorNs  float64  `json:"floor_ns,omitempty"` // the median of the rounds
	Floor    string   `json:"floor,omitempty"`    // what the floor consists of
	parts    []part
}

// A part is so many of one figure of the floor.
type part struct {
	times float64
	point point
	unit  string // what one part is called
}
