package clusters

// What pgas/boot/pmix assumes of the library's binary interface, compared with the header that is installed.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/tests/built"
)

// The declarations of abi.h have the library's names; they get others before its header declares those.
const compareABI = `
#define pmix_proc our_proc
#define pmix_value our_value
#define pmix_info our_info
#include "abi.h"
#undef pmix_proc
#undef pmix_value
#undef pmix_info
#include <pmix.h>
#include <string.h>
#define SAME(what) _Static_assert(what, #what)
#define FIELD(ours, theirs, field) SAME(offsetof(struct ours, field) == offsetof(theirs, field))
SAME(sizeof(struct our_proc) == sizeof(pmix_proc_t));
SAME(sizeof(struct our_value) == sizeof(pmix_value_t));
SAME(sizeof(struct our_info) == sizeof(pmix_info_t));
FIELD(our_proc, pmix_proc_t, rank);
FIELD(our_value, pmix_value_t, data);
FIELD(our_info, pmix_info_t, flags);
FIELD(our_info, pmix_info_t, value);
SAME(sizeof(((pmix_value_t *)0)->type) == 2 && sizeof(pmix_status_t) == sizeof(int) && sizeof(pmix_scope_t) == 1);
SAME(ABI_BOOL == PMIX_BOOL && ABI_STRING == PMIX_STRING && ABI_UINT32 == PMIX_UINT32 && ABI_GLOBAL == PMIX_GLOBAL);
SAME((UINT32_MAX - 1) == (PMIX_RANK_WILDCARD));
SAME(sizeof PMIX_JOB_SIZE == sizeof "pmix.job.size" && sizeof PMIX_COLLECT_DATA == sizeof "pmix.collect");
`

func TestPMIxABI(t *testing.T) {
	flags, err := exec.Command("pkg-config", "--cflags", "pmix").Output()
	if err != nil {
		t.Skip("there is no header of PMIx: apt-get install libpmix-dev pkg-config")
	}
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "abi.c")
	if err := os.WriteFile(source, []byte(compareABI), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-fsyntax-only", "-I" + filepath.Join(root, "pgas/boot/pmix")}, strings.Fields(string(flags))...)
	if out, err := exec.Command("gcc", append(args, source)...).CombinedOutput(); err != nil {
		t.Errorf("abi.h and the library's header differ: %v\n%s", err, out)
	}
}
