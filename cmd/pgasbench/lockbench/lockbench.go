// Package lockbench measures locks as their papers do: `pgasbench locks`, on the PEs of a job or in the
// simulator.
//
// benches.go is the table of benches, kinds.go that of the locks, figures.go that of the papers' figures.
// section.go has the benches of the paper on RMA locks. config.go says what a point is, tally.go what comes
// of it; run.go measures, output.go and plot.go show. options.go is the command line.
package lockbench
