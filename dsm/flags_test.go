package dsm_test

import "flag"

var (
	long      = flag.Bool("long", false, "run the long forms of tests")
	seeds     = flag.Uint64("seeds", 2, "seeds of each random program")
	firstSeed = flag.Uint64("seed", 0, "the first seed")
)
