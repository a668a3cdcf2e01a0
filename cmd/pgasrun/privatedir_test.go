package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user of the attacks.
const nobody = 65534

// inDir runs a shell's command in a directory as a user.
func inDir(t *testing.T, dir string, user uint32, command string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// cacheDir returns a directory that other users can reach, with a mode.
func cacheDir(t *testing.T, mode uint32) string {
	t.Helper()
	dir := t.TempDir()
	for path, mode := range map[string]uint32{filepath.Dir(dir): 0o755, dir: mode} {
		if err := syscall.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestMakePrivate: no program is built to a directory that another user can change. The commands run in the cache,
// first as the attacker.
func TestMakePrivate(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	for _, c := range []struct {
		name           string
		mode           uint32
		attacker, user string
		want           string
	}{
		{"nobody has been there", 0o1777, "true", "true", ""},
		{"an own directory", 0o1777, "true", "mkdir -p pgasrun", ""},
		{"an own link", 0o1777, "true", "mkdir mine && ln -s mine pgasrun", ""},
		{"root's group", 0o1777, "true", "mkdir -m 775 pgasrun", ""},
		{"the attacker's", 0o1777, "mkdir pgasrun", "true", "/pgasrun belongs to another user, 65534"},
		{"the attacker's, below it the user's", 0o1777, "mkdir -m 777 pgasrun", "mkdir -m 700 pgasrun/key", "/pgasrun belongs to another user, 65534"},
		{"a link of the attacker's to a directory of the user's", 0o1777, "ln -s mine pgasrun", "mkdir mine", "/pgasrun belongs to another user, 65534"},
		{"for every user", 0o1777, "true", "mkdir -m 777 pgasrun", "/pgasrun can be changed by every user"},
		{"for a group", 0o1777, "true", "mkdir -m 775 pgasrun && chgrp 65534 pgasrun", "/pgasrun can be changed by the group 65534"},
		{"for every user, with the sticky bit", 0o1777, "true", "mkdir pgasrun && mkdir -m 1777 pgasrun/key", "/pgasrun/key can be changed by every user"},
		{"where every user can rename it", 0o777, "true", "mkdir pgasrun", "/001 can be changed by every user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := cacheDir(t, c.mode)
			inDir(t, dir, nobody, c.attacker)
			inDir(t, dir, 0, c.user)
			err := makePrivate(filepath.Join(dir, "pgasrun", "key"))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want+", and programs")) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestBuildAttacked: pgasrun does not run what another user has put where it builds to.
func TestBuildAttacked(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	dir := cacheDir(t, 0o1777)
	t.Setenv("XDG_CACHE_HOME", dir)
	inDir(t, dir, nobody, "mkdir -m 777 pgasrun")
	p, err := packageProgram("testdata/counted")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.build(nil); err == nil || !strings.Contains(err.Error(), "/pgasrun belongs to another user, 65534") {
		t.Errorf("%v", err)
	}
}
