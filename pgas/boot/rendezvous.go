package boot

// How the processes of a job learn of each other. Each launcher offers a way of its own by variables of the
// environment; a Rendezvous is one of them. They are tried in the order of the table below, and the first that the
// environment offers is taken. PGAS_BOOT forces one.
//
//	pgasrun   everything comes from pgasrun's agent (handoff.go)
//	static    the user says everything in variables (rendezvous_static.go)
//	pmix      libpmix, which mpirun, prun and `srun --mpi=pmix` serve (rendezvous_pmix.go)
//	pmi2      the protocol of `srun --mpi=pmi2` (rendezvous_pmi2.go)
//	slurm     the variables of srun alone (rendezvous_slurm.go)
//	single    a job of one PE, without a launcher
//
// All but the first and the last only carry a ticket from rank 0 to the others: where its exchange is, and the secret.
// What follows is the same for them: assemble.go.
//
// A launcher that is recognized but cannot be used is an error. Otherwise each of its processes would be a job of one
// PE, with exit status 0 and a wrong result.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/version"
)

// A Rendezvous is one way in which the processes of a job learn of each other.
type Rendezvous interface {
	// Name returns the value of PGAS_BOOT that forces it.
	Name() string
	// Offered returns the variables by which the environment offers it, or "".
	Offered(env Environment) string
	// Join makes the job of this process. It waits for the other processes of the job if it must. It returns an error
	// if what the launcher offers cannot be used, a process does not come within PGAS_BOOT_TIMEOUT, or ctx ends.
	Join(ctx context.Context, env Environment, set Settings) (*Job, error)
}

// PMIxClient is this process as a client of a PMIx server. Package pmix has one.
type PMIxClient interface {
	// Place returns the rank of this process, the number of processes, and the name of this host.
	Place() (rank, size int, host string)
	// Share returns the text of rank 0 on every process. It is collective. It returns the server's error.
	Share(text string) (string, error)
	// Close takes leave of the server.
	Close()
}

// Options are what a program links in that this package, which has no C, cannot have.
type Options struct {
	OpenPMIx func() (PMIxClient, error) // nil: no process of a PMIx launcher can join
}

// rendezvous lists the ways that an environment may offer, in the order in which they are tried.
func rendezvous(opts Options) []Rendezvous {
	return []Rendezvous{agentRendezvous{}, staticRendezvous{}, pmixRendezvous{opts.OpenPMIx}, pmi2Rendezvous{}, slurmRendezvous{}}
}

// Environment holds the variables of a process by their names.
type Environment map[string]string

// NewEnvironment returns the variables in environ, which is as os.Environ returns it.
func NewEnvironment(environ []string) Environment {
	env := Environment{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env[name] = value
		}
	}
	return env
}

// shown returns those of the named variables that are set, with their values: "A=1 B=2".
func (e Environment) shown(names ...string) string {
	var set []string
	for _, name := range names {
		if e[name] != "" {
			set = append(set, name+"="+e[name])
		}
	}
	return strings.Join(set, " ")
}

// Choice says which Rendezvous was taken and why.
type Choice struct {
	Name string
	Why  string // what offers it, or what has forced it
}

func (c Choice) String() string { return c.Name + " (" + c.Why + ")" }

// ChooseRendezvous returns the way by which a program that starts in env learns of its job, and why. It returns an error
// if env names a launcher that offers none of them, or PGAS_BOOT one that does not exist or that env does not offer.
func ChooseRendezvous(env Environment) (Choice, error) {
	_, choice, err := choose(env, rendezvous(Options{}))
	return choice, err
}

// choose returns the first of ways that env offers, or the one that env forces. The way of a job of one PE is taken if
// env shows no launcher.
func choose(env Environment, ways []Rendezvous) (Rendezvous, Choice, error) {
	if forced := env[envBoot]; forced != "" && forced != bootAuto {
		return force(env, ways, forced)
	}
	for _, way := range ways {
		if by := way.Offered(env); by != "" {
			return way, Choice{way.Name(), by}, nil
		}
	}
	if err := unusable(env); err != nil {
		return nil, Choice{}, err
	}
	single := singleRendezvous{}
	return single, Choice{single.Name(), "no launcher is in the environment"}, nil
}

// force returns the way that PGAS_BOOT names.
func force(env Environment, ways []Rendezvous, name string) (Rendezvous, Choice, error) {
	why := envBoot + "=" + name
	if single := (singleRendezvous{}); name == single.Name() {
		return single, Choice{name, why}, nil
	}
	i := slices.IndexFunc(ways, func(way Rendezvous) bool { return way.Name() == name })
	if i < 0 {
		return nil, Choice{}, fmt.Errorf("%s: must be one of %s", why, strings.Join(BootWays(), ", "))
	}
	by := ways[i].Offered(env)
	if by == "" {
		return nil, Choice{}, fmt.Errorf("%s, but the environment has nothing of it: start the program with %s, or unset %s", why, launcherOf[name], envBoot)
	}
	return ways[i], Choice{name, why + ", " + by}, nil
}

// launcherOf says how a program is started for each value of PGAS_BOOT.
var launcherOf = map[string]string{
	"pgasrun": "`pgasrun -n 4`",
	"static":  envPE + ", " + envHosts + ", " + envRendezvous + " and " + envSecretFile + " in its environment (docs/use/clusters.md)",
	"pmix":    "`mpirun -n 4`, `prun -n 4` or `srun -n 4 --mpi=pmix`",
	"pmi2":    "`srun -n 4 --mpi=pmi2`",
	"slurm":   "`srun -n 4 --mpi=none`",
}

const noPMI2 = "it passes on no PMI_FD: use a launcher with PMI-2 or PMIx, such as `srun --mpi=pmi2`, or pgasrun -hosts"

// unusable returns an error if env shows a launcher that starts several processes and offers none of the ways.
func unusable(env Environment) error {
	for _, sign := range []struct{ variable, launcher, remedy string }{
		{"OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI", "it passes on no PMIX_SERVER_URI: use Open MPI 4 or newer, or pgasrun -hosts"},
		{"OMPI_COMM_WORLD_RANK", "mpirun of Open MPI", "it passes on no PMIX_SERVER_URI: use Open MPI 4 or newer, or pgasrun -hosts"},
		{"PMIX_RANK", "a PMIx launcher", "it passes on no PMIX_SERVER_URI: use a launcher with PMIx 3 or newer, or pgasrun -hosts"},
		{"PMIX_NAMESPACE", "a PMIx launcher", "it passes on no PMIX_RANK: use a launcher with PMIx 3 or newer, or pgasrun -hosts"},
		{"PMI_RANK", "a PMI launcher", noPMI2},
		{"PMI_SIZE", "a PMI launcher", noPMI2},
		{"PMI_PORT", "a PMI launcher", noPMI2},
		{"MPI_LOCALNRANKS", "mpiexec of MPICH or Intel MPI", noPMI2},
		{"MV2_COMM_WORLD_SIZE", "mpirun_rsh of MVAPICH", "it has no PMI that this program knows: use its mpiexec, or pgasrun -hosts"},
		{"ALPS_APP_PE", "aprun", "it has no PMI that this program knows: use pgasrun -hosts"},
		{"PALS_RANKID", "mpiexec of PALS", "it has no PMI that this program knows: use pgasrun -hosts"},
		{"FLUX_TASK_RANK", "Flux", "it passes on no PMI_FD: use `flux run -o pmi=pmix`, or pgasrun -hosts"},
		{"JSM_NAMESPACE_SIZE", "jsrun", "it passes on no PMIX_SERVER_URI: use pgasrun -hosts"},
		{"LSF_PM_TASKID", "blaunch of LSF", "it says nothing of the other processes: use pgasrun -hosts with `-launch 'blaunch {host}'`"},
		{"JOB_COMPLETION_INDEX", "an Indexed Job of Kubernetes", "nothing names its pods: run the program by `pgasrun -static`, as `pgasrun -k8s -dry-run` prints it"},
	} {
		if env[sign.variable] != "" {
			return fmt.Errorf("%s has started this process (%s=%s), but %s; %s=single makes it a job of one PE", sign.launcher, sign.variable, env[sign.variable], sign.remedy, envBoot)
		}
	}
	if rank := env["SLURM_PROCID"]; rank != "" && rank != "0" { // of a batch script and of salloc's shell it is 0
		return fmt.Errorf("srun has started this process (SLURM_PROCID=%s), but SLURM_STEP_ID=%s names no step of tasks: pass on srun's variables; %s=single makes it a job of one PE", rank, env["SLURM_STEP_ID"], envBoot)
	}
	if env[envHost] != "" {
		return fmt.Errorf("%s=%s says which host this is, but nothing which PE this process is: start it with `pgasrun -static`, which starts all PEs of the host", envHost, env[envHost])
	}
	if env[envHosts] != "" {
		return fmt.Errorf("%s=%s, but nothing says which PE this process is: set %s, or start all PEs of the host by `pgasrun -static` with %s", envHosts, env[envHosts], envPE, envHost)
	}
	if env[envRendezvous] != "" {
		return fmt.Errorf("%s=%s, but neither %s nor srun says which PE this process is: a static start needs %s, %s and %s, too", envRendezvous, env[envRendezvous], envPE, envPE, envHosts, envSecretFile)
	}
	return nil
}

// FromEnv makes the job of this process by the way that its environment offers. Without any, it is a job of one PE with a
// segment of its own, and Launched is false. FromEnv waits until all processes of the job have come, unless pgasrun has
// started them. It returns an error if a variable is unknown or malformed, the variables contradict each other, the
// launcher is recognized but cannot be used, a process of the job does not come in time, or ctx ends. The error names
// the way and why it was taken.
func FromEnv(ctx context.Context, opts Options) (*Job, error) {
	job, err := fromEnv(ctx, opts)
	if its, own := os.Getenv(envLauncherVersion), version.Current(); err != nil && its != "" && its != own {
		err = fmt.Errorf("%w (pgasrun is %s, and this program is built with %s of gopgas)", err, its, own)
	}
	return job, err
}

func fromEnv(ctx context.Context, opts Options) (*Job, error) {
	set, err := ParseSettings(os.Environ())
	if err != nil {
		return nil, err
	}
	env := NewEnvironment(os.Environ())
	way, choice, err := choose(env, rendezvous(opts))
	if err != nil {
		return nil, err
	}
	job, err := way.Join(ctx, env, set)
	if err == nil {
		limitGoMemory(job.Host().PEs)
	}
	if err != nil && choice.Name != "pgasrun" && choice.Name != "single" {
		err = fmt.Errorf("joining by %v: %w", choice, err)
	}
	return job, err
}

// bootTimeout returns how long the processes of a job wait for each other.
func bootTimeout(set Settings) time.Duration { return cmp.Or(set.BootTimeout, DefaultBootTimeout) }

// agentRendezvous is that of pgasrun: its agent has handed everything down.
type agentRendezvous struct{}

func (agentRendezvous) Name() string                   { return "pgasrun" }
func (agentRendezvous) Offered(env Environment) string { return env.shown(envJobID) }

func (agentRendezvous) Join(_ context.Context, env Environment, set Settings) (*Job, error) {
	return launched(env, set)
}

// singleRendezvous is the way of a program that no launcher has started.
type singleRendezvous struct{}

func (singleRendezvous) Name() string               { return "single" }
func (singleRendezvous) Offered(Environment) string { return "" }

func (singleRendezvous) Join(_ context.Context, _ Environment, set Settings) (*Job, error) {
	return singleton(set)
}

// singleton makes a job of one PE, with a segment of its own.
func singleton(set Settings) (*Job, error) {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	heap, room := RoundHeap(set.HeapMax), Room()
	if set.HeapMax == 0 {
		heap = DefaultHeapMax(1, HostMemory(), room)
	}
	if err := CheckHeap(1, heap, room); err != nil {
		return nil, err
	}
	f, err := CreateSegment(1, 0, 1, HostCores(), heap)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	seg, err := MapSegment(f)
	if err != nil {
		return nil, err
	}
	return &Job{ID: "singleton", NPEs: 1, Hosts: []Host{{Name: name, PEs: 1}}, Segment: seg, Settings: set}, nil
}

// limitGoMemory sets the soft limit of Go's memory to this PE's share of what control groups leave, unless GOMEMLIMIT
// or the program has set one. So Go collects its garbage before the kernel kills the PE.
func limitGoMemory(local int) {
	if share := GoMemoryShare(local); share > 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(share)
	}
}
