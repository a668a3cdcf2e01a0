package launch

// Staging: a host that has nothing but a shell gets the launcher's own program, which becomes its agent, and the
// program of the PEs. Both travel over the connection that the agent will use, before the agent runs: the launch command
// runs /bin/sh, and what the shell is to do is the first line of its standard input. It looks for each file in the
// user's cache directory, by its content's hash. For one that is missing it prints a request, takes the bytes that
// follow on its standard input into a file of a temporary name, and renames that when it is complete. So what is
// interrupted leaves nothing, and two launchers or two hosts with one home directory do not disturb each other.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
)

// stageRequest is followed by the hash of the file that a host's shell requests, and a line's end.
const stageRequest = "\x00pgas-stage "

// stageBound is the most that the files of a host's cache take. The least recently used ones are removed first.
const stageBound = 1 << 30

// partTime is how old an incomplete file must be to be removed: a killed shell has left it.
const partTime = time.Hour

// stagedFile is a file that every host gets.
type stagedFile struct {
	Hash string
	Size int64
}

// staging is what hosts get: the agent's program, then that of the PEs.
type staging struct {
	Agent, Program stagedFile
	Args           []string // of the agent
}

// fileSource finds the files that are to be sent, by their hashes.
type fileSource map[string]string

// prepareStaging hashes the files that are to be staged, if any are.
func (s *Spec) prepareStaging() error {
	if !s.Stage {
		return nil
	}
	s.staging, s.files = &staging{Args: s.Agent[1:]}, fileSource{}
	for _, f := range []struct {
		path string
		file *stagedFile
	}{{s.Agent[0], &s.staging.Agent}, {s.Program, &s.staging.Program}} {
		var err error
		if err = checkProgram(f.path); err == nil {
			f.file.Hash, err = hashFile(f.path)
		}
		info, statErr := os.Stat(f.path)
		if err == nil {
			err = statErr
		}
		if err != nil {
			return fmt.Errorf("-stage copies a program of this host: %w", err)
		}
		f.file.Size = info.Size()
		s.files[f.file.Hash] = f.path
	}
	return nil
}

// send writes a file to a host's shell, which has requested it.
func (s fileSource) send(to io.Writer, hash string, progress func(bytes int)) error {
	f, err := os.Open(s[hash])
	if err != nil {
		return fmt.Errorf("the host requests a file %q: %w", hash, err)
	}
	defer f.Close()
	buf := make([]byte, 256<<10)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
			progress(n)
		}
		if err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// stageScript is what a host's shell does first. It uses what POSIX has, and head -c. Its functions are:
//
// say ends the host with a line that explainLaunch knows. look reads the mode, the owner and the group of a file. mine
// succeeds for a file of this user that no other one can write.
//
// trust ends the host unless each directory on the way to the cache stays what it is: it belongs to this user or root,
// and other users cannot write it, or it has the sticky bit and they cannot rename what is not theirs. Root's group and
// a group that is named as the user, of whose members the user is the only one, may write. With that, no name below the
// cache leads elsewhere from one step to the next.
//
// sum prints the hash of a file, or nothing where the host has no program for it. has succeeds for a file that is
// whole: where no program makes the hash, none of an earlier job is. get requests a file that is missing or damaged,
// and takes it into a new file of its own, which mktemp makes, or the shell itself with noclobber (O_EXCL).
var stageScript = strings.Join([]string{
	`say() { echo "pgasrun/stage: $1" >&2; exit 1; };`,
	`c=${XDG_CACHE_HOME:-${HOME:?}/.cache}/pgasrun/stage; m0=$(umask); umask 077; set -f;`,
	`mkdir -p "$c" || exit 1; d=$(cd -P "$c" && pwd -P) || exit 1; me=$(id -u);`,
	`look() { set -- $(ls -ldn "$1"); m=$1 u=$3 g=$4; };`,
	`mine() { look "$1"; [ "$u" = "$me" ] && case $m in ?????w*|????????w*) false;; esac; };`,
	`own() { [ "$g" = "$(id -g)" ] && [ "$(id -gn)" = "$(id -un)" ]; } 2>/dev/null;`,
	`trust() { p=$1; while :; do look "$p";`,
	`[ "$u" = "$me" ] || [ "$u" = 0 ] || say "$p belongs to another user, $u";`,
	`case $m in ?????????[tT]*) ;; ????????w*) say "$p can be changed by every user";;`,
	`?????w*) [ "$g" = 0 ] || own || say "$p can be changed by the group $g";; esac;`,
	`[ "$p" = / ] && return; p=${p%/*}; p=${p:-/}; done; };`,
	`trust "$d"; mine "$d" || say "$d can be changed by other users";`,
	`sum() { sha256sum <"$1" || shasum -a 256 <"$1" || openssl dgst -sha256 -r <"$1"; } 2>/dev/null;`,
	`has() { [ -f "$1" ] && ! [ -L "$1" ] && mine "$1" && [ $(wc -c <"$1") -eq $2 ] && h=$(sum "$1") && [ "${h%% *}" = $3 ]; };`,
	`new() { mktemp "$1.XXXXXXXXXX" 2>/dev/null || { rm -f "$1.$2" && (set -C; : >"$1.$2") && echo "$1.$2"; }; };`,
	`get() { f=$d/$1; if has "$f" $2 $1; then touch "$f" 2>/dev/null; return; fi;`,
	`t=$(new "$f.part" "$(uname -n).$$") || exit 1; trap 'rm -f "$t"; exit 1' 1 2 13 15;`,
	`printf '\000pgas-stage %s\n' $1;`,
	`head -c $2 >"$t" && chmod 700 "$t" && [ $(wc -c <"$t") -eq $2 ] || { rm -f "$t"; exit 1; };`,
	`h=$(sum "$t"); case ${h%% *} in ""|$1) ;; *) rm -f "$t"; say "$f was damaged on the way";; esac;`,
	`mv -f "$t" "$f" || { rm -f "$t"; exit 1; }; };`,
}, " ")

// script returns the line that makes a host's shell fetch what it lacks and become the agent.
func (s *staging) script() string {
	if s == nil {
		s = &staging{} // of a plan, before the files exist
	}
	line := stageScript
	for _, f := range []stagedFile{s.Agent, s.Program} {
		line += fmt.Sprintf(" get %s %d;", f.Hash, f.Size)
	}
	return line + ` umask "$m0"; exec "$d/` + s.Agent.Hash + `" ` + shellWords(s.Args) + "\n"
}

// stagedOn returns the hash of the program if it is staged on host, or "".
func (s *Spec) stagedOn(host string) string {
	if s.staging == nil || s.isHere(host) {
		return ""
	}
	return s.staging.Program.Hash
}

// stagingPause is the time between two reports of progress, and before the first.
const stagingPause = 2 * time.Second

// reportStaging counts n bytes that a host has been sent, and says every stagingPause how far that is.
func (j *job) reportStaging(n int) {
	j.connect.Reset(j.spec.ConnectTimeout)
	now := time.Now()
	if j.stagedBytes == 0 {
		j.stagingReport = now.Add(stagingPause)
	}
	if j.stagedBytes += int64(n); now.After(j.stagingReport) {
		j.stagingReport = now.Add(stagingPause)
		most := (j.spec.staging.Agent.Size + j.spec.staging.Program.Size) * int64(len(j.hosts))
		j.stderr.notice(fmt.Sprintf("pgasrun: copying the program: %d of at most %d MB sent to %s\n", j.stagedBytes>>20, most>>20, plural.Count(len(j.hosts), "host")))
	}
}

// useStaged makes the staged program the one that this agent runs. The home directory stands in for a working directory that
// the host does not have.
func (a *agent) useStaged() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the staged files: %w", err)
	}
	dir := filepath.Dir(self)
	a.cfg.Program = filepath.Join(dir, a.cfg.Staged)
	if hash, err := hashFile(a.cfg.Program); err != nil || hash != a.cfg.Staged {
		os.Remove(a.cfg.Program)
		return errors.Join(err, fmt.Errorf("the staged copy of the program in %s was damaged and has been removed: run the job again", dir))
	}
	if _, err := os.Stat(a.cfg.Dir); errors.Is(err, fs.ErrNotExist) {
		if a.cfg.Dir, err = os.UserHomeDir(); err != nil {
			return fmt.Errorf("the host has not the job's working directory, and no home directory instead: %w", err)
		}
		a.logf("the job's working directory does not exist here: PEs run in %s", a.cfg.Dir)
	}
	pruneStaged(dir, []string{filepath.Base(self), a.cfg.Staged}, stageBound, time.Now())
	return nil
}

// stagedName matches the names of staged files, and of incomplete ones.
var stagedName = regexp.MustCompile(`^[0-9a-f]{64}(\.[^/]*part[^/]*)?$`)

// pruneStaged removes files that were staged before, the least recently used ones first, until those that remain take no
// more than bound, and what killed shells have left. It spares what keep names, and files that are not staged ones.
func pruneStaged(dir string, keep []string, bound int64, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular() || slices.Contains(keep, e.Name()) || !stagedName.MatchString(e.Name()):
		case strings.Contains(e.Name(), "part"):
			if now.Sub(info.ModTime()) > partTime {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		default:
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var total int64
	for _, f := range files {
		if total += f.Size(); total > bound {
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
