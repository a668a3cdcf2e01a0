package clusters

// PMIx libraries that fail in each way: a stand-in for libpmix, whose server lacks keys or does not answer.

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gopgas/gopgas/tests/built"
)

// stubPMIx is a libpmix for a job of two, of which this process is rank 1. The macro FAULT says what it lacks.
const stubPMIx = `
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "abi.h"

#define NO_SIZE 1
#define SIZE_IS_TEXT 2
#define NO_TICKET 3
#define NO_FENCE 4
#define STRANGE_TICKET 5
#define NO_FUNCTION 6

int PMIx_Init(struct pmix_proc *self, void *info, size_t n) { strcpy(self->nspace, "stub"); self->rank = 1; return 0; }
int PMIx_Finalize(const void *info, size_t n) { return 0; }
int PMIx_Put(uint8_t scope, const char *key, struct pmix_value *v) { return 0; }
#if FAULT != NO_FUNCTION
int PMIx_Commit(void) { return 0; }
#endif
int PMIx_Fence(const void *procs, size_t n, const void *info, size_t m) { while (FAULT == NO_FENCE) sleep(1); return 0; }
const char *PMIx_Error_string(int status) { return "NOT-FOUND"; }

int PMIx_Get(const struct pmix_proc *p, const char *key, const void *info, size_t n, struct pmix_value **v)
{
    bool size = strcmp(key, "pmix.job.size") == 0;
    if (size ? FAULT == NO_SIZE : FAULT == NO_TICKET)
        return -46;
    *v = calloc(1, sizeof **v);
    (*v)->type = size && FAULT != SIZE_IS_TEXT ? ABI_UINT32 : ABI_STRING;
    if (size)
        (*v)->data.uint32 = 2;
    else
        (*v)->data.string = strdup("no ticket");
    return 0;
}
`

// TestPMIxServerMistakes: a server that lacks a key, or never answers, and a library that is none, are one line each.
func TestPMIxServerMistakes(t *testing.T) {
	needHosts(t, "gcc")
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	for fault, want := range map[string]string{
		"NO_SIZE":        "NOT-FOUND",
		"SIZE_IS_TEXT":   "the server has no such key",
		"NO_TICKET":      "NOT-FOUND",
		"NO_FENCE":       "the PMIx server has not answered within 1s: is each process of the job running? (PGAS_BOOT_TIMEOUT)",
		"STRANGE_TICKET": "rank 0 has published no ticket that this process understands",
		"NO_FUNCTION":    "it has no PMIx_Commit",
	} {
		t.Run(fault, func(t *testing.T) {
			at := t.TempDir()
			source := filepath.Join(at, "stub.c")
			if err := os.WriteFile(source, []byte(stubPMIx), 0o600); err != nil {
				t.Fatal(err)
			}
			compile := exec.Command("gcc", "-shared", "-fPIC", "-DFAULT="+fault, "-I"+filepath.Join(root, "pgas/boot/pmix"), "-o", filepath.Join(at, "libpmix.so.2"), source)
			if out, err := compile.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			cmd := exec.CommandContext(hangContext(t), bin+"/body")
			cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+at, "PMIX_RANK=1", "PMIX_NAMESPACE=stub", "PMIX_SERVER_URI41=stub", "PGAS_BOOT_TIMEOUT=1s")
			o := run(t, cmd)
			expect(t, o, 1, "joining by pmix (PMIX_NAMESPACE=stub PMIX_RANK=1): ", want)
		})
	}
	t.Run("no library", func(t *testing.T) {
		at := t.TempDir()
		for _, name := range []string{"libpmix.so.2", "libpmix.so"} { // what the loader finds first, and cannot load
			if err := os.WriteFile(filepath.Join(at, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(hangContext(t), bin+"/body")
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+at, "PMIX_RANK=1", "PMIX_NAMESPACE=stub", "PMIX_SERVER_URI41=stub")
		o := run(t, cmd)
		expect(t, o, 1, "joining by pmix (PMIX_NAMESPACE=stub PMIX_RANK=1): the library of PMIx cannot be used on ", "install libpmix2 or its like")
	})
}
