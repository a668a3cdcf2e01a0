package join

// Slurm without PMI: srun's variables say which task this is and where the others are. Task 0 serves the exchange on
// its node, the first of the step as a rule, at one of a few ports that follow from the step's number. The secret comes
// from munge, which authenticates users between the nodes of a cluster (munge.go), or else from a file that the user
// has made.
//
// Of a batch script, and of the shell that salloc starts, Slurm says SLURM_PROCID=0, too. They are one process each, so
// only a step that srun has started counts.

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

type slurmRendezvous struct{}

func (slurmRendezvous) Name() string { return "slurm" }

func (slurmRendezvous) Offered(env Environment) string {
	if env["SLURM_PROCID"] == "" || !isTaskStep(env["SLURM_STEP_ID"]) {
		return ""
	}
	return env.shown("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID")
}

// firstSpecialStep is the least of the numbers that Slurm gives to steps which srun has not started for tasks: the
// batch script, the shell of salloc and the like.
const firstSpecialStep = 0xfffffff0

func isTaskStep(id string) bool {
	n, err := strconv.ParseUint(id, 10, 32)
	return err == nil && n < firstSpecialStep
}

func (slurmRendezvous) Join(ctx context.Context, env Environment, set boot.Settings) (*boot.Job, error) {
	m, err := slurmMeeting(ctx, env, set)
	if err != nil {
		return nil, err
	}
	return assemble(ctx, m, set)
}

func slurmMeeting(ctx context.Context, env Environment, set boot.Settings) (*meeting, error) {
	m := &meeting{host: nodeName(env), child: true}
	var err error
	if m.rank, err = strconv.Atoi(env["SLURM_PROCID"]); err != nil {
		return nil, fmt.Errorf("SLURM_PROCID=%s is not a number: start the program with srun", env["SLURM_PROCID"])
	}
	tasks := env["SLURM_STEP_NUM_TASKS"]
	if tasks == "" {
		tasks = env["SLURM_NTASKS"]
	}
	if m.size, err = strconv.Atoi(tasks); err != nil {
		return nil, fmt.Errorf("SLURM_STEP_NUM_TASKS=%s is not a number: start the program with srun", tasks)
	}
	nodes, err := ExpandNodes(env["SLURM_STEP_NODELIST"])
	if err != nil {
		return nil, fmt.Errorf("SLURM_STEP_NODELIST=%s: %w", env["SLURM_STEP_NODELIST"], err)
	}
	m.told = tasksOfNodes(nodes, env["SLURM_STEP_TASKS_PER_NODE"], env["SLURM_DISTRIBUTION"])
	step := env["SLURM_JOB_ID"] + "." + env["SLURM_STEP_ID"] + "." + env["SLURM_RESTART_COUNT"]
	addrs := []string{env[boot.EnvRendezvous]}
	if addrs[0] == "" {
		if addrs, err = slurmAddrs(ctx, nodesOfFirst(nodes, env), m, step, set); err != nil {
			return nil, err
		}
	}
	if env[boot.EnvSecretFile] != "" {
		key, err := readSecretFile(env[boot.EnvSecretFile])
		if err != nil {
			return nil, err
		}
		return m, m.fixed(key, "slurm "+step, addrs)
	}
	door := &mungeDoor{step: step, size: m.size, addrs: addrs, munge: munge{socket: env[boot.EnvMungeSocket]}}
	if err := door.munge.try(ctx); err != nil {
		return nil, err
	}
	m.listen, m.share = env.listen, door.share
	return m, nil
}

// The ports of task 0: slurmPorts of them, below those that the kernel gives to outgoing connections.
const (
	slurmPorts     = 8
	firstSlurmPort = 20000
	lastSlurmPort  = 32000
)

// nodesOfFirst returns the nodes on which task 0 may be: the first one, but an arbitrary distribution may begin with
// any, and the file that says with which need not be on every node.
func nodesOfFirst(nodes []string, env Environment) []string {
	if strings.HasPrefix(env["SLURM_DISTRIBUTION"], "arbitrary") {
		return nodes
	}
	return nodes[:1]
}

// slurmAddrs returns the addresses at which task 0 of the step may be: each port at each address of the nodes.
func slurmAddrs(ctx context.Context, nodes []string, m *meeting, step string, set boot.Settings) ([]string, error) {
	hosts := []string{""} // task 0 listens, at every one
	if m.rank != 0 {
		hosts = nil
		for _, node := range nodes {
			addrs, err := resolveNode(ctx, node, set)
			if err != nil {
				return nil, err
			}
			hosts = append(hosts, addrs...)
		}
	}
	hash := fnv.New32a()
	hash.Write([]byte(step))
	at := int(hash.Sum32() % (lastSlurmPort - firstSlurmPort))
	var addrs []string
	for i := range slurmPorts {
		port := strconv.Itoa(firstSlurmPort + (at+i)%(lastSlurmPort-firstSlurmPort))
		for _, h := range hosts {
			addrs = append(addrs, net.JoinHostPort(h, port))
		}
	}
	return addrs, nil
}

// lookupTime is how long the resolver may take before Slurm is asked.
const lookupTime = 5 * time.Second

// resolveNode returns the addresses of a node: those that the resolver knows, or those that Slurm itself uses.
func resolveNode(ctx context.Context, node string, set boot.Settings) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, bootTimeout(set))
	defer cancel()
	lookup, cancelLookup := context.WithTimeout(ctx, lookupTime)
	defer cancelLookup()
	found, err := net.DefaultResolver.LookupHost(lookup, node)
	if err == nil && len(found) > 0 {
		return found, nil
	}
	out, scontrolErr := exec.CommandContext(ctx, "scontrol", "--oneliner", "show", "node", node).Output()
	if scontrolErr == nil {
		for _, field := range strings.Fields(string(out)) {
			if addr, ok := strings.CutPrefix(field, "NodeAddr="); ok && addr != node {
				return []string{addr}, nil
			}
		}
	}
	return nil, fmt.Errorf("node %s of the step, on which task 0 may be, has no address (%v): set %s=address:port of that of task 0 for all tasks", node, err, boot.EnvRendezvous)
}

// tasksOfNodes returns the node of each task, if tasks fill one node after the other; else nil.
func tasksOfNodes(nodes []string, perNode, distribution string) []string {
	counts, err := ExpandCounts(perNode)
	if err != nil || len(counts) != len(nodes) {
		return nil
	}
	for _, other := range []string{"cyclic", "plane", "arbitrary"} {
		if strings.HasPrefix(distribution, other) && slices.Max(counts) > 1 {
			return nil
		}
	}
	var told []string
	for i, n := range counts {
		for range n {
			told = append(told, nodes[i])
		}
	}
	return told
}
