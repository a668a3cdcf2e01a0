package join

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
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
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
	Join(ctx context.Context, env Environment, set boot.Settings) (*boot.Job, error)
}

// Options are what a program links in that this package, which has no C, cannot have.
type Options struct {
	OpenPMIx func() (PMIxClient, error) // nil: no process of a PMIx launcher can join
}

// rendezvous lists the ways that an environment may offer, in the order in which they are tried.
func rendezvous(opts Options) []Rendezvous {
	return []Rendezvous{agentRendezvous{}, staticRendezvous{}, pmixRendezvous{opts.OpenPMIx}, pmi2Rendezvous{}, slurmRendezvous{}}
}

// Choice says which Rendezvous was taken and why.
type Choice struct {
	Name string
	Why  string // what offers it, or what has forced it
}

func (c Choice) String() string { return c.Name + " (" + c.Why + ")" }

// ChooseRendezvous returns the way by which a program that starts in env learns of its job, and why. It returns an
// error if env names a launcher that offers none of them, or PGAS_BOOT one that does not exist or that env does not
// offer.
func ChooseRendezvous(env Environment) (Choice, error) {
	_, choice, err := choose(env, rendezvous(Options{}))
	return choice, err
}

// choose returns the first of ways that env offers, or the one that env forces. The way of a job of one PE is taken if
// env shows no launcher.
func choose(env Environment, ways []Rendezvous) (Rendezvous, Choice, error) {
	if forced := env[boot.EnvBoot]; forced != "" && forced != boot.BootAuto {
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
	why := boot.EnvBoot + "=" + name
	if single := (singleRendezvous{}); name == single.Name() {
		return single, Choice{name, why}, nil
	}
	i := slices.IndexFunc(ways, func(way Rendezvous) bool { return way.Name() == name })
	if i < 0 {
		return nil, Choice{}, fmt.Errorf("%s: must be one of %s", why, strings.Join(boot.BootWays(), ", "))
	}
	by := ways[i].Offered(env)
	if by == "" {
		return nil, Choice{}, fmt.Errorf("%s, but the environment has nothing of it: start the program with %s, or unset %s", why, launcherOf[name], boot.EnvBoot)
	}
	return ways[i], Choice{name, why + ", " + by}, nil
}

// launcherOf says how a program is started for each value of PGAS_BOOT.
var launcherOf = map[string]string{
	"pgasrun": "`pgasrun -n 4`",
	"static":  boot.EnvPE + ", " + boot.EnvHosts + ", " + boot.EnvRendezvous + " and " + boot.EnvSecretFile + " in its environment (docs/use/clusters.md)",
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
		{"JOB_COMPLETION_INDEX", "an Indexed Job of Kubernetes", "nothing names its pods: run the program by `pgasrun static`, as `pgasrun k8s` prints it"},
	} {
		if env[sign.variable] != "" {
			return fmt.Errorf("%s has started this process (%s=%s), but %s; %s=single makes it a job of one PE", sign.launcher, sign.variable, env[sign.variable], sign.remedy, boot.EnvBoot)
		}
	}
	if rank := env["SLURM_PROCID"]; rank != "" && rank != "0" { // of a batch script and of salloc's shell it is 0
		return fmt.Errorf("srun has started this process (SLURM_PROCID=%s), but SLURM_STEP_ID=%s names no step of tasks: pass on srun's variables; %s=single makes it a job of one PE", rank, env["SLURM_STEP_ID"], boot.EnvBoot)
	}
	if env[boot.EnvHost] != "" {
		return fmt.Errorf("%s=%s says which host this is, but nothing which PE this process is: start it with `pgasrun static`, which starts all PEs of the host", boot.EnvHost, env[boot.EnvHost])
	}
	if env[boot.EnvHosts] != "" {
		return fmt.Errorf("%s=%s, but nothing says which PE this process is: set %s, or start all PEs of the host by `pgasrun static` with %s", boot.EnvHosts, env[boot.EnvHosts], boot.EnvPE, boot.EnvHost)
	}
	if env[boot.EnvRendezvous] != "" {
		return fmt.Errorf("%s=%s, but neither %s nor srun says which PE this process is: a static start needs %s, %s and %s, too", boot.EnvRendezvous, env[boot.EnvRendezvous], boot.EnvPE, boot.EnvPE, boot.EnvHosts, boot.EnvSecretFile)
	}
	return nil
}

// FromEnv makes the job of this process by the way that its environment offers. Without any, it is a job of one PE with
// a segment of its own, and Launched is false. FromEnv waits until all processes of the job have come, unless pgasrun
// has started them. It returns an error if a variable is unknown or malformed, the variables contradict each other, the
// launcher is recognized but cannot be used, a process of the job does not come in time, or ctx ends. The error names
// the way and why it was taken.
func FromEnv(ctx context.Context, opts Options) (*boot.Job, error) {
	job, err := fromEnv(ctx, opts)
	if its, own := os.Getenv(boot.EnvLauncherVersion), version.Current(); err != nil && its != "" && its != own {
		err = fmt.Errorf("%w (pgasrun is %s, and this program is built with %s of gopgas)", err, its, own)
	}
	return job, err
}

func fromEnv(ctx context.Context, opts Options) (*boot.Job, error) {
	set, err := boot.ParseSettings(os.Environ())
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

// agentRendezvous is that of pgasrun: its agent has handed everything down.
type agentRendezvous struct{}

func (agentRendezvous) Name() string                   { return "pgasrun" }
func (agentRendezvous) Offered(env Environment) string { return env.shown(boot.EnvJobID) }

func (agentRendezvous) Join(_ context.Context, env Environment, set boot.Settings) (*boot.Job, error) {
	return launched(env, set)
}

// singleRendezvous is the way of a program that no launcher has started.
type singleRendezvous struct{}

func (singleRendezvous) Name() string               { return "single" }
func (singleRendezvous) Offered(Environment) string { return "" }

func (singleRendezvous) Join(_ context.Context, _ Environment, set boot.Settings) (*boot.Job, error) {
	return singleton(set)
}

// singleton makes a job of one PE, with a segment of its own.
func singleton(set boot.Settings) (*boot.Job, error) {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	heap, room := boot.UserHeap(set.HeapMax, set.Race, 1), boot.Room()
	if set.HeapMax == 0 {
		heap = boot.DefaultHeapMax(1, boot.HostMemory(), room)
	}
	if err := boot.CheckHeap(1, heap, room); err != nil {
		return nil, err
	}
	f, err := boot.CreateSegment(1, 0, 1, boot.HostCores(), heap)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	seg, err := boot.MapSegment(f)
	if err != nil {
		return nil, err
	}
	return &boot.Job{ID: "singleton", NPEs: 1, Hosts: []boot.Host{{Name: name, PEs: 1}}, Segment: seg, Settings: set}, nil
}

// limitGoMemory sets the soft limit of Go's memory to this PE's share of what control groups leave, unless GOMEMLIMIT
// or the program has set one. So Go collects its garbage before the kernel kills the PE.
func limitGoMemory(local int) {
	if share := boot.GoMemoryShare(local); share > 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(share)
	}
}
