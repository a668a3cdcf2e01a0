//go:build race

package corpus

// raceEnabled: whether the race detector is compiled in.
const raceEnabled = true
