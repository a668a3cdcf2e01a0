package lockbench

// The table of benches. A bench is a body that every PE runs, over pgas only, so that it runs on real PEs
// and in the simulator alike: it starts no goroutine, has the time from World.Now and random numbers from
// World.Random.

import "slices"

var benches = slices.Concat(sectionBenches, tableBenches, cascadeBenches, hashtableBenches)
