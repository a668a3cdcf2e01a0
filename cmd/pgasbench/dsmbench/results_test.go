package dsmbench

import (
	"bytes"
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

// TestResults: what a job prints as JSON is read back, and a field that is not known is an error.
func TestResults(t *testing.T) {
	var out bytes.Buffer
	out.WriteString("pgasrun: something else\n")
	for _, m := range []measured{{Bench: "upgrade", Block: 4096, PEs: 2, Transport: "shm", P50ns: 7e3, MinNs: 6e3}, {Bench: "barrier", Block: BarrierBlock, P50ns: 400}} {
		if err := sweep.PrintJSON(&out, m); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Results(out.Bytes())
	if err != nil || len(got) != 2 || got[0].Bench != "upgrade" || got[0].Bytes != 4096 || got[0].P50ns != 7e3 || got[0].Transport != "shm" || got[1].Bytes != BarrierBlock {
		t.Errorf("read %+v, %v", got, err)
	}
	if _, err := Results([]byte("{\"bench\":\"upgrade\",\"colour\":3}\n")); err == nil {
		t.Error("a field that is not known was read")
	}
}
