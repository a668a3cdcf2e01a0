package main

// How often a thing is done, and how long it takes: the median. Networks differ by four orders of magnitude, so a time
// bounds the repetitions.

import (
	"slices"
	"time"
)

const (
	warmUps = 3
	least   = 5   // samples
	most    = 201 // samples
	budget  = 25 * time.Millisecond
)

// medianOf returns the median time of f, in nanoseconds. It returns the first error of f.
func medianOf(f func() error) (float64, error) {
	for range warmUps {
		if err := f(); err != nil {
			return 0, err
		}
	}
	var took []time.Duration
	for began := time.Now(); len(took) < most && (len(took) < least || time.Since(began) < budget); {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return float64(took[len(took)/2]), nil
}
