// Package version is the one place that knows which gopgas this is: the commands print it, and so does
// a job with SHMEM_VERSION.
//
// A module's version is its tag, which Go records in every program that is built from one. Next is for
// what is built from anything else, a checkout or a module with a replace directive.
//
//ci:norace computes
package version

import (
	"runtime/debug"
	"strings"
)

// Module is the path of the module.
const Module = "github.com/gopgas/gopgas"

// Next is the release that this source becomes when it is tagged. It is the first heading of
// CHANGELOG.md, and moves on with the first commit after the tag.
const Next = "v0.1.0"

// Current returns the version of gopgas in this program: the version of the module if the program was
// built from a published one ("v0.1.0"), otherwise Next with "-devel" and, if Go has recorded it, the
// commit ("v0.1.0-devel+0123456789ab", with ".dirty" behind it if files had been changed).
func Current() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Next + "-devel"
	}
	return of(info)
}

// Published reports whether Current is a version that the go command can download.
func Published() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && published(info) != ""
}

// Commit returns the commit that this program was built from, in full, and whether files had been changed; "" if Go has
// not recorded it.
func Commit() (revision string, modified bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	return setting(info, "vcs.revision"), setting(info, "vcs.modified") == "true"
}

func of(info *debug.BuildInfo) string {
	if v := published(info); v != "" {
		return v
	}
	v := Next + "-devel"
	// the commit is that of the program, not of gopgas
	if info.Main.Path != Module && !strings.HasPrefix(info.Main.Path, Module+"/") {
		return v
	}
	if commit := setting(info, "vcs.revision"); commit != "" {
		v += "+" + short(commit)
		if setting(info, "vcs.modified") == "true" {
			v += ".dirty"
		}
	}
	return v
}

// published returns the version that gopgas was downloaded as, or that its clean checkout is tagged with;
// otherwise "".
func published(info *debug.BuildInfo) string {
	if info.Main.Path == Module {
		return ofMain(info)
	}
	for _, m := range info.Deps {
		if m.Path == Module && m.Replace == nil && tagged(m.Version) {
			return m.Version
		}
	}
	return ""
}

// ofMain is published for the commands of the module itself. What the go command has downloaded has a
// checksum. A checkout has none, and Go makes a version up for a commit without a tag, with the commit's
// name at its end.
func ofMain(info *debug.BuildInfo) string {
	v, commit := info.Main.Version, setting(info, "vcs.revision")
	switch {
	case info.Main.Sum != "":
		return v
	case !tagged(v), commit == "", strings.HasSuffix(v, short(commit)):
		return ""
	}
	return v
}

// tagged reports whether v can be the version of a release or of a commit: not "(devel)", and not that of
// a checkout with changes.
func tagged(v string) bool { return strings.HasPrefix(v, "v") && !strings.HasSuffix(v, "+dirty") }

// short returns as much of a commit's name as Go puts into versions.
func short(commit string) string { return commit[:min(len(commit), 12)] }

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
