//go:build race

package coherent_test

const raceDetector = true
