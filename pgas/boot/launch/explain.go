package launch

// What the command that starts an agent says when it fails, and what the user can do about it. The first line that is
// recognized counts: of a jump host's failure, ssh prints the consequences after it.

import (
	"regexp"
	"strings"
)

// stagedPath matches the end of the path of a staged file, in a cache that may be a symbolic link.
const stagedPath = `/[0-9a-f]{64}`

// launchFailures are the lines of ssh and of remote shells that have a remedy of their own. {host} and {agent} stand
// for the host's name and the agent's path. The order matters: the first pattern that matches a line counts.
var launchFailures = []struct{ said, remedy string }{
	{`REMOTE HOST IDENTIFICATION HAS CHANGED`, "the host has another key than before; if that is right, remove the old one with `ssh-keygen -R {host}` and run `ssh {host}` once to accept the new one"},
	{`Host key verification failed`, "ssh does not know the host's key: run `ssh {host}` once by hand, compare the fingerprint and accept it"},
	{`Too many authentication failures`, "ssh has offered more keys than the host lets it: set IdentitiesOnly and IdentityFile for {host} in the ssh configuration"},
	{`Permission denied \(`, "the host does not accept the key of this user: run `ssh-copy-id {host}`, or set User and IdentityFile for {host} in the ssh configuration"},
	{`Connection refused`, "no program listens on that port: start sshd on the host, or set its Port in the ssh configuration"},
	{`Could not resolve hostname`, "no host has that name: correct -hosts, or set HostName for {host} in the ssh configuration"},
	{`No route to host|Network is unreachable|Connection timed out`, "the network does not reach the host: check that it runs, its address, and firewalls"},
	{`kex_exchange_identification|Connection reset by`, "its sshd has closed the connection at once: it may take fewer connections at a time (MaxStartups in sshd_config)"},
	{`No space left on device|Disk quota exceeded`, "-stage found no room in the cache directory of {host}: free some, or set XDG_CACHE_HOME in the start-up file of its shell"},
	{`pgasrun/stage: /.*(belongs to another user|can be changed by)`, "-stage runs nothing that another user may have put there: give the directory to yourself or root with no write permission for others (chmod go-w), or set XDG_CACHE_HOME in the start-up file of the shell of {host}"},
	{`pgasrun/stage: /.*was damaged on the way`, "the copy that -stage made on {host} differs from the file that was sent: check the memory and the file system of that host, and run the job again"},
	{`^mkdir: |pgasrun/stage.*(Read-only|cannot create|Permission denied.*part)|HOME: param|\.part[^:]*: (Read-only|Permission denied)`, "-stage cannot write to the cache directory of {host}: make it writable, or set XDG_CACHE_HOME in the start-up file of its shell"},
	{stagedPath + `: Permission denied`, "the cache directory of {host} is on a file system that runs no programs (noexec): set XDG_CACHE_HOME in the start-up file of its shell"},
	{stagedPath + `: (\S+ )?([Nn]ot found|No such file)`, "{host} lacks the loader or C library that pgasrun was linked with: build pgasrun with CGO_ENABLED=0"},
	{stagedPath + `: .*[Ee]xec format error`, "{host} is a machine of another kind: build pgasrun and the program for it"},
	{`{agent}: error while loading shared libraries`, "{host} lacks a library that pgasrun was linked with: build pgasrun with CGO_ENABLED=0"},
	{`{agent}: (\S+ )?([Nn]ot found|No such file or directory)|No such file or directory: .*{agent}|"?{agent}"?: No such file`, "pgasrun must be at that path on every host: copy it to {host}, or let pgasrun do so with -stage"},
	{`{agent}: Permission denied|"?{agent}"?: Permission denied`, "that file may not be executed on {host}: chmod +x it, and mount its file system without noexec"},
}

// explainLaunch returns what to do about a line that the command of host's agent has printed, or "".
func explainLaunch(line, host, agent string) string {
	for _, f := range launchFailures {
		pattern := strings.ReplaceAll(f.said, "{agent}", regexp.QuoteMeta(agent))
		if regexp.MustCompile(pattern).MatchString(line) {
			return strings.NewReplacer("{host}", host, "{agent}", agent).Replace(f.remedy)
		}
	}
	return ""
}

// loaderFailures are what the loaders of GNU and of musl say of a program that they cannot start.
var loaderFailures = []struct {
	said   *regexp.Regexp
	remedy string
}{
	{regexp.MustCompile(`error while loading shared libraries: ([^: ]+): (?:cannot open|cannot read|invalid ELF|file too short)`), "the loader of host {host} does not find {library}: install it there, or say where it is: -x LD_LIBRARY_PATH=DIR"},
	{regexp.MustCompile(`Error loading shared library ([^: ]+):`), "the loader of host {host} does not find {library}: install it there, or say where it is: -x LD_LIBRARY_PATH=DIR"},
	{regexp.MustCompile(`: version .([A-Z_0-9.]+). not found \(required by`), "a library of host {host} is older than the program needs ({library}): build the program on the host with the oldest one, or say where a newer one is: -x LD_LIBRARY_PATH=DIR"},
	{regexp.MustCompile(`symbol lookup error: .*undefined symbol: (\S+)`), "a library of host {host} is of another version than the program was linked with ({library}): install the same everywhere, or say where it is: -x LD_LIBRARY_PATH=DIR"},
}

// explainExit returns what to do about a PE on host whose last lines are the loader's, or "".
func explainExit(tail []string, host string) string {
	for _, line := range tail {
		for _, f := range loaderFailures {
			if m := f.said.FindStringSubmatch(line); m != nil {
				return strings.NewReplacer("{host}", host, "{library}", strings.Trim(m[1], ",")).Replace(f.remedy)
			}
		}
	}
	return ""
}
