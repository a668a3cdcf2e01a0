package compare

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Every row can be measured: its suites exist, each side has a point, names are unique.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		name := r.group + ": " + r.name
		if seen[name] || r.name == "" || len(r.theirs) == 0 {
			t.Errorf("row %q is there twice, or incomplete", name)
		}
		seen[name] = true
		if (r.least == 0) != (r.goal == "") {
			t.Errorf("row %q: goal %q but at least %v", name, r.goal, r.least)
		}
		for _, p := range append([]point{r.ours}, r.theirs...) {
			suiteNamed(p.suite) // panics if there is none
			if (p.bench == "") != (r.kind == wholeProcess) {
				t.Errorf("row %q: point %+v", name, p)
			}
		}
		if !strings.HasPrefix(r.ours.suite, "ours-") {
			t.Errorf("row %q: ours is %s", name, r.ours.suite)
		}
	}
}

func TestCommandsFollowFromRows(t *testing.T) {
	jobs := jobsOf(choose(regexp.MustCompile("^same host: (8 B put|8 B get|1 MiB put)$|two hosts: fetch-add")))
	tl := &tools{dir: "/bin-dir", peers: "/peers", hosts: []string{"a", "b"}, cores: 2}
	var got []string
	for _, j := range jobs {
		got = append(got, strings.Join(j.command(tl, 50*time.Millisecond), " "))
	}
	want := []string{
		"/bin-dir/pgasrun -n 2 /bin-dir/pgasbench -json -bench ^(put|get)$ -sizes 8,1048576 -time 50ms",
		"oshrun --allow-run-as-root --mca osc ^rdma --oversubscribe -np 2 /bin-dir/osh -bench ^(put|get)$ -sizes 8,1048576 -time 50ms",
		"/bin-dir/pgasrun -hosts a:1,b:1 -launch /peers/onhost.sh {host} /bin-dir/pgasbench -json -bench ^(fetch-add)$ -sizes 8 -time 50ms",
		"/bin-dir/ucp -bench ^(fetch-add)$ -sizes 8 -time 50ms a b",
	}
	for i, w := range want {
		if i >= len(got) || got[i] != w {
			t.Errorf("command %d\ngot  %v\nwant %s", i, got[i:min(i+1, len(got))], w)
		}
	}
	if len(got) != 5 || !strings.Contains(got[4], "--host a,b -np 2 /bin-dir/osh -bench ^(fetch-add)$") {
		t.Errorf("OSHMEM on two hosts: %v", got[4:])
	}
}

// A group of rows runs its suites by itself: no program measures what only another group wants.
func TestGroupsRunApart(t *testing.T) {
	jobs := jobsOf(choose(regexp.MustCompile("^same host: 8 B put$|^collectives, 2 PEs: sum, 64 KiB|^programs: gups, two hosts")))
	tl := &tools{dir: "/bin-dir", peers: "/peers", hosts: []string{"a", "b", "c", "d"}, cores: 2}
	var got []string
	for _, j := range jobs {
		got = append(got, strings.Join(j.command(tl, 50*time.Millisecond), " "))
	}
	want := []string{
		"/bin-dir/pgasrun -n 2 /bin-dir/pgasbench -json -bench ^(put)$ -sizes 8 -time 50ms",
		"oshrun --allow-run-as-root --mca osc ^rdma --oversubscribe -np 2 /bin-dir/osh -bench ^(put)$ -sizes 8 -time 50ms",
		"/bin-dir/pgasrun -n 2 /bin-dir/pgasbench -json -bench ^(sum)$ -sizes 65536 -time 50ms",
		"oshrun --allow-run-as-root --mca osc ^rdma --oversubscribe -np 2 /bin-dir/osh -bench ^(sum)$ -sizes 65536 -time 50ms",
		"/bin-dir/pgasrun -hosts a:1,b:1 -launch /peers/onhost.sh {host} /bin-dir/gups -json -log 18 -updates 200000",
	}
	for i, w := range want {
		if i >= len(got) || got[i] != w {
			t.Errorf("command %d\ngot  %v\nwant %s", i, got[i:min(i+1, len(got))], w)
		}
	}
	words := suiteNamed("ours-wordcount-2-hosts").argv(&tools{peers: "/top/tests/peers", hosts: []string{"a", "b"}})
	if last := words[len(words)-1]; last != "/top" {
		t.Errorf("wordcount counts %s between hosts, want the module's source", last)
	}
	if len(got) != 6 || !strings.HasSuffix(got[5], "--host a,b -np 2 /bin-dir/osh-gups -log 18 -updates 200000") {
		t.Errorf("the kernel of OSHMEM on two hosts: %v", got[5:])
	}
}

// The goals that depend on where and how long.
func TestGoalsOfCollectives(t *testing.T) {
	for name, want := range map[string]string{
		"collectives, 2 PEs: sum, 8 B":             "no slower, osh-2",
		"collectives, 2 PEs: sum, 8 KiB":           "2x, osh-2",
		"collectives, 4 PEs: alltoall, 8 KiB":      "no slower, osh-4 osh-simple-4 osh-tree-4",
		"collectives, 4 PEs: sum, 512 KiB":         "2x, osh-4 osh-simple-4 osh-tree-4",
		"collectives, 8 PEs: broadcast, 8 B":       "2x, osh-8 osh-simple-8 osh-tree-8",
		"collectives, 16 PEs: sum, 64 KiB":         "3x, osh-16 osh-simple-16 osh-tree-16",
		"collectives, 16 PEs: barrier":             "3x, osh-16 osh-simple-16 osh-tree-16 osh-own-16",
		"collectives of four hosts: sum, 512 KiB":  "no slower, osh-4-hosts",
		"collectives of two hosts: broadcast, 8 B": "no slower, osh-2-hosts",
		"collectives, 2 PEs: fcollect, 64 KiB":     "no slower, osh-2",
	} {
		got := ""
		for _, r := range choose(regexp.MustCompile("^" + name + "$")) {
			got += r.goal + ","
			for _, p := range r.theirs {
				got += " " + p.suite
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Locks: goals are those of what is fair, and the best setting of the peer counts.
func TestGoalsOfLocks(t *testing.T) {
	for name, want := range map[string]string{
		"locks alone, 2 PEs: D-MCS of the own memory":                   "5x, osh-2",
		"locks alone, 2 PEs: RMA-RW of another PE's memory":             ", osh-2",
		"locks alone, 16 PEs: pgas.Lock of the own memory":              "5x, osh-awake-16",
		"locks contended, 2 PEs: D-MCS":                                 "no slower, osh-2",
		"locks contended, 8 PEs: pgas.Lock":                             "5x, osh-8 osh-awake-8",
		"locks contended, 8 PEs: RMA-MCS":                               ", osh-8 osh-awake-8",
		"locks contended, 16 PEs: D-MCS, against MPI":                   ", mpi-16",
		"locks contended, two hosts: ALock":                             ", osh-2-hosts",
		"locks contended, two hosts: D-MCS":                             "2x, osh-2-hosts",
		"locks contended, four hosts: D-MCS, longest wait, against MPI": ", mpi-4-hosts",
		"locks contended, 16 PEs: N-CoSED, 99th percentile of waits":    ", osh-16 osh-awake-16",
		"locks contended, 8 PEs: ALock, most turns of others .*":        ", osh-8 osh-awake-8",
	} {
		got := ""
		for _, r := range choose(regexp.MustCompile("^" + name + "$")) {
			got += r.goal + ","
			for _, p := range r.theirs {
				got += " " + p.suite
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestJudgeShares(t *testing.T) {
	ours, theirs := point{"ours-8", "dmcs-contended", 8}, point{"osh-8", "lock-contended", 8}
	f := newFigures()
	f.rounds = append(f.rounds, map[point]result.Result{
		ours:   {P50ns: 500, P99ns: 9000, MaxNs: 2e6, Passed: 7, Least: 100, Most: 150},
		theirs: {P50ns: 9000, P99ns: 36e6, MaxNs: 70e6, Passed: 600, Least: 0, Most: 600},
	})
	for k, want := range map[kind]string{
		perOperation: "500 ns, 9 µs: 18.0x",
		waitP99:      "9 µs, 36 ms: 4000.0x",
		longestWait:  "2 ms, 70 ms: 35.0x",
		passings:     "7 turns, 600 turns: 85.7x",
		unfairness:   "1.50 : 1, 600.00 : 1: 400.0x",
	} {
		v := judge(row{ours: ours, theirs: []point{theirs}, kind: k}, f)
		if got := fmt.Sprintf("%s, %s: %s", k.write(v.Ours), k.write(v.Theirs), times(v.Ratio)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A row is not judged if the two sides have computed different things, and a row of a suite that says nothing is.
func TestJudgeDisagreement(t *testing.T) {
	ours, theirs := point{"ours-kmer-2", "kmer", 16}, point{"osh-kmer-2", "kmer", 16}
	for _, c := range []struct{ ours, theirs, reached, why string }{
		{"7 k-mers", "7 k-mers", "yes", ""},
		{"", "", "yes", ""},
		{"7 k-mers", "8 k-mers", "?", `ours has computed "7 k-mers", and theirs "8 k-mers"`},
	} {
		f := newFigures()
		f.rounds = append(f.rounds, map[point]result.Result{ours: {P50ns: 500, Computed: c.ours}, theirs: {P50ns: 900, Computed: c.theirs}})
		if v := judge(row{ours: ours, theirs: []point{theirs}, least: 1}, f); v.Reached != c.reached || v.Why != c.why {
			t.Errorf("%+v: reached %s, %s", c, v.Reached, v.Why)
		}
	}
}

// The line of samples/wordcount has other fields than others'.
func TestReadWordcount(t *testing.T) {
	got, err := readWordcount([]byte(`{"pes":4,"identifiers":2000000,"distinct":300,"digest":"0a","seconds":0.5,"top":[{"name":"x","count":9}]}` + "\n"))
	want := result.Result{Bench: "wordcount", Bytes: 24, PEs: 4, P50ns: 250, Computed: "2000000 identifiers, 300 different, digest 0a"}
	if err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if _, err := readWordcount([]byte("wordcount: no\n")); err == nil {
		t.Error("what is no JSON is a result")
	}
}

// The goals of programs: those on containers gather small accesses.
func TestGoalsOfPrograms(t *testing.T) {
	for name, want := range map[string]string{
		"gups, two hosts": "no slower", "triangles, 16 PEs": "no slower", "triangles, two hosts": "5x",
		"wordcount, 2 PEs": "no slower", "kmer, 4 PEs": "no slower", "pagerank, 16 PEs": "no slower",
		"wordcount, two hosts": "5x", "kmer, two hosts": "5x", "pagerank, two hosts": "5x",
	} {
		rows := choose(regexp.MustCompile("^programs: " + name + "$"))
		if len(rows) != 1 || rows[0].goal != want {
			t.Errorf("%s: %+v, want the goal %s", name, rows, want)
		}
	}
}

// Without -rows only operations are compared; -list shows all.
func TestUsualRows(t *testing.T) {
	for _, c := range []struct {
		args []string
		all  bool
	}{{nil, false}, {[]string{"-list"}, true}} {
		o, err := parse(c.args, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(choose(o.rows)); (n == len(rows)) != c.all || n < len(rowsOfOperations) {
			t.Errorf("%v: %d rows of %d", c.args, n, len(rows))
		}
	}
}

// The peer yields where it has more PEs than cores, and only there.
func TestPeerGetsItsBestSetting(t *testing.T) {
	tl := &tools{cores: 2, hosts: []string{"a", "b", "c", "d"}}
	for npes, yields := range map[int]bool{2: false, 4: true} {
		for _, argv := range [][]string{oshmem(npes, chosen, "osh")(tl), oshmemOnHosts(npes, "osh")(tl)} {
			if line := strings.Join(argv, " "); strings.Contains(line, "mpi_yield_when_idle 1") != yields {
				t.Errorf("%d PEs: %s", npes, line)
			}
		}
	}
	for _, argv := range [][]string{oshmem(16, awake, "osh")(tl), mpi(16, awake)(tl)} {
		if line := strings.Join(argv, " "); !strings.Contains(line, "mpi_yield_when_idle 0") || strings.Count(line, "yield") != 1 {
			t.Errorf("awake: %s", line)
		}
	}
	if line := strings.Join(mpiOnHosts(4)(tl), " "); !strings.Contains(line, "mpirun --allow-run-as-root --mca osc ^ucx") || !strings.HasSuffix(line, "--host a,b,c,d -np 4 mpi") {
		t.Errorf("MPI on hosts: %s", line)
	}
	if line := strings.Join(mpichOnHosts(2)(tl), " "); !strings.Contains(line, "mpiexec.mpich -launcher rsh -launcher-exec agent.sh ") || !strings.HasSuffix(line, "-hosts a,b -n 2 mpich") {
		t.Errorf("MPICH on hosts: %s", line)
	}
}

// fixed is figures of one ours-2 and one osh-2 point for each round.
func fixed(ours, theirs []float64) *figures {
	f := newFigures()
	f.cpus = 2
	for i := range ours {
		round := map[point]result.Result{}
		if ours[i] > 0 {
			round[point{"ours-2", "put", 8}] = result.Result{P50ns: ours[i]}
		}
		if theirs[i] > 0 {
			round[point{"osh-2", "put", 8}] = result.Result{P50ns: theirs[i]}
		}
		f.rounds = append(f.rounds, round)
	}
	return f
}

func TestJudge(t *testing.T) {
	put := rows[0]
	for _, c := range []struct {
		name         string
		ours, theirs []float64
		ratio        float64
		met, rounds  int
		reached      string
	}{
		{"reached each time", []float64{2, 2, 2}, []float64{10, 12, 14}, 6, 3, 3, "yes"},
		{"the median decides, not the best", []float64{2, 2, 2}, []float64{8, 9, 100}, 4.5, 1, 3, "no"},
		{"exactly", []float64{2}, []float64{10}, 5, 1, 1, "yes"},
		{"ratios are of one round: a slow machine in a round changes nothing", []float64{2, 200}, []float64{12, 1200}, 6, 2, 2, "yes"},
		{"a round without one side does not count", []float64{2, 0, 2}, []float64{12, 1, 0}, 6, 1, 1, "yes"},
		{"no round", []float64{0}, []float64{7}, 0, 0, 0, "?"},
	} {
		v := judge(put, fixed(c.ours, c.theirs))
		if v.Ratio != c.ratio || v.Met != c.met || v.Rounds != c.rounds || v.Reached != c.reached {
			t.Errorf("%s: got %+v", c.name, v)
		}
		if (v.Reached == "?") != (v.Why != "") {
			t.Errorf("%s: why %q", c.name, v.Why)
		}
	}
}

// "Against the best" is the best of each round, and a peer that is missing leaves the others.
func TestJudgeAgainstTheBest(t *testing.T) {
	r := row{ours: point{"ours-2-hosts", "get", 8}, theirs: []point{{"ucp", "get", 8}, {"osh-2-hosts", "get", 8}}, least: 1, goal: noSlower}
	f := newFigures()
	for _, x := range [][3]float64{{10, 20, 30}, {10, 40, 15}, {10, 0, 12}} {
		f.rounds = append(f.rounds, map[point]result.Result{r.ours: {P50ns: x[0]}, r.theirs[0]: {P50ns: x[1]}, r.theirs[1]: {P50ns: x[2]}})
	}
	if v := judge(r, f); v.Theirs != 15 || v.Ratio != 1.5 || v.Least != 1.2 || v.Most != 2 {
		t.Errorf("got %+v", v)
	}
}

func TestReportTable(t *testing.T) {
	f := fixed([]float64{2.5, 2.4, 2.6}, []float64{12.5, 12.5, 12.6})
	f.machine = " (CPU, 2 CPUs)"
	f.failed["ucp"] = errors.New("gcc is not installed (Debian: apt-get install gcc libucx-dev)")
	for i := range f.rounds {
		f.rounds[i][point{"ours-2", "put", mebi}] = result.Result{P50ns: 21500}
		f.rounds[i][point{"ours-2", "copy", mebi}] = result.Result{P50ns: 21000}
		f.rounds[i][point{"ours-2-hosts", "bandwidth", mebi}] = result.Result{P50ns: 310e3}
		f.rounds[i][point{"floor-hosts", "hosts-stream", mebi}] = result.Result{P50ns: 295e3}
		f.rounds[i][point{"floor", "locked-add", 8}] = result.Result{P50ns: 4.4}
		f.rounds[i][point{"floor", "locked-compare-swap", 8}] = result.Result{P50ns: 5.1}
		f.rounds[i][point{"floor", "cache-line", 8}] = result.Result{P50ns: 52}
		f.rounds[i][point{"floor", "yield", 8}] = result.Result{P50ns: 780}
		f.rounds[i][point{"floor", "copy", 8}] = result.Result{P50ns: 2}
		f.rounds[i][point{"floor", "copy", mebi}] = result.Result{P50ns: 20000}
		f.rounds[i][point{suite: "ours-hello"}] = result.Result{P50ns: 41e6}
		f.rounds[i][point{suite: "osh-hello"}] = result.Result{P50ns: 1.2e9}
		f.rounds[i][point{"ours-idle", "idle", 0}] = result.Result{PssKB: 3800, RssKB: 12000}
		f.rounds[i][point{"osh-idle", "idle", 0}] = result.Result{PssKB: 11100, RssKB: 22800}
	}
	wanted := choose(regexp.MustCompile("8 B put$|1 MiB put, against copy|UCX put|raw TCP|whole job"))
	var out bytes.Buffer
	if err := report(&out, wanted, f, asTable); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "report.golden")
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || out.String() != string(want) {
		t.Errorf("%v\ngot\n%swant\n%s(go test -run TestReportTable -update rewrites it)", err, out.String(), want)
	}
	out.Reset()
	if err := report(&out, wanted[:1], f, asJSON); err != nil || !strings.Contains(out.String(), `"row":"same host: 8 B put"`) || !strings.Contains(out.String(), `"reached":"yes"`) ||
		!strings.Contains(out.String(), `"row":"floor: one trip of a cache line","ours":0,"theirs":52`) {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestPages: the rows of the tables in the README and on the page of figures are rows of compare.
func TestPages(t *testing.T) {
	known := map[string]bool{}
	for _, r := range rows {
		known[r.group+": "+r.name] = true
	}
	for page, least := range map[string]int{"README.md": 6, "docs/figures/compare.md": 28} {
		text, err := os.ReadFile(filepath.Join("../../..", page))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?m)^\| ([^|]+:[^|]+) \| [*\d.x]+ \|`).FindAllStringSubmatch(string(text), -1)
		for _, m := range found {
			if !known[m[1]] {
				t.Errorf("%s has the row %q, which compare has not", page, m[1])
			}
		}
		if len(found) < least {
			t.Errorf("%s has %d rows of compare -markdown, and must have %d", page, len(found), least)
		}
		if page != "README.md" && !strings.Contains(string(text), "The floor of this machine") {
			t.Errorf("%s does not have the floor behind its rows", page)
		}
	}
}

func TestReportMarkdown(t *testing.T) {
	f := fixed([]float64{2.5, 2.5}, []float64{12.5, 12.5})
	for i, x := range []float64{20, 80} {
		f.rounds[i][point{"ours-2", "fetch-add", 8}] = result.Result{P50ns: 10}
		f.rounds[i][point{"osh-2", "fetch-add", 8}] = result.Result{P50ns: x}
	}
	f.rounds[0][point{"ours-2", "get", 8}] = result.Result{P50ns: 4}
	f.rounds[0][point{"osh-2", "get", 8}] = result.Result{P50ns: 2}
	f.rounds[1][point{"floor", "copy", 8}] = result.Result{P50ns: 2}
	f.failed["floor"] = errors.New("sched_yield is forbidden")
	var out bytes.Buffer
	if err := report(&out, choose(regexp.MustCompile("same host: 8 B put$|same host: 8 B get$|same host: fetch-add$|1 MiB put$")), f, asMarkdown); err != nil {
		t.Fatal(err)
	}
	const want = `| | ratio | of the rounds | ours | theirs | ours in the floor's |
|---|---|---|---|---|---|
| same host: 8 B put | 5.00x | 5.00x–5.00x | 2.5 ns | 12.5 ns | 1.25 copies |
| same host: 8 B get | **0.50x** | 0.50x–0.50x | 4 ns | 2 ns |  |

The machine's floor was not measured: sched_yield is forbidden.
Left out, because the ratios of their rounds differ by more than a factor of 3: same host: fetch-add.
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

// Reports name the releases, which the programs print in ways of their own.
func TestReleases(t *testing.T) {
	for i, text := range []string{"mpirun (Open MPI) 5.0.7\n", "HYDRA build details:\n    Version:        4.2.1\n", "1.18.1\n", "14.2.0\n"} {
		if m := releases[i].pattern.FindStringSubmatch(text); m == nil || m[1] != strings.Fields(text)[len(strings.Fields(text))-1] {
			t.Errorf("%s: found %q in %q", releases[i].name, m, text)
		}
	}
	f := fixed([]float64{2}, []float64{10})
	f.versions = []string{"Open MPI 5.0.7", "UCX 1.18.1"}
	for how, want := range map[format]string{
		asTable: "Measured with Open MPI 5.0.7, UCX 1.18.1.\n", asMarkdown: "Measured with Open MPI 5.0.7, UCX 1.18.1.\n",
		asJSON: `"versions":["Open MPI 5.0.7","UCX 1.18.1"]`,
	} {
		var out bytes.Buffer
		if err := report(&out, choose(regexp.MustCompile("same host: 8 B put$")), f, how); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, and no %s in\n%s", err, want, out.String())
		}
	}
}

// A report without a floor says so, and why.
func TestReportWithoutFloor(t *testing.T) {
	f := fixed([]float64{2}, []float64{10})
	f.failed["floor"] = errors.New("sched_yield is forbidden")
	if got, want := f.floor(), "The machine's floor was not measured: sched_yield is forbidden.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// told is a job whose program is a line of shell.
func told(suiteName, script string, points ...point) job {
	return job{suite{name: suiteName, says: suiteName, plain: true, argv: func(*tools) []string { return []string{"sh", "-c", script} }}, "", points}
}

func quickly() *options { return &options{rounds: 4, limit: time.Minute, child: 10 * time.Second} }

// Sides alternate, and every other round is reversed.
func TestRoundsAlternate(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	put := point{"ours-2", "put", 8}
	jobs := []job{
		told("ours-2", `echo ours >> `+log+`; echo '{"bench":"put","bytes":8,"p50_ns":2}'`, put),
		told("osh-2", `echo theirs >> `+log+`; echo '{"bench":"put","bytes":8,"p50_ns":20}'`, point{"osh-2", "put", 8}),
	}
	f := newFigures()
	if err := measureRounds(t.Context(), &tools{}, jobs, quickly(), f, io.Discard); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if got := strings.Join(strings.Fields(string(text)), " "); err != nil || got != "ours theirs theirs ours ours theirs theirs ours" {
		t.Errorf("order %s (%v)", got, err)
	}
	if v := judge(rows[0], f); v.Ratio != 10 || v.Rounds != 4 {
		t.Errorf("got %+v", v)
	}
}

// A peer that fails takes its rows with it and nothing else, and is not tried for ever.
func TestFailingPeer(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	for name, script := range map[string]string{
		"exits":       `echo x >> ` + log + `; echo "----" >&2; echo "no such device" >&2; exit 3`,
		"says little": `echo x >> ` + log + `; echo '{"bench":"get","bytes":8,"p50_ns":20}'`,
		"talks trash": `echo x >> ` + log + `; echo '{"bench":"get","size":8}'`,
	} {
		os.Remove(log)
		f := newFigures()
		jobs := []job{
			told("ours-2", `echo '{"bench":"put","bytes":8,"p50_ns":2}'`, point{"ours-2", "put", 8}),
			told("osh-2", script, point{"osh-2", "put", 8}),
		}
		if err := measureRounds(t.Context(), &tools{}, jobs, quickly(), f, io.Discard); err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(log); strings.Count(string(text), "x") != failuresAllowed {
			t.Errorf("%s: started %d times, want %d", name, strings.Count(string(text), "x"), failuresAllowed)
		}
		v := judge(rows[0], f)
		want := map[string]string{"exits": "exit status 3: no such device", "says little": "no line for put of 8 bytes", "talks trash": "unknown field"}[name]
		if v.Reached != "?" || !strings.Contains(v.Why, want) || len(f.failed) != 1 {
			t.Errorf("%s: %+v, failed %v", name, v, f.failed)
		}
	}
}

// The whole run is bounded: what does not fit says so, and what was measured is reported.
func TestRunIsBounded(t *testing.T) {
	f := newFigures()
	o := quickly()
	o.limit = 3 * time.Second
	jobs := []job{
		told("ours-2", `echo '{"bench":"put","bytes":8,"p50_ns":2}'`, point{"ours-2", "put", 8}),
		told("osh-2", `sleep 60`, point{"osh-2", "put", 8}),
	}
	start := time.Now()
	if err := measureRounds(t.Context(), &tools{}, jobs, o, f, io.Discard); err != nil {
		t.Fatal(err)
	}
	if v := judge(rows[0], f); v.Reached != "?" || !strings.Contains(v.Why, "the run was over after 3s") || len(f.rounds) != 1 {
		t.Errorf("%+v after %d rounds and %v", v, len(f.rounds), time.Since(start))
	}
	if _, ok := f.rounds[0][point{"ours-2", "put", 8}]; !ok {
		t.Error("what was measured is lost")
	}
}

func TestBusy(t *testing.T) {
	stat := func(user, system, idle, wait, steal int) string {
		return fmt.Sprintf("cpu  %d 0 %d %d %d 0 0 %d 55 66\ncpu0 1 2 3 4 5 6 7 8 9 10\n", user, system, idle, wait, steal)
	}
	for _, c := range []struct {
		after string
		want  float64
	}{
		{stat(100, 100, 200, 10, 0), 0},
		{stat(100, 100, 250, 60, 0), 0},
		{stat(125, 125, 250, 10, 0), 0.5},
		{stat(100, 100, 275, 10, 25), 0.25},
		{"", 0},
	} {
		if got := busyBetween(stat(100, 100, 200, 10, 0), c.after); got != c.want {
			t.Errorf("%q: %v, want %v", c.after, got, c.want)
		}
	}
	f := newFigures()
	f.busy = []float64{0.02, 0.04}
	if f.caution() != "" {
		t.Error(f.caution())
	}
	f.busy = append(f.busy, 0.734)
	if !strings.Contains(f.caution(), "up to 73 % of this machine") {
		t.Error(f.caution())
	}
}

func TestMissingNeedsAreNamed(t *testing.T) {
	j := told("osh-2-hosts", "exit 0")
	j.needs = needs{osh: true, hosts: 2}
	why := errors.New("network namespaces need root")
	tl := &tools{missing: map[string]error{"hosts": why}}
	if err := j.measure(t.Context(), tl, quickly(), nil); err != why {
		t.Errorf("got %v", err)
	}
}

// A child that hangs is ended with everything it started.
func TestChildIsBounded(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	script := fmt.Sprintf(`trap "" TERM; sleep 300 & echo $! > %s; while :; do wait; done`, pids)
	var text []byte
	for limit := 300 * time.Millisecond; len(text) == 0; limit *= 2 { // on a busy machine the child may not have begun
		_, _, err := runChild(t.Context(), limit, []string{"sh", "-c", script})
		if err == nil || err.Error() != fmt.Sprintf("did not end within %v", limit) {
			t.Fatalf("got %v", err)
		}
		if text, err = os.ReadFile(pids); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	for range 100 {
		if !alive(strings.TrimSpace(string(text))) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %s is still there", text)
}

// alive: a process that is there and not a zombie.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestChildErrors(t *testing.T) {
	if _, _, err := runChild(t.Context(), time.Second, []string{"no-such-program-here"}); err == nil || err.Error() != "is not installed" {
		t.Errorf("missing program: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if _, _, err := runChild(ctx, time.Second, []string{"sleep", "9"}); err == nil || err.Error() != "interrupted" {
		t.Errorf("interrupt: %v", err)
	}
	out, took, err := runChild(t.Context(), 5*time.Second, []string{"echo", "hello"})
	if err != nil || string(out) != "hello\n" || took <= 0 {
		t.Errorf("echo: %q, %v, %v", out, took, err)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-rows [", "not a regular expression"},
		{"-rows nothing-like-it", "matches no row"},
		{"-rounds 0", "from 1 to 1000"},
		{"-time 0s", "more than nothing"},
		{"-hosts a,a", "two different network namespaces"},
		{"-hosts a,b,c", "two different network namespaces"},
		{"-hosts a,b,c,a", "two different network namespaces"},
		{"-colour", "flag provided but not defined"},
		{"rows", "chosen with -rows"},
	} {
		err := Main(t.Context(), strings.Fields(c.args), io.Discard, io.Discard)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", c.args, err, c.want)
		}
	}
}

// The peers measure by the same rule: the numbers of measure.h are those of package result.
func TestPeersMeasureAlike(t *testing.T) {
	var text []byte
	for _, header := range []string{"measure.h", "locks.h"} {
		part, err := os.ReadFile("../../../tests/peers/" + header)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, part...)
	}
	p := result.Standard(0)
	for name, want := range map[string]int{
		"BATCH_NS": int(p.Short), "LONG_BATCH_NS": int(p.Long), "LEAST_BATCHES": p.Least, "MOST_BATCHES": p.Most,
		"TRIES": p.Tries, "WINDOW": result.Window, "RING_BYTES": result.Slots(64) * 64, "MOST_SLOTS": result.Slots(1),
		"CONTENDED": result.Contended,
	} {
		m := regexp.MustCompile(`(?m)^#define ` + name + ` (\d+)`).FindSubmatch(text)
		if m == nil || string(m[1]) != strconv.Itoa(want) {
			t.Errorf("%s is %s there, %d here", name, m, want)
		}
	}
}

// The whole thing, with real programs: what is not installed is said in its row.
func TestCompareRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts programs")
	}
	var out, news bytes.Buffer
	args := []string{"-source", "../../..", "-rounds", "1", "-time", "1us", "-json", "-rows", "^same host: (8 B put$|put.flag ping-pong, one way, against)"}
	if err := Main(t.Context(), args, &out, &news); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for row, program := range map[string]string{"8 B put": "oshcc", "put+flag ping-pong, one way, against a cache line's trip": "go"} {
		line := regexp.MustCompile(`(?m)^\{"row":"same host: ` + regexp.QuoteMeta(row) + `".*$`).FindString(text)
		if line == "" {
			t.Fatalf("no row %s in\n%s", row, text)
		}
		if _, err := exec.LookPath(program); err != nil {
			if !strings.Contains(line, program+" is not installed") {
				t.Errorf("%s is not installed, but the row says %s", program, line)
			}
			continue
		}
		if !regexp.MustCompile(`"of_floor":[0-9.e-]+,"floor_ns":[0-9.e-]+,"floor":"(copy|trip)"`).MatchString(line) && runtime.NumCPU() > 1 {
			t.Errorf("no multiple of the floor: %s", line)
		}
		if strings.Contains(line, `"reached":"?"`) || strings.Contains(line, `"ratio":0,`) {
			t.Errorf("not measured: %s", line)
		}
	}
}
