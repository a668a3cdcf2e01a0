package join

// Which way a process takes to its job, and the lists and protocols that the ways read.

import (
	"reflect"
	"strings"
	"testing"
)

func TestChooseRendezvous(t *testing.T) {
	task := "SLURM_JOB_ID=7 SLURM_PROCID=3 SLURM_STEP_ID=0"
	for _, c := range []struct{ env, want, err string }{
		{"", "single (no launcher is in the environment)", ""},
		{"PGAS_JOB_ID=00 " + task, "pgasrun (PGAS_JOB_ID=00)", ""},
		{"PGAS_PE=1 " + task, "static (PGAS_PE=1)", ""},
		{"PMIX_RANK=1 PMIX_NAMESPACE=x PMIX_SERVER_URI41=y " + task, "pmix (PMIX_NAMESPACE=x PMIX_RANK=1)", ""},
		{"PMI_FD=9 PMI_RANK=0 " + task, "pmi2 (PMI_FD=9)", ""},
		{task, "slurm (SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=3)", ""},
		// a batch script, and a shell of salloc
		{"SLURM_JOB_ID=7 SLURM_PROCID=0", "single (no launcher is in the environment)", ""},
		{"SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_STEP_ID=4294967290", "single (no launcher is in the environment)", ""},
		{"PGAS_BOOT=auto " + task, "slurm (SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=3)", ""},
		{"PGAS_BOOT=single " + task, "single (PGAS_BOOT=single)", ""},
		{"PGAS_BOOT=slurm PMI_FD=9 " + task, "slurm (PGAS_BOOT=slurm, SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=3)", ""},
		{"PGAS_BOOT=pmi2 " + task, "", "PGAS_BOOT=pmi2, but the environment has nothing of it: start the program with `srun -n 4 --mpi=pmi2`, or unset PGAS_BOOT"},
		{"PGAS_BOOT=lsf", "", "PGAS_BOOT=lsf: must be one of auto, pgasrun, static, pmix, pmi2, slurm, single"},
		{"OMPI_COMM_WORLD_SIZE=4", "", "mpirun of Open MPI has started this process (OMPI_COMM_WORLD_SIZE=4), but it passes on no PMIX_SERVER_URI"},
		{"PMIX_RANK=0", "", "a PMIx launcher has started this process"},
		{"PMI_RANK=0", "", "a PMI launcher has started this process"},
		{"MV2_COMM_WORLD_SIZE=4", "", "mpirun_rsh of MVAPICH has started this process"},
		{"PALS_RANKID=0", "", "mpiexec of PALS has started this process"},
		{"OMPI_COMM_WORLD_RANK=0", "", "mpirun of Open MPI has started this process (OMPI_COMM_WORLD_RANK=0)"},
		{"PMIX_NAMESPACE=x PMIX_SERVER_URI41=y", "", "a PMIx launcher has started this process (PMIX_NAMESPACE=x), but it passes on no PMIX_RANK"},
		{"PMI_PORT=a:1", "", "a PMI launcher has started this process (PMI_PORT=a:1), but it passes on no PMI_FD"},
		{"MPI_LOCALNRANKS=2", "", "mpiexec of MPICH or Intel MPI has started this process"},
		{"ALPS_APP_PE=0", "", "aprun has started this process"},
		{"LSF_PM_TASKID=1", "", "blaunch of LSF has started this process"},
		{"JOB_COMPLETION_INDEX=0", "", "an Indexed Job of Kubernetes has started this process"},
		{"SLURM_PROCID=3 SLURM_NTASKS=4", "", "srun has started this process (SLURM_PROCID=3), but SLURM_STEP_ID= names no step of tasks"},
		{"PGAS_HOSTS=a:2,b:2", "", "PGAS_HOSTS=a:2,b:2, but nothing says which PE this process is: set PGAS_PE"},
		{"FLUX_TASK_RANK=0", "", "Flux has started this process"},
		{"FLUX_TASK_RANK=0 PMI_FD=9 PMI_RANK=0", "pmi2 (PMI_FD=9)", ""},
		{"JSM_NAMESPACE_SIZE=4", "", "jsrun has started this process"},
		{"PGAS_HOST=1 PGAS_RENDEZVOUS=a:1", "", "PGAS_HOST=1 says which host this is, but nothing which PE this process is: start it with `pgasrun static`"},
		{"PGAS_RENDEZVOUS=a:1", "", "PGAS_RENDEZVOUS=a:1, but neither PGAS_PE nor srun says which PE this process is"},
	} {
		got, err := ChooseRendezvous(NewEnvironment(strings.Fields(c.env)))
		if c.err == "" && (err != nil || got.String() != c.want) || c.err != "" && !strings.HasPrefix(errorText(err), c.err) {
			t.Errorf("%q: %v, %v; want %s%s", c.env, got, err, c.want, c.err)
		}
	}
}

func TestExpandNodes(t *testing.T) {
	for list, want := range map[string]string{
		"usr0":                "usr0",
		"usr[0-1]":            "usr0 usr1",
		"n[08-10,3],login":    "n08 n09 n10 n3 login",
		"r[1-2]n[0-1]":        "r1n0 r1n1 r2n0 r2n1",
		"a,b,c[1]x":           "a b c1x",
		"":                    "",
		"a[":                  "",
		"a]":                  "",
		"a[1-]":               "",
		"a[2-1]":              "",
		"a[0-9999999999]":     "",
		"a[0-2000]b[0-20000]": "",
	} {
		got, err := ExpandNodes(list)
		if strings.Join(got, " ") != want || (err == nil) != (want != "") {
			t.Errorf("%q: %v, %v; want %q", list, got, err, want)
		}
	}
}

func TestTasksOfNodes(t *testing.T) {
	for _, c := range []struct {
		perNode, distribution string
		want                  []string
	}{
		{"2(x2)", "", []string{"a", "a", "b", "b"}},
		{"1,3", "block", []string{"a", "b", "b", "b"}},
		{"2(x2)", "cyclic", nil},
		{"1(x2)", "cyclic", []string{"a", "b"}},
		{"2(x3)", "", nil},
		{"2(x0)", "", nil},
		{"two", "", nil},
	} {
		if got := tasksOfNodes([]string{"a", "b"}, c.perNode, c.distribution); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v", c, got)
		}
	}
}

func TestParsePMI2(t *testing.T) {
	got := parsePMI2("cmd=kvs-get-response;rc=0;value=a;;b=c;found=TRUE;")
	want := map[string]string{"cmd": "kvs-get-response", "rc": "0", "value": "a;b=c", "found": "TRUE"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// TestTicketFits: a ticket leaves out addresses until it fits, but keeps one.
func TestTicketFits(t *testing.T) {
	full := ticket{ID: newJobID(), Secret: newNonce(), Addrs: make([]string, 100)}
	for i := range full.Addrs {
		full.Addrs[i] = strings.Repeat("1", 20)
	}
	text := full.encode(pmi2MaxValue)
	got, err := decodeTicket(text)
	if err != nil || len(text) > pmi2MaxValue || len(got.Addrs) < 10 || string(got.Secret) != string(full.Secret) {
		t.Errorf("%d bytes, %v, %v", len(text), got, err)
	}
	if _, err := decodeTicket("{}"); err == nil {
		t.Error("an empty ticket is accepted")
	}
}

// errorText returns the text of err, or "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
