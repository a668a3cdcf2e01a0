package clusters

// How long a job takes to start under a launcher, beside Open MPI's OSHMEM under the same one.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// oshmemHello does what the body hello does to start and to end.
const oshmemHello = `#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static long count;
    setenv("UCX_HANDLE_ERRORS", "none", 1); // Open MPI 4.1 crashes in shmem_finalize now and then: no time for a backtrace
    shmem_init();
    shmem_long_atomic_add(&count, shmem_my_pe() + 1, 0);
    shmem_barrier_all();
    printf("hello from PE %d of %d, sum %ld\n", shmem_my_pe(), shmem_n_pes(), shmem_long_atomic_fetch(&count, 0));
    shmem_finalize();
    return 0;
}
`

// BenchmarkLaunch starts 16 PEs on one host and on two by srun and by mpirun, this library's and OSHMEM's in turns:
// `go test ./tests/clusters -run NONE -bench Launch -benchtime 5x`. It reports medians in milliseconds. OSHMEM of Open
// MPI 4.1 ends with a signal on many machines, unless it leaves out the transport openib, and then takes longer to end:
// both are measured, and the ratio is to the faster one. A program that fails counts with the time that it took; it is
// logged.
func BenchmarkLaunch(b *testing.B) {
	needSlurm(b)
	needHosts(b, "oshcc", "mpirun")
	source, theirs := filepath.Join(dir, "hello.c"), filepath.Join(dir, "oshmem-hello")
	if err := os.WriteFile(source, []byte(oshmemHello), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("oshcc", "-o", theirs, source).CombinedOutput(); err != nil {
		b.Fatalf("oshcc: %v: %s", err, out)
	}
	for name, start := range map[string]func(program string) *exec.Cmd{
		"srun/1 host":    func(program string) *exec.Cmd { return srun(hangContext(b), "pmix", "-N1", "-n16", "-O", program) },
		"srun/2 hosts":   func(program string) *exec.Cmd { return srun(hangContext(b), "pmix", "-N2", "-n16", program) },
		"mpirun/1 host":  func(program string) *exec.Cmd { return mpirun(b, hangContext(b), "16", "-np", "16", program) },
		"mpirun/2 hosts": func(program string) *exec.Cmd { return mpirun(b, hangContext(b), "8", program) },
	} {
		b.Run(name, func(b *testing.B) {
			took := map[string][]time.Duration{}
			for range b.N {
				for _, p := range []struct {
					name, program string
					env           []string
				}{
					{"ours", bin + "/body", nil},
					{"oshmem", theirs, nil},
					{"oshmem-without-openib", theirs, []string{"OMPI_MCA_btl=^openib", "OMPI_MCA_pml=ob1"}},
				} {
					cmd := start(p.program)
					cmd.Env = append(cmd.Environ(), p.env...)
					at := time.Now()
					err := cmd.Run()
					took[p.name] = append(took[p.name], time.Since(at))
					if err != nil {
						b.Logf("%s: %v", p.name, err)
					}
				}
			}
			median := func(name string) float64 {
				slices.Sort(took[name])
				return float64(took[name][len(took[name])/2].Milliseconds())
			}
			for name := range took {
				b.ReportMetric(median(name), name+"-ms")
			}
			b.ReportMetric(median("ours")/min(median("oshmem"), median("oshmem-without-openib")), "ours/oshmem")
			b.Log(fmt.Sprint(took))
		})
	}
}
