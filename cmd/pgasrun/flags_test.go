package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRetiredFlags: each spelling of earlier versions, with one dash or two, with a value or without, alone or among
// others, is answered in one line that says what to write, and nothing runs. The flags that the line names exist.
func TestRetiredFlags(t *testing.T) {
	sets := flagSets()
	for name, remedy := range retired {
		if sets["pgasrun"].Lookup(name) != nil {
			t.Errorf("-%s is a flag of pgasrun", name)
		}
		command := "pgasrun"
		if m := regexp.MustCompile("^write `(pgasrun \\w+)").FindStringSubmatch(remedy); m != nil {
			command = m[1]
		}
		set := sets[command]
		if set == nil {
			t.Errorf("-%s: %s: there is no %s", name, remedy, command)
			continue
		}
		for _, m := range regexp.MustCompile(`[ \x60]-([a-z]+)`).FindAllStringSubmatch(remedy, -1) {
			if m[1] != "h" && set.Lookup(m[1]) == nil {
				t.Errorf("-%s: %s: %s has no -%s", name, remedy, command, m[1])
			}
		}
		for _, args := range [][]string{
			{"-" + name}, {"--" + name}, {"-" + name + "=x"}, {"--" + name + "=x"}, {"-" + name, "x"}, {"-" + name, "sh", "-c", "echo ran"},
			{"-n", "2", "-tag", "--" + name + "=x", "-stats", "sh", "-c", "echo ran"}, {"-" + name, "-json", "--k8s", "sh", "-c", "echo ran"},
		} {
			want := "pgasrun has no -" + name + ": " + remedy
			if o, err := parseJob(args); err == nil || err.Error() != want || o != nil {
				t.Errorf("%q: %v, want %s", args, err, want)
			}
		}
	}
}

// TestRetiredFlagsAreAnswered: what a user sees of it, also behind the subcommand that a flag has become.
func TestRetiredFlagsAreAnswered(t *testing.T) {
	for line, want := range map[string]string{
		"-static sh -c 'echo ran'":                       "pgasrun has no -static: write `pgasrun static PROGRAM`; `pgasrun static -h` says more",
		"-n 4 --stats -json true":                        "pgasrun has no -json: write -stats=json",
		"-k8s -dry-run -k8s-image a -n 2 true":           "pgasrun has no -k8s: write `pgasrun k8s -image IMAGE -n 4 PROGRAM`, which prints the objects; `pgasrun k8s -h` says more",
		"k8s -k8s-image a -n 2 /true":                    "pgasrun k8s has no -k8s-image: write -image",
		"k8s --dry-run=true -image a -n 2 /true":         "pgasrun k8s has no -dry-run: leave it out: pgasrun k8s prints the objects and starts nothing",
		"k8s -image a -n 2 -topo host,rack:2 /true":      "pgasrun k8s has no -topo: set the variable PGAS_TOPO, here or by -x PGAS_TOPO=host,rack:2",
		"static -topo=host true":                         "pgasrun static has no -topo: set the variable PGAS_TOPO, here or by -x PGAS_TOPO=host,rack:2",
		"plan -dry-run true":                             "pgasrun has no -dry-run: write `pgasrun plan` and the flags of the job",
		"doctor -hostfile hosts":                         "pgasrun doctor has no -hostfile: write -hosts @FILE",
		"doctor -connect-timeout 1s":                     "pgasrun doctor has no -connect-timeout: set the variable PGAS_BOOT_TIMEOUT, as in PGAS_BOOT_TIMEOUT=1m",
		"-env":                                           "pgasrun has no -env: write `pgasrun env`",
		"--version":                                      "pgasrun has no -version: write `pgasrun version`",
		"-trace t.json -trace-events 5 sh -c 'echo ran'": "pgasrun has no -trace-events: write -trace FILE,N",
		"-ui auto -ui-save=page.html sh -c 'echo ran'":   "pgasrun has no -ui-save: write -ui save:FILE",
	} {
		out, err := exec.Command("sh", "-c", "exec pgasrun "+line).CombinedOutput()
		if got := string(out); err == nil || got != "pgasrun: "+want+"\n" {
			t.Errorf("%s: %v, %q", line, err, got)
		}
	}
}

// TestProgramsCalledLikeSubcommands: -- or a flag before such a name says that it is a program, and so does a path.
func TestProgramsCalledLikeSubcommands(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	names := []string{"completion", "manual", "agent"}
	for _, c := range commands().Listed() {
		names = append(names, strings.TrimPrefix(c.Name, "pgasrun "))
	}
	for _, name := range names {
		program := filepath.Join(dir, name)
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho I am $0 $1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		forms := [][]string{{"--", name, "-h"}}
		if name == "version" {
			forms = append(forms, []string{"-n", "1", name, "-h"}, []string{"./" + name, "-h"})
		}
		for _, args := range forms {
			cmd := exec.Command("pgasrun", args...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if want := "I am " + program + " -h\n"; err != nil || !strings.HasSuffix(string(out), want) {
				t.Errorf("%q: %v, %q, want %q", args, err, out, want)
			}
		}
	}
}
