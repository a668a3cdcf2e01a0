package main

// The sizes, with the published ranks of five keys in each ranking.

import (
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// rankings is how often the keys are ranked in the timed part.
const rankings = 10

// class is a size of the problem.
type class struct {
	n    int // keys
	max  int // keys are less
	keys [5]published
}

// published is the rank of the key at a place of the sequence: in ranking i it is rank + step*i.
type published struct {
	at, rank, step int
}

func classOf(name string) class {
	return map[string]class{
		"S": {1 << 16, 1 << 11, [5]published{{48427, 0, 1}, {17148, 18, 1}, {23627, 346, 1}, {62548, 64917, -1}, {4431, 65463, -1}}},
		"W": {1 << 20, 1 << 16, [5]published{{357773, 1247, 1}, {934767, 11696, 1}, {875723, 1039987, -1}, {898999, 1043896, -1}, {404505, 1048018, -1}}},
		"A": {1 << 23, 1 << 19, [5]published{{2112377, 103, 1}, {662041, 17522, 1}, {5336171, 123927, 1}, {3642833, 8288933, -1}, {4250760, 8388265, -1}}},
		"B": {1 << 25, 1 << 21, [5]published{{41869, 33422937, -1}, {812306, 10244, 1}, {5102857, 59149, 1}, {18232239, 33135281, -1}, {26860214, 99, 1}}},
		"C": {1 << 27, 1 << 23, [5]published{{44172927, 61147, 1}, {72999161, 882988, 1}, {74326391, 266290, 1}, {129606274, 133997595, -1}, {21736814, 133525895, -1}}},
	}[name]
}

// outcome is what a run has found.
type outcome struct {
	right   int // published ranks that came out
	ordered int // keys that stand where they belong at the end
	took    time.Duration
}

func (c class) result(o outcome) benchmark.Result {
	return benchmark.Result{
		Checks: []benchmark.Check{
			{Name: "ranks as published", Value: float64(o.right), Reference: float64(rankings * len(c.keys))},
			{Name: "keys in order", Value: float64(o.ordered), Reference: float64(c.n)},
		},
		Elapsed:    o.took,
		Operations: float64(rankings * c.n),
	}
}
