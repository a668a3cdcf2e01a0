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

func TestMPIRun(t *testing.T) {
	needHosts(t, "mpirun")
	step := func(args ...string) outcome { return run(t, mpirun(t, hangContext(t), "2", args...)) }
	expectHello(t, step("-np", "4", bin+"/body"), 4)
	expectHello(t, step("-np", "4", "--map-by", "node", bin+"/body"), 4) // in turn
	expect(t, step(bin+"/body", "locks"), 0, "the lock holds\n")
	expect(t, step(bin+"/body", "fails"), 1, "an error of the program")
	expect(t, step(bin+"/body", "exits"), 7)
	expect(t, step(bin+"/wordcount", "-verify", "-input", "../.."), 0, "verified: ")
	// mpirun kills the others as soon as it has seen the death itself.
	expect(t, step(bin+"/body", "killed"), failing, "killed at ")
	nothingLeft(t)
}

// TestMPIRunDaemonKilled: mpirun's daemon on the second host is killed. mpirun 5 leaves the processes of both hosts behind:
// they end by themselves.
func TestMPIRunDaemonKilled(t *testing.T) {
	needHosts(t, "mpirun")
	cmd := mpirun(t, hangContext(t), "2", bin+"/body", "waits")
	daemon := "orted"
	if _, err := exec.LookPath("prted"); err == nil { // Open MPI 5
		daemon = "prted"
	}
	o := disturb(t, cmd, 4, func() { kill(t, daemon) })
	if daemon == "orted" { // mpirun 5 says that the job has failed, and exits with status 0
		expect(t, o, failing)
	}
	nothingLeft(t)
}

// TestPRun: prun starts jobs, one after the other, on daemons that prte has started before.
func TestPRun(t *testing.T) {
	needHosts(t, "prte", "prun")
	agent, uri := writeRemote(t), filepath.Join(dir, "prte.uri")
	a, b := hosts.Names[0], hosts.Names[1]
	named := func(argv ...string) *exec.Cmd {
		return onHost(hangContext(t), 0, append([]string{"unshare", "--uts", "sh", "-c", `hostname "$0" && exec "$@"`, a}, argv...)...)
	}
	daemons := named("prte", "--allow-run-as-root", "--prtemca", "plm_ssh_agent", agent, "--report-uri", uri, "--host", a+":2,"+b+":2")
	if err := daemons.Start(); err != nil {
		t.Fatal(err)
	}
	prun := func(args ...string) outcome {
		argv := []string{"prun", "--allow-run-as-root", "--dvm-uri", "file:" + uri, "--bind-to", "none", "-x", "PGAS_HEAP_MAX"}
		return run(t, named(append(argv, args...)...))
	}
	if err := await(func() bool { info, err := os.Stat(uri); return err == nil && info.Size() > 0 }); err != nil {
		t.Fatalf("prte has not started: %v", err)
	}
	for range 2 {
		expectHello(t, prun("-n", "4", bin+"/body"), 4)
	}
	expect(t, prun("-n", "4", bin+"/body", "locks"), 0, "the lock holds\n")
	expect(t, prun("-n", "4", bin+"/body", "exits"), failing)
	expect(t, prun("-n", "4", bin+"/body", "killed"), failing, "killed at ")
	expect(t, prun("-n", "4", bin+"/wordcount", "-verify", "-input", "../../locks"), 0, "verified: ")
	expectHello(t, prun("-n", "3", bin+"/body"), 3)
	daemons.Process.Signal(syscall.SIGTERM)
	daemons.Wait()
	nothingLeft(t)
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
