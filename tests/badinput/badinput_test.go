// Package badinput runs jobs that cannot work, from the command line to the last PE, the way a user
// would. Each must end soon with a status other than 0, say in one line what to do about it, and leave
// nothing behind: no process, no file, no shared memory.
//
//ci:waits
package badinput

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/tests/built"
)

// schema is the program of the scripts, built in two layouts from the two forms of one field.
const (
	narrowField = "Sum   float64"
	wideField   = "Sum   [3]float64"
)

func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	goEnv, err := built.Environ()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := built.Commands(root, bin); err != nil {
		t.Fatal(err)
	}
	for name, field := range map[string]string{"narrow": narrowField, "wide": wideField} {
		if err := buildCell(filepath.Join(t.TempDir(), name), root, bin, name, field, goEnv); err != nil {
			t.Fatal(err)
		}
	}
	if err := buildOthers(root, bin, t.TempDir(), goEnv); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			for _, kv := range append(goEnv, "ROOT="+root, "BIN="+bin, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+env.WorkDir, "PGAS_HEAP_MAX=16m") {
				name, value, _ := strings.Cut(kv, "=")
				env.Setenv(name, value)
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "cgo" {
				return !strings.Contains(strings.Join(goEnv, " "), "CGO_ENABLED=0"), nil
			}
			return false, fmt.Errorf("there is no condition %s", name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"refuses": func(ts *testscript.TestScript, neg bool, args []string) { mustFail(ts, neg, args, true) },
			"fails":   func(ts *testscript.TestScript, neg bool, args []string) { mustFail(ts, neg, args, false) },
		},
	})
}

// buildCell makes a module with the test's program, of which one field is as given, and builds it as
// bin/name.
func buildCell(dir, root, bin, name, field string, goEnv []string) error {
	source, err := os.ReadFile("testdata/cell/cell.go")
	if err != nil {
		return err
	}
	run := func(argv ...string) error {
		in := ""
		if _, err := os.Stat(dir); err == nil {
			in = dir
		}
		return run(in, goEnv, argv...)
	}
	pgasgen := filepath.Join(bin, "pgasgen")
	if err := run(pgasgen, "init", "-module", "example.com/cell", "-replace", root, dir); err != nil {
		return err
	}
	starter, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range starter {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	source = bytes.Replace(source, []byte(narrowField), []byte(field), 1)
	if err := os.WriteFile(filepath.Join(dir, "cell.go"), source, 0o644); err != nil {
		return err
	}
	if err := run(pgasgen); err != nil {
		return err
	}
	return run("go", "build", "-o", filepath.Join(bin, name), ".")
}

func run(dir string, goEnv []string, argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), goEnv...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}

var marks atomic.Int64

// mustFail implements the commands refuses and fails: PATTERN COMMAND ARGS. The command must fail in time and
// leave nothing. One line of its standard error must match the pattern; refuses allows no other line,
// nor any output, since the job is not to start.
func mustFail(ts *testscript.TestScript, neg bool, args []string, alone bool) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: refuses|fails PATTERN COMMAND ARGS")
	}
	pattern, err := regexp.Compile(`^` + args[0] + `$`)
	ts.Check(err)
	mark := fmt.Sprintf("BADINPUT_MARK=%d.%d", os.Getpid(), marks.Add(1))
	tmp := ts.MkAbs(fmt.Sprintf("tmp%d", marks.Load()))
	ts.Check(os.Mkdir(tmp, 0o755))

	ctx, cancel := hang.Context(context.Background())
	defer cancel()
	var stdout, stderr strings.Builder
	path, err := exec.LookPath(args[1])
	if err != nil {
		path = filepath.Join(ts.Getenv("BIN"), args[1])
	}
	cmd := exec.CommandContext(ctx, path, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(scriptEnviron(ts), mark, "TMPDIR="+tmp)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	ts.Logf("%s%s", stdout.String(), stderr.String())

	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		ts.Fatalf("%v", context.Cause(ctx))
	case err == nil:
		ts.Fatalf("it succeeded")
	case !errors.As(err, &exit) || exit.ExitCode() <= 0:
		ts.Fatalf("it did not exit: %v", err)
	}
	lines := strings.Split(strings.TrimRight(stderr.String(), "\n"), "\n")
	if alone && (len(lines) != 1 || stdout.Len() > 0) {
		ts.Fatalf("it should say one line and no more")
	}
	matched := false
	for _, line := range lines {
		matched = matched || pattern.MatchString(line)
	}
	if !matched {
		ts.Fatalf("no line matches %s", pattern)
	}
	nothingLeft(ts, mark, tmp)
}

// scriptEnviron returns the environment of the script: those variables that scripts set.
func scriptEnviron(ts *testscript.TestScript) []string {
	env := os.Environ()
	for _, name := range []string{"PATH", "HOME", "GOPROXY", "GOTOOLCHAIN", "GOFLAGS", "GOCACHE", "GOMODCACHE", "CGO_ENABLED", "ROOT", "BIN", "PGAS_HEAP_MAX", "PGAS_NPES", "UCX_TLS", "UCX_NET_DEVICES"} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// nothingLeft looks for what a job may leave. Processes that were just killed take a moment to go.
func nothingLeft(ts *testscript.TestScript, mark, tmp string) {
	limit, cancel := hang.Context(context.Background())
	defer cancel()
	for ; ; time.Sleep(5 * time.Millisecond) {
		left := marked(mark)
		if len(left) == 0 {
			break
		}
		if limit.Err() != nil {
			ts.Fatalf("processes are left: %s", left)
		}
	}
	files, err := os.ReadDir(tmp)
	ts.Check(err)
	for _, f := range files {
		ts.Fatalf("the temporary file %s is left", f.Name())
	}
	shm, err := filepath.Glob("/dev/shm/*pgas*")
	ts.Check(err)
	for _, path := range shm {
		ts.Fatalf("the shared memory %s is left", path)
	}
}

// marked lists the processes with mark in their environment, however they were started.
func marked(mark string) []string {
	var left []string
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err == nil && bytes.Contains(env, []byte(mark+"\x00")) {
			cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			left = append(left, string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
		}
	}
	return left
}
