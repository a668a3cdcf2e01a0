package racecheck

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// InProcess is the Carrier of PEs that share a process: it calls their detectors.
type InProcess []*Detector

// Tell applies r to the detector of a PE.
func (p InProcess) Tell(_ transport.Channel, to int, r *Record) { p[to].Apply(r) }

// Ask asks the detector of a PE.
func (p InProcess) Ask(_ context.Context, to int, q Question) (*Clock, error) {
	return p[to].Answer(q), nil
}

// Flush does nothing: nothing is kept.
func (p InProcess) Flush(transport.Channel, int) {}
