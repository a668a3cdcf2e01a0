package spawn

// Staging: a host that has nothing but a shell gets the launcher's own program, which becomes its agent, and the
// program of the PEs. Both travel over the connection that the agent will use, before the agent runs: the launch
// command runs /bin/sh, and what the shell is to do is the first line of its standard input. It looks for each file in
// the user's cache directory, by its content's hash. For one that is missing it prints a request, takes the bytes that
// follow on its standard input into a file of a temporary name, and renames that when it is complete. So what is
// interrupted leaves nothing, and two launchers or two hosts with one home directory do not disturb each other.

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// stageRequest is followed by the hash of the file that a host's shell requests, and a line's end.
const stageRequest = "\x00pgas-stage "

// stagedFile is a file that every host gets.
type stagedFile struct {
	Hash string
	Size int64
}

// Staging is what hosts get: the agent's program, then that of the PEs.
type Staging struct {
	Agent, Program stagedFile
	Args           []string // the arguments of the agent
}

// NewStaging hashes the agent's program, the first of the words agent, and the program of the PEs.
func NewStaging(agent []string, program string) (*Staging, Files, error) {
	s, files := &Staging{Args: agent[1:]}, Files{}
	for _, f := range []struct {
		path string
		file *stagedFile
	}{{agent[0], &s.Agent}, {program, &s.Program}} {
		var err error
		if err = CheckProgram(f.path); err == nil {
			f.file.Hash, err = HashFile(f.path)
		}
		info, statErr := os.Stat(f.path)
		if err == nil {
			err = statErr
		}
		if err != nil {
			return nil, nil, fmt.Errorf("-stage copies a program of this host: %w", err)
		}
		f.file.Size = info.Size()
		files[f.file.Hash] = f.path
	}
	return s, files, nil
}

// Size returns how many bytes a host gets that has no file yet.
func (s *Staging) Size() int64 { return s.Agent.Size + s.Program.Size }

// Files finds the files that are to be sent, by their hashes.
type Files map[string]string

// send writes a file to a host's shell, which has requested it.
func (s Files) send(to io.Writer, hash string, progress func(bytes int)) error {
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
func (s *Staging) script() string {
	line := stageScript
	for _, f := range []stagedFile{s.Agent, s.Program} {
		line += fmt.Sprintf(" get %s %d;", f.Hash, f.Size)
	}
	return line + ` umask "$m0"; exec "$d/` + s.Agent.Hash + `" ` + ShellWords(s.Args) + "\n"
}
