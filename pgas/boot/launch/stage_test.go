package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// stagingSpec runs hosts that share this machine's files, but have a cache each.
func stagingSpec(t *testing.T, verb string) (spec Spec, caches string, output fmt.Stringer) {
	spec, out := testSpec(t, verb, twoOne...)
	caches = t.TempDir()
	spec.Stage, spec.Template = true, "env XDG_CACHE_HOME="+caches+"/{host}"
	return spec, caches, out
}

func cached(t *testing.T, caches string) []string {
	t.Helper()
	files, err := filepath.Glob(caches + "/*/pgasrun/stage/*")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestStage copies this program, which is agent and PE at once, to two hosts, and a second time to none.
func TestStage(t *testing.T) {
	spec, caches, out := stagingSpec(t, "report")
	for range 2 {
		copied := 0
		res, err := Run(bounded(t), spec)
		if err != nil || res.Status != 0 {
			t.Fatalf("%+v, %v: %s", res, err, out)
		}
		for _, path := range cached(t, caches) {
			if hash, err := spawn.HashFile(path); err != nil || filepath.Base(path) != hash {
				t.Errorf("%s has the content %s (%v)", path, hash, err)
			}
			copied++
		}
		if copied != 2 {
			t.Errorf("the caches hold %d files, of one program on two hosts", copied)
		}
	}
	if n := strings.Count(out.String(), "/3 "); n != 6 {
		t.Errorf("%d PEs of two jobs of three have reported: %s", n, out)
	}
}

// damage overwrites a few bytes of a file, at its start or at its end.
func damage(t *testing.T, path string, start bool) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	at := info.Size() - 7
	if start {
		at = 0
	}
	if err == nil {
		_, err = f.WriteAt([]byte("damaged"), at)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestStageDamaged: a damaged copy of the right size is copied again, whichever byte of it is another. So are all
// copies where no program makes hashes.
func TestStageDamaged(t *testing.T) {
	few := t.TempDir() // what a host must have
	for _, name := range strings.Fields("env id ls wc head rm mv chmod mkdir touch uname") {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(few, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	paths, shells := map[string]string{"as usual": os.Getenv("PATH"), "without sha256sum and mktemp": few}, map[string]string{}
	if busybox, err := exec.LookPath("busybox"); err == nil {
		dir := t.TempDir()
		if out, err := exec.Command(busybox, "--install", "-s", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		paths["busybox"], shells["busybox"] = dir, ` sh -c "exec sh"`
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			spec, caches, out := stagingSpec(t, "report")
			spec.Template = "env PATH=" + path + strings.TrimPrefix(spec.Template, "env") + shells[name]
			for _, start := range []bool{false, true} {
				if res, err := Run(bounded(t), spec); err != nil || res.Status != 0 {
					t.Fatal(res, err, out)
				}
				for _, file := range cached(t, caches) {
					damage(t, file, start)
				}
				if res, err := Run(bounded(t), spec); err != nil || res.Status != 0 {
					t.Fatalf("with damaged copies: %+v, %v: %s", res, err, out)
				}
				files := cached(t, caches)
				for _, file := range files {
					if hash, err := spawn.HashFile(file); err != nil || filepath.Base(file) != hash {
						t.Errorf("%s has the content %s (%v)", file, hash, err)
					}
				}
				if len(files) != 2 {
					t.Errorf("the caches hold %q", files)
				}
			}
		})
	}
}

// nobody is the user of the attacks.
const nobody = 65534

// asNobody runs a shell's command as another user.
func asNobody(t *testing.T, command string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "umask 0; "+command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// TestStageAttacked: what another user has put into the cache beforehand is not run and not written through. The
// commands run in the cache, as the attacker and then as the user. PLANT is the attacker's program, HASH its name.
func TestStageAttacked(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hash, err := spawn.HashFile(self)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, attack := range []struct{ name, mode, attacker, user, want string }{
		{"the directories are made first", "1777", "mkdir -p pgasrun/stage && cp PLANT pgasrun/stage/HASH", "", "/pgasrun/stage belongs to another user, 65534: -stage runs nothing"},
		{"the first directory is made", "1777", "mkdir pgasrun", "mkdir -p -m 700 pgasrun/stage", "/pgasrun belongs to another user, 65534: -stage runs nothing"},
		{"a link to the attacker's directory", "1777", "mkdir -p d/pgasrun/stage && cp PLANT d/pgasrun/stage/HASH && ln -s d/pgasrun pgasrun", "", "/d/pgasrun/stage belongs to another user"},
		{"a cache that everybody may rename in", "777", "true", "mkdir -p -m 755 pgasrun/stage", "a can be changed by every user: -stage runs nothing"},
		{"a directory for every user", "1777", "true", "umask 0; mkdir -p pgasrun/stage", "/stage can be changed by every user"},
		{"a directory for every user, with the sticky bit", "1777", "true", "umask 0; mkdir -p -m 1777 pgasrun/stage; chmod 755 pgasrun", "/stage can be changed by other users"},
		{"a directory for a group", "1777", "true", "mkdir -p -m 775 pgasrun/stage; chgrp -R 65534 pgasrun", "can be changed by the group 65534: -stage runs nothing"},
		{"a file of the attacker", "1777", "true", "mkdir -p pgasrun/stage && cp PLANT pgasrun/stage/HASH && chown 65534 pgasrun/stage/HASH", ""},
		{"a link to the attacker's file", "1777", "cp PLANT .", "mkdir -p pgasrun/stage && ln -s $PWD/plant pgasrun/stage/HASH", ""},
	} {
		t.Run(attack.name, func(t *testing.T) {
			spec, caches, out := stagingSpec(t, "report")
			dir, took := filepath.Join(caches, "a"), filepath.Join(caches, "took")
			plant := filepath.Join(caches, "plant")
			text := "#!/bin/sh\necho >" + took + "\n"
			err := errors.Join(os.Chmod(filepath.Dir(caches), 0o755), os.WriteFile(plant, []byte(text), 0o755), os.Truncate(plant, info.Size()), os.Chmod(plant, 0o755), os.Mkdir(dir, 0o755))
			mode, _ := strconv.ParseUint(attack.mode, 8, 12)
			if err = errors.Join(err, syscall.Chmod(dir, uint32(mode))); err != nil {
				t.Fatal(err)
			}
			command := func(s string) string {
				return "cd " + dir + " && " + strings.NewReplacer("PLANT", plant, "HASH", hash).Replace(s)
			}
			asNobody(t, command(attack.attacker))
			if attack.user != "" {
				if out, err := exec.Command("/bin/sh", "-c", command(attack.user)).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			spec.Hosts = twoOne[:1]
			res, err := Run(bounded(t), spec)
			switch {
			case attack.want == "" && (err != nil || res.Status != 0):
				t.Errorf("%+v, %v: %s", res, err, out)
			case attack.want != "" && (err == nil || !strings.Contains(err.Error(), attack.want)):
				t.Errorf("%+v, %v; want %s", res, err, attack.want)
			}
			if _, err := os.Stat(took); err == nil {
				t.Error("the attacker's program has run")
			}
		})
	}
}

// TestStageInterrupted ends the host's input in the middle of a copy.
func TestStageInterrupted(t *testing.T) {
	spec, caches, _ := stagingSpec(t, "report")
	spec.Template = `sh -c "dd bs=1 count=100000 status=none | XDG_CACHE_HOME=` + caches + `/{host} /bin/sh"`
	if _, err := Run(bounded(t), spec); err == nil || !strings.Contains(err.Error(), "ended (exit status 1)") {
		t.Errorf("%v", err)
	}
	if left := cached(t, caches); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestStageRefused: a host that has no home, or a cache that is no directory, is named in one line.
func TestStageRefused(t *testing.T) {
	for template, want := range map[string]string{
		"env -u HOME -u XDG_CACHE_HOME FAKE={host}":        "HOME.*-stage cannot write to the cache directory of a",
		"env XDG_CACHE_HOME=/dev/null FAKE={host}":         "mkdir: .*-stage cannot write to the cache directory of a",
		"env XDG_CACHE_HOME=/proc/sys/kernel/ FAKE={host}": "mkdir: .*-stage cannot write to the cache directory of a",
	} {
		spec, _, _ := stagingSpec(t, "report")
		spec.Template, spec.Hosts = template, twoOne[:1]
		if _, err := Run(bounded(t), spec); err == nil || !regexp.MustCompile("^host a: .*"+want+".*$").MatchString(err.Error()) {
			t.Errorf("%s: %v", template, err)
		}
	}
	spec, _, _ := stagingSpec(t, "report")
	spec.Program = "/nonexistent"
	if _, err := Run(bounded(t), spec); err == nil || !strings.Contains(err.Error(), "there is no program /nonexistent") {
		t.Errorf("%v", err)
	}
}
