package ssh

import (
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

// updates is what gups prints of its time.
var updates = regexp.MustCompile(`: (\d+\.\d+) s, .*all words are right`)

// BenchmarkLaunchedBy runs random updates on 4 PEs of two hosts whose agents are started plainly, in sessions of their
// own, and by ssh, in turns: `go test ./tests/ssh -run NONE -bench LaunchedBy -benchtime 5x`. It reports the medians of
// the time that the program has measured, and of the whole launch. ssh to beta goes through alpha.
func BenchmarkLaunchedBy(b *testing.B) {
	c := newCluster(b)
	spaces := c.hosts.Names[1] + ":2," + c.hosts.Names[2] + ":2"
	ways := []struct{ name, hosts, launch string }{
		{"plain", spaces, "ip netns exec {host}"},
		{"setsid", spaces, "setsid -w ip netns exec {host}"},
		{"ssh", twoEach, c.template("")},
	}
	program, whole := map[string][]float64{}, map[string][]float64{}
	for b.Loop() {
		for _, w := range ways {
			at := time.Now()
			r := c.pgasrun(c.path("bin/pgasrun"), "-hosts", w.hosts, "-launch", w.launch, c.path("bin/gups"), "-log", "20")
			whole[w.name] = append(whole[w.name], time.Since(at).Seconds())
			found := updates.FindStringSubmatch(r.out)
			if r.status != 0 || found == nil {
				b.Fatalf("%s: %+v", w.name, r)
			}
			took, _ := strconv.ParseFloat(found[1], 64)
			program[w.name] = append(program[w.name], took)
		}
	}
	median := func(d []float64) float64 { slices.Sort(d); return d[len(d)/2] }
	for _, w := range ways {
		b.Logf("%s: the program %.2f s, the launch %.2f s", w.name, program[w.name], whole[w.name])
		b.ReportMetric(median(program[w.name])/median(program["plain"]), w.name+"/plain")
	}
}
