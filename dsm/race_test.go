//go:build race

package dsm_test

const raceDetector = true
