package boot

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestParseSettings(t *testing.T) {
	tests := []struct {
		env  string // separated by blanks
		want Settings
		err  string
	}{
		{"", Settings{}, ""},
		{"HOME=/ PATH=/bin PGASX=1", Settings{}, ""},
		{"PGAS_HEAP_MAX=64m", Settings{HeapMax: 64 << 20}, ""},
		{"PGAS_HEAP_MAX=1k PGAS_HEAP_MAX=2G", Settings{HeapMax: 2 << 30}, ""},
		{"PGAS_HEAP_MAX=", Settings{}, ""},
		{"PGAS_RMA=am PGAS_AMO=nic PGAS_QUIET_SINGLETON=1", Settings{RMA: RMAAM, AMO: AMONIC, QuietSingleton: true}, ""},
		{"PGAS_SPIN=auto", Settings{}, ""},
		{"PGAS_CHECK=1", Settings{Check: true}, ""},
		{"PGAS_CHECK=0", Settings{}, ""},
		{"PGAS_CHECK=race", Settings{Check: true, Race: true}, ""},
		{"PGAS_CHECK=yes", Settings{}, "PGAS_CHECK=yes: must be one of 0, 1, race"},
		{"PGAS_RACE=plain", Settings{RaceForm: RacePlain}, ""},
		{"PGAS_RACE=strands", Settings{}, ""},
		{"PGAS_RACE=yes", Settings{}, "PGAS_RACE=yes: must be one of strands, plain"},
		{"PGAS_RACE_EXIT=0", Settings{RaceExit: NoRaceExit}, ""},
		{"PGAS_RACE_EXIT=7", Settings{RaceExit: 7}, ""},
		{"PGAS_RACE_EXIT=256", Settings{}, "PGAS_RACE_EXIT=256: must be an exit status from 0 to 255; 0: reports do not change the status"},
		{"PGAS_RACE_EXIT=-1", Settings{}, "PGAS_RACE_EXIT=-1: must be an exit status from 0 to 255; 0: reports do not change the status"},
		{"PGAS_SPIN=0", Settings{Spin: NeverSpin}, ""},
		{"PGAS_SPIN=20us PGAS_PEER_TIMEOUT=2s", Settings{Spin: 20 * time.Microsecond, PeerTimeout: 2 * time.Second}, ""},
		{"PGAS_TOPO=host,rack:2", Settings{Topo: "host,rack:2"}, ""},
		{"PGAS_ACCEPT_FROM=10.1.0.0/16,192.0.2.7", Settings{AcceptFrom: "10.1.0.0/16,192.0.2.7"}, ""},
		{"PGAS_DSM=paged PGAS_DSM_STATS=1", Settings{DSM: DSMPaged, DSMStats: true}, ""},
		{"PGAS_DSM=shared", Settings{DSM: DSMShared}, ""},
		{"PGAS_DSM=soft PGAS_DSM_STATS=0", Settings{DSM: DSMSoft}, ""},
		{"PGAS_DSM=page", Settings{}, "PGAS_DSM=page: must be one of auto, shared, paged, soft"},
		{"PGAS_DSM_FAULTS=thread", Settings{DSMFaults: DSMThread}, ""},
		{"PGAS_DSM_FAULTS=signal", Settings{DSMFaults: DSMSignal}, ""},
		{"PGAS_DSM_FAULTS=both", Settings{}, "PGAS_DSM_FAULTS=both: must be one of signal, thread"},
		{"PGAS_DSM_STATS=yes", Settings{}, "PGAS_DSM_STATS=yes: must be one of 0, 1"},
		{"PGAS_ACCEPT_FROM=any", Settings{AcceptFrom: "any"}, ""},
		{"PGAS_ACCEPT_FROM=host7", Settings{}, "PGAS_ACCEPT_FROM=host7: must be any, or addresses and ranges such as 10.1.0.0/16,192.0.2.7"},
		{"SHMEM_SYMMETRIC_SIZE=1.5g", Settings{HeapMax: 3 << 29}, ""},
		{"SHMEM_SYMMETRIC_SIZE=1g PGAS_HEAP_MAX=1m", Settings{HeapMax: 1 << 20}, ""},
		{"PGAS_HEAP_MAX=1m SHMEM_SYMMETRIC_SIZE=1g", Settings{HeapMax: 1 << 20}, ""},
		{"SMA_SYMMETRIC_SIZE=1g SHMEM_SYMMETRIC_SIZE=2g", Settings{HeapMax: 2 << 30}, ""},
		{"SMA_SYMMETRIC_SIZE=1g SHMEM_SYMMETRIC_SIZE=", Settings{HeapMax: 1 << 30}, ""},
		{"SHMEM_VERSION=0 SHMEM_INFO=no SHMEM_DEBUG=,", Settings{Version: true, Info: true, Debug: true}, ""},
		{"SMA_DEBUG=1 SHMEM_INFO=", Settings{Debug: true}, ""},
		{"SMA_VERSION=1 SMA_INFO=1", Settings{Version: true, Info: true}, ""},
		{"SHMEM_BARRIER_ALGORITHM=ring SMA_X=1 SHMEM=1 SMA_HEAP_MAX=x", Settings{}, ""},
		{"SHMEM_SYMMETRIC_SIZE=big PGAS_HEAP_MAX=1m", Settings{}, "SHMEM_SYMMETRIC_SIZE=big: must be a number of bytes, such as 64m or 1.5g"},
		{"SMA_SYMMETRIC_SIZE=-1", Settings{}, "SMA_SYMMETRIC_SIZE=-1: must be a number of bytes, such as 64m or 1.5g"},
		{"PGAS_SYMMETRIC_SIZE=1g", Settings{}, "there is no variable PGAS_SYMMETRIC_SIZE: did you mean SHMEM_SYMMETRIC_SIZE? (`pgasrun env` lists them all)"},
		{"PGAS_SPIN=-1s", Settings{}, "PGAS_SPIN=-1s: must be auto, 0 or a duration such as 20us"},
		{"PGAS_NOTES_MAX=5000", Settings{NotesMax: 5000}, ""},
		{"PGAS_CONNECTIONS=3", Settings{Connections: 3}, ""},
		{"PGAS_CONNECTIONS=0", Settings{}, "PGAS_CONNECTIONS=0: must be a number from 1 to 2147483647"},
		{"PGAS_NOTES_MAX=0", Settings{}, "PGAS_NOTES_MAX=0: must be a number from 1 to 2147483647"},
		{"PGAS_NOTES_MAX=1m", Settings{}, "PGAS_NOTES_MAX=1m: must be a number from 1 to 2147483647"},
		{"PGAS_PEER_TIMEOUT=100ms", Settings{PeerTimeout: 100 * time.Millisecond}, ""},
		{"PGAS_PEER_TIMEOUT=0", Settings{}, "PGAS_PEER_TIMEOUT=0: must be a duration of 100ms or more, such as 30s: a shorter one gives up PEs that are only busy"},
		{"PGAS_PEER_TIMEOUT=1ns", Settings{}, "PGAS_PEER_TIMEOUT=1ns: must be a duration of 100ms or more, such as 30s: a shorter one gives up PEs that are only busy"},
		{"PGAS_RMA=ucx", Settings{}, "PGAS_RMA=ucx: must be one of auto, am, native"},
		{"PGAS_BOOT=slurm PGAS_BOOT_TIMEOUT=5s", Settings{BootTimeout: 5 * time.Second}, ""},
		{"PGAS_BOOT=lsf", Settings{}, "PGAS_BOOT=lsf: must be one of auto, pgasrun, static, pmix, pmi2, slurm, single"},
		{"PGAS_BOOT_TIMEOUT=0", Settings{}, "PGAS_BOOT_TIMEOUT=0: must be a duration of 1s or more, such as 60s"},
		{"PGAS_HEAP=1g", Settings{}, "there is no variable PGAS_HEAP: did you mean PGAS_HEAP_MAX? (`pgasrun env` lists them all)"},
		{"PGAS_ATOMIC=1", Settings{}, "there is no variable PGAS_ATOMIC: did you mean PGAS_AMO? (`pgasrun env` lists them all)"},
		{"PGAS_TIMEOUT=1", Settings{}, "there is no variable PGAS_TIMEOUT: did you mean PGAS_PEER_TIMEOUT? (`pgasrun env` lists them all)"},
	}
	for _, tt := range tests {
		got, err := ParseSettings(strings.Fields(tt.env))
		if got != tt.want && tt.err == "" || text(err) != tt.err {
			t.Errorf("%q: %+v, %v; want %+v, %q", tt.env, got, err, tt.want, tt.err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestDocs: the page of pgasrun has the table of variables.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/use/pgasrun.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, audience := range []audience{forUsers, forDevelopers} {
		var table strings.Builder
		table.WriteString("| variable | default | value | meaning |\n|---|---|---|---|\n")
		for _, v := range variables {
			if v.For == audience {
				fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", v.Name, v.Default, v.Unit, v.Meaning)
			}
		}
		if !strings.Contains(string(page), table.String()) {
			t.Errorf("docs/use/pgasrun.md must contain\n%s", &table)
		}
	}
}

// TestDefaultsAreTrue checks that each default in the table is what the parser returns for a variable that is not set.
func TestDefaultsAreTrue(t *testing.T) {
	for _, v := range variables {
		if v.For == forLauncher || strings.HasPrefix(v.Default, "(") {
			continue
		}
		got, err := ParseSettings([]string{v.Name + "=" + v.Default})
		if err != nil {
			t.Error(err)
		}
		if got.PeerTimeout == DefaultPeerTimeout {
			got.PeerTimeout = 0
		}
		if got.Connections == DefaultConnections {
			got.Connections = 0
		}
		if got.NotesMax == DefaultNotesMax {
			got.NotesMax = 0
		}
		if got.BootTimeout == DefaultBootTimeout {
			got.BootTimeout = 0
		}
		if got.RaceExit == DefaultRaceExit {
			got.RaceExit = 0
		}
		if got != (Settings{}) {
			t.Errorf("%s=%s gives %+v, not the default", v.Name, v.Default, got)
		}
	}
}

func TestParseSymmetricSize(t *testing.T) {
	for text, want := range map[string]uint64{
		"4096": 4096, "20k": 20 << 10, "20kk": 20 << 10, "20K of it": 20 << 10, ".5m": 1 << 19, "0.5M": 1 << 19,
		"3.1M": 3250586, "1.5g": 3 << 29, "2.T": 2 << 40, "1e3": 1000, "1.5": 2, "0": 1,
		"": 0, "k": 0, "-1": 0, "big": 0, "12x": 0, "1 k": 0, "inf": 0, "NaN": 0, "0x10": 0, "1_0": 0, "1e30t": 0, "4194304t": 0,
	} {
		got, err := ParseSymmetricSize(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}

// TestPrintVariables checks that each line begins with three words, which a shell reads back.
func TestPrintVariables(t *testing.T) {
	var b strings.Builder
	env := []string{"PGAS_AMO=nic", "PGAS_NOTES_MAX=7", "PGAS_RMA=", "SMA_SYMMETRIC_SIZE=20k of it", "SHMEM_INFO=a'b\n", "PGAS_TOPO=host", "PGAS_NONSENSE=1"}
	if err := PrintVariables(&b, env, []string{"PGAS_TOPO=host,rack:2"}, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`PGAS_AMO +nic +environment +what`, `PGAS_RMA +auto +default +how`, `PGAS_HEAP_MAX +- +default .*\(default: this host's memory\)`,
		`SHMEM_SYMMETRIC_SIZE +'20k of it' +SMA_SYMMETRIC_SIZE `, `PGAS_TOPO +host,rack:2 +flag `, `SHMEM_VERSION +- +default .*\]`,
		`SHMEM_INFO +\$'a\\'b\\n' +environment `, `PGAS_NOTES_MAX +7 +environment `,
	} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(b.String()) {
			t.Errorf("no line like %s in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "PGAS_NPES ") {
		t.Errorf("what only the launcher writes is shown:\n%s", b.String())
	}
	if strings.Contains(b.String(), "PGAS_SPIN ") {
		t.Errorf("a variable for developers that is not set is shown:\n%s", b.String())
	}
	b.Reset()
	if err := PrintVariables(&b, env, nil, true); err != nil || !strings.Contains(b.String(), "PGAS_SPIN ") || strings.Contains(b.String(), "PGAS_NPES ") {
		t.Errorf("%v: all variables are not\n%s", err, b.String())
	}
}

func TestStripEnv(t *testing.T) {
	env := []string{"A=1", "PGAS_JOB_ID=00", "PGAS_HEAP_MAX=1g", "PGAS_PE=3", EnvAgent + "=1"}
	if got := strings.Join(StripEnv(env), " "); got != "A=1 PGAS_HEAP_MAX=1g" {
		t.Errorf("%q", got)
	}
}

func TestHeapSizes(t *testing.T) {
	for _, local := range []int{1, 3, 16, 100, 1000, 4096} {
		for _, memory := range []uint64{1 << 20, 24 << 30, 3 << 40, 100 << 40} {
			h := DefaultHeapMax(local, memory, HeapRoom{})
			if h%heapUnit != 0 || h < ReservedBytes+heapUnit {
				t.Errorf("DefaultHeapMax(%d, %d) = %d", local, memory, h)
			}
			if err := CheckHeap(local, h, HeapRoom{}); err != nil {
				t.Errorf("the default for %d PEs: %v", local, err)
			}
		}
	}
	if err := CheckHeap(16, 4<<40, HeapRoom{}); err == nil {
		t.Error("64 TiB of heaps are accepted")
	}
}

// naiveEdits returns the distance by its definition.
func naiveEdits(a, b string) int {
	switch {
	case a == "":
		return len(b) * costInsert
	case b == "":
		return len(a) * costDelete
	case a[0] == b[0]:
		return naiveEdits(a[1:], b[1:])
	}
	return min(costDelete+naiveEdits(a[1:], b), costInsert+naiveEdits(a, b[1:]), costReplace+naiveEdits(a[1:], b[1:]))
}

func FuzzEdits(f *testing.F) {
	f.Add("SPIN", "SPEEN")
	f.Add("", "AMO")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = a[:min(len(a), 7)], b[:min(len(b), 7)]
		if got, want := edits(a, b), naiveEdits(a, b); got != want {
			t.Errorf("edits(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

func FuzzParseSymmetricSize(f *testing.F) {
	for _, s := range []string{"1", ".5m", "20kk", "3.1M", "-0", "1e18", "4194303.9t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseSymmetricSize(s)
		if err == nil && (n == 0 || n > 1<<62) {
			t.Errorf("ParseSymmetricSize(%q) = %d", s, n)
		}
		if exact, e := ParseBytes(s); e == nil && exact < 1<<53 && (err != nil || n != exact) {
			t.Errorf("ParseSymmetricSize(%q) = %d, %v; as PGAS_HEAP_MAX it is %d", s, n, err, exact)
		}
	})
}

func FuzzParseBytes(f *testing.F) {
	for _, s := range []string{"1", "64m", "2G", "", "k", "-1", "0", "99999999999t", "4611686018427387904"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseBytes(s)
		if err == nil && (n == 0 || n > 1<<62) {
			t.Errorf("ParseBytes(%q) = %d", s, n)
		}
	})
}
