package launch

// A remote shell must parse an agent's command as the launcher means it.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// hostile has every character that is special to a shell.
const hostile = "in j;touch pwned;'\"$(touch pwned)`touch pwned`&touch pwned|*?~!#\\{a,b}\n=é"

// templates returns templates that reach a host without a shell, through one, as ssh does, and through two, as
// ssh through another host does.
func templates(t *testing.T) map[string]string {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"ssh":    "#!/bin/sh\nshift\nexec sh -c \"$*\"\n",
		"sshssh": "#!/bin/sh\nshift\nexec sh -c \"sh -c '$*'\"\n",
		"direct": "#!/bin/sh\nshift\nexec \"$@\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{
		"ssh":      dir + "/ssh {host}",
		"ssh, ssh": dir + "/sshssh {host}",
		"direct":   dir + "/direct {host}",
		"env":      "env FAKE={host}",
	}
}

// TestRemoteShell gives the launcher, the program, its arguments, the directory and the environment names with
// which a shell that parses them would run other commands.
func TestRemoteShell(t *testing.T) {
	for name, template := range templates(t) {
		t.Run(name, func(t *testing.T) {
			spec, out := testSpec(t, "args", twoOne...)
			dir := filepath.Join(t.TempDir(), hostile)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(dir, "program "+hostile)
			if err := os.Symlink(spec.Program, program); err != nil {
				t.Fatal(err)
			}
			args := []string{"pe", "args", hostile, "", "-x", "$PATH", "a b"}
			spec.Program, spec.Args, spec.Dir, spec.Template = program, args, dir, template
			spec.Agent, spec.Env = []string{program, hostile}, append(spec.Env, "PROBE="+hostile)
			t.Chdir(dir)
			res, err := Run(bounded(t), spec)
			if err != nil || res.Status != 0 {
				t.Fatalf("%+v, %v: %s", res, err, out)
			}
			for pe := range 3 {
				if want := fmt.Sprintf("%d %q %q %q\n", pe, args[2:], dir, hostile); !strings.Contains(out.String(), want) {
					t.Errorf("no %s in %s", want, out)
				}
			}
			noneTouched(t, dir)
		})
	}
}

// noneTouched fails if a shell has created the files of the hostile names.
func noneTouched(t *testing.T, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("a shell has acted: %v", entries)
	}
}

// A killed agent's host is swept by the same kind of command.
func TestRemoteShellSweeps(t *testing.T) {
	for name, template := range templates(t) {
		t.Run(name, func(t *testing.T) {
			spec, out := testSpec(t, "fail")
			dir := filepath.Join(t.TempDir(), hostile)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			agent := filepath.Join(dir, "agent")
			if err := os.Symlink(spec.Program, agent); err != nil {
				t.Fatal(err)
			}
			spec.Agent, spec.Template = []string{agent}, template
			job := randomHex(16)
			left := ofJob(t, job+".1")
			other := ofJob(t, job+".0") // of another host of the job, which stands for the same machine
			if err := runAgent(bounded(t), spawn.StartCommand, spec.command("a"), nil, frame.Config{Protocol: frame.Protocol, Mark: job + ".1", Sweep: true}); err != nil {
				left.Process.Kill()
				t.Errorf("%v: %s", err, out)
			}
			if err := left.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Errorf("what was left ended with %v", err)
			}
			other.Process.Signal(syscall.SIGTERM)
			if err := other.Wait(); err == nil || !strings.Contains(err.Error(), "terminated") {
				t.Errorf("a process of the job's other host ended with %v", err)
			}
			noneTouched(t, dir)
		})
	}
}

// ofJob starts a process that a PE of a job on one of its hosts may have started.
func ofJob(t *testing.T, mark string) *exec.Cmd {
	t.Helper()
	c := exec.Command("sleep", "1000")
	c.Env = append(os.Environ(), boot.JobMark(mark))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}
