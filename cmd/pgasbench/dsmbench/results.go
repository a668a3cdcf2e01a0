package dsmbench

// What `pgasbench dsm -json` prints, as results beside those of other programs.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// BarrierBlock is the size of the blocks of the bench "barrier".
const BarrierBlock = 32 << 10

// Results reads the lines of JSON in text. The bytes of a result are those of a block. Other lines are passed over.
func Results(text []byte) (all []result.Result, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) {
			continue
		}
		var m measured
		in := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		in.DisallowUnknownFields()
		if err := in.Decode(&m); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, result.Result{Bench: m.Bench, Bytes: m.Block, PEs: m.PEs, Transport: m.Transport, P50ns: m.P50ns, MinNs: m.MinNs})
	}
	return all, lines.Err()
}
