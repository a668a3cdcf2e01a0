package compare

// The kernels: programs that stand in samples/, and in C in tests/peers. Both take the same flags, do the
// same work, and check what they have computed; those on containers say what that is, and a row in which the two sides
// do not say the same is not judged.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

type kernel struct {
	name    string // the name in rows, and in the line of JSON
	program string
	flags   []string
	bytes   int // the bytes that the line of JSON says
	// Between hosts the peer takes a thousand times as long for an atomic.
	flagsOnHosts []string
	onHosts      float64                                    // how many times faster ours has to be between hosts
	read         func(text []byte) ([]result.Result, error) // what ours prints; nil: result.Read
}

var kernels = []kernel{
	squareKernel("transpose"),
	squareKernel("stencil"),
	{name: "gups", program: "gups", flags: []string{"-log", "22"}, bytes: 8, flagsOnHosts: []string{"-log", "18", "-updates", "200000"}, onHosts: 1},
	baleKernel("histogram", 8, "-ops", "20000"),
	baleKernel("gather", 8, "-ops", "20000"),
	baleKernel("permutation", 4, "-log", "14"),
	baleKernel("sparse", 8, "-log", "12"),
	baleKernel("triangles", 40, "-log", "12"),
	// The same of programs on containers.
	{name: "wordcount", program: "wordcount", bytes: 24, flagsOnHosts: []string{"-input", moduleSource}, onHosts: aggregated, read: readWordcount},
	{name: "kmer", program: "kmer", flags: []string{"-bases", "2000000", "-capacity", "524288"}, bytes: 16,
		flagsOnHosts: []string{"-bases", "100000", "-capacity", "65536"}, onHosts: aggregated},
	{name: "pagerank", program: "pagerank", flags: []string{"-vertices", "65536"}, bytes: 8,
		flagsOnHosts: []string{"-vertices", "8192"}, onHosts: aggregated},
}

// moduleSource stands for the top directory of the module.
const moduleSource = "{source}"

// aggregated is how many times faster ours has to be between hosts if it gathers small accesses into large messages.
const aggregated = 5

const kernelOrder = 2048

func squareKernel(name string) kernel {
	flags := []string{"-order", strconv.Itoa(kernelOrder), "-iterations", "20"}
	return kernel{name: name, program: name, flags: flags, bytes: 2 * 8 * kernelOrder * kernelOrder, flagsOnHosts: flags, onHosts: 1}
}

// baleKernel is a kernel of bale: small accesses anywhere, which ours gathers into large messages between hosts.
func baleKernel(name string, bytes int, flagsOnHosts ...string) kernel {
	flags := []string{"-kernel", name}
	return kernel{name: name, program: "bale", flags: flags, bytes: bytes, flagsOnHosts: slices.Concat(flags, flagsOnHosts), onHosts: aggregated}
}

// readWordcount reads the line of samples/wordcount, which has one of its own.
func readWordcount(text []byte) ([]result.Result, error) {
	var r struct {
		PEs                   int
		Identifiers, Distinct int64
		Digest                string
		Seconds               float64
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("wordcount printed no result: %w", err)
	}
	computed := fmt.Sprintf("%d identifiers, %d different, digest %s", r.Identifiers, r.Distinct, r.Digest)
	return []result.Result{{Bench: "wordcount", Bytes: 24, PEs: r.PEs, P50ns: r.Seconds * 1e9 / float64(max(r.Identifiers, 1)), Computed: computed}}, nil
}

// binary returns the name of the program that the kernel in C is built to.
func (k kernel) binary() string { return "osh-" + k.program }

var kernelPEs = []int{2, 4, 16}

// command is how the program of ours is called.
func (k kernel) command(flags []string) []string {
	return slices.Concat([]string{k.program, "-json"}, flags)
}

// peer is how the program in C is called.
func (k kernel) peer(flags []string) []string { return slices.Concat([]string{k.binary()}, flags) }

// kernelPrograms returns the programs of the kernels, each once.
func kernelPrograms() (names []string) {
	for _, k := range kernels {
		if !slices.Contains(names, k.program) {
			names = append(names, k.program)
		}
	}
	return names
}
