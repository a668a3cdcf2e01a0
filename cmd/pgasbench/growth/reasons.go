package growth

// What may grow faster than the logarithm of the number of PEs, and why. What grows so and is not in this table is a
// finding: the command says so.

import "regexp"

// A reason explains why costs of operations grow along an axis, up to a power of P.
type reason struct {
	benches *regexp.Regexp
	axis    axis
	cost    cost
	power   float64
	because string
}

func because(benches string, a axis, c cost, power float64, text string) reason {
	return reason{regexp.MustCompile("^(" + benches + ")$"), a, c, power, text}
}

var reasons = []reason{
	because("barrier|broadcast|sum", againstPEs, ofTime, 1,
		"each PE has to run, so each of C CPUs is handed over P/C times; the floor also grows as P"),
	because("fcollect", againstPEs, ofTime, 2,
		"each PE has to run, as for the barrier, and receives a block of every other: P² blocks in all"),
	because("alltoall", againstPEs, ofTime, 2,
		"each PE has to run, as for the barrier, and has a block of its own for every other: P² blocks in all"),
	because("signal-pingpong", againstPEs, ofTime, 1,
		"the other PEs wait in a barrier, where they yield after each poll (64 times for each PE before they sleep): the one that is signalled runs when the CPUs have gone round them"),
	because(contended, againstPEs, ofTime, 1.5,
		"the next PE of the queue has no CPU: a turn is a hand-over, and the CPUs go round among all PEs; 4 PEs do not show this yet, since two PEs with CPUs pass the lock to each other; from 8 on the time grows as P"),
	because(contended, againstPEs, ofCPU, 1.5,
		"all CPUs are busy for the time of a turn, which grows so"),
	because("barrier|broadcast|sum|fcollect|alltoall", againstPEs, ofCPU, 1,
		"a PE has the C/P part of all CPUs for the time of the operation: its polls and yields, and a longer wait has more"),
	because("fcollect|alltoall", againstSimulated, ofTime, 1,
		"each PE receives P blocks, and its NIC takes a gap, or the time of their bytes, for each"),
	because("fcollect|alltoall", againstSimulated, ofWire, 1,
		"each PE receives P blocks: no algorithm sends fewer bytes"),
	because("alltoall|fcollect", againstSimulated, ofMemory, 1,
		"each PE has P blocks to send and P to receive, and what the simulator keeps of P messages under way"),
	because(contended, againstSimulated, ofMemory, 1,
		"the bench's own: each PE has a record of what each of P PEs got of the lock, and not the lock"),
	because("fcollect|alltoall", againstHosts, ofWire, 1,
		"each host receives a block of every other: no algorithm sends fewer bytes"),
	because("barrier|broadcast|sum", againstHosts, ofTime, 1.5,
		"the hosts are namespaces of one machine: in each of log P rounds each PE has to run, so each of C CPUs is handed over P/C times log P"),
	because("barrier|broadcast|sum", againstHosts, ofCPU, 1,
		"a PE has the C/P part of all CPUs for the time of the operation, which grows as P log P"),
	because("barrier|sum", againstHosts, ofWire, 0.5,
		"each host sends a message in each of log P rounds, with the frames that acknowledge it"),
	because("fcollect|alltoall", againstHosts, ofTime, 2,
		"the hosts are namespaces of one machine, whose CPUs send and receive P² blocks"),
	because(contended, againstHosts, ofTime, 1,
		"the hosts are namespaces of one machine: the next PE of the queue has no CPU, and a turn is a hand-over"),
	because(contended, againstHosts, ofCPU, 1,
		"all CPUs are busy for the time of a turn, which grows so"),
	because("fcollect|alltoall", againstHosts, ofCPU, 1,
		"a PE sends P blocks by TCP, and receives P"),
}

// scatter is how far a power may be above that of its reason.
const scatter = 0.3

// reasonFor returns why a cost grows as a power of P, and whether that explains it. Without a known reason it returns
// "".
func reasonFor(bench string, a axis, c cost, power float64) (why string, explains bool) {
	for _, r := range reasons {
		if r.axis == a && r.cost == c && r.benches.MatchString(bench) {
			return r.because, power <= r.power+scatter
		}
	}
	return "", false
}
