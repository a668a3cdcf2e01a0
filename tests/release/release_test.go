// Package release makes modules of the commit that is checked out, as the Go proxy would make them of its
// tags, and does with them what the first users of a release do: go install, pgasgen init, a job.
//
//ci:computes
package release

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/version"
	"github.com/gopgas/gopgas/tests/built"
	"github.com/gopgas/gopgas/tests/pages"
)

// TestRelease needs the modules that the commands import: those in the module cache, or else the network.
//
//ci:weekly
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the commands anew")
	}
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, root)
	u := newUser(t, p.dir)

	const at = "@latest"
	u.run(".", "go", "install", version.Module+"/cmd/..."+at)
	u.run(".", "go", "install", version.Module+"/cmd/pgasbench"+at)
	for _, name := range []string{"pgasgen", "pgasbench"} {
		if got := u.run(".", name, "-version"); !strings.HasPrefix(got, name+" "+version.Next) || strings.Contains(got, "devel") {
			t.Errorf("%s -version prints %q, want %s", name, got, version.Next)
		}
	}
	if got := strings.Fields(u.run(".", "pgasrun", "version")); len(got) < 2 || got[0] != "gopgas" || got[1] != version.Next {
		t.Errorf("pgasrun version prints %q, want gopgas %s", got, version.Next)
	}
	u.run(".", "pgasgen", "init", "-module", "example.com/heat", "heat")
	checkProject(t, filepath.Join(u.dir, "heat", "go.mod"))
	u.run("heat", "go", "mod", "tidy")
	checkProject(t, filepath.Join(u.dir, "heat", "go.mod"))
	u.run("heat", "go", "build", "-o", "heat", ".")
	if got := u.run("heat", "pgasrun", "-n", "2", "./heat", "-rows", "4", "-steps", "10"); !strings.HasPrefix(got, "PEs: 2, ") {
		t.Errorf("the project prints %q", got)
	}
	u.env = append(u.env, "SHMEM_VERSION=1")
	if got := u.run("heat", "pgasrun", "-n", "2", "sh", "-c", "./heat 2>&1"); !strings.Contains(got, "pgas: gopgas "+version.Next+", OpenSHMEM") {
		t.Errorf("with SHMEM_VERSION the project prints %q", got)
	}
}

// TestCollector: a program with a client of Prometheus gets the collector of metrics, a module of its own, as it gets
// any module.
func TestCollector(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a release")
	}
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	u := newUser(t, newProxy(t, root).dir)
	if err := os.Mkdir(filepath.Join(u.dir, "metered"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(u.dir, "metered", "main.go"), []byte(`package main

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/metrics"
	"github.com/gopgas/gopgas/pgas/metrics/collector"
	"github.com/prometheus/client_golang/prometheus"
)

func main() {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(collector.New(metrics.Job(func() []metrics.PE { return []metrics.PE{{Host: "a"}} })))
	families, err := r.Gather()
	fmt.Println(len(families), err)
}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	u.run("metered", "go", "mod", "init", "example.com/metered")
	u.run("metered", "go", "get", version.Module+"/pgas/metrics/collector@latest")
	u.run("metered", "go", "mod", "tidy")
	if got := u.run("metered", "go", "run", "."); got != "3 <nil>\n" {
		t.Errorf("it prints %q, want the 3 metrics of a PE that counts nothing", got)
	}
}

// TestReadme makes the project of the README with go run of the release, pastes its program and runs it, as the page
// says.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a release")
	}
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := pages.Blocks(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	u := newUser(t, newProxy(t, root).dir)
	dir, out := u.dir, ""
	var program pages.Block // it stands before the block that makes its project
	for _, b := range blocks {
		switch {
		case b.Section != "A program" || strings.Contains(b.Text, "~/mail"): // the latter is for a checkout
		case b.Language == "go":
			program = b
		case b.Language == "sh":
			dir, out = u.shell(dir, b.Text)
			if !strings.Contains(b.Text, "pgasgen@latest init") {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, program.File), []byte(program.Text), 0o644); err != nil {
				t.Fatal(err)
			}
		case b.Language == "text" && out != b.Text:
			t.Errorf("README.md:%d: the page says\n%sand the block before it prints\n%s", b.Line, b.Text, out)
		}
	}
	if out == "" {
		t.Error("the program of the README has not run")
	}
	checkProject(t, filepath.Join(dir, "go.mod"))
}

// TestTidy: the go.mod file of each module is what go mod tidy makes of it when the release is published.
func TestTidy(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a release")
	}
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, root)
	u := newUser(t, p.dir)
	if err := os.CopyFS(filepath.Join(u.dir, "tree"), os.DirFS(p.tree)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range p.modules {
		own := filepath.Join(u.dir, "tree", dir)
		before, err := os.ReadFile(filepath.Join(own, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		u.run(filepath.Join("tree", dir), "go", "mod", "tidy")
		after, err := os.ReadFile(filepath.Join(own, "go.mod"))
		if err != nil || string(before) != string(after) {
			t.Errorf("%s/go.mod is not tidy (run make tidy): it becomes\n%s%v", dir, after, err)
		}
	}
}

// checkProject looks at the go.mod that pgasgen init has written.
func checkProject(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse(path, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(mod.Replace) > 0 {
		t.Errorf("a project of a release has a replace directive:\n%s", text)
	}
	for _, r := range mod.Require {
		if r.Mod.Path == version.Module && r.Mod.Version == version.Next {
			return
		}
	}
	t.Errorf("the project does not require %s %s:\n%s", version.Module, version.Next, text)
}

// A proxy is a folder laid out as a module proxy, with the modules of the repository at version.Next.
type proxy struct {
	dir     string
	tree    string   // the files of HEAD
	modules []string // the directories of the modules in it
}

func newProxy(t *testing.T, root string) proxy {
	t.Helper()
	if err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("the release is what git archive makes of HEAD, and this is no checkout: ", err)
	}
	p := proxy{dir: t.TempDir(), tree: treeOfHead(t, root)}
	text, err := os.ReadFile(filepath.Join(p.tree, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range work.Use {
		p.modules = append(p.modules, u.Path)
		p.add(t, u.Path)
	}
	return p
}

// add makes a version of the module in a directory of the tree.
func (p proxy) add(t *testing.T, dir string) {
	t.Helper()
	path := version.Module + strings.TrimPrefix(dir, ".")
	versions := filepath.Join(p.dir, path, "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(versions, version.Next)
	p.archive(t, dir, module.Version{Path: path, Version: version.Next}, file+".zip")
	text, err := os.ReadFile(filepath.Join(p.tree, dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		file + ".mod":                   string(text),
		file + ".info":                  fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version.Next),
		filepath.Join(versions, "list"): version.Next + "\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// archive writes the zip of a module, and fails if a file of it is not legal in a module.
func (p proxy) archive(t *testing.T, dir string, m module.Version, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(p.tree, dir)
	if dir != "." { // the go command adds the licence of the repository to a module without one
		text, err := os.ReadFile(filepath.Join(p.tree, "LICENSE"))
		if err == nil {
			err = os.WriteFile(filepath.Join(own, "LICENSE"), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := modzip.CreateFromDir(f, m, own); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	checked, err := modzip.CheckZip(m, name)
	if err == nil {
		err = checked.Err()
	}
	if err != nil {
		t.Errorf("the zip of %s: %v", m.Path, err)
	}
	if dir == "." {
		checkFiles(t, m, name)
	}
}

// checkFiles fails if the release lacks a file that its users look for.
func checkFiles(t *testing.T, m module.Version, name string) {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, want := range []string{"LICENSE", "THIRD_PARTY_LICENSES.md", "CHANGELOG.md", "README.md"} {
		if _, err := z.Open(m.Path + "@" + m.Version + "/" + want); err != nil {
			t.Errorf("the release has no %s", want)
		}
	}
}

// treeOfHead returns a folder with the files of HEAD, whatever lies in the checkout beside them.
func treeOfHead(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	tar := exec.Command("git", "-C", root, "archive", "-o", filepath.Join(dir, "..", "head.tar"), "HEAD")
	if out, err := tar.CombinedOutput(); err != nil {
		t.Fatalf("git archive: %v\n%s", err, out)
	}
	if out, err := exec.Command("tar", "-x", "-C", dir, "-f", filepath.Join(dir, "..", "head.tar")).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	return dir
}

// A user has a folder, commands and a module cache of its own.
type user struct {
	t   *testing.T
	dir string
	env []string
}

func newUser(t *testing.T, proxy string) *user {
	t.Helper()
	u := &user{t: t, dir: t.TempDir()}
	u.env = append(os.Environ(), "HOME="+u.dir, "GOBIN="+u.dir+"/bin", "GOMODCACHE="+u.dir+"/mod", "PATH="+u.dir+"/bin:"+os.Getenv("PATH"),
		"GOFLAGS=-modcacherw -buildvcs=false -trimpath", "GOWORK=off", "GOTOOLCHAIN=local", "PGAS_HEAP_MAX=64m",
		// The modules of the repository from the folder, others from the module cache, which is laid out as a proxy
		// too.
		"GOPROXY=file://"+proxy+",file://"+goEnv(t, "GOMODCACHE")+"/cache/download,"+goEnv(t, "GOPROXY"),
		"GONOSUMDB="+version.Module, "GOCACHE="+goEnv(t, "GOCACHE"))
	return u
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// unreachable is what the go command says of a proxy that does not answer.
var unreachable = regexp.MustCompile(`dial tcp|no such host|module lookup disabled by GOPROXY=off|i/o timeout`)

// shell runs commands of a page in a directory. It returns the directory in which they end, and what the last of them
// prints.
func (u *user) shell(dir, commands string) (end, out string) {
	u.t.Helper()
	at := filepath.Join(u.dir, "at")
	out = u.command(dir, "bash", "-euc", commands+"pwd > "+at)
	text, err := os.ReadFile(at)
	if err != nil {
		u.t.Fatal(err)
	}
	return strings.TrimSpace(string(text)), out
}

// run returns what a command prints to its standard output.
func (u *user) run(dir, name string, args ...string) string {
	u.t.Helper()
	if own := filepath.Join(u.dir, "bin", name); name != "go" {
		name = own
	}
	return u.command(filepath.Join(u.dir, dir), name, args...)
}

func (u *user) command(dir, name string, args ...string) string {
	u.t.Helper()
	ctx, cancel := hang.Context(u.t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, u.env, 5*time.Second
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	switch {
	case err != nil && unreachable.MatchString(errs.String()):
		u.t.Skipf("a module is neither in the module cache nor can it be downloaded:\n%s", &errs)
	case err != nil:
		u.t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, &errs)
	}
	return string(out)
}
