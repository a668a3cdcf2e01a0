package main

// The plots of `pgasbench notify`: latency by size, bandwidth by size, and overlap by size, as figures 3 and
// 4a of the paper have them.

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

func (p *noteReport) draw(file string) error {
	by := curves(p.results)
	if len(by) == 0 {
		return fmt.Errorf("-plot %s: there is nothing to draw: it takes two sizes or more", file)
	}
	latency, err := panel(by, "Latency of data and notification", "µs", func(r result.Result) float64 { return r.P50ns / 1e3 })
	if err != nil {
		return fmt.Errorf("drawing %s: %w", file, err)
	}
	bandwidth, err := panel(by, "Bandwidth of data and notification", "MB/s", func(r result.Result) float64 { return r.MBps })
	if err != nil {
		return fmt.Errorf("drawing %s: %w", file, err)
	}
	hidden, err := p.overlapPanel()
	if err != nil {
		return fmt.Errorf("drawing %s: %w", file, err)
	}
	return chart.Write(file, latency, bandwidth, hidden)
}

func (p *noteReport) overlapPanel() (*plot.Plot, error) {
	points := make(plotter.XYs, len(p.overlaps))
	for i, v := range p.overlaps {
		points[i] = plotter.XY{X: float64(v.Bytes), Y: v.Ratio}
	}
	d := plot.New()
	d.Title.Text = "Overlap of a notified put with computation"
	d.X.Label.Text, d.Y.Label.Text = "bytes", "part of the latency"
	d.X.Scale, d.X.Tick.Marker = plot.LogScale{}, sizeTicks{}
	d.Y.Min, d.Y.Max = 0, 1
	d.Add(chart.Grid())
	return d, chart.AddCurve(d, 0, chart.Curve{Points: points})
}

// A noteReport is what is measured. Only PE 0's is whole.
type noteReport struct {
	results  []result.Result
	overlaps []overlap
	calls    callCosts
	fit      loggp
}
