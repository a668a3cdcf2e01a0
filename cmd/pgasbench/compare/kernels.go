package compare

// The kernels: programs that stand in samples/, and in C in tests/peers. Both take the same flags, do the
// same work, and check what they have computed; those on containers say what that is, and a row in which the two sides
// do not say the same is not judged.

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

type kernel struct {
	name    string // of its rows, and in its line of JSON
	program string
	flags   []string
	bytes   int // bytes as the line of JSON says
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

func (k kernel) suiteOf(side string, npes int) string {
	return fmt.Sprintf("%s-%s-%d", side, k.name, npes)
}

func (k kernel) suiteOfHosts(side string, hosts int) string { return k.suiteOf(side, hosts) + "-hosts" }

var kernelPEs = []int{2, 4, 16}

func suitesOfKernels() (all []suite) {
	for _, k := range kernels {
		for _, n := range kernelPEs {
			all = append(all,
				k.ours(k.suiteOf("ours", n), fmt.Sprintf("%d PEs", n), 0, pgasrun(n, k.command(k.flags)...)),
				k.theirs(k.suiteOf("osh", n), fmt.Sprintf("%d PEs", n), 0, oshmem(n, chosen, k.peer(k.flags)...)))
		}
		all = append(all,
			k.ours(k.suiteOfHosts("ours", 2), "2 hosts", 2, inSource(oursOnHosts(2, k.command(k.flagsOnHosts)...))),
			k.theirs(k.suiteOfHosts("osh", 2), "2 hosts", 2, inSource(oshmemOnHosts(2, k.peer(k.flagsOnHosts)...))))
	}
	return all
}

// inSource returns argv with the module's directory in place of what stands for it.
func inSource(argv func(t *tools) []string) func(t *tools) []string {
	return func(t *tools) []string {
		args := argv(t)
		for i, arg := range args {
			if arg == moduleSource {
				args[i] = filepath.Dir(filepath.Dir(t.peers))
			}
		}
		return args
	}
}

func (k kernel) ours(name, where string, hosts int, argv func(t *tools) []string) suite {
	return suite{name: name, says: k.name + " by pgas, " + where, needs: needs{samples: true, hosts: hosts}, argv: argv, plain: true, read: k.read}
}

func (k kernel) theirs(name, where string, hosts int, argv func(t *tools) []string) suite {
	return suite{name: name, says: k.name + " by OSHMEM, " + where, needs: needs{kernels: true, hosts: hosts}, argv: argv, plain: true}
}

// command is how the program of ours is called.
func (k kernel) command(flags []string) []string {
	return slices.Concat([]string{k.program, "-json"}, flags)
}

// peer is how the program in C is called.
func (k kernel) peer(flags []string) []string { return slices.Concat([]string{k.binary()}, flags) }

// rowsOfKernels returns the rows of the kernels. Their goal is to be no slower; that of bale's is more between hosts.
func rowsOfKernels() (all []row) {
	for _, k := range kernels {
		add := func(name, ours, theirs string, least float64) {
			all = append(all, row{programs, k.name + ", " + name, point{ours, k.name, k.bytes}, one(theirs, k.name, k.bytes), least, goalOf(least), perOperation})
		}
		for _, n := range kernelPEs {
			add(fmt.Sprintf("%d PEs", n), k.suiteOf("ours", n), k.suiteOf("osh", n), 1)
		}
		add("two hosts", k.suiteOfHosts("ours", 2), k.suiteOfHosts("osh", 2), k.onHosts)
	}
	return all
}

// kernelPrograms returns the programs of the kernels, each once.
func kernelPrograms() (names []string) {
	for _, k := range kernels {
		if !slices.Contains(names, k.program) {
			names = append(names, k.program)
		}
	}
	return names
}
