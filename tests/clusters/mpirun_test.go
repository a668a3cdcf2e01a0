package clusters

// Open MPI's mpirun. Its own daemon starts the second host's processes by a command in place of ssh.

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// remote is what mpirun calls in place of ssh. Open MPI tells hosts apart by their names.
const remote = `#!/bin/sh
host=$1
shift
exec nsenter --net=/run/netns/"$host" unshare --uts sh -c 'hostname "$0" && eval "$*"' "$host" "$@"
`

func writeRemote(t testing.TB) string {
	t.Helper()
	path := filepath.Join(dir, "remote.sh")
	if err := os.WriteFile(path, []byte(remote), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// mpirun returns a command that starts n processes on each host.
func mpirun(t testing.TB, ctx context.Context, each string, args ...string) *exec.Cmd {
	t.Helper()
	agent := writeRemote(t)
	a, b := hosts.Names[0], hosts.Names[1]
	argv := []string{"unshare", "--uts", "sh", "-c", `hostname "$0" && exec "$@"`, a,
		"mpirun", "--allow-run-as-root", "--bind-to", "none", "--oversubscribe", "--mca", "plm_rsh_agent", agent,
		"-x", "PGAS_HEAP_MAX", "-x", "PGAS_BOOT_TIMEOUT", "--host", a + ":" + each + "," + b + ":" + each}
	return onHost(ctx, 0, append(argv, args...)...)
}

// openMPI is mpirun. Of a PE that was killed it hears as soon as the others, and kills them.
var openMPI = launcher{
	name: "mpirun",
	need: func(t testing.TB) { needHosts(t, "mpirun") },
	start: func(t *testing.T, job string, argv ...string) []*exec.Cmd {
		cmd := mpirun(t, hangContext(t), "2", argv...)
		// Open MPI kills a second after SIGTERM, which on a loaded machine is too soon to write a line
		if job == "cancelled" {
			cmd.Env = append(cmd.Environ(), "OMPI_MCA_odls_base_sigkill_timeout=3")
		}
		return []*exec.Cmd{cmd}
	},
	cancel:   terminate,
	daemon:   openMPIDaemon(),
	hastens:  true,
	zeroExit: isOpenMPI5(), // it says that the job has failed, and exits with status 0
}

func isOpenMPI5() bool {
	_, err := exec.LookPath("prted")
	return err == nil
}

func openMPIDaemon() string {
	if isOpenMPI5() {
		return "prted"
	}
	return "orted"
}

// TestMPIRunPlacement: ranks dealt to the hosts in turn.
//
//ci:ucx
func TestMPIRunPlacement(t *testing.T) {
	needHosts(t, "mpirun")
	expectHello(t, run(t, mpirun(t, hangContext(t), "2", "-np", "4", "--map-by", "node", bin+"/body")), 4)
	nothingLeft(t)
}

// onDaemons is prun, which starts jobs, one after the other, on daemons that prte has started before. A signal ends
// prun of Open MPI 5 alone, and its job goes on: what ends the job is the end of the daemons.
var onDaemons = launcher{
	name: "prun",
	need: func(t testing.TB) { needHosts(t, "prte", "prun") },
	start: func(t *testing.T, _ string, argv ...string) []*exec.Cmd {
		startPRTE(t)
		return []*exec.Cmd{prun(t, argv...)}
	},
	cancel:  func(t *testing.T, _ string, _ []*exec.Cmd) { stopPRTE(t) },
	daemon:  "prted",
	hastens: true, anyExit: true, zeroExit: true,
	end: stopPRTE,
}

// prte is the command of the daemons, or nil if there are none.
var prte *exec.Cmd

func prteURI() string { return filepath.Join(dir, "prte.uri") }

// named returns a command on the first host, which has a name there.
func named(ctx context.Context, argv ...string) *exec.Cmd {
	return onHost(ctx, 0, append([]string{"unshare", "--uts", "sh", "-c", `hostname "$0" && exec "$@"`, hosts.Names[0]}, argv...)...)
}

// startPRTE starts the daemons, unless there are some.
func startPRTE(t testing.TB) {
	t.Helper()
	if prte != nil {
		return
	}
	prte = named(context.Background(), "prte", "--allow-run-as-root", "--prtemca", "plm_ssh_agent", writeRemote(t),
		"--report-uri", prteURI(), "--host", hosts.Names[0]+":2,"+hosts.Names[1]+":2")
	if err := prte.Start(); err != nil {
		t.Fatal(err)
	}
	if err := await(func() bool { info, err := os.Stat(prteURI()); return err == nil && info.Size() > 0 }); err != nil {
		t.Fatalf("prte has not started: %v", err)
	}
}

// stopPRTE asks the daemons to end, and waits for that.
func stopPRTE(*testing.T) {
	if prte != nil {
		prte.Process.Signal(syscall.SIGTERM)
		prte.Wait()
		os.Remove(prteURI())
		prte = nil
	}
}

func prun(t *testing.T, args ...string) *exec.Cmd {
	argv := []string{"prun", "--allow-run-as-root", "--dvm-uri", "file:" + prteURI(), "--bind-to", "none", "-x", "PGAS_HEAP_MAX", "-n", "4"}
	return named(hangContext(t), append(argv, args...)...)
}

func TestPMIxMistakes(t *testing.T) {
	needHosts(t)
	cmd := exec.CommandContext(hangContext(t), bin+"/body")
	cmd.Env = append(os.Environ(), "PMIX_RANK=0", "PMIX_NAMESPACE=none", "PMIX_SERVER_URI41=none.0;tcp4://127.0.0.1:1", "TMPDIR="+dir)
	expect(t, run(t, cmd), 1, "joining by pmix (PMIX_NAMESPACE=none PMIX_RANK=0): the PMIx server does not take this process")
	cmd = exec.CommandContext(hangContext(t), bin+"/body")
	cmd.Env = append(os.Environ(), "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=0")
	expect(t, run(t, cmd), 1, "mpirun of Open MPI has started this process (OMPI_COMM_WORLD_SIZE=4), but it passes on no PMIX_SERVER_URI")
}
