// Package lockbench measures locks as their papers do: `pgasbench locks`, on the PEs of a job or in the
// simulator.
//
// bench.go says what a bench is, benches.go is their table, kinds.go that of the locks, figures.go that of the papers'
// figures. section.go and hashtable.go have the benches of the paper on RMA locks, table.go those of the paper on
// ALock, cascade.go those of the paper on N-CoSED; critical.go checks that locks exclude. config.go says what a point
// is, tally.go what comes of it; run.go measures, on a machine of package machines if it is simulated; output.go,
// plot.go and cdf.go show. options.go is the command line, with what package sweep has of it.
//
//ci:computes
package lockbench
