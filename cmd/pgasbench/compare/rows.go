package compare

// The table of goals. A row compares one point of ours with the best of some points of theirs; the
// goal is how many times faster (or smaller) ours has to be. Rows without a goal are there to be read.

import (
	"slices"
)

// rows is the table, in the order it is printed.
var rows = slices.Concat(rowsOfOperations, rowsOfCollectives(), rowsOfLocks(), rowsOfNotes(), rowsOfMPI(), rowsOfKernels(), rowsOfCoherentMemory())

// usual are the rows that are measured if none are asked for: the others take as long again.
const usual = "^(" + sameHost + "|" + crowded + "|" + twoHosts + "|" + wholeJobs + "): "

var rowsOfOperations = []row{
	{sameHost, "8 B put", point{"ours-2", "put", 8}, one("osh-2", "put", 8), 5, "5x", perOperation},
	{sameHost, "8 B put+quiet", point{"ours-2", "put-quiet", 8}, one("osh-2", "put-quiet", 8), 4, "4x", perOperation},
	{sameHost, "8 B get", point{"ours-2", "get", 8}, one("osh-2", "get", 8), 8, "8x", perOperation},
	{sameHost, "fetch-add", point{"ours-2", "fetch-add", 8}, one("osh-2", "fetch-add", 8), 4, "4x", perOperation},
	{sameHost, "compare-swap", point{"ours-2", "compare-swap", 8}, one("osh-2", "compare-swap", 8), 4, "4x", perOperation},
	{sameHost, "8 B non-blocking put rate", point{"ours-2", "rate", 8}, one("osh-2", "rate", 8), 4, "4x", perOperation},
	{sameHost, "put+flag ping-pong, one way", point{"ours-2", "flag-pingpong", 8}, one("osh-2", "flag-pingpong", 8), 1, noSlower, perOperation},
	{sameHost, "put+flag ping-pong, one way, against a cache line's trip", point{"ours-2", "flag-pingpong", 8}, one("floor", "cache-line", 8), 0, "", perOperation},
	{sameHost, "1 MiB put, against copy", point{"ours-2", "put", mebi}, one("ours-2", "copy", mebi), 1, noSlower, perOperation},
	{sameHost, "1 MiB put", point{"ours-2", "put", mebi}, one("osh-2", "put", mebi), 0, "", perOperation},
	{sameHost, "barrier, 2 PEs", point{"ours-2", "barrier", 0}, one("osh-2", "barrier", 0), 1 / 0.6, "at most 0.6 of theirs", perOperation},

	{crowded, "barrier, 4 PEs", point{"ours-4", "barrier", 0}, one("osh-4", "barrier", 0), 1, "ahead", perOperation},
	{crowded, "barrier, 8 PEs", point{"ours-8", "barrier", 0}, one("osh-8", "barrier", 0), 2, "2x", perOperation},
	{crowded, "barrier, 16 PEs", point{"ours-16", "barrier", 0}, one("osh-16", "barrier", 0), 3, "3x", perOperation},
	{crowded, "barrier, 16 PEs, against its own collectives", point{"ours-16", "barrier", 0}, one("osh-own-16", "barrier", 0), 0, "", perOperation},

	{twoHosts, "8 B put+quiet, against UCX", point{"ours-2-hosts", "put-quiet", 8}, one("ucp", "put-quiet", 8), 1 / 0.6, "at most 0.6 of theirs", perOperation},
	{twoHosts, "8 B put+quiet, against OSHMEM", point{"ours-2-hosts", "put-quiet", 8}, one("osh-2-hosts", "put-quiet", 8), 0, "", perOperation},
	{twoHosts, "8 B get, against the best", point{"ours-2-hosts", "get", 8}, []point{{"ucp", "get", 8}, {"osh-2-hosts", "get", 8}}, 1 / 1.05, "within 1.05", perOperation},
	{twoHosts, "fetch-add, against the best", point{"ours-2-hosts", "fetch-add", 8}, []point{{"ucp", "fetch-add", 8}, {"osh-2-hosts", "fetch-add", 8}}, 1 / 1.05, "within 1.05", perOperation},
	{twoHosts, "put-with-signal ping-pong, against OSHMEM put+flag", point{"ours-2-hosts", "signal-pingpong", 8}, one("osh-2-hosts", "flag-pingpong", 8), 2, "at most 0.5 of theirs", perOperation},
	{twoHosts, "put-with-signal ping-pong, against an active message's trip", point{"ours-2-hosts", "signal-pingpong", 8}, one("ucp", "am-pingpong", 8), 0, "", perOperation},
	{twoHosts, "1 MiB put stream, against UCX put", point{"ours-2-hosts", "bandwidth", mebi}, one("ucp", "bandwidth", mebi), 3 / 1.1, "3 GB/s where UCX has 1.1", perByte},
	{twoHosts, "1 MiB put stream, against UCX active messages", point{"ours-2-hosts", "bandwidth", mebi}, one("ucp", "am-stream", mebi), 0, "", perByte},
	{twoHosts, "1 MiB put stream, against raw TCP", point{"ours-2-hosts", "bandwidth", mebi}, one("floor-hosts", "hosts-stream", mebi), 0, "", perByte},
	{twoHosts, "8 B non-blocking put rate, against the best", point{"ours-2-hosts", "rate", 8}, []point{{"ucp", "rate", 8}, {"ucp", "am-stream", 8}, {"osh-2-hosts", "rate", 8}}, 10, "10x", perOperation},

	{wholeJobs, "hello of 16 PEs, start to end", point{suite: "ours-hello"}, []point{{suite: "osh-hello"}}, 1, "faster", wholeProcess},
	{wholeJobs, "memory of an idle PE of 4, its share", point{"ours-idle", "idle", 0}, one("osh-idle", "idle", 0), 1, "smaller", sharedKB},
	{wholeJobs, "memory of an idle PE of 4, resident", point{"ours-idle", "idle", 0}, one("osh-idle", "idle", 0), 1, "smaller", residentKB},
}
