package clusters

// Tests that disturb a running job, and what must be left of it: nothing.

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// disturb starts a job whose PEs say that they are ready, calls what when n have, and returns how the job ended.
func disturb(t *testing.T, cmd *exec.Cmd, n int, what func()) outcome {
	t.Helper()
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := 0
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		fmt.Fprintln(&out, lines.Text())
		if strings.Contains(lines.Text(), "is ready in process") {
			if ready++; ready == n {
				what()
			}
		}
	}
	cmd.Wait()
	if ready < n {
		t.Errorf("%d of %d PEs were ready: %s%s", ready, n, &out, &errs)
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// processes returns those of the tests' processes that run a program of this name.
func processes(name string) (pids []int) {
	for _, pid := range marked() {
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if strings.HasPrefix(string(comm), name) || filepath.Base(exe) == name {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill kills one of the processes that run a program.
func kill(t *testing.T, name string) {
	t.Helper()
	pids := processes(name)
	if len(pids) == 0 {
		t.Errorf("no %s runs", name)
		return
	}
	syscall.Kill(pids[len(pids)-1], syscall.SIGKILL)
}

// nothingLeft waits until no process of a job is left.
func nothingLeft(t *testing.T) {
	t.Helper()
	var left []string
	err := await(func() bool {
		left = nil
		for _, name := range []string{"body", "pgasrun", "pgas-guard", "orted", "prted", "prte", "mpirun", "srun"} {
			for _, pid := range processes(name) {
				left = append(left, fmt.Sprint(name, " ", pid))
			}
		}
		return len(left) == 0
	})
	if err != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestSlurmCancelled: scancel ends the bodies' contexts, and nothing is left.
func TestSlurmCancelled(t *testing.T) {
	needSlurm(t)
	for _, mpi := range plugins {
		cmd := slurmCommand(hangContext(t), "srun", "-N2", "-n4", "-s", "--mpi="+mpi, "-J", "cancelled", bin+"/body", "waits")
		o := disturb(t, cmd, 4, func() {
			if out, err := slurmCommand(t.Context(), "scancel", "-n", "cancelled").CombinedOutput(); err != nil {
				t.Errorf("scancel: %v: %s", err, out)
			}
		})
		expect(t, o, failing, "PE 0: ", "PE 3: ", "terminated")
		nothingLeft(t)
	}
}

// TestSlurmDaemonKilled: the slurmstepd of one node is killed. Slurm ends what is left of the step.
func TestSlurmDaemonKilled(t *testing.T) {
	needSlurm(t)
	cmd := slurmCommand(hangContext(t), "srun", "-N2", "-n4", "-s", "--mpi=none", "-J", "orphans", bin+"/body", "waits")
	o := disturb(t, cmd, 4, func() {
		kill(t, "slurmstepd")
		slurmCommand(t.Context(), "scancel", "-n", "orphans").Run()
	})
	expect(t, o, failing)
	nothingLeft(t)
}
