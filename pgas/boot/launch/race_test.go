//go:build race

package launch

// raceEnabled: the race detector follows some 8,000 goroutines.
const raceEnabled = true
