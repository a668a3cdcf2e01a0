package dsmbench

import (
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/dsm"
)

// What comes of a point.

// outcome is a point that has been simulated. Counts are of all PEs in one step.
type outcome struct {
	point
	PEs          int           `json:"pes"`
	Step         time.Duration `json:"step_ns"`
	Program      float64       `json:"program_s"` // the time of all steps
	Speedup      float64       `json:"speedup"`   // the paper's time in order, divided by Program
	FastReads    float64       `json:"fast_reads"`
	SlowReads    float64       `json:"slow_reads"`
	Hops         float64       `json:"hops"`
	Gets         float64       `json:"gets"`
	Fetched      float64       `json:"bytes_fetched"` // bytes of the program, not of the skeleton
	FastReleases float64       `json:"fast_releases"`
	Moves        float64       `json:"moves"`
	Invalidated  float64       `json:"invalidated"`
}

// tally is what one PE did in the measured steps.
type tally struct {
	took  time.Duration
	stats dsm.Stats
}

// sum makes a result of the tallies of all PEs, which ran p.
func sum(p *program, c point, tallies []tally) outcome {
	r := outcome{point: c, PEs: c.pes()}
	steps := float64(c.Steps)
	for _, t := range tallies {
		r.Step = max(r.Step, t.took/time.Duration(c.Steps))
		r.FastReads += float64(t.stats.FastReads) / steps
		r.SlowReads += float64(t.stats.SlowReads) / steps
		r.Hops += float64(t.stats.Hops) / steps
		r.Gets += float64(t.stats.Gets) / steps
		r.Fetched += float64(t.stats.BytesFetched) * float64(p.grain) / steps
		r.FastReleases += float64(t.stats.FastReleases) / steps
		r.Moves += float64(t.stats.Moves) / steps
		r.Invalidated += float64(t.stats.Invalidated) / steps
	}
	r.Program = r.Step.Seconds() * float64(p.steps)
	r.Speedup = p.sequential.Seconds() / r.Program
	return r
}

// since returns what has been counted since before.
func since(before, now dsm.Stats) dsm.Stats {
	return dsm.Stats{
		FastReads: now.FastReads - before.FastReads, SlowReads: now.SlowReads - before.SlowReads,
		Hops: now.Hops - before.Hops, Gets: now.Gets - before.Gets, BytesFetched: now.BytesFetched - before.BytesFetched,
		FastReleases: now.FastReleases - before.FastReleases, Moves: now.Moves - before.Moves,
		Changed: now.Changed - before.Changed, Invalidated: now.Invalidated - before.Invalidated, Fences: now.Fences - before.Fences,
	}
}

// metrics are what a plot shows of outcomes.
var metrics = []sweep.Metric[outcome]{
	{Name: "speedup", Label: "speedup over the paper's time in order", Value: func(r outcome) float64 { return r.Speedup }},
	{Name: "program", Label: "time of the program, s", Value: func(r outcome) float64 { return r.Program }},
	{Name: "step", Label: "time of a step, ms", Value: func(r outcome) float64 { return r.Step.Seconds() * 1e3 }},
	{Name: "slow", Label: "slow reads of a step", Value: func(r outcome) float64 { return r.SlowReads }},
	{Name: "fetched", Label: "MB fetched in a step", Value: func(r outcome) float64 { return r.Fetched / 1e6 }},
	{Name: "moves", Label: "blocks that move in a step", Value: func(r outcome) float64 { return r.Moves }},
}
