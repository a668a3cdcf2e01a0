package dsm_test

// Planted bugs of the protocol. Each is an edit of the source, which is compiled in its place (go test -overlay) and must
// be found by the random programs or the explored litmus programs. The first is always tried, the others with -long.

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

type mutant struct {
	name, file, old, new string
	tests                string // that find it
}

const (
	byPrograms    = "Random"
	byExploration = "LitmusExplored"
)

var mutants = []mutant{
	{"a notice does not invalidate", "acquire.go", "int(n.pe) != r.me && n.wts > r.cache.known(n.b).rts", "int(n.pe) != r.me && n.wts > closed", byPrograms},
	{"no twin", "soft.go", "\t\ts.storeTwin(b, s.copyOf(b))\n\t\tif !i.inDirty", "\t\tif !i.inDirty", byPrograms},
	{"any lease is trusted", "version.go", "f.fast = f.rts >= f.now", "f.fast = true", byPrograms},
	{"moved versions are not followed", "version.go", "if f.version&moved != 0 {", "if f.version&moved != 0 && f.hops > 1<<30 {", byPrograms},
	{"a closed version gets a lease", "version.go", "f.rts = f.version &^ closed // a", "f.rts = f.lease // a", byExploration},
	{"own bytes are lost at a fetch", "soft.go", "\t\ts.keepOwn(b, data)\n", "\t\tcopy(s.copyOf(b), data)\n", byPrograms},
	{"leases go on while a version is made", "release.go", "FetchOrNB(int(t.prev), closed, &t.rts)", "FetchOrNB(int(t.prev), 0, &t.rts)", byPrograms},
	{"the whole block is merged", "soft.go", "if own[i] == twin[i] {\n\t\t\town[i] = latest[i]", "if own[i] == twin[i] && false {\n\t\t\town[i] = latest[i]", byPrograms},
	{"numbers of versions ignore leases", "release.go", "t.wts = max(t.rts+1, r.now)\n\t\tfirst", "t.wts = r.now + 1\n\t\tfirst", byPrograms},
	{"the turn is given away before the last home is told", "release.go", "\tp.tellPrevious(list)\n\tr.give(list)\n", "\tr.give(list)\n\tp.tellPrevious(list)\n", byExploration},
	{"the last home is not told", "release.go", "\tp.tellPrevious(list)\n\tr.give(list)\n", "\tr.give(list)\n", byPrograms},
	{"dropped notices are forgotten", "notice.go", "\ts.min = max(s.min, s.list[s.limit].wts)\n", "", byPrograms},
	{"acquired notices are not passed on", "acquire.go", "\t\tr.notices.add(n)\n", "", byPrograms},
	{"the least time is ignored", "acquire.go", "\tr.now = max(r.now, s.min)\n", "", byPrograms},
	{"a release publishes without a notice", "release.go", "\t\tr.notices.add(notice{t.b, int32(r.me), t.wts})\n", "", byPrograms},
	{"a release waits for one turn while another has come", "turn.go", "if len(queued) == 1 {", "if len(queued) > 0 {", "CrossedReleases"},
	{"a lock's notices are left after it is released", "mutex.go", "\tif err := m.leave(); err != nil {\n\t\tpanic(err)\n\t}\n\tm.lock.Unlock()\n", "\tm.lock.Unlock()\n\tif err := m.leave(); err != nil {\n\t\tpanic(err)\n\t}\n", byPrograms},
	{"a home renews the lease of a version that has moved", "acquire.go", "old[i]&(closed|moved) == 0", "old[i]&closed == 0", byPrograms},
	{"FixedHome: a copy is kept though another PE has released", "fixed.go", "if t.full || p.fetched.get(t.b) == before[i] {", "if p.fetched.get(t.b) <= before[i] {", byPrograms},
	{"Directory: a reader fetches before it is in the bitmap", "directory.go", "p.sharers.At(i).FetchOrNB(int(f.home), bit, &f.version)\n\t}\n\tr.mustQuiet()\n\tr.stats.count(&r.stats.SlowReads, uint64(len(list)))\n\tr.get(list)\n", "p.sharers.At(i).FetchNB(int(f.home), &f.version)\n\t\t_ = bit\n\t}\n\tr.mustQuiet()\n\tr.stats.count(&r.stats.SlowReads, uint64(len(list)))\n\tr.get(list)\n\tfor _, f := range list {\n\t\ti, bit := r.mine(f.b)\n\t\tp.sharers.At(i).Or(int(f.home), bit)\n\t}\n\tr.mustQuiet()\n", byPrograms},
	{"Classified: the first writer tells no reader", "classified.go", "\t\tr.tell(p.shared, b, readers[k*n:(k+1)*n])\n", "", byPrograms},
}

func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the package for each mutant")
	}
	for i, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			text := m.text(t)
			if i > 0 && !*long {
				t.Skip("-long tries all planted bugs")
			}
			m.mustBeFound(t, text)
		})
	}
}

// text returns the source with the bug in it.
func (m mutant) text(t *testing.T) string {
	src, err := os.ReadFile(m.file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(src), m.old); n != 1 {
		t.Fatalf("%s has %q %d times: the mutant must follow the source", m.file, m.old, n)
	}
	return strings.Replace(string(src), m.old, m.new, 1)
}

func (m mutant) mustBeFound(t *testing.T, text string) {
	dir := t.TempDir()
	bad, overlay := filepath.Join(dir, m.file), filepath.Join(dir, "overlay.json")
	path, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: bad}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{bad: []byte(text), overlay: list} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := hang.Context(t.Context()) // a bug may hang
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "test", "-vet=off", "-overlay", overlay, "-failfast", "-timeout=0", "-run", "^Test"+m.tests+"$", ".", "-seeds=40").CombinedOutput()
	switch {
	case err == nil:
		t.Fatalf("nothing has found it:\n%s", out)
	case !strings.Contains(string(out), "--- FAIL"):
		t.Fatalf("it was not found but did not build or run:\n%s", out)
	}
	t.Logf("caught by Test%s", m.tests)
}
