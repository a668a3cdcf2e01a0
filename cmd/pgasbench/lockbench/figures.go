package lockbench

// The figures of the papers, as settings of the command line: what a figure says, any flag overrides.

import (
	"slices"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/locks/kinds"
)

var figures = slices.Concat(rmaFigures, tableFigures, cascadeFigures, hashtableFigures)

var (
	mcsLocks    = []string{kinds.Spin, kinds.DMCS, kinds.RMAMCS}
	paperPEs    = []int{8, 16, 32, 64, 128, 256, 512, 1024}
	onlyRMARW   = []string{kinds.RMARW}
	bothRW      = []string{kinds.SpinRW, kinds.RMARW}
	manyPEs     = []int{16, 64, 128, 256, 512, 1024}
	sameProduct = [][]int{{100, 10}, {40, 25}, {20, 50}} // T_L by level; the products are the same
)

// rmaFigures are those of rma-locks 5.1 and 5.2.
var rmaFigures = []sweep.Figure[grid]{
	{Name: "mcs-lb", Doc: "rma-locks 3a: latency of RMA-MCS, D-MCS and foMPI-Spin", Grid: grid{benches: []string{"lb"}, locks: mcsLocks, pes: paperPEs}},
	{Name: "mcs-ecsb", Doc: "rma-locks 3b: their throughput, empty section", Grid: grid{benches: []string{"ecsb"}, locks: mcsLocks, pes: paperPEs}},
	{Name: "mcs-sob", Doc: "rma-locks 3c: the same, one access", Grid: grid{benches: []string{"sob"}, locks: mcsLocks, pes: paperPEs}},
	{Name: "mcs-wcsb", Doc: "rma-locks 3d: the same, work inside", Grid: grid{benches: []string{"wcsb"}, locks: mcsLocks, pes: paperPEs}},
	{Name: "mcs-warb", Doc: "rma-locks 3e: the same, work after each release", Grid: grid{benches: []string{"warb"}, locks: mcsLocks, pes: paperPEs}},
	{
		Name: "rw-tdc", Doc: "rma-locks 4a: T_DC, a counter for 2 PEs to one for 4 hosts",
		Grid: grid{benches: []string{"sob"}, locks: onlyRMARW, pes: manyPEs, tdc: []int{2, 4, 8, 16, 32, 64}},
	},
	{
		Name: "rw-tw", Doc: "rma-locks 4b: the product of T_L, 25 % writers",
		Grid: manyWriters("sob", [][]int{{10, 10}, {10, 50}, {20, 50}, {50, 50}}),
	},
	{
		Name: "rw-tl", Doc: "rma-locks 4c: T_L of the hosts, the product staying 1000, 25 % writers",
		Grid: manyWriters("sob", sameProduct),
	},
	{
		Name: "rw-tl-lb", Doc: "rma-locks 4d: the same, latency", Y: "mean",
		Grid: manyWriters("lb", sameProduct),
	},
	{
		Name: "rw-tr", Doc: "rma-locks 4e: T_R, 0.2 % writers",
		Grid: grid{benches: []string{"ecsb"}, locks: onlyRMARW, pes: manyPEs, tr: []int{1000, 2000, 3000, 4000, 5000, 6000}},
	},
	{
		Name: "rw-tr-fw", Doc: "rma-locks 4f: T_R, 2 % and 5 % writers",
		Grid: grid{benches: []string{"ecsb"}, locks: onlyRMARW, pes: manyPEs, writers: []float64{0.02, 0.05}, tr: []int{1000, 3000, 5000}},
	},
	{
		Name: "rw-ecsb", Doc: "rma-locks 5: RMA-RW and foMPI-RW, 0.2 %, 2 % and 5 % writers",
		Grid: grid{benches: []string{"ecsb"}, locks: bothRW, pes: manyPEs, writers: []float64{0.002, 0.02, 0.05}},
	},
	{
		Name: "rw-fw", Doc: "rma-locks 5.2.4: the same by the part of writers", X: "fw",
		Grid: grid{benches: []string{"ecsb"}, locks: bothRW, pes: []int{256}, writers: []float64{0.002, 0.02, 0.05, 0.10, 0.20, 0.30, 0.50, 0.75, 1}},
	},
	{
		Name: "rw-seq", Doc: "none of the paper's: RMA-RW, and its writers at one counter after the other",
		Grid: grid{benches: []string{"ecsb"}, locks: []string{kinds.RMARW, rmaRWSeq}, pes: manyPEs, writers: []float64{0.002, 0.02, 0.25}},
	},
}

// manyWriters takes longer: the lock goes round all hosts a few times.
func manyWriters(bench string, tl [][]int) grid {
	return grid{
		benches: []string{bench}, locks: onlyRMARW, pes: manyPEs, writers: []float64{0.25}, tl: tl,
		rest: config{Time: 50 * time.Millisecond},
	}
}
