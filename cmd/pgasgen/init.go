package main

// pgasgen init DIR: a new project from templates/starter, which builds and runs as it is.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/gopgas/gopgas/pgas/version"
	"github.com/gopgas/gopgas/templates"
)

const (
	modulePath  = version.Module
	starterPath = modulePath + "/templates/starter"
	toolPath    = modulePath + "/cmd/pgasgen"
	launchPath  = modulePath + "/cmd/pgasrun"
)

// deployed are the files that name the program itself: they start it on clusters.
var deployed = []string{"job.sbatch", "Containerfile"}

func initCommand(stdout io.Writer, help *bytes.Buffer) *command {
	flags := newFlags("pgasgen init", help)
	name := flags.String("module", "", "module `path` of the new project (default example.com/NAME, with the name of DIR)")
	replace := flags.String("replace", "", "use the checkout of gopgas in `dir`, in place of a published version")
	empty := flags.Bool("empty", false, "write no program: only go.mod, with the commands as tools, and .gitignore")
	return &command{
		name:  "init",
		usage: "pgasgen init [-module path] [-replace dir] [-empty] DIR",
		short: "Write a starter project into DIR, which must be empty or not exist.",
		long: `The project is a small program that works: it solves the heat equation on a ring of PEs, with halo
rows exchanged by puts with signals. For example:

  $ pgasgen init -module example.com/heat ./heat
  $ cd heat && go build && go tool pgasrun -n 4 ./heat`,
		flags: flags,
		exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return errUsage{errors.New("init takes one directory, after its flags")}
			}
			p := project{dir: args[0], module: *name, checkout: *replace, empty: *empty}
			if err := p.write(ctx); err != nil {
				return err
			}
			name := filepath.Base(p.module)
			if p.empty {
				fmt.Fprintf(stdout, "wrote %s, without a program; now:\n  cd %s%s\n  write main.go\n  go generate && go tool pgasrun -n 4 .\n",
					p.dir, p.dir, p.tidy()+p.workspace(ctx))
				return nil
			}
			fmt.Fprintf(stdout, "wrote %s; now:\n  cd %s%s\n  go build -o %s . && ./%s\n  go tool pgasrun -n 4 ./%s\n  go test ./...\n",
				p.dir, p.dir, p.tidy()+p.workspace(ctx), name, name, name)
			return nil
		},
	}
}

// A project is what init writes.
type project struct {
	dir      string
	module   string // the project's module path
	checkout string // the checkout of gopgas that it uses, or ""
	version  string // the version of gopgas that it requires
	empty    bool   // no program is written
}

// tidy runs the extra step that a project with a published gopgas needs, to download it.
func (p *project) tidy() string {
	if p.checkout == "" {
		return "\n  go mod tidy"
	}
	return ""
}

// workspace returns the extra step of a project below a go.work file, whose workspace the go command would ask for it:
// to become one of its modules, or, if it is that of gopgas, to leave it aside.
func (p *project) workspace(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, "go", "env", "GOWORK")
	cmd.Dir = p.dir
	out, err := cmd.Output()
	file := strings.TrimSpace(string(out))
	switch {
	case err != nil, file == "", file == "off":
		return ""
	case filepath.Dir(file) == p.checkout:
		return "\n  export GOWORK=off"
	}
	return "\n  go work use ."
}

func (p *project) write(ctx context.Context) error {
	if err := p.complete(ctx); err != nil {
		return err
	}
	if err := mustBeEmpty(p.dir); err != nil {
		return err
	}
	files, err := p.files()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(p.dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// complete fills in what was not said, and checks what was.
func (p *project) complete(ctx context.Context) error {
	abs, err := filepath.Abs(p.dir)
	if err != nil {
		return err
	}
	if p.module == "" {
		p.module = "example.com/" + filepath.Base(abs)
	}
	if err := module.CheckImportPath(p.module); err != nil {
		return fmt.Errorf("%w; choose another with -module", err)
	}
	p.version = version.Current()
	if p.checkout == "" && !version.Published() {
		p.checkout = checkoutHere(ctx)
		if p.checkout == "" {
			return errors.New("this pgasgen was not built from a published version of gopgas; say where its source is: -replace DIR")
		}
	}
	if p.checkout == "" {
		return nil
	}
	p.version = "v0.0.0"
	if p.checkout, err = filepath.Abs(p.checkout); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(p.checkout, "go.mod"))
	if err != nil || modfile.ModulePath(mod) != modulePath {
		return fmt.Errorf("%s is not a checkout of %s; give -replace the directory of its go.mod", p.checkout, modulePath)
	}
	return nil
}

// checkoutHere returns the checkout of gopgas that the current directory is in, or that its module uses.
func checkoutHere(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{if or .Main .Replace}}{{.Dir}}{{end}}", modulePath).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// mustBeEmpty refuses a directory with anything in it.
func mustBeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty (it holds %s); name a new directory", dir, entries[0].Name())
	}
	return nil
}

// files returns the project: the starter under its new name, unless the project is to be empty, and its module files.
// The generated file is the starter's own; only the name of the package is in it, so it is current in the new project
// too.
func (p *project) files() (map[string][]byte, error) {
	out := map[string][]byte{".gitignore": []byte("/" + filepath.Base(p.module) + "\n")}
	if p.empty {
		return out, p.moduleFiles(out)
	}
	entries, err := fs.ReadDir(templates.Starter, "starter")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		content, err := fs.ReadFile(templates.Starter, "starter/"+e.Name())
		if err != nil {
			return nil, err
		}
		out[e.Name()] = bytes.ReplaceAll(content, []byte(starterPath), []byte(p.module))
	}
	for _, name := range deployed {
		out[name] = bytes.ReplaceAll(out[name], []byte("starter"), []byte(filepath.Base(p.module)))
	}
	return out, p.moduleFiles(out)
}

// onlyForTests reports whether the go.mod of gopgas says so of a module that it requires.
func onlyForTests(r *modfile.Require) bool {
	return slices.ContainsFunc(r.Syntax.Suffix, func(c modfile.Comment) bool { return strings.Contains(c.Token, "tests only") })
}

// moduleFiles adds go.mod, and with a local checkout also go.sum: the project then needs what the
// packages and commands of the checkout need, and nothing has to be downloaded.
func (p *project) moduleFiles(out map[string][]byte) error {
	mod := &modfile.File{}
	steps := []error{
		mod.AddModuleStmt(p.module),
		mod.AddTool(toolPath),
		mod.AddTool(launchPath),
	}
	needs := []*modfile.Require{{Mod: module.Version{Path: modulePath, Version: p.version}}}
	goVersion := templates.GoVersion
	if p.checkout != "" {
		steps = append(steps, mod.AddReplace(modulePath, "", p.checkout, ""))
		theirs, err := readModule(p.checkout)
		if err != nil {
			return err
		}
		if theirs.Go != nil {
			goVersion = theirs.Go.Version
		}
		for _, r := range theirs.Require {
			if !onlyForTests(r) {
				needs = append(needs, &modfile.Require{Mod: r.Mod, Indirect: true})
			}
		}
		if out["go.sum"], err = os.ReadFile(filepath.Join(p.checkout, "go.sum")); err != nil {
			return err
		}
	}
	steps = append(steps, mod.AddGoStmt(goVersion))
	if err := errors.Join(steps...); err != nil {
		return err
	}
	mod.SetRequireSeparateIndirect(needs)
	mod.Cleanup()
	content, err := mod.Format()
	out["go.mod"] = content
	return err
}

func readModule(dir string) (*modfile.File, error) {
	path := filepath.Join(dir, "go.mod")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(path, content, nil)
}
