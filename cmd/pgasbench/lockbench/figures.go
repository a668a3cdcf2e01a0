package lockbench

// The figures of the papers, as settings of the command line: what a figure says, any flag overrides.

import (
	"slices"
	"time"

	"github.com/gopgas/gopgas/locks/kinds"
)

// A figure is a sweep, and how it is drawn.
type figure struct {
	name, doc string // doc begins with the figure's number in its paper
	sweep     sweep
	x, y      string // "" is the bench's
}

var figures = slices.Concat(rmaFigures, tableFigures, cascadeFigures, hashtableFigures)

func figureOf(name string) (figure, bool) {
	i := slices.IndexFunc(figures, func(f figure) bool { return f.name == name })
	if i < 0 {
		return figure{}, false
	}
	return figures[i], true
}

func figureNames() (names []string) {
	for _, f := range figures {
		names = append(names, f.name)
	}
	return names
}

var (
	mcsLocks    = []string{kinds.Spin, kinds.DMCS, kinds.RMAMCS}
	paperPEs    = []int{8, 16, 32, 64, 128, 256, 512, 1024}
	onlyRMARW   = []string{kinds.RMARW}
	bothRW      = []string{kinds.SpinRW, kinds.RMARW}
	atLeast16   = []int{16, 32, 64, 128, 256, 512, 1024}
	manyPEs     = []int{16, 64, 128, 256, 512, 1024}
	sameProduct = [][]int{{100, 10}, {40, 25}, {20, 50}} // of T_L, by level
)

// rmaFigures are those of rma-locks 5.1 and 5.2.
var rmaFigures = []figure{
	{name: "mcs-lb", doc: "rma-locks 3a: latency of RMA-MCS, D-MCS and foMPI-Spin", sweep: sweep{benches: []string{"lb"}, locks: mcsLocks, pes: paperPEs}},
	{name: "mcs-ecsb", doc: "rma-locks 3b: their throughput, empty section", sweep: sweep{benches: []string{"ecsb"}, locks: mcsLocks, pes: paperPEs}},
	{name: "mcs-sob", doc: "rma-locks 3c: the same, one access", sweep: sweep{benches: []string{"sob"}, locks: mcsLocks, pes: paperPEs}},
	{name: "mcs-wcsb", doc: "rma-locks 3d: the same, work inside", sweep: sweep{benches: []string{"wcsb"}, locks: mcsLocks, pes: paperPEs}},
	{name: "mcs-warb", doc: "rma-locks 3e: the same, work after each release", sweep: sweep{benches: []string{"warb"}, locks: mcsLocks, pes: paperPEs}},
	{
		name: "rw-tdc", doc: "rma-locks 4a: T_DC, a counter for 2 PEs to one for 4 hosts",
		sweep: sweep{benches: []string{"sob"}, locks: onlyRMARW, pes: manyPEs, tdc: []int{2, 4, 8, 16, 32, 64}},
	},
	{
		name: "rw-tw", doc: "rma-locks 4b: the product of T_L, 25 % writers",
		sweep: manyWriters("sob", [][]int{{10, 10}, {10, 50}, {20, 50}, {50, 50}}),
	},
	{
		name: "rw-tl", doc: "rma-locks 4c: T_L of the hosts, the product staying 1000, 25 % writers",
		sweep: manyWriters("sob", sameProduct),
	},
	{
		name: "rw-tl-lb", doc: "rma-locks 4d: the same, latency", y: "mean",
		sweep: manyWriters("lb", sameProduct),
	},
	{
		name: "rw-tr", doc: "rma-locks 4e: T_R, 0.2 % writers",
		sweep: sweep{benches: []string{"ecsb"}, locks: onlyRMARW, pes: manyPEs, tr: []int{1000, 2000, 3000, 4000, 5000, 6000}},
	},
	{
		name: "rw-tr-fw", doc: "rma-locks 4f: T_R, 2 % and 5 % writers",
		sweep: sweep{benches: []string{"ecsb"}, locks: onlyRMARW, pes: manyPEs, writers: []float64{0.02, 0.05}, tr: []int{1000, 3000, 5000}},
	},
	{
		name: "rw-ecsb", doc: "rma-locks 5: RMA-RW and foMPI-RW, 0.2 %, 2 % and 5 % writers",
		sweep: sweep{benches: []string{"ecsb"}, locks: bothRW, pes: manyPEs, writers: []float64{0.002, 0.02, 0.05}},
	},
	{
		name: "rw-fw", doc: "rma-locks 5.2.4: the same by the part of writers", x: "fw",
		sweep: sweep{benches: []string{"ecsb"}, locks: bothRW, pes: []int{256}, writers: []float64{0.002, 0.02, 0.05, 0.10, 0.20, 0.30, 0.50, 0.75, 1}},
	},
	{
		name: "rw-seq", doc: "none of the paper's: RMA-RW, and its writers at one counter after the other",
		sweep: sweep{benches: []string{"ecsb"}, locks: []string{kinds.RMARW, rmaRWSeq}, pes: manyPEs, writers: []float64{0.002, 0.02, 0.25}},
	},
}

// manyWriters takes longer: the lock goes round all hosts a few times.
func manyWriters(bench string, tl [][]int) sweep {
	return sweep{
		benches: []string{bench}, locks: onlyRMARW, pes: manyPEs, writers: []float64{0.25}, tl: tl,
		rest: config{Time: 50 * time.Millisecond},
	}
}
