package clusters

// A Slurm cluster of two nodes: munged, slurmctld and a slurmd on each host, all of which run as root with files of
// their own. The nodes have names, and nothing resolves them, as on a cluster whose compute nodes have no DNS.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// slurm is the cluster, started by the first test that needs it.
var slurm struct {
	once    sync.Once
	err     error
	conf    string
	munge   string // its socket
	job     string // an allocation of both nodes, for steps
	daemons []*exec.Cmd
}

const slurmConf = `ClusterName=test
SlurmctldHost=localhost(%[2]s)
SlurmctldPort=7817
SlurmdPort=7818
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool.%%n
SlurmdPidFile=%[1]s/slurmd.%%n.pid
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/slurmd.%%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
KillWait=15
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
NodeName=usr0 NodeAddr=%[2]s CPUs=16 State=UNKNOWN
NodeName=usr1 NodeAddr=%[3]s CPUs=16 State=UNKNOWN
PartitionName=main Nodes=usr0,usr1 Default=YES OverSubscribe=YES:64 MaxTime=INFINITE State=UP
`

// needSlurm returns when the cluster runs, or skips the test.
func needSlurm(t testing.TB) {
	t.Helper()
	needHosts(t, "slurmctld", "slurmd", "srun", "munged")
	slurm.once.Do(func() { slurm.err = startSlurm() })
	if slurm.err != nil {
		t.Fatal(slurm.err)
	}
}

func startSlurm() error {
	slurm.conf, slurm.munge = filepath.Join(dir, "slurm.conf"), filepath.Join(dir, "munge.socket")
	key := filepath.Join(dir, "munge.key")
	conf := fmt.Sprintf(slurmConf, dir, hosts.Addresses[0], hosts.Addresses[1])
	for name, content := range map[string]string{
		slurm.conf: conf, key: strings.Repeat("a key of tests only. ", 8),
		filepath.Join(dir, "mpi.conf"): "PMIxCliTmpDirBase=" + dir + "/pmix\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return err
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"state", "spool.usr0", "spool.usr1", "pmix", "pmix.usr0", "pmix.usr1"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	if err := startDaemons(key); err != nil {
		return err
	}
	return allocate()
}

// daemon starts a daemon of the cluster. It ends with this process.
func daemon(cmd *exec.Cmd, name string) error {
	log, err := os.Create(filepath.Join(dir, name+".out"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "SLURM_CONF="+slurm.conf)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	slurm.daemons = append(slurm.daemons, cmd)
	return cmd.Start()
}

func startDaemons(key string) error {
	ctx := context.Background()
	file := func(name string) string { return filepath.Join(dir, name) }
	err := daemon(exec.CommandContext(ctx, "munged", "-F", "--force", "--key-file="+key, "--socket="+slurm.munge,
		"--pid-file="+file("munged.pid"), "--log-file="+file("munged.log"), "--seed-file="+file("munged.seed")), "munged")
	if err != nil {
		return err
	}
	if err := await(func() bool { _, err := os.Stat(slurm.munge); return err == nil }); err != nil {
		return fmt.Errorf("munged has not started: %w", err)
	}
	if err := daemon(onHost(ctx, 0, "slurmctld", "-D", "-f", slurm.conf), "slurmctld"); err != nil {
		return err
	}
	for i, node := range []string{"usr0", "usr1"} {
		// Two slurmd of one machine must not share a directory for PMIx, nor a name.
		script := fmt.Sprintf("hostname %[1]s; mount --make-rprivate /; mount --bind %[2]s/pmix.%[1]s %[2]s/pmix; exec slurmd -D -N %[1]s -f %[3]s", node, dir, slurm.conf)
		if err := daemon(onHost(ctx, i, "unshare", "-u", "-m", "sh", "-c", script), "slurmd."+node); err != nil {
			return err
		}
	}
	return nil
}

// allocate waits until both nodes are up, and takes them for the steps of the tests.
func allocate() error {
	err := await(func() bool {
		out, _ := slurmCommand(context.Background(), "sinfo", "-h", "-o", "%t %D").Output()
		return strings.TrimSpace(string(out)) == "idle 2"
	})
	if err != nil {
		return fmt.Errorf("the nodes have not come up: %w: see %s", err, dir)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := slurmCommand(ctx, "salloc", "-N2", "--ntasks-per-node=8", "-s", "--no-shell").CombinedOutput()
	const granted = "Granted job allocation "
	_, rest, ok := strings.Cut(string(out), granted)
	if !ok || err != nil {
		return fmt.Errorf("salloc: %w: %s", err, out)
	}
	slurm.job, _, _ = strings.Cut(rest, "\n")
	return nil
}

// await polls until something is so. It gives up when that hangs.
func await(so func() bool) error {
	ctx, cancel := hang.Context(context.Background())
	defer cancel()
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if so() {
			return nil
		}
	}
	return context.Cause(ctx)
}

// stopSlurm ends the jobs and daemons.
func stopSlurm() {
	if slurm.job != "" {
		slurmCommand(context.Background(), "scancel", "-f", slurm.job).Run()
		await(func() bool {
			out, err := slurmCommand(context.Background(), "squeue", "-h").Output()
			return err != nil || len(strings.TrimSpace(string(out))) == 0
		})
	}
	for i := len(slurm.daemons) - 1; i >= 0; i-- {
		d := slurm.daemons[i]
		if d.Process != nil {
			syscall.Kill(-d.Process.Pid, syscall.SIGTERM)
			d.Wait()
		}
	}
}

// slurmCommand returns a command of Slurm, which runs on the first host.
func slurmCommand(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := onHost(ctx, 0, argv...)
	cmd.Env = append(cmd.Env, "SLURM_CONF="+slurm.conf, "PGAS_MUNGE_SOCKET="+slurm.munge)
	return cmd
}

// srun returns a command that runs a step of the allocation. mpi is a plugin of srun.
func srun(ctx context.Context, mpi string, args ...string) *exec.Cmd {
	return slurmCommand(ctx, append([]string{"srun", "--jobid=" + slurm.job, "--overlap", "--mpi=" + mpi}, args...)...)
}

var plugins = []string{"none", "pmi2", "pmix"}

// slurmStep is srun, with a plugin for PMI. A step of a job of its own, so that it can be cancelled.
func slurmStep(mpi string) *launcher {
	return &launcher{
		name: "srun " + mpi,
		need: needSlurm,
		start: func(t *testing.T, job string, argv ...string) []*exec.Cmd {
			options := []string{"srun", "-N2", "--ntasks-per-node=2", "-s", "-Q", "--mpi=" + mpi, "-J", job}
			return []*exec.Cmd{slurmCommand(hangContext(t), append(options, argv...)...)}
		},
		cancel: scancel,
		daemon: "slurmstepd",
		// srun 22.05 waits for a slurmstepd that was killed, for ever
		release: func(t *testing.T, job string) { scancel(t, job, nil) },
	}
}

// scancel cancels a job by its name.
func scancel(t *testing.T, job string, _ []*exec.Cmd) {
	if out, err := slurmCommand(t.Context(), "scancel", "-n", job).CombinedOutput(); err != nil {
		t.Errorf("scancel: %v: %s", err, out)
	}
}

// TestSlurmOneNode: a step of one node.
func TestSlurmOneNode(t *testing.T) {
	needSlurm(t)
	expectHello(t, run(t, srun(hangContext(t), "pmi2", "-N1", "-n3", bin+"/body")), 3)
	expectHello(t, run(t, srun(hangContext(t), "none", "-N1", "-n1", bin+"/body")), 1)
}

// TestSlurmBinding: a PE stays on the CPUs to which the launcher has bound its process, with all its threads. Here a
// command in front of the program binds it, as Slurm's plugins for that do not know which CPUs this machine has.
func TestSlurmBinding(t *testing.T) {
	needSlurm(t)
	mine := boot.AllowedCPUs()
	cpu := func(task int) int { return mine[task%len(mine)] }
	bind := fmt.Sprintf(`[ $SLURM_LOCALID = 0 ] && cpu=%d || cpu=%d; exec taskset -c $cpu "$0" "$@"`, cpu(0), cpu(1))
	for _, mpi := range plugins {
		o := run(t, srun(hangContext(t), mpi, "-N2", "-n4", "sh", "-c", bind, bin+"/body", "cpus"))
		for pe := range 4 {
			expect(t, o, 0, fmt.Sprintf("PE %d runs on CPUs %d\n", pe, cpu(pe%2)))
		}
	}
}

// TestSlurmStart: a task that never comes, and PEs that go on without looking at the job when another has died.
func TestSlurmStart(t *testing.T) {
	needSlurm(t)
	for _, mpi := range plugins {
		waits := func(timeout string) outcome {
			script := `[ $SLURM_PROCID = 3 ] && exec sleep 1000; ` + timeout + ` exec "$0"`
			return run(t, srun(hangContext(t), mpi, "-N2", "-n4", "-K1", "sh", "-c", script, bin+"/body"))
		}
		expectMissing(t, waits, failing, "within %s")
	}
	o := run(t, srun(hangContext(t), "none", "-N2", "-n4", bin+"/body", "deaf"))
	expect(t, o, failing, "ends, because PE 1 on usr0 has failed")
	nothingLeft(t)
}

func TestSlurmMistakes(t *testing.T) {
	needSlurm(t)
	step := func(set []string, args ...string) outcome {
		cmd := srun(hangContext(t), "none", append([]string{"-N2", "-n2"}, args...)...)
		cmd.Env = append(cmd.Env, set...)
		return run(t, cmd)
	}
	t.Run("the program is on one node alone", func(t *testing.T) {
		program := filepath.Join(dir, "pmix.usr0", "body") // each node has a directory of its own at pmix
		if out, err := exec.Command("cp", bin+"/body", program).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		missing := func(timeout string) outcome { return step([]string{timeout}, filepath.Join(dir, "pmix", "body")) }
		expectMissing(t, missing, failing, "No such file or directory", "1 of 2 processes have come within %s; missing: rank 1 (on usr1)")
	})
	t.Run("no munge", func(t *testing.T) {
		o := step([]string{"PGAS_MUNGE_SOCKET=" + dir + "/none"}, bin+"/body")
		expect(t, o, failing, "joining by slurm (SLURM_JOB_ID=", "know each other by munge, which cannot be used on usr0", "use `srun --mpi=pmi2`, or set PGAS_SECRET_FILE")
	})
	t.Run("forced to another way", func(t *testing.T) {
		expect(t, step([]string{"PGAS_BOOT=pmi2"}, bin+"/body"), failing, "PGAS_BOOT=pmi2, but the environment has nothing of it: start the program with `srun -n 4 --mpi=pmi2`")
	})
	t.Run("a file in place of munge", func(t *testing.T) {
		secret := filepath.Join(dir, "secret")
		if err := os.WriteFile(secret, []byte(strings.Repeat("s", 32)), 0o600); err != nil {
			t.Fatal(err)
		}
		expectHello(t, step([]string{"PGAS_MUNGE_SOCKET=" + dir + "/none", "PGAS_SECRET_FILE=" + secret}, bin+"/body"), 2)
	})
	nothingLeft(t)
}
